# Input functions of the verdicts: card, printed cells and audits of an artefact.


def code_of_audits(wildcards):
    """Hash of the audits of an artefact's chapter, which judge it; None where it has none."""
    artefact = PAPERS[wildcards.paper].artefacts[wildcards.artefact]
    return hash_of_audits(
        f"src/everycell/studies/{artefact.paper}/ch{artefact.chapter}/audits.py"
    )


def code_of_all_audits(wildcards):
    """Hash of the audits of every chapter."""
    return hash_of_audits("src/everycell/studies/*/ch*/audits.py")


@cache
def hash_of_audits(pattern):
    """Hash of modules of audits and of all that they import here."""
    root = Path(workflow.basedir)
    files = {
        file
        for path in root.glob(pattern)
        for file in imported_files(path, [root / "src"])
    }
    return code_sha256(files, root) if files else None


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
