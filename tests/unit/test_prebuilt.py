"""Indexes as pyserini publishes them, made here from a few invented passages."""

from __future__ import annotations

import json
import math
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from everycell.retrieval import prebuilt
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import (
    find_index,
    index_texts,
    search_impacts,
    search_vectors,
    search_words,
)
from everycell.retrieval.query_files import (
    PrebuiltError,
    distinct_words,
    read_encoded_queries,
    write_encoded_queries,
)

TEXTS = {
    "a": "Bees fly over the river",
    "b": "A bee, a bee and another bee",
    "c": "Bridges and rivers <&> 漢 \U0001f41d",
    "d": "",
}
IMPACTS = {"a": {"bee": 3, "river": 2, "x": 1}, "b": {"bee": 5, "x": 9}, "c": {"x": 4, "🐝": 7}}


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("words") / "index"
    assert index_texts(TEXTS.items(), folder) == 3
    return folder


@pytest.fixture(scope="module")
def impacts(tmp_path_factory) -> Path:
    """Return an index as Anserini makes one of learned sparse vectors."""
    start_java()
    from jnius import autoclass

    place = tmp_path_factory.mktemp("impacts")
    (place / "vectors").mkdir()
    lines = [
        json.dumps({"id": name, "contents": "", "vector": vector}) + "\n"
        for name, vector in IMPACTS.items()
    ]
    (place / "vectors" / "0.jsonl").write_text("".join(lines), encoding="utf-8")
    autoclass("io.anserini.index.IndexCollection").main(
        ["-collection", "JsonVectorCollection", "-input", str(place / "vectors")]
        + ["-generator", "DefaultLuceneDocumentGenerator", "-index", str(place / "index")]
        + ["-impact", "-pretokenized", "-quiet"]
    )
    return place / "index"


def by_query(run: pd.DataFrame) -> dict[str, dict[str, float]]:
    return {
        query: dict(zip(rows["document"], rows["score"], strict=True))
        for query, rows in run.groupby("query", sort=False)
    }


def test_bm25_is_that_of_lucene_on_stemmed_words(words):
    found = by_query(search_words(words, {"q": "the bee", "r": "RIVERS"}, k1=0.9, b=0.4))
    assert list(found["q"]) == ["b", "a"] and set(found["r"]) == {"a", "c"}
    # Without stop words: bee fli over river; bee bee anoth bee; bridg river 漢 🐝.
    average = (4 + 4 + 4) / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    norm = 0.9 * (1 - 0.4 + 0.4 * 4 / average)
    # Anserini rounds scores to four decimals.
    assert found["q"]["b"] == pytest.approx(idf * 3 / (3 + norm), abs=1e-3)
    assert found["q"]["a"] == pytest.approx(idf * 1 / (1 + norm), abs=1e-3)


def test_hits_and_parameters_are_followed(words):
    queries = {str(number): "bee river" for number in range(150)}
    run = search_words(words, queries, k1=0.9, b=0.4, hits=2, threads=2)
    assert list(dict.fromkeys(run["query"])) == list(queries)
    assert (run.groupby("query").size() == 2).all()
    # Without saturation the passage that repeats its word is no better.
    flat = by_query(search_words(words, {"q": "bee"}, k1=0.0, b=0.4))["q"]
    assert flat["a"] == pytest.approx(flat["b"], abs=1e-3)


def test_a_query_without_a_known_word_has_no_row(words):
    run = search_words(words, {"q": "the", "r": "protein", "s": "漢"}, k1=0.9, b=0.4)
    assert run[["query", "document"]].values.tolist() == [["s", "c"]]


def test_impacts_add_up(impacts):
    found = search_impacts(impacts, {"q": {"bee": 2, "river": 10}, "r": {"🐝": 1}})
    assert by_query(found) == {"q": {"a": 26.0, "b": 10.0}, "r": {"c": 7.0}}


def test_a_term_of_every_passage_or_of_none_says_nothing(impacts):
    found = search_impacts(impacts, {"q": {"x": 5, "bee": 1, "protein": 3, "river": 0}})
    assert by_query(found) == {"q": {"b": 5.0, "a": 3.0}}


