"""Verdicts of one artefact in one tier."""

from pathlib import Path

from everycell.engine.artefacts import find_artefact, load_papers
from everycell.engine.job import Job
from everycell.engine.receipts import ReceiptError, verify, write_json
from everycell.engine.results import files_of, read_result
from everycell.engine.verdicts import report

with Job(snakemake) as job:
    artefact = "{paper}/{artefact}".format(**snakemake.wildcards)
    receipt = Path(snakemake.input.receipt)
    for fault in verify(receipt, Path()):
        raise ReceiptError(fault)
    found = report(
        find_artefact(load_papers(Path("published")), artefact),
        snakemake.wildcards.tier,
        read_result(Path(snakemake.input.rebuilt)),
        files=files_of(receipt),
    )
    write_json(Path(snakemake.output.verdicts), found)
