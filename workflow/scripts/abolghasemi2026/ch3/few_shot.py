"""Satisfaction labels of test samples by a language model prompted with two examples."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding
from everycell.studies.abolghasemi2026.ch3.estimators import predictions_for
from everycell.studies.abolghasemi2026.ch3.few_shot import FewShotModel, labelled_samples

with Job(snakemake) as job:
    params, files = snakemake.params, snakemake.input
    with model_of_job(snakemake, job.log) as model:
        estimator = FewShotModel(params.name, model.answer_all, Decoding(**params.decoding))
        samples = pd.read_parquet(files.samples)
        folder = Path(snakemake.output.predictions).parent
        rows = [
            predictions_for(estimator, parts, {}, folder, seeds=1, seed=job.seed).assign(
                benchmark=benchmark
            )
            for benchmark, parts in labelled_samples(samples, pairs=params.pairs, seed=job.seed)
        ]
    job.write_frame(pd.concat(rows, ignore_index=True), "predictions")
