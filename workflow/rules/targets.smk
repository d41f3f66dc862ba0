# Targets by name. Each asks for verdict files and for the page that shows them.

TARGETS = {tier: runnable(tier) for tier in TIERS}
TARGETS["embedded"].append("results/embedded/errata.csv")
TARGETS["all"] = TARGETS["embedded"] + TARGETS["released"]
for paper in PAPERS.values():
    TARGETS[paper.key] = runnable_in_minutes(paper=paper.key)
    for chapter in paper.chapters:
        TARGETS[f"{paper.key}_ch{chapter}"] = runnable_in_minutes(
            paper=paper.key, chapter=chapter
        )
for artefact in all_artefacts(PAPERS):
    files = [
        verdict_file(artefact, tier)
        for tier, card in artefact.card.tiers.items()
        if card.state in RUNNABLE and tier != "full"
    ]
    if files:
        TARGETS[f"{artefact.paper}_{artefact.name}"] = files


for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            files,
            "results/index.html",
        localrule: True
