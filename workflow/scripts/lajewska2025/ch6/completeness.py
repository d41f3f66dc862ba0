"""Table C.7: completeness of each variant on human nuggets, scored by imitations of the judges."""

from pathlib import Path

import pandas as pd

from everycell.collections.ginger import read_nugget_labels, read_responses
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.completeness import (
    compare_writers,
    completeness,
    completeness_tables,
    imitate,
    join_sentences,
)
from everycell.studies.lajewska2025.ch6.nuggets import TEST_DECIMALS
from everycell.studies.lajewska2025.ch6.sizes import drop_sparse_topics
from everycell.studies.lajewska2025.ch6.systems import GOLD

WRITERS = {"value": 3, "low": 3, "high": 3, "topics": 0, "words": 1}
AGREEMENT = ("AUC", "kappa", "difference", "absolute difference", "tau, systems", "low", "high")

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    released = read_responses(map(Path, files.responses))
    imitations = imitate(
        read_nugget_labels(*map(Path, files.labels)).nuggets,
        released.set_index(["run", "topic"])["text"].to_dict(),
        released.set_index("topic")["question"].to_dict(),
        train_share=params.trained,
        seed=job.seed,
        resamples=params.resamples,
    )
    nuggets = pd.read_parquet(files.nuggets)
    facts = drop_sparse_topics(nuggets[nuggets["detection"] == GOLD])
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first().to_dict()
    paths = dict(zip(params.models, files.written, strict=True))
    responses = {
        writer: join_sentences(pd.read_parquet(path))
        for writer, path in {"extracted": files.extracted, **paths}.items()
    }
    cells, tests = completeness_tables(
        completeness(imitations, facts, responses["extracted"], questions)
    )
    job.write_table(cells)
    job.write_supplement(tests, "tests", TEST_DECIMALS)
    errors = pd.concat([imitations.errors, imitations.orders], ignore_index=True)
    job.write_supplement(errors, "judge", dict.fromkeys(AGREEMENT, 3) | {"facts": 0})
    writers = compare_writers(imitations, facts, responses, questions)
    job.write_supplement(writers, "writers", WRITERS)
