"""Runs of uniCOIL and TCT-ColBERT for Table 5.9 in chapter 5 of abolghasemi2026.

pyserini publishes no index of Natural Questions for either, so the passages are encoded here, in
blocks, and no index is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import sparse

from everycell.base.arrays import FloatArray
from everycell.collections.cited_questions import read_cited_questions
from everycell.jobs.job import Job
from everycell.learning.batching import Batch, map_batches
from everycell.learning.models import device, set_gpu_precision, use_one_thread
from everycell.learning.query_encoders import encode_queries, load_encoder
from everycell.learning.tildev2 import encode
from everycell.trec.runs import write_run

#: Passages per block.
BLOCK = 20_000
#: uniCOIL's weights up to 5 become whole numbers up to 256.
_RANGE, _STEPS = 5, 256
#: Tokens of "[CLS] [D]", which TCT-ColBERT leaves out of the mean.
_MARKERS = 4

Scores = Callable[[Sequence[str]], FloatArray]


def encoded_run(job: Job) -> None:
    """Rank all passages for each question with an encoder of questions and passages."""
    use_one_thread()
    params = job.params
    collection = read_cited_questions(Path(job.input.files[0]).parent)
    model, tokenizer = load_encoder(job.folder_of("encoder"), params.kind)
    model.to(device())
    scorer = {"unicoil": unicoil_scores, "tct_colbert": tct_colbert_scores}[params.kind]
    questions = collection.questions
    scores_of = scorer(model, tokenizer, questions["text"].tolist(), params.length)
    # Questions are encoded in float32, as for MS MARCO.
    set_gpu_precision(params.gpu_precision)
    passages = collection.passages
    rows, scores = top_passages(scores_of, passages["text"].tolist(), params.hits)
    run = pd.DataFrame(
        {
            "query": np.repeat(questions["query"].to_numpy(), rows.shape[1]),
            "document": passages["document_id"].to_numpy()[rows.ravel()],
            "score": scores.ravel(),
        }
    )
    write_run(run, Path(job.output.run), tag=params.kind)


def top_passages(
    scores_of: Scores, texts: Sequence[str], hits: int, *, block: int = BLOCK
) -> tuple[np.ndarray, FloatArray]:
    """Positions and scores of the top texts for each question, best first."""
    best_rows = np.empty((0, 0), dtype=np.int64)
    best_scores = np.empty((0, 0))
    for start in range(0, len(texts), block):
        scores = scores_of(texts[start : start + block])
        rows = np.broadcast_to(np.arange(start, start + scores.shape[1]), scores.shape)
        if start:
            scores, rows = np.hstack([best_scores, scores]), np.hstack([best_rows, rows])
        # Earlier texts come first, so ties are broken by position.
        order = np.argsort(-scores, axis=1, kind="stable")[:, :hits]
        best_rows = np.take_along_axis(rows, order, axis=1)
        best_scores = np.take_along_axis(scores, order, axis=1)
    return best_rows, best_scores


def unicoil_scores(model, tokenizer, questions: list[str], length: int) -> Scores:
    """Sums of query weight times passage weight, both as whole numbers, over the word pieces.

    Special tokens are left out of the passages; every passage has them.
    """
    stop = np.array([tokenizer.cls_token_id, tokenizer.sep_token_id])
    vectors: Iterable[Any] = encode_queries(model, tokenizer, "unicoil", questions)
    encoded = [
        (row, tokenizer.convert_tokens_to_ids(piece), weight)
        for row, weights in enumerate(vectors)
        for piece, weight in weights.items()
    ]
    rows, columns, weights = zip(*encoded, strict=True)
    shape = (len(questions), len(tokenizer))
    queries = sparse.csr_array((np.array(weights, dtype=float), (rows, columns)), shape=shape)

    def scores_of(texts: Sequence[str]) -> FloatArray:
        passages = encode(model, tokenizer, list(texts), length, stop)
        passages.data = np.rint(passages.data / _RANGE * _STEPS)
        return (queries @ passages.T).toarray()

    return scores_of


def tct_colbert_scores(model, tokenizer, questions: list[str], length: int) -> Scores:
    """Inner products of the vectors of questions and of passages, "[CLS] [D] passage"."""
    queries = np.array(list(encode_queries(model, tokenizer, "tct_colbert", questions)))

    def forward(batch: Batch) -> torch.Tensor:
        states = model(**batch).last_hidden_state[:, _MARKERS:].float()
        mask = batch["attention_mask"][:, _MARKERS:, None].to(states.dtype)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)

    def scores_of(texts: Sequence[str]) -> FloatArray:
        sequences = tokenizer(
            [f"[CLS] [D] {text}" for text in texts],
            truncation=True,
            max_length=length,
            add_special_tokens=False,
        )["input_ids"]
        vectors = map_batches(
            forward,
            sequences,
            pad_id=tokenizer.pad_token_id,
            device=model.device,
            what="passages",
        )
        return queries @ np.array(vectors, dtype=float).T

    return scores_of
