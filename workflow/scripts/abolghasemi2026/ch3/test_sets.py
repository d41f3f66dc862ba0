"""Table 3.5: sizes of Main and CF; how the histories of a pair compare."""

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_splits import compare_histories
from everycell.collections.user_satisfaction import CAUSE_BENCHMARK, read_samples
from everycell.engine.result_job import ResultJob

NAMES = {"main": "Main", "cf": "CF"}

with ResultJob(snakemake) as job:
    files = snakemake.input
    tests = pd.read_parquet(files.samples, columns=["benchmark", "part", "satisfied"])
    tests = tests[tests["part"].isin(NAMES)]
    keys = ["row", "dataset", "collection", "metric"]
    rows = []
    for (dataset, part), labels in tests.groupby(["benchmark", "part"], sort=False)["satisfied"]:
        happy = int(labels.sum())
        counts = (happy, len(labels) - happy, len(labels))
        for row, count in zip(("Satisfaction", "Dissatisfaction", "Total"), counts, strict=True):
            rows.append((row, dataset, NAMES[part], "count", count, ""))
    # Of SGD the counterfactuals were not released: their printed numbers, marked as such.
    quoted = job.input_cells("abolghasemi2026/table_3_5").astype({"value": int})
    table = pd.DataFrame(rows, columns=[*keys, "value", "marker"])
    quoted = quoted[[*keys, "value"]].assign(marker="p")
    job.write_table(pd.concat([table, quoted], ignore_index=True), "p: as printed")
    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    generated = read_samples(Path(files.generated), CAUSE_BENCHMARK, "generated")
    pairs = compare_histories(main, generated)
    kinds = {"all pairs": pairs, "label flipped": pairs[pairs["confirmed"]]}
    beside = [
        (name, metric, int(count))
        for name, group in kinds.items()
        for metric, count in (
            ("pairs", len(group)),
            ("same history", group["same"].sum()),
            ("same but for apologies", group["same_without_apologies"].sum()),
        )
    ]
    beside = pd.DataFrame(beside, columns=["generated", "metric", "value"])
    job.write_beside(beside, "pairs", dict.fromkeys(beside["metric"], 0))
