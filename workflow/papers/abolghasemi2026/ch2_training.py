"""Training of rankers of query-document pairs for chapter 2 of abolghasemi2026."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from everycell.collections.benchmark import judgements, texts_by_id
from everycell.jobs.job import Job
from everycell.retrieval.evaluation import evaluate

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def train_pairs_scidocs(job: Job) -> None:
    """Train a ranker of query-document pairs for one task; keep the best validated checkpoint."""
    # torch takes seconds to import.
    from everycell.learning.checkpoints import TrainingOptions
    from everycell.learning.examples import ranking_examples
    from everycell.learning.models import device, use_one_thread
    from everycell.learning.rankers import get_ranker
    from everycell.learning.training import set_dropout, train

    use_one_thread()
    params, input_options = job.params, job.params.input_options
    folder = Path(job.output.model)
    examples_file = folder.with_name(f"{folder.name}.examples.arrow")
    kind, task = job.wildcards.kind, job.wildcards.trained_on
    # A trained ranker of pairs.
    ranker: Any = get_ranker(kind)
    start = ranker.start(job.folder_of("encoder"), input_options, job.params.seed)
    set_dropout(start.model, params.dropout)
    queries, documents, candidates = (
        pd.read_parquet(job.input[part]) for part in ("queries", "documents", "candidates")
    )
    texts = texts_by_id(queries, "query"), texts_by_id(documents, "document_id")
    validation = judgements(candidates, setting=params.setting, task=task, split="validation")
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
        pairs=params.pairs,
        negatives=params.negatives,
        seed=job.params.seed,
        tasks=params.tasks,
    )
    train(
        start.model.to(device()),
        examples,
        start.loss,
        TrainingOptions(seed=job.params.seed, **params.options),
        folder,
        tokenizer=start.tokenizer,
        validate=ndcg,
        settings={"kind": kind, "code": params.code, **input_options, "dropout": params.dropout},
    )
    examples_file.unlink()
