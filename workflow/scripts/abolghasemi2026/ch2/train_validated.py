"""Train a ranker of query-document pairs for one task; keep the best validated checkpoint."""

from pathlib import Path

import pandas as pd
from transformers import PreTrainedModel

from everycell.collections.benchmark import judgements, texts_by_id
from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.examples import ranking_examples
from everycell.learning.models import device, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.learning.training import set_dropout, train
from everycell.retrieval.evaluation import evaluate

with Job(snakemake) as job:
    use_one_thread()
    settings, input_options = snakemake.params, snakemake.params.input_options
    folder = Path(snakemake.output.model)
    examples_file = folder.with_name(f"{folder.name}.examples.arrow")
    kind, task = snakemake.wildcards.kind, snakemake.wildcards.trained_on
    ranker = get_ranker(kind)
    start = ranker.start(job.folder_of("encoder"), input_options, job.seed)
    set_dropout(start.model, settings.dropout)
    queries, documents, candidates = (
        pd.read_parquet(snakemake.input[part]) for part in ("queries", "documents", "candidates")
    )
    texts = texts_by_id(queries, "query_id"), texts_by_id(documents, "document_id")
    validation = judgements(candidates, setting=settings.setting, task=task, split="validation")
    pairs = list(zip(validation["query"], validation["document"], strict=True))

    def ndcg(model: PreTrainedModel) -> float:
        """Mean nDCG of the validation lists."""
        scores = ranker.score(model, start.tokenizer, *texts, pairs, input_options)
        run = validation[["query", "document"]].assign(score=scores)
        return evaluate(run, validation, ["nDCG"])["nDCG"].mean()

    examples = ranking_examples(
        queries,
        documents,
        candidates,
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
        validate=ndcg,
        settings={
            "kind": kind,
            "code": settings.code,
            **input_options,
            "dropout": settings.dropout,
        },
    )
    examples_file.unlink()
