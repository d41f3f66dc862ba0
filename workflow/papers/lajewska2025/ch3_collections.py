"""Collections of CAsT for chapter 3 of lajewska2025: passages, index, parameters of BM25."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice, product
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from everycell.base.errors import DataError
from everycell.collections.cast import Text, stream_cast
from everycell.jobs.job import Job
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.ranking_functions import BM25
from everycell.trec.runs import read_qrels
from papers.lajewska2025.cast_data import passages_to_documents, read_turns
from papers.lajewska2025.ch3_pipeline import terms_by_rewriter

#: Passages in a row group: those that are encoded, and analysed, at a time.
ROWS = 50_000
_SCHEMA = pa.schema([("document_id", pa.string()), ("title", pa.string()), ("text", pa.string())])


def cast_collection(job: Job) -> None:
    """Passages of a year as a Parquet file, from the published files."""
    passages = stream_cast(job.wildcards.year, Path(job.params.folder))
    number = write_passages(passages, Path(job.output.passages))
    job.log.write(f"{number} passages\n")
    if job.params.expected not in (None, number):
        raise DataError(
            job.params.folder,
            fault=f"has {number} passages",
            expected=str(job.params.expected),
            fix="download its files again, or correct cast_systems.passages in config.yaml",
        )


def write_passages(passages: Iterable[Text], path: Path) -> int:
    """Write passages to a Parquet file in row groups, and return their number."""
    number, remaining = 0, iter(passages)
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        while rows := list(islice(remaining, ROWS)):
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            writer.write_table(pa.table(columns, schema=_SCHEMA), row_group_size=ROWS)
            number += len(rows)
    return number


def read_passages_in_groups(path: Path) -> Iterator[pd.DataFrame]:
    """Read the passages, one row group at a time."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group).to_pandas()


def texts_of(path: Path, ids: Collection[str]) -> dict[str, str]:
    """Texts of these passages, in little memory; passages that are missing are left out."""
    has_id = ds.field("document_id").isin(pa.array(sorted(ids), pa.string()))
    table = ds.dataset(path).to_table(columns=["document_id", "text"], filter=has_id)
    return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def cast_index(job: Job) -> None:
    """Lucene index of title and text, with the analysis of the thesis (L719)."""
    from everycell.retrieval.java import start_java
    from everycell.retrieval.kstem import kstem_tokeniser
    from everycell.retrieval.lucene import build_index

    start_java(job.snakemake.resources.mem_mb // 4)
    terms_of = kstem_tokeniser(Path(job.input.stop_words).read_text(encoding="utf-8").split())

    def analysed() -> Iterator[tuple[str, list[str]]]:
        for rows in read_passages_in_groups(Path(job.input.passages)):
            texts = list(rows["title"] + " " + rows["text"])
            yield from zip(rows["document_id"], terms_of(texts), strict=True)

    built = build_index(analysed(), Path(job.output.index), term_vectors=True)
    job.log.write(f"{built}\n")


def cast_full_queries(job: Job) -> None:
    """Queries of the judged turns of a year: by hand, and as the models wrote them."""
    judged = read_qrels(job.input.qrels)["query"].unique()
    turns = read_turns(Path(job.input.topics)).set_index("query")
    queries = {"manual": turns["manual"]} | {
        Path(path).stem.partition(".")[2]: pd.read_csv(path, dtype="str").set_index("query")[
            "rewrite"
        ]
        for path in job.input.rewrites
    }
    judged_queries = {name: texts.loc[judged] for name, texts in queries.items()}
    frame = pd.concat(judged_queries, names=["rewriter", "query"]).rename("text").reset_index()
    job.write_frame(frame[["rewriter", "query", "text"]], "queries")


def cast_tune_bm25(job: Job) -> None:
    """Recall of BM25 for turns rewritten by hand, by its parameters, the best first (L776)."""
    from everycell.retrieval.lucene import Index

    params = job.params
    qrels = read_qrels(job.input.qrels, scale=params.scale)
    queries, rows = terms_by_rewriter(job)["manual"], []
    with Index(Path(job.input.index)) as index:
        for b, k1 in product(params.grid["b"], params.grid["k1"]):
            run = index.search(queries, BM25(k1=k1, b=b), params.hits)
            values = evaluate(
                as_judged(run, job.wildcards.year),
                qrels,
                [f"R@{params.hits}"],
                relevance_level=params.relevance_level,
            )
            rows.append((job.wildcards.year, b, k1, values.to_numpy().mean()))
    grid = pd.DataFrame(rows, columns=["year", "b", "k1", "recall"])
    # Of equally good points, the first.
    grid.sort_values("recall", ascending=False, kind="stable").to_csv(job.output.grid, index=False)


def as_judged(run: pd.DataFrame, year: str) -> pd.DataFrame:
    """A run of passages in the units of the judgements: documents in 2021."""
    return passages_to_documents(run) if year == "2021" else run
