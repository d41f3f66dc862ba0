"""Write the verdicts of an artefact in a tier."""

from pathlib import Path

from everycell.base.untrusted import read_json
from everycell.jobs.job import Job
from everycell.receipts.receipts import ReceiptError, verify
from everycell.records.papers import load_paper
from everycell.verdicts.audits import audits_of
from everycell.verdicts.cells import sources_of
from everycell.verdicts.results import files_of, find_supplements, read_result, write_report
from everycell.verdicts.verdicts import report

with Job(snakemake) as job:
    paper = load_paper(Path("published", snakemake.wildcards.paper))
    artefact = paper.artefacts[snakemake.wildcards.artefact]
    receipt = Path(snakemake.input.receipt)
    for fault in verify(receipt, Path()):
        raise ReceiptError(fault)
    tier = snakemake.wildcards.tier
    identities = [read_json(path) for path in snakemake.input.identities]
    results = receipt.parents[2]
    verdicts = report(
        artefact,
        tier,
        read_result(Path(snakemake.input.table)),
        files=files_of(receipt),
        audits=audits_of(artefact.paper, artefact.chapter),
        find_table=find_supplements(artefact, tier, results, Path()),
        foreign="; ".join(
            identity["difference"] for identity in identities if identity["difference"]
        ),
        sources=sources_of(receipt, results, Path()),
    )
    verdicts = verdicts.model_copy(update={"notes": snakemake.params.notes})
    write_report(Path(snakemake.output.verdicts), verdicts, artefact, results)
