# Input and parameter functions of the rules for verdicts.
from everycell.records.full_runs import FETCH, fill_pattern, identifiable_materials


def code_of_audits(wildcards):
    """Hash of the audits of an artefact's chapter, if any."""
    return hashes_of_audits(
        wildcards.paper, PAPERS[wildcards.paper].artefacts[wildcards.artefact].chapter
    )


def code_of_all_audits(wildcards):
    """Hashes of the audits of all chapters."""
    hashes = {}
    for paper in PAPERS.values():
        for chapter in paper.chapters:
            hashes |= hashes_of_audits(paper.key, chapter)
    return hashes


def hashes_of_audits(paper, chapter):
    """Hash of the code of a chapter's audits by module; empty without audits."""
    name = f"workflow/papers/{paper}/ch{chapter}_audits.py"
    return {name: hash_of_module(name)} if source_file(name, ROOT).exists() else {}


@cache
def hash_of_module(name):
    """Hash of a module and of everything that it imports from project and package."""
    return hash_of_sources([source_file(name, ROOT)], ROOT)


def published_cells(wildcards):
    """File of an artefact's published cells, if any."""
    cells = f"published/{wildcards.paper}/{wildcards.artefact}.csv"
    return cells if os.path.exists(cells) else []


def records_file(wildcards):
    """File with an artefact's record."""
    return str(PAPERS[wildcards.paper].artefacts[wildcards.artefact].records_path)


def identities(wildcards):
    """In the full tier: files with the computed facts of each corpus."""
    if wildcards.tier != "full":
        return []
    artefact = f"{wildcards.paper}/{wildcards.artefact}"
    names = identifiable_materials(SETTINGS, FULL_TIER, artefact)
    return [f"work/identity/{name}.json" for name in names]


def notes_on_materials(wildcards):
    """In the full tier: notes on corpora that are missing or have no facts."""
    artefact = PAPERS[wildcards.paper].artefacts[wildcards.artefact]
    return material_notes(SETTINGS, FULL_TIER, artefact) if wildcards.tier == "full" else []


def facts_of_material(wildcards):
    """Facts that identify a material, by the names of its files."""
    facts = FULL_TIER.materials[wildcards.material].facts
    return {
        fill_pattern(SETTINGS, name): stated.model_dump(mode="json", exclude_defaults=True)
        for name, stated in facts.items()
    }


def files_with_facts(wildcards):
    """Files of a material that have identifying facts."""
    material = FULL_TIER.materials[wildcards.material]
    path = setting_value(SETTINGS, material.settings[0])
    names = facts_of_material(wildcards)
    if path == FETCH:
        return [fetched_corpus(f"{material.corpus}/{name}") for name in names]
    # Without `holds`, the setting is the path of the file itself.
    return [f"{path}/{name}" if material.holds else path for name in names]


def receipts_of_supplements(wildcards):
    """Receipts of other artefacts whose tables the claims of this artefact read."""
    artefacts = PAPERS[wildcards.paper].artefacts
    record = artefacts[wildcards.artefact].record
    return [
        f"results/{wildcards.tier}/{wildcards.paper}/{owner}.receipt.json"
        for owner in sorted(record.artefacts_with_tables_read(wildcards.tier))
        if wildcards.tier in artefacts[owner].record.tiers
        and artefacts[owner].record.tiers[wildcards.tier].state in RUNNABLE
    ]
