"""MS MARCO, full tier, on invented passages with tiny indexes and random models: the path alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertForSequenceClassification
from workflow.project import Project

from everycell.collections.msmarco import COLLECTION, QUERY_SETS, read_query_set
from everycell.learning.tildev2 import TildeV2
from everycell.receipts.provenance import NAME, write_jobs
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import index_texts
from everycell.sources import fetch
from everycell.trec.runs import read_run, write_run

#: Queries of each set that a passage is made of; the others find what shares words with it.
ANSWERED = 10


def write_model(folder: Path, model_class: type, words: list[str]) -> None:
    """A model of these words and the special ones."""
    vocabulary = [*SPECIAL, *words]
    model = tiny_bert(model_class, words=len(vocabulary), positions=64)
    if model_class is TildeV2:
        torch.nn.init.constant_(model.tok_proj.bias, 3.0)
    write_bert(folder, model, vocabulary)


def words_of(text: str) -> dict[str, int]:
    """Words of a passage, each with its length: DeepImpact keeps stop words of passages."""
    return {word: len(word) for word in re.findall("[a-z0-9]+", text.lower())}


def index_impacts(texts: list[str], folder: Path) -> None:
    """Index as Anserini makes one of learned sparse vectors; the impact of a word is its length."""
    start_java()
    from jnius import autoclass

    (folder / "vectors").mkdir(parents=True)
    with (folder / "vectors/0.jsonl").open("w") as file:
        for number, text in enumerate(texts):
            line = {"id": str(number), "contents": "", "vector": words_of(text)}
            file.write(json.dumps(line) + "\n")
    autoclass("io.anserini.index.IndexCollection").main(
        ["-collection", "JsonVectorCollection", "-input", str(folder / "vectors")]
        + ["-generator", "DefaultLuceneDocumentGenerator", "-index", str(folder / "index")]
        + ["-impact", "-pretokenized", "-quiet"]
    )


@pytest.fixture
def configured_project(clean: Project, mirror: Path) -> Project:
    """Return a project whose configuration names a folder for everything."""
    for folder in ("cross", "unicoil", "bm25", "impacts/index"):
        (clean.folder / "marco" / folder).mkdir(parents=True)
    for model in ("cross", "unicoil"):
        (clean.folder / "marco" / model / "config.json").touch()
        (clean.folder / "marco" / model / "model.safetensors").touch()
    for file in (COLLECTION, "qrels.dev.tsv"):
        (clean.folder / "marco" / file).touch()
    for old, new in (
        ("    folder: null\n    qrels", "    folder: marco\n    qrels"),
        ("passages: 8841823", f"passages: {2 * ANSWERED}"),
        ("      bm25: msmarco-v1-passage\n", "      bm25: marco/bm25\n"),
        ("unicoil: msmarco-v1-passage.unicoil", "unicoil: marco/impacts/index"),
        ("unicoil: castorini/unicoil-msmarco-passage", "unicoil: marco/unicoil"),
        ("bert: xpmir/cross-encoder-bert-base-BCE", "bert: marco/cross"),
        ("minilm: cross-encoder/ms-marco-MiniLM-L6-v2", "minilm: marco/cross"),
        ("tinybert: cross-encoder/ms-marco-TinyBERT-L2-v2", "tinybert: marco/cross"),
        ("    pair: 512", "    pair: 48"),
    ):
        clean.edit("config.yaml", old, new)
    return Project(clean.folder, mirror)


def write_all(data: Path, mirror: Path, cache: Path) -> list[str]:
    """Write collection, judgements, indexes and models; the queries that have an answer."""
    sets = {
        name: read_query_set(name, fetch(key, cache, mirror=mirror, network=False))
        for name, key in QUERY_SETS.items()
    }
    answered = list(sets["qs2"])[:ANSWERED]
    answered += [query for query in sets["qs1"] if query not in sets["qs2"]][:ANSWERED]
    texts = [f"{sets['qs1'][query]}, he told her brother John" for query in answered]
    (data / COLLECTION).write_text(
        "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    )
    (data / "qrels.dev.tsv").write_text(
        "".join(f"{query}\t0\t{number}\t1\n" for number, query in enumerate(answered))
    )
    index_texts(((str(number), text) for number, text in enumerate(texts)), data / "bm25")
    index_impacts(texts, data / "impacts")
    message = [*sets["qs1"].values(), "he she his her brother sister john mary"]
    words = sorted({word for text in message for word in words_of(text)})
    write_model(data / "cross", BertForSequenceClassification, words)
    write_model(data / "unicoil", TildeV2, words)
    return answered


@pytest.mark.slow
def test_runs_of_both_collections(configured_project, mirror, tmp_path):
    answered = write_all(configured_project.folder / "marco", mirror, tmp_path / "cache")
    work = configured_project.folder / "work"
    result = {
        (where, ranker): f"work/{where}/runs/{ranker}.qs1.run"
        for where, ranker in (
            ("msmarco", "bm25"),
            ("msmarco", "unicoil"),
            ("msmarcoswapped", "bm25"),
            ("msmarcoswapped", "minilm"),
        )
    }
    configured_project.build(*result.values(), "work/msmarco/counts.parquet")

    counts = pd.read_parquet(work / "msmarco/counts.parquet")
    assert len(counts) == 2 * ANSWERED
    # "he", "John", "her" and "brother" in each, and what a query brings.
    assert (counts["m"] >= 2).all() and (counts["f"] >= 1).all()
    judged = {
        name: set(pd.read_parquet(work / f"msmarco/qrels.{name}.parquet")["query"])
        for name in QUERY_SETS
    }
    assert judged == {"qs1": set(answered), "qs2": set(answered[:ANSWERED])}

    runs = {key: read_run(configured_project.folder / path) for key, path in result.items()}
    position = {query: str(number) for number, query in enumerate(answered)}
    for key in (("msmarco", "bm25"), ("msmarcoswapped", "bm25")):
        first = runs[key].drop_duplicates("query").set_index("query")["document"]
        assert sum(first[query] == position[query] for query in answered) >= 1.8 * ANSWERED, key
    # QS2 is a part of QS1, and so is its run.
    of_qs2 = read_run(work / "msmarco/runs/unicoil.qs2.run")
    pairs = {key: set(zip(run["query"], run["document"], strict=True)) for key, run in runs.items()}
    assert set(zip(of_qs2["query"], of_qs2["document"], strict=True)) < pairs["msmarco", "unicoil"]
    # A cross-encoder re-ranks BM25's passages of the same collection.
    assert pairs["msmarcoswapped", "minilm"] == pairs["msmarcoswapped", "bm25"]
    orders = [
        runs["msmarcoswapped", ranker].groupby("query")["document"].agg(list)
        for ranker in ("bm25", "minilm")
    ]
    assert (orders[0] != orders[1]).sum() > 100


@pytest.mark.slow
def test_planned_rankers(configured_project):
    rankers = ("bm25", "unicoil", "deepimpact", "ance", "distilbert_kd", "distilbert_tasb")
    rankers += ("tct_colbert", "sbert", "bert", "minilm", "tinybert")
    swapped = [f"work/msmarcoswapped/runs/{name}.qs2.run" for name in ("bm25", *rankers[-3:])]
    plan = configured_project.planned(
        *(f"work/msmarco/runs/{name}.qs2.run" for name in rankers), *swapped
    )
    assert plan["msmarco_search"] == 8 and plan["msmarco_encode_queries"] == 7
    assert plan["msmarco_rerank"] == plan["msmarco_swapped_rerank"] == 3
    assert plan["msmarco_swapped_index"] == plan["msmarco_swapped_search"] == 1
    configured_project.edit(
        "config.yaml", "swapped_candidates: swapped", "swapped_candidates: original"
    )
    plan = configured_project.planned(swapped[1])
    assert "msmarco_swapped_index" not in plan and plan["msmarco_search"] == 1


@pytest.mark.slow
def test_tables_1_and_2_full(
    configured_project,
):
    rng = np.random.default_rng(0)
    queries, documents = [f"{number}" for number in range(6)], np.arange(40).astype(str)
    counts = pd.DataFrame({"document_id": documents, "length": 50})
    work = configured_project.folder / "work"
    swapped = ("bm25", "bert", "minilm", "tinybert")
    further = ("unicoil", "deepimpact", "ance", "distilbert_kd", "distilbert_tasb")
    for where, rankers in (
        ("msmarco", (*swapped, *further, "tct_colbert", "sbert")),
        ("msmarcoswapped", swapped),
    ):
        (work / where / "runs").mkdir(parents=True)
        for ranker in rankers:
            # Each ranker has the queries in an order of its own.
            run = pd.concat(
                pd.DataFrame({"query": query, "document": documents, "score": rng.random(40)})
                for query in rng.permutation(queries)
            )
            for name in QUERY_SETS:
                write_run(run, work / where / f"runs/{ranker}.{name}.run", tag=ranker)
    terms = {group: rng.integers(0, 3, 40) for group in ("m", "f")}
    counts.assign(**terms).to_parquet(work / "msmarco/counts.parquet")
    qrels = pd.DataFrame({"query": queries[:4], "document": "7", "relevance": 1})
    for name in QUERY_SETS:
        qrels.to_parquet(work / f"msmarco/qrels.{name}.parquet")
    # The origin of the values is that of these files.
    home = configured_project.folder
    files = sorted(str(path.relative_to(home)) for path in work.rglob("*.*"))
    job = {"rule": "msmarco", "inputs": ["msmarco/collection.tsv"], "outputs": files}
    job |= {"parameters": {}, "hashes": {}}
    (home / "results").mkdir(exist_ok=True)
    write_jobs(home / "results" / NAME, [job])
    rules = ("term_fairness_means_full", "term_fairness_overlap")
    result = [f"results/full/abolghasemi2024/table_{number}.verdicts.json" for number in (1, 2)]
    # Without known facts of the passages, so that cells are compared with the paper's.
    known = re.search(
        r"    facts:\n      collection\.tsv.*\n.*\n",
        (configured_project.folder / "published/full.yaml").read_text(encoding="utf-8"),
    )[0]
    configured_project.edit("published/full.yaml", known, "    nothing_known: true\n")
    done = configured_project.snakemake(
        "--cores", "2", "--allowed-rules", *rules, "verdicts", "--", *result
    )
    assert done.returncode == 0, done.stdout
    # Every published cell is reproduced.
    for path, cells in zip(result, (110, 24), strict=True):
        verdicts = json.loads((configured_project.folder / path).read_text())["verdicts"]
        assert sum(verdicts.values()) == cells and verdicts["not run"] == 0
    output = (configured_project.folder / "results/full/abolghasemi2024/table_1.md").read_text()
    assert "QS1: 6 queries (4 judged)" in output
