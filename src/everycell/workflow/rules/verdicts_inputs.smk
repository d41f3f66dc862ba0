# Input functions of the verdicts: record, published cells, audits and data of an artefact.
from everycell.engine.full_runs import FETCH, filled, identifiable


def code_of_audits(wildcards):
    """Hash of the audits of an artefact's chapter, if it has any."""
    return hashes_of_audits(
        wildcards.paper, PAPERS[wildcards.paper].artefacts[wildcards.artefact].chapter
    )


def code_of_all_audits(wildcards):
    """Hash of the audits of every chapter."""
    chapters = [(paper.key, chapter) for paper in PAPERS.values() for chapter in paper.chapters]
    return {name: code for of in chapters for name, code in hashes_of_audits(*of).items()}


def hashes_of_audits(paper, chapter):
    """Module of a chapter's audits, with the hash of its code."""
    name = f"src/everycell/studies/{paper}/ch{chapter}/audits.py"
    return {name: hash_of_module(name)} if source_file(name, ROOT).exists() else {}


@cache
def hash_of_module(name):
    """Hash of a module and of all that it imports."""
    return hash_of_sources([source_file(name, ROOT)], ROOT)


def printed_cells(wildcards):
    """Published cells of an artefact, if it has any."""
    cells = f"published/{wildcards.paper}/{wildcards.artefact}.csv"
    return cells if os.path.exists(cells) else []


def card_file(wildcards):
    """File with the artefact's card."""
    return str(PAPERS[wildcards.paper].artefacts[wildcards.artefact].card_path)


def identities(wildcards):
    """In the full tier: identifying facts of each corpus."""
    if wildcards.tier != "full":
        return []
    artefact = f"{wildcards.paper}/{wildcards.artefact}"
    names = identifiable(SETTINGS, FULL_TIER, artefact)
    return [f"work/identity/{name}.json" for name in names]


def notes_on_materials(wildcards):
    """In the full tier: notes on configured and missing corpora."""
    artefact = PAPERS[wildcards.paper].artefacts[wildcards.artefact]
    return notes_on(SETTINGS, FULL_TIER, artefact) if wildcards.tier == "full" else []


def facts_of_material(wildcards):
    """Facts that identify a material, by the names of its files."""
    facts = FULL_TIER.materials[wildcards.material].facts
    return {
        filled(SETTINGS, name): stated.model_dump(mode="json", exclude_defaults=True)
        for name, stated in facts.items()
    }


def files_with_facts(wildcards):
    """Files of a material that facts identify: in the named folder, the named one, or fetched."""
    material = FULL_TIER.materials[wildcards.material]
    named = setting(SETTINGS, material.settings[0])
    names = facts_of_material(wildcards)
    if named == FETCH:
        return [fetched_corpus(f"{material.corpus}/{name}") for name in names]
    # A file is named by itself.
    return [f"{named}/{name}" if material.holds else named for name in names]


def receipts_of_tables_beside(wildcards):
    """Receipts of other artefacts whose supplementary tables the claims of this one read."""
    artefacts = PAPERS[wildcards.paper].artefacts
    card = artefacts[wildcards.artefact].card
    return [
        f"results/{wildcards.tier}/{wildcards.paper}/{owner}.receipt.json"
        for owner in sorted(card.artefacts_with_tables_read(wildcards.tier))
        if wildcards.tier in artefacts[owner].card.tiers
        and artefacts[owner].card.tiers[wildcards.tier].state in RUNNABLE
    ]
