"""Table C.7: how much of people's nuggets each variant says, by imitations of the judges."""

from pathlib import Path

import pandas as pd

from everycell.collections.ginger_responses import read_responses
from everycell.collections.nugget_labels import read_nugget_labels
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.ch6.completeness import (
    completeness,
    imitate,
    join_sentences,
    mean_intervals,
)
from everycell.studies.lajewska2025.ch6.nuggets import MEAN, TEST_DECIMALS, compare_runs
from everycell.studies.lajewska2025.ch6.sizes import enough_nuggets
from everycell.studies.lajewska2025.ch6.systems import BASELINE, GOLD, RELEVANT, STANDARD

INTERVAL = {"value": 3, "low": 3, "high": 3, "topics": 0}

with ResultJob(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    released = read_responses(map(Path, files.responses))
    imitations = imitate(
        read_nugget_labels(*map(Path, files.labels)).nuggets,
        released.set_index(["run", "topic"])["text"].to_dict(),
        released.set_index("topic")["question"].to_dict(),
        trained=params.trained,
        seed=job.seed,
        resamples=params.resamples,
    )
    nuggets = pd.read_parquet(files.nuggets)
    facts = enough_nuggets(nuggets[nuggets["detection"] == GOLD])
    questions = pd.read_parquet(files.passages).groupby("topic")["question"].first().to_dict()
    extracted = join_sentences(pd.read_parquet(files.extracted)).assign(writer="extracted")
    written = [
        join_sentences(pd.read_parquet(path)).assign(writer=name)
        for name, path in zip(params.models, files.written, strict=True)
    ]

    scores = completeness(imitations, facts, extracted, questions)
    mean = scores[scores["judge"] == MEAN]
    table = mean.groupby(["system", "input"], sort=False, as_index=False)["value"].mean()
    table = table.rename(columns={"system": "row"}).assign(metric="Completeness")
    job.write_table(table[["row", "input", "metric", "value"]])

    on_relevant = mean[mean["input"] == RELEVANT]
    other_systems = [name for name in on_relevant["system"].unique() if name != STANDARD]
    tests = compare_runs(
        on_relevant.rename(columns={"system": "run"}), [(o, STANDARD) for o in other_systems]
    )
    job.write_beside(
        tests.rename(columns={"a": "row"}).melt("row", list(TEST_DECIMALS), "metric"),
        "tests",
        TEST_DECIMALS,
    )
    errors = pd.concat([imitations.errors, imitations.orders], ignore_index=True)
    job.write_beside(
        errors,
        "judge",
        dict.fromkeys(
            ["AUC", "kappa", "difference", "absolute difference", "tau, systems", "low", "high"], 3
        )
        | {"facts": 0},
    )
    topics = set().union(*(set(frame["topic"]) for frame in written))
    compared = pd.concat(
        [extracted[extracted["system"].isin([BASELINE, STANDARD])], *written], ignore_index=True
    )
    compared = compared[compared["topic"].isin(topics) & (compared["input"] == RELEVANT)]
    compared = compared.assign(system=compared["writer"] + ": " + compared["system"])
    by_writer = completeness(imitations, facts, compared, questions)
    by_writer = mean_intervals(by_writer[by_writer["judge"] == MEAN], ["system"])
    words = compared.assign(value=compared["text"].str.split().str.len()).groupby("system")["value"]
    by_writer = pd.concat([by_writer, words.mean().reset_index().assign(metric="words")])
    job.write_beside(by_writer, "writers", INTERVAL | {"words": 1})
