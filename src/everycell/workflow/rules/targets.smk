# Targets by name. Each asks for results, their verdicts, and the page that shows them.

TARGETS = {tier: runnable(tier) for tier in TIERS if tier != "full"}
if any(artefact.card.errata for artefact in all_artefacts(PAPERS)):
    TARGETS["embedded"].append("results/embedded/errata.csv")
TARGETS["all"] = TARGETS["embedded"] + TARGETS["released"]
for paper in PAPERS.values():
    TARGETS[paper.key] = runnable_in_minutes(paper=paper.key)
    for chapter in paper.chapters:
        TARGETS[f"{paper.key}_ch{chapter}"] = runnable_in_minutes(paper=paper.key, chapter=chapter)
for artefact in all_artefacts(PAPERS):
    files = [
        verdict_file(artefact, tier)
        for tier, card in artefact.card.tiers.items()
        if card.state in RUNNABLE and tier != "full"
    ]
    if files:
        TARGETS[f"{artefact.paper}_{artefact.name}"] = files


#: Groups of artefacts that the full tier can make: target -> artefacts.
IN_FULL = {}
for artefact in filter(runs_in_full, all_artefacts(PAPERS)):
    chapter = f"full_{artefact.paper}_ch{artefact.chapter}"
    for target in ("full", f"full_{artefact.paper}", chapter):
        IN_FULL.setdefault(target, []).append(artefact)
    TARGETS[f"full_{artefact.paper}_{artefact.name}"] = [verdict_file(artefact, "full")]


def named_in_full(target):
    """Verdict files of a group whose settings in config.yaml are complete."""
    named, _ = configured_and_waiting(SETTINGS, IN_FULL[target])
    return [verdict_file(artefact, "full") for artefact in named]


def with_results(verdicts):
    """Verdict files and their results.

    Snakemake does not miss an input of what is there already. A result that a failed job took away,
    or a user, would not be made again as long as its old verdicts lie beside it.
    """
    about = [file for file in verdicts if file.endswith(".verdicts.json")]
    return verdicts + [
        file.replace(".verdicts.json", suffix)
        for file in about
        for suffix in (".csv", ".receipt.json")
    ]


#: Description of a target in `snakemake --list`.
ABOUT = {
    "embedded": "everything that needs no data",
    "released": "everything that is reproduced from released data",
    "all": "embedded and released",
    "full": "everything for which config.yaml names corpora and models",
}
for paper in PAPERS.values():
    ABOUT[paper.key] = f"{paper.title} ({paper.year})"
    for chapter, title in paper.chapters.items():
        ABOUT[f"{paper.key}_ch{chapter}"] = title
for artefact in all_artefacts(PAPERS):
    ABOUT[f"{artefact.paper}_{artefact.name}"] = artefact.card.title


def about_target(name):
    """Description of a target; None if a rule is not a target."""
    if name in IN_FULL.keys() | TARGETS.keys():
        full = name.removeprefix("full_")
        return ABOUT[full] + " (full tier)" * (full != name)
    return None


def made_in_full(target):
    """Input function of a group, which reports its requirements and omitted results."""

    def files(wildcards):
        named, waiting = configured_and_waiting(SETTINGS, IN_FULL[target])
        said = "".join(
            f"\n  {', '.join(artefact.id for artefact in left)}: set {to_set(unset)}"
            f"\n    takes {FULL_TIER.takes([artefact.id for artefact in left])}"
            for unset, left in waiting.items()
        )
        if not named:
            refuse(
                f"config.yaml names nothing that `{target}` could be made from: set "
                f"{', or '.join(map(to_set, easiest(waiting)))} (docs/run-in-full.md says more)."
            )
        takes = FULL_TIER.takes([artefact.id for artefact in named])
        logger.info(
            f"`{target}` makes {len(named)} of {len(IN_FULL[target])} artefacts, which take {takes}."
        )
        notes = [note for each in named for note in notes_on(SETTINGS, FULL_TIER, each)]
        for note in dict.fromkeys(notes):
            logger.info(f"`{target}`, {note}.")
        if said:
            logger.info(f"Left out, until config.yaml names what they need:{said}")
        return with_results(named_in_full(target))

    return files


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