def test_search_imports_neither_torch_nor_pyserini(words):
    # Other tests of this process may have imported them.
    import subprocess

    code = (
        "import sys; from everycell.retrieval.prebuilt import search_words;"
        f"search_words({str(words)!r}, {{'q': 'bee'}}, k1=1.0, b=0.4);"
        "print(sorted({'torch', 'transformers', 'faiss', 'pyserini'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_cannot_be_indexed_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="There is no text for the index"):
        index_texts([("a", " ")], tmp_path / "index")
    write = prebuilt._write_texts
    monkeypatch.setattr(prebuilt, "_write_texts", lambda *given: write(*given) + 1)
    with pytest.raises(PrebuiltError, match="Anserini indexed 2 of 3 documents"):
        index_texts([("a", "bee"), ("b", "fly")], tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_not_overwritten(tmp_path):
    (tmp_path / "thesis.pdf").touch()
    with pytest.raises(ValueError, match="is not empty: name another one"):
        index_texts([("a", "bee")], tmp_path)


def test_a_folder_is_taken_as_it_is_and_a_name_is_fetched(tmp_path, monkeypatch):
    assert find_index(str(tmp_path)) == tmp_path
    start_java()
    import pyserini.util

    monkeypatch.setattr(
        pyserini.util, "download_prebuilt_index", lambda name, verbose: f"{tmp_path}/{name}"
    )
    assert find_index("msmarco-v1-passage") == tmp_path / "msmarco-v1-passage"


@pytest.mark.parametrize("search", [search_impacts, search_words])
def test_a_folder_that_is_no_index_is_refused(tmp_path, search):
    options = {"k1": 0.9, "b": 0.4} if search is search_words else {}
    with pytest.raises(PrebuiltError, match="is no index of Lucene: give the folder of one"):
        search(tmp_path, {}, **options)


def test_the_names_in_the_configuration_are_known_to_pyserini():
    """All of its tables in one, so that a typing error shows without a download."""
    from everycell.config import Config

    start_java()
    from pyserini import prebuilt_index_info as known

    names = {
        *known.TF_INDEX_INFO,
        *known.IMPACT_INDEX_INFO,
        *known.FAISS_INDEX_INFO,
    }
    assert set(Config().term_fairness.msmarco.indexes.model_dump().values()) <= names


def test_without_faiss_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt, "find_spec", lambda name: None)
    with pytest.raises(PrebuiltError, match="needs the package faiss-cpu, which is not installed"):
        search_vectors(tmp_path, {"q": [1.0]})


class FlatIndex:
    """What of faiss is used, in NumPy: CI has no faiss, and a skip would hide the rest."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: np.ndarray, hits: int) -> tuple[np.ndarray, np.ndarray]:
        assert queries.dtype == np.float32 and hits <= self.ntotal
        scores = queries @ self.vectors.T
        places = np.argsort(-scores, axis=1)[:, :hits]
        found = np.take_along_axis(scores, places, axis=1)
        # As an approximate index that does not find what is opposite.
        return found, np.where(found < 0, -1, places)


def test_vectors_are_compared_by_their_inner_product(tmp_path, monkeypatch):
    index = FlatIndex(np.array([[1, 0], [0, 2], [1, 1]], dtype=np.float32))
    faiss = types.SimpleNamespace(read_index=lambda path: index, omp_set_num_threads=lambda n: n)
    monkeypatch.setitem(sys.modules, "faiss", faiss)
    monkeypatch.setattr(prebuilt, "find_spec", lambda name: True)
    (tmp_path / "index").touch()
    (tmp_path / "docid").write_text("a\nb\nc\n")
    found = by_query(search_vectors(tmp_path, {"q": [1.0, 3.0], "r": [2.0, 0.0]}, hits=2))
    assert found == {"q": {"b": 6.0, "c": 4.0}, "r": {"a": 2.0, "c": 2.0}}
    assert len(search_vectors(tmp_path, {"q": [1.0, 3.0]}, hits=9)) == 3
    assert by_query(search_vectors(tmp_path, {"q": [-1.0, 0.1]})) == {
        "q": {"b": pytest.approx(0.2)}
    }
    with pytest.raises(PrebuiltError, match="the queries have vectors of length 3"):
        search_vectors(tmp_path, {"q": [1.0, 3.0, 2.0]})
    (tmp_path / "docid").unlink()
    with pytest.raises(PrebuiltError, match="has no file 'docid'"):
        search_vectors(tmp_path, {"q": [1.0, 3.0]})


def test_words_of_deepimpact():
    assert distinct_words("The bee's the BEE é 漢字 2nd_x") == {
        word: 1 for word in ("the", "bee", "s", "é", "漢字", "2nd", "x")
    }
    assert distinct_words(" ?! ") == {}


def test_encoded_queries_are_found_by_text(tmp_path):
    path = tmp_path / "queries.jsonl"
    write_encoded_queries(path, {"1": "red bee", "2": "é"}, [{"red": 2}, [0.5, 1.0]])
    found = read_encoded_queries(path, {"8": "é", "9": " red bee "})
    assert found == {"8": [0.5, 1.0], "9": {"red": 2}} and list(found) == ["8", "9"]
    with pytest.raises(PrebuiltError, match="has no vector for query 3, 'river'"):
        read_encoded_queries(path, {"3": "river"})
    path.write_text('{"contents": "a", "vector": []}\n["a"]\n')
    with pytest.raises(PrebuiltError, match="line 2 is no JSON object with 'contents'"):
        read_encoded_queries(path, {})
    with pytest.raises(PrebuiltError, match="does not exist: name one with encoded queries"):
        read_encoded_queries(tmp_path / "none", {})
    with pytest.raises(ValueError, match="shorter"):
        write_encoded_queries(path, {"1": "a", "2": "b"}, [{}])
