"""CODER in chapter 3 of heuss2025: the query encoder of TAS-B, fine-tuned with neutrality."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from datasets import Dataset

from everycell.base.arrays import FloatArray, read_vectors
from everycell.base.errors import DataError
from everycell.collections.msmarco import read_judgements, read_queries
from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.models import device, use_one_thread
from everycell.learning.query_encoders import encode_queries, load_encoder
from everycell.learning.query_tuning import query_tuning_loss, top_rows
from everycell.learning.training import train
from everycell.metrics.nfairr import neutrality
from everycell.retrieval.published_indexes import fetched_index
from everycell.trec.runs import write_run

#: TAS-B uses the vector of the first token.
_KIND = "first"


def passage_vectors(job: Job) -> None:
    """Vectors of an index by passage id, in a file that later steps map into memory."""
    import faiss

    fetched = job.input.get("fetched")
    folder = fetched_index(Path(fetched)) if fetched else Path(job.params.index)
    ids = np.array((folder / "docid").read_text(encoding="utf-8").split(), dtype=np.int64)
    if not np.array_equal(np.sort(ids), np.arange(len(ids))):
        raise DataError(
            folder / "docid",
            fault="does not have each passage id once",
            expected=f"the ids 0 to {len(ids) - 1}",
            fix="copy the index again",
        )
    index = faiss.read_index(str(folder / "index"))
    vectors = np.lib.format.open_memmap(
        job.output.vectors, mode="w+", dtype=np.float32, shape=(index.ntotal, index.d)
    )
    for start in range(0, len(ids), 100_000):
        rows = ids[start : start + 100_000]
        vectors[rows] = index.reconstruct_n(start, len(rows))
    vectors.flush()


def coder_lists(job: Job) -> None:
    """Candidates of the training queries: their relevant passages, then TAS-B's top passages."""
    use_one_thread()
    inputs, params = job.input, job.params
    texts = read_queries(Path(inputs.training_queries))
    judged = read_judgements(Path(inputs.training_judgements), texts)
    relevant = judged[judged["relevance"] > 0].groupby("query")["document"].agg(list)
    if params.queries is not None and params.queries < len(relevant):
        relevant = relevant.sample(params.queries, random_state=params.seed).sort_index()
    vectors = read_vectors(inputs.vectors)
    size = min(params.candidates, len(vectors))
    top = _search(job, [texts[query] for query in relevant.index], vectors, size)
    rows = [
        _list_of(texts[query], [int(document) for document in documents], candidates)
        for (query, documents), candidates in zip(relevant.items(), top.tolist(), strict=True)
    ]
    job.write_frame(pd.DataFrame(rows, columns=["query", "documents", "relevant"]), "lists")


def train_coder(job: Job) -> None:
    """Fine-tune TAS-B's query encoder; interrupted training resumes."""
    use_one_thread()
    inputs, params = job.input, job.params
    model, tokenizer = load_encoder(job.folder_of("encoder"), _KIND)
    lists = pd.read_parquet(inputs.lists)
    counts = pd.read_parquet(inputs.counts)
    neutralities = _neutralities(counts)
    options = dict(params.options)
    steps = options["epochs"] * -(-len(lists) // options["batch_size"])
    warmup = min(1.0, options.pop("warmup_steps") / steps)
    train(
        model.to(device()),
        Dataset.from_pandas(lists, preserve_index=False),
        query_tuning_loss(
            tokenizer,
            read_vectors(inputs.vectors),
            neutralities,
            length=params.query_length,
            weight=params.strength,
            cutoff=params.cutoff,
        ),
        TrainingOptions(seed=params.seed, warmup_ratio=warmup, **options),
        Path(job.output.model),
        tokenizer=tokenizer,
        settings={
            "strength": params.strength,
            "query_length": params.query_length,
            "cutoff": params.cutoff,
            "code": params.code,
        },
    )


def coder_run(job: Job) -> None:
    """Re-rank TAS-B's top passages for each query with the fine-tuned encoder."""
    use_one_thread()
    inputs, params = job.input, job.params
    table = pd.read_parquet(inputs.queries)
    table = table[table[params.query_set]]
    texts = table["text"].tolist()
    vectors = read_vectors(inputs.vectors)
    candidates = _search(job, texts, vectors, min(params.depth, len(vectors)))
    tuned = _encode(Path(inputs.model), texts)
    scores = np.einsum("qd,qnd->qn", tuned, vectors[candidates])
    run = pd.DataFrame(
        {
            "query": np.repeat(table["query"].to_numpy(), candidates.shape[1]),
            "document": candidates.ravel().astype(str),
            "score": scores.ravel().astype(float),
        }
    )
    write_run(run, Path(job.output.run), tag="coder")


def _search(job: Job, texts: list[str], vectors: np.ndarray, hits: int) -> np.ndarray:
    """Rows of the top passages by the encoder that is not fine-tuned."""
    return top_rows(_encode(job.folder_of("encoder"), texts), vectors, hits, device=device())


def _encode(folder: Path, texts: list[str]) -> np.ndarray:
    model, tokenizer = load_encoder(folder, _KIND)
    vectors = encode_queries(model.to(device()), tokenizer, _KIND, texts)
    return np.array(list(vectors), dtype=np.float32)


def _list_of(query: str, relevant: list[int], top: list[int]) -> tuple[str, list[int], int]:
    """Relevant documents, then the other top documents, as many in all as there are in `top`."""
    further = [document for document in top if document not in relevant]
    return query, (relevant + further)[: len(top)], min(len(relevant), len(top))


def _neutralities(counts: pd.DataFrame) -> FloatArray:
    """Neutrality of each passage, by its id."""
    groups = counts.drop(columns=["document_id", "length"]).to_numpy()
    values = np.empty(len(counts), dtype=np.float32)
    values[counts["document_id"].astype(int)] = neutrality(groups)
    return values
