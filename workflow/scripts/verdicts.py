"""Verdicts of one artefact in one tier."""

from pathlib import Path

import pandas as pd
from job import Job

from everycell.artefacts import find_artefact, load_papers
from everycell.receipts import read_receipt, write_json
from everycell.verdicts import report

with Job(snakemake) as job:
    wildcards = snakemake.wildcards
    write_json(
        Path(snakemake.output.verdicts),
        report(
            find_artefact(
                load_papers(Path("published")), f"{wildcards.paper}/{wildcards.artefact}"
            ),
            wildcards.tier,
            # As text: a key "1.10" and a value "132_1" stay what they are.
            pd.read_csv(snakemake.input.rebuilt, dtype=str, keep_default_na=False),
            files=[
                output["path"] for output in read_receipt(Path(snakemake.input.receipt))["outputs"]
            ],
        ),
    )
