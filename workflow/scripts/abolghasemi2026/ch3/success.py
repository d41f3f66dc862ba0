"""Table 3.4: share of generated utterances that flip the label."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import CAUSE_BENCHMARK, read_samples
from everycell.dialogue.counterfactuals import count_faults, frame_rewritings
from everycell.dialogue.judging import compare_generators
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.flips import (
    INTERVALS,
    flip_counts,
    flip_intervals,
    flip_shares,
)
from everycell.studies.abolghasemi2026.ch3.generators import (
    DECIMALS,
    SCORES,
    first_utterance,
    judge_generators,
    judge_scores,
    train_sample_judge,
)

with ResultJob(snakemake) as job:
    files, settings = snakemake.input, snakemake.params
    job.facts["language_models"] = [json.loads(Path(files.provenance).read_text())]
    counts = flip_counts(pd.read_csv(files.sizes))
    job.write_table(flip_shares(counts))
    job.write_supplement(flip_intervals(counts), "intervals", INTERVALS)

    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    people = read_samples(Path(files.released), CAUSE_BENCHMARK, "generated")
    # Both samples of a pair belong to the dialogue of the original.
    judge = train_sample_judge(main, first_utterance, folds=settings.folds, labels=people)
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    generators = {settings.model: generated, "rules": rules}
    labels = judge_generators(main, people, generators, judge, seed=job.seed)
    job.write_supplement(compare_generators(labels), "generators", DECIMALS)
    job.write_supplement(count_faults(generated), "answers", {"count": 0})
    job.write_supplement(judge_scores(main, people, judge), "judges", SCORES)
