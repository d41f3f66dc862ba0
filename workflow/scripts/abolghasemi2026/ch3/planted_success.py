"""Tables 3.4 and 3.5 on planted dialogues, with a surrogate judge."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_from_frame
from everycell.dialogue.counterfactuals import count_faults, frame_rewritings, success
from everycell.dialogue.judging import compare_generators, judge_rewritings
from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch3.flips import INTERVALS, flip_intervals, flip_shares
from everycell.studies.abolghasemi2026.ch3.generators import (
    DECIMALS,
    add_controls,
    planted_dialogue,
    planted_sizes,
    train_sample_judge,
)

with ResultJob(snakemake) as job:
    files, settings = snakemake.input, snakemake.params
    job.facts["language_models"] = [json.loads(Path(files.provenance).read_text())]
    samples = samples_from_frame(pd.read_parquet(files.samples))
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    judge = train_sample_judge(samples, planted_dialogue, folds=settings.folds)
    generators = add_controls(
        {settings.model: generated, "rules": rules},
        [rewriting.sample for rewriting in generated],
        samples,
        planted_dialogue,
        seed=job.seed,
    )
    labels = {
        name: judge_rewritings(rewriting, judge, planted_dialogue)
        for name, rewriting in generators.items()
    }
    counts = {
        (success_rate["row"], "planted"): (success_rate["flipped"], success_rate["generated"])
        for success_rate in success(labels[settings.model]).to_dict("records")
    }
    job.write_table(flip_shares(counts))
    job.write_supplement(flip_intervals(counts), "intervals", INTERVALS)
    job.write_supplement(compare_generators(labels), "generators", DECIMALS)
    job.write_supplement(count_faults(generated), "answers", {"count": 0})
    job.write_table(planted_sizes(samples, judge, seed=job.seed), artefact="table_3_5")
