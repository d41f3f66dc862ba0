"""Table 3.5: sizes of Main and CF, and a comparison of the dialogue histories of pairs."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import CAUSE_BENCHMARK, compare_histories, read_samples
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.data import collection_sizes, shared_histories

with ResultJob(snakemake) as job:
    files = snakemake.input
    tests = pd.read_parquet(files.samples, columns=["benchmark", "part", "satisfied"])
    table = collection_sizes(tests)
    # The counterfactuals of SGD were not released, so their published sizes are used and marked.
    quoted = job.input_cells("abolghasemi2026/table_3_5").astype({"value": int})
    parts = [table.assign(marker=""), quoted[list(table.columns)].assign(marker="p")]
    job.write_table(pd.concat(parts, ignore_index=True), "p: as published")
    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    generated = read_samples(Path(files.generated), CAUSE_BENCHMARK, "generated")
    pairs = shared_histories(compare_histories(main, generated))
    job.write_supplement(pairs, "pairs", dict.fromkeys(pairs["metric"], 0))
