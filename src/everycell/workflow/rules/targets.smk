# Targets: names for sets of results with their verdicts and the page.
from everycell.records.registry import load_registry
from everycell.sources.availability import obstacle

TARGETS = {tier: runnable(tier) for tier in TIERS if tier != "full"}
if any(artefact.record.errata for artefact in all_artefacts(PAPERS)):
    TARGETS["embedded"].append("results/embedded/errata.csv")
TARGETS["all"] = TARGETS["embedded"] + TARGETS["released"]
for paper in PAPERS.values():
    TARGETS[paper.key] = runnable_in_minutes(paper=paper.key)
    for chapter in paper.chapters:
        TARGETS[f"{paper.key}_ch{chapter}"] = runnable_in_minutes(paper=paper.key, chapter=chapter)
for artefact in all_artefacts(PAPERS):
    files = [
        verdict_file(artefact, tier)
        for tier, record in artefact.record.tiers.items()
        if record.state in RUNNABLE and tier != "full"
    ]
    if files:
        TARGETS[f"{artefact.paper}_{artefact.name}"] = files


#: Artefacts of the full tier, by target.
IN_FULL = {}
for artefact in filter(runs_in_full, all_artefacts(PAPERS)):
    chapter = f"full_{artefact.paper}_ch{artefact.chapter}"
    for target in ("full", f"full_{artefact.paper}", chapter):
        IN_FULL.setdefault(target, []).append(artefact)
    TARGETS[f"full_{artefact.paper}_{artefact.name}"] = [verdict_file(artefact, "full")]


def configured_in_full(target):
    """Verdict files of the artefacts of a target whose settings in config.yaml are complete."""
    configured, _ = split_by_settings(SETTINGS, IN_FULL[target])
    return [verdict_file(artefact, "full") for artefact in configured]


def with_results(verdicts):
    """Add tables and receipts to verdict files.

    If the verdicts exist, Snakemake does not notice that their inputs are missing. Without this, a
    table that a failed job or a user deleted would not be made again.
    """
    verdict_files = [file for file in verdicts if file.endswith(".verdicts.json")]
    return verdicts + [
        file.replace(".verdicts.json", suffix)
        for file in verdict_files
        for suffix in (".csv", ".receipt.json")
    ]


#: Descriptions of targets in `snakemake --list`.
ABOUT = {
    "embedded": "everything that needs no data",
    "released": "everything that is reproduced from released data",
    "all": "embedded and released",
    "full": "everything whose corpora and models are set in config.yaml",
}
for paper in PAPERS.values():
    ABOUT[paper.key] = f"{paper.title} ({paper.year})"
    for chapter, title in paper.chapters.items():
        ABOUT[f"{paper.key}_ch{chapter}"] = title
for artefact in all_artefacts(PAPERS):
    ABOUT[f"{artefact.paper}_{artefact.name}"] = artefact.record.title


def about_target(name):
    """Description of a target; None if a rule is not a target."""
    if name in IN_FULL.keys() | TARGETS.keys():
        full = name.removeprefix("full_")
        return ABOUT[full] + " (full tier)" * (full != name)
    return None


def made_in_full(target):
    """Input function of a target, which reports its requirements and omitted artefacts."""

    def files(wildcards):
        configured, unconfigured = split_by_settings(SETTINGS, IN_FULL[target])
        omitted = ""
        for keys, artefacts in unconfigured.items():
            ids = [artefact.id for artefact in artefacts]
            omitted += f"\n  {', '.join(ids)}: set {format_keys(keys)}"
            omitted += f"\n    needs {FULL_TIER.describe_requirements(ids)}"
        if not configured:
            settings = ", or ".join(map(format_keys, minimal_settings(unconfigured)))
            refuse(
                f"config.yaml has no corpus or model for `{target}`: set {settings} (see "
                "docs/run-in-full.md)."
            )
        requirements = FULL_TIER.describe_requirements([artefact.id for artefact in configured])
        logger.info(
            f"`{target}` makes {len(configured)} of {len(IN_FULL[target])} artefacts; this needs "
            f"{requirements}."
        )
        notes = [
            note
            for artefact in configured
            for note in material_notes(SETTINGS, FULL_TIER, artefact)
        ]
        for note in dict.fromkeys(notes):
            logger.info(f"`{target}`, {note}.")
        if omitted:
            logger.info(f"Omitted, since their settings are missing in config.yaml:{omitted}")
        return with_results(configured_in_full(target))

    return files


#: Megabytes that the default target downloads for one result at most.
SMALL = 20


@cache
def reproduced_in_minutes(slow):
    """Verdict files of all results that compute published values, and why some are left out.

    Runs on surrogate data are left out, and so are `slow` results, by id, and results whose
    released files cannot be fetched or are large.
    """
    registry, files = load_registry(ROOT), []
    left_out = {"it takes more than five minutes": list(slow)} if slow else {}
    for tier in ("embedded", "released"):
        for artefact in all_artefacts(PAPERS):
            declared = artefact.record.tiers.get(tier)
            if declared and declared.state == "reproduced" and artefact.id not in slow:
                file = verdict_file(artefact, tier)
                keys = released_files_of(file.replace(".verdicts.json", ".csv"))
                if reason := obstacle(keys, SETTINGS, registry, megabytes=SMALL):
                    left_out.setdefault(reason, []).append(artefact.id)
                else:
                    files.append(file)
    logger.warning(describe_left_out(left_out))
    return files, left_out


def reproduced_except(slow):
    """Input function of the default target."""

    def files(wildcards):
        return with_results(reproduced_in_minutes(slow)[0])

    return files


def describe_left_out(left_out):
    """Sentence on the results that the default target leaves out, and how to get them."""
    reasons = "; ".join(
        f"{', '.join(ids[:3])}{f' and {len(ids) - 3} more' * (len(ids) > 3)} ({reason})"
        for reason, ids in left_out.items()
    )
    sentence = "everycell: all runs on surrogate data are left out"
    sentence += f", and {reasons}." if reasons else "."
    return (
        f"{sentence} Released data need a network, or EVERYCELL_MIRROR set to a folder that has "
        "them (docs/data.md)."
    )


for target in IN_FULL:

    rule:
        name:
            target
        input:
            made_in_full(target),
            "results/index.html",
        localrule: True


for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            with_results(files),
            "results/index.html",
        localrule: True
