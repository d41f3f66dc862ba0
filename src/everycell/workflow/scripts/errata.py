"""Write a table of all errata, with the results of their audits of published values."""

from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.papers import all_artefacts, load_papers
from everycell.render.table_files import write_table
from everycell.verdicts.audits import audits_of, finding_of

PUBLISHED = Path("published")

with ResultJob(snakemake) as job:
    rows = []
    for artefact in all_artefacts(load_papers(PUBLISHED)):
        audits = audits_of(artefact.paper, artefact.chapter)
        for erratum in artefact.record.errata:
            finding = finding_of(erratum, artefact, audits)
            outcome = (
                "no audit" if finding is None else "holds" if finding.holds else "does not hold"
            )
            texts = {
                "cause": erratum.cause,
                "finding": erratum.finding,
                "evidence": erratum.evidence,
                "audit": outcome,
                "numbers": finding.detail if finding else "",
            }
            rows += [(artefact.id, erratum.id, part, text) for part, text in texts.items()]
    write_table(
        pd.DataFrame(rows, columns=["artefact", "erratum", "part", "value"]),
        Path(snakemake.output.csv).with_suffix(""),
        title="Errata in published values, with the results of their audits",
        layout_rows=["artefact", "erratum"],
        layout_columns=["part"],
        decimals={"all": "text"},
    )
