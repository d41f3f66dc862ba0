"""Training of the rankers that several papers use, from triples or judged pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.examples import ranking_examples
from everycell.learning.models import device, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.learning.training import train as train_model


def train(job: Job) -> None:
    """Train a model on the pairs of the training queries; interrupted training resumes."""
    use_one_thread()
    settings, folder = job.params, Path(job.output.model)
    examples_file = folder.with_name(f"{folder.name}.examples.arrow")
    kind = job.wildcards.kind
    ranker: Any = get_ranker(kind)
    start = ranker.start(job.folder_of("encoder"), settings.input_options, settings.seed)
    examples = ranking_examples(
        pd.read_parquet(job.input.queries),
        pd.read_parquet(job.input.documents),
        pd.read_parquet(job.input.candidates),
        examples_file,
        pairs=settings.pairs,
        negatives=settings.negatives,
        seed=settings.seed,
        tasks=settings.tasks,
    )
    train_model(
        start.model.to(device()),
        examples,
        start.loss,
        TrainingOptions(seed=settings.seed, **settings.options),
        folder,
        tokenizer=start.tokenizer,
        settings={"kind": kind, "code": settings.code, **settings.input_options},
    )
    examples_file.unlink()
