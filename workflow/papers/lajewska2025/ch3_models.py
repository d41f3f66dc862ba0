"""Models of chapter 3 of lajewska2025 on the collections of CAsT: ANCE, monoT5 and duoT5."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq
import torch

from everycell.base.arrays import read_vectors
from everycell.jobs.job import Job
from everycell.learning.models import device, set_gpu_precision, use_one_thread
from everycell.learning.query_encoders import encode_passages, encode_queries, load_encoder
from everycell.learning.t5 import load_t5, pair_scores, relevance_scores
from everycell.trec.runs import write_run
from papers.lajewska2025.ch3_collections import as_judged, read_passages_in_groups, texts_of
from papers.lajewska2025.ch3_pipeline import fuse_runs, rerank, rerank_runs, top_documents
from papers.lajewska2025.ch3_systems import CAST_SUM_OPTIONS

Vectors = npt.NDArray[np.floating[Any]]


def cast_encode(job: Job) -> None:
    """ANCE's vectors of the passages, one file per row group.

    The files are written next to the output, in a folder that is named after inputs, parameters
    and code, so that interrupted encoding resumes with the same ones only.
    """
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    folder = Path(job.output.vectors)
    params = job.params
    identity = [*job.input_hashes.values(), params.length, params.gpu_precision, params.code]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    parts = folder.with_name(f"{folder.name}.{digest}.parts")
    parts.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load_encoder(job.folder_of("encoder"), "ance")
    model.to(device())
    for number, rows in enumerate(read_passages_in_groups(Path(job.input.passages))):
        part = parts / f"{number:05}.npy"
        if part.exists():
            continue
        vectors = encode_passages(model, tokenizer, list(rows["text"]), length=job.params.length)
        unfinished = part.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.save(file, vectors.astype(np.float16))
        os.replace(unfinished, part)
        job.log.write(f"{number + 1} row groups encoded\n")
    os.replace(parts, folder)


def cast_search_vectors(job: Job) -> None:
    """ANCE runs for the queries of each rewriter: exact search by dot products."""
    use_one_thread()
    params = job.params
    frame = pd.read_parquet(job.input.queries)
    frame = frame[frame["rewriter"].isin([rewriter for rewriter, _ in params.runs])]
    model, tokenizer = load_encoder(job.folder_of("encoder"), "ance")
    model.to(device())
    queries = np.array(list(encode_queries(model, tokenizer, "ance", list(frame["text"]))))
    parts = map(read_vectors, sorted(Path(job.input.vectors).glob("*.npy")))
    rows, scores = best_rows(queries, parts, params.hits)
    names = pq.read_table(job.input.passages, columns=["document_id"])["document_id"]
    run = pd.DataFrame(
        {
            "rewriter": np.repeat(frame["rewriter"].to_numpy(), rows.shape[1]),
            "query": np.repeat(frame["query"].to_numpy(), rows.shape[1]),
            "document": names.take(rows.ravel()).to_pandas(),
            "score": scores.ravel(),
        }
    )
    for (rewriter, _), out in zip(params.runs, job.output.runs, strict=True):
        part = run.loc[run["rewriter"] == rewriter, ["query", "document", "score"]]
        write_run(part, Path(out), tag=Path(out).stem)


def best_rows(
    queries: Vectors, parts: Iterable[Vectors], k: int
) -> tuple[npt.NDArray[np.int64], Vectors]:
    """Rows with the k largest dot products for each query, and these, over blocks of rows."""
    vectors = torch.as_tensor(queries, dtype=torch.float32, device=device())
    scores = torch.empty((len(queries), 0), device=device())
    rows = torch.empty((len(queries), 0), dtype=torch.long, device=device())
    first = 0
    for part in parts:
        block = torch.as_tensor(part, dtype=torch.float32, device=device())
        numbers = torch.arange(first, first + len(part), device=device())
        scores = torch.cat([scores, vectors @ block.T], dim=1)
        rows = torch.cat([rows, numbers.expand(len(queries), -1)], dim=1)
        scores, best = scores.topk(min(k, scores.shape[1]), dim=1)
        rows = rows.gather(1, best)
        first += len(part)
    return rows.cpu().numpy(), scores.cpu().numpy().astype(np.float64)


class T5Rerankers:
    """monoT5 on all candidates, and duoT5 on the first ones.

    `queries` are texts by rewriter and turn; `mono` and `duo` are models with their tokenizers.
    """

    def __init__(
        self,
        mono: tuple[Any, Any],
        duo: tuple[Any, Any],
        queries: Mapping[tuple[str, str], str],
        texts: Mapping[str, str],
        *,
        first: int,
        length: int,
    ) -> None:
        self.mono, self.duo, self.queries, self.texts = mono, duo, queries, texts
        self.first, self.length = first, length

    def pointwise(self, run: pd.DataFrame, rewriter: str) -> pd.DataFrame:
        """Re-rank a run by monoT5."""
        return self._rerank(run, run, rewriter, relevance_scores, self.mono)

    def pairwise(
        self, run: pd.DataFrame, rewriter: str, options: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Re-rank the top passages of a run by duoT5, whose scores are symmetric sums."""
        assert options == CAST_SUM_OPTIONS, "duoT5 scores by the symmetric sum"
        return self._rerank(run, top_documents(run, self.first), rewriter, pair_scores, self.duo)

    def _rerank(
        self, run: pd.DataFrame, candidates: pd.DataFrame, rewriter: str, score: Any, model: Any
    ) -> pd.DataFrame:
        parts = []
        for turn, rows in candidates.groupby("query", sort=False):
            texts = [self.texts[name] for name in rows["document"]]
            values = score(*model, self.queries[rewriter, turn], texts, length=self.length)
            parts.append(rows[["query", "document"]].assign(score=values))
        return rerank(run, pd.concat(parts))


def cast_rerank_with_t5(job: Job) -> None:
    """Fuse first passes, and re-rank them with monoT5 and duoT5."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    params, runs = job.params, fuse_runs(job)
    frame = pd.read_parquet(job.input.queries)
    keys = zip(frame["rewriter"], frame["query"], strict=True)
    documents = {
        name for stage, _, _ in params.reranked.values() for name in runs[stage]["document"]
    }
    mono, duo = (load_t5(job.folder_of(name)) for name in ("mono", "duo"))
    for model, _ in (mono, duo):
        model.to(device())
    rerankers = T5Rerankers(
        mono,
        duo,
        dict(zip(keys, frame["text"], strict=True)),
        texts_of(Path(job.input.passages), documents),
        first=params.pairwise,
        length=params.length,
    )
    reranked = rerank_runs(runs, params.reranked, rerankers)
    for path in map(Path, job.output.runs):
        write_run(as_judged(reranked[path.stem], job.wildcards.year), path, tag=path.stem)
