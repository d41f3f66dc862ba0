"""Train a cross-encoder for one task; kept is what ranks its validation lists best."""

from pathlib import Path

import pandas as pd
from transformers import PreTrainedModel

from everycell.collections.benchmark import judgements
from everycell.engine.job import Job
from everycell.learning.cross_encoder import PairLength, score_pairs, set_dropout, training_loss
from everycell.learning.examples import ranking_examples
from everycell.learning.models import device, load_model, one_thread
from everycell.learning.training import TrainingOptions, train
from everycell.retrieval.evaluation import evaluate

with Job(snakemake) as job:
    one_thread()
    settings = snakemake.params
    kind, task = snakemake.wildcards.kind, snakemake.wildcards.trained_on
    model, tokenizer = load_model(job.folder_of("encoder"), "classifier", seed=job.seed)
    set_dropout(model, settings.dropout)
    queries, documents, candidates = (
        pd.read_parquet(snakemake.input[part]) for part in ("queries", "documents", "candidates")
    )
    query_texts = dict(zip(queries["query_id"], queries["text"], strict=True))
    texts = dict(zip(documents["document_id"], documents["text"], strict=True))
    length = PairLength(**settings.pair_length)
    held = judgements(candidates, setting=settings.setting, task=task, split="validation")
    pairs = list(zip(held["query"], held["document"], strict=True))

    def ndcg(model: PreTrainedModel) -> float:
        """Mean nDCG of the validation lists."""
        scores = score_pairs(model, tokenizer, query_texts, texts, pairs, length)
        run = held[["query", "document"]].assign(score=scores)
        return evaluate(run, held, ["nDCG"])["nDCG"].mean()

    examples = ranking_examples(
        queries,
        documents,
        candidates,
        pairs=settings.pairs,
        negatives=settings.negatives,
        seed=job.seed,
        tasks=[task],
    )
    train(
        model.to(device()),
        examples,
        training_loss(tokenizer, length, triplet_weight=1.0 if kind == "mtft" else 0.0),
        TrainingOptions(seed=job.seed, **settings.options),
        Path(snakemake.output.model),
        tokenizer=tokenizer,
        validate=ndcg,
        settings={
            "kind": kind,
            "code": settings.code,
            "pair_length": settings.pair_length,
            "dropout": settings.dropout,
        },
    )
