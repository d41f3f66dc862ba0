"""Verdicts of one artefact in one tier."""

import json
from pathlib import Path

from everycell.engine.artefacts import load_paper
from everycell.engine.job import Job
from everycell.engine.receipts import ReceiptError
from everycell.engine.results import files_of, find_supplements, read_result, write_report
from everycell.engine.verdicts import report
from everycell.engine.verification import verify
from everycell.studies.discovery import audits_of

with Job(snakemake) as job:
    paper = load_paper(Path("published", snakemake.wildcards.paper))
    artefact = paper.artefacts[snakemake.wildcards.artefact]
    receipt = Path(snakemake.input.receipt)
    for fault in verify(receipt, Path()):
        raise ReceiptError(fault)
    tier = snakemake.wildcards.tier
    identities = [json.loads(Path(path).read_text()) for path in snakemake.input.identities]
    results = receipt.parents[2]
    judged = report(
        artefact,
        tier,
        read_result(Path(snakemake.input.rebuilt)),
        files=files_of(receipt),
        audits=audits_of(artefact.paper, artefact.chapter),
        beside=find_supplements(artefact, tier, results, Path()),
        foreign="; ".join(
            identity["difference"] for identity in identities if identity["difference"]
        ),
    )
    judged = judged.model_copy(update={"notes": snakemake.params.notes})
    write_report(Path(snakemake.output.verdicts), judged, artefact, results)
