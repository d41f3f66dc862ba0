"""Train an estimator of satisfaction in every setup, and predict the labels of all samples.

Models are stored next to the predictions, one per benchmark, setup and seed. An interrupted run
resumes after the last finished training.
"""

import os
import shutil
from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_from_frame
from everycell.jobs.job import Job
from everycell.learning.models import use_one_thread
from everycell.studies.abolghasemi2026.ch3.estimators import ESTIMATORS, predictions_for
from everycell.studies.abolghasemi2026.ch3.setups import Setup

with Job(snakemake) as job:
    use_one_thread()
    settings, kind = snakemake.params, ESTIMATORS[snakemake.wildcards.kind]
    source = None
    if kind.small_encoder(frozen=settings.frozen) is not None:
        source = job.folder_of("encoder")
    estimator = kind(
        source,
        training=settings.training,
        sizes=settings.sizes,
        samples=settings.samples,
        frozen=settings.frozen,
    )
    setups = {name: Setup(**setup) for name, setup in settings.setups.items()}
    out = Path(snakemake.output.predictions)
    work = out.with_suffix(".training")
    frames = []
    samples = pd.read_parquet(snakemake.input.samples)
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        parts = {
            part: samples_from_frame(part_rows)
            for part, part_rows in rows.groupby("part", sort=False)
        }
        predictions = predictions_for(
            estimator, parts, setups, work / benchmark, seeds=settings.seeds, seed=job.seed
        )
        predictions.insert(0, "benchmark", benchmark)
        frames.append(predictions)
    job.write_frame(pd.concat(frames, ignore_index=True), "predictions")
    models = out.with_suffix(".models")
    shutil.rmtree(models, ignore_errors=True)
    os.replace(work, models)
