"""Train a model on the pairs of the training queries; interrupted training resumes."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.examples import ranking_examples
from everycell.learning.models import device, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.learning.training import train

with Job(snakemake) as job:
    use_one_thread()
    settings, folder = snakemake.params, Path(snakemake.output.model)
    examples_file = folder.with_name(f"{folder.name}.examples.arrow")
    kind = snakemake.wildcards.kind
    start = get_ranker(kind).start(job.folder_of("encoder"), settings.input_options, job.seed)
    examples = ranking_examples(
        *(
            pd.read_parquet(snakemake.input[part])
            for part in ("queries", "documents", "candidates")
        ),
        examples_file,
        pairs=settings.pairs,
        negatives=settings.negatives,
        seed=job.seed,
        tasks=settings.tasks,
    )
    train(
        start.model.to(device()),
        examples,
        start.loss,
        TrainingOptions(seed=job.seed, **settings.options),
        folder,
        tokenizer=start.tokenizer,
        settings={"kind": kind, "code": settings.code, **settings.input_options},
    )
    examples_file.unlink()
