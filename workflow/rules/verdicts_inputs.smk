# Input functions of the verdicts: card, printed cells and audits of an artefact.


def code_of_audits(wildcards):
    """Hash of the audits of an artefact's chapter, which judge it; none where it has none."""
    artefact = PAPERS[wildcards.paper].artefacts[wildcards.artefact]
    return hashes_of_audits(artefact.paper, f"ch{artefact.chapter}")


def code_of_all_audits(wildcards):
    """Hash of the audits of every chapter."""
    return hashes_of_audits("*", "ch*")


def hashes_of_audits(paper, chapter):
    """Modules of audits, each with the hash of its code."""
    root = Path(workflow.basedir)
    found = sorted(root.glob(f"src/everycell/studies/{paper}/{chapter}/audits.py"))
    names = [path.relative_to(root).as_posix() for path in found]
    return {name: hash_of_module(name) for name in names}


@cache
def hash_of_module(name):
    """Hash of a module and of all that it imports here."""
    root = Path(workflow.basedir)
    return code_sha256(imported_files(root / name, [root / "src"]), root)


def printed_cells(wildcards):
    """Printed cells of an artefact, where there are any."""
    cells = f"published/{wildcards.paper}/{wildcards.artefact}.csv"
    return cells if os.path.exists(cells) else []


def card_file(wildcards):
    """File with the artefact's card."""
    return str(PAPERS[wildcards.paper].artefacts[wildcards.artefact].card_path)


def receipts_of_tables_beside(wildcards):
    """Receipts of the other artefacts beside which conclusions of this one read a table."""
    artefacts = PAPERS[wildcards.paper].artefacts
    card = artefacts[wildcards.artefact].card
    return [
        f"results/{wildcards.tier}/{wildcards.paper}/{owner}.receipt.json"
        for owner in sorted(card.artefacts_with_tables_read(wildcards.tier))
        if wildcards.tier in artefacts[owner].card.tiers
        and artefacts[owner].card.tiers[wildcards.tier].state in RUNNABLE
    ]
