# Input functions and names of the rules of lajewska2025, chapter 3.


def rewriter_source(wildcards):
    """Name or folder of the wildcard's rewriter."""
    key = wildcards.rewriter.removesuffix("-org")
    source = getattr(SETTINGS.cast_systems.rewriters, key)
    if source is None:
        raise WorkflowError(
            f"config.yaml: `cast_systems.rewriters.{key}` is null; this rewriter needs a T5 there, "
            "so name its folder or its name on the hub, or ask for another rewriter."
        )
    return source


def runs_of_2020(wildcards):
    """The authors' runs of CAsT 2020 behind the wildcard's table, in the folder of the user."""
    folder = SETTINGS.cast_systems.runs_2020
    if folder is None or not os.path.isdir(folder):
        found = "null" if folder is None else f"{folder!r}, which is no folder"
        raise WorkflowError(
            f"config.yaml: `cast_systems.runs_2020` is {found}; this tier needs the authors' runs "
            "of 2020 there, so name their folder (docs/papers/lajewska2025.md says what it holds), "
            "or ask for another tier."
        )
    runs = []
    for run in CAST_SYSTEMS[wildcards.number].values():
        found = [Path(folder) / f"{run}_2020.trec{end}" for end in ("", ".gz")]
        found = [path for path in found if path.exists()]
        if not found:
            raise WorkflowError(
                f"config.yaml: `cast_systems.runs_2020` is {folder!r}, which has no "
                f"{run}_2020.trec(.gz); unpack the authors' {run}_2020.trec.tar.gz there."
            )
        runs.append(str(found[0]))
    return runs
