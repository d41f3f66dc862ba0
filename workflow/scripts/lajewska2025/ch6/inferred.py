"""Tables 6.1, 6.4, 6.6, C.6 and C.7: model-based scores of responses."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.inference import (
    ABLATION,
    COMPLETE,
    CONTRADICTED,
    ENTAILED,
    input_table,
    spread_cells,
    variant_table,
)
from everycell.studies.lajewska2025.ch6.systems import BASELINE, REASONED, RELEVANT

#: Names in Table 6.1.
SHORT = {ENTAILED: "Ent", CONTRADICTED: "Contr", COMPLETE: "Comp"}

with ResultJob(snakemake) as job:
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in snakemake.input.provenance
    ]
    scores = pd.concat(map(pd.read_parquet, snakemake.input.scores), ignore_index=True)
    inputs = input_table(scores)
    first = inputs[(inputs["input"] == RELEVANT.capitalize()) & inputs["metric"].isin(SHORT)]
    first = first.drop(columns="input")
    job.write_table(first.assign(metric=first["metric"].map(SHORT)).reset_index(drop=True))
    job.write_table(inputs, artefact="table_6_4")
    reasoned = input_table(scores, (BASELINE, REASONED, "GINGER"))
    decimals = dict.fromkeys(reasoned["metric"].unique(), 2)
    job.write_supplement(reasoned, "reasoning", decimals, "table_6_4")
    relevant = scores[(scores["input"] == RELEVANT) & scores["system"].isin(ABLATION)]
    job.write_table(
        spread_cells(relevant.assign(system=relevant["system"].map(ABLATION)), "GINGER"),
        artefact="table_6_6",
    )
    complete = scores[(scores["metric"] == COMPLETE) & (scores["system"] != REASONED)]
    means = complete.groupby(["system", "input"], sort=False, as_index=False)["value"].mean()
    means = means.rename(columns={"system": "row"}).assign(metric="Completeness")
    job.write_table(means[["row", "input", "metric", "value"]], artefact="table_C_7")
    job.write_table(variant_table(scores), artefact="table_C_6")
