"""Indexes as pyserini publishes them, made here from a few invented passages."""

from __future__ import annotations

import json
import math
import sys
import tarfile
from collections import Counter
from hashlib import sha256
from pathlib import Path

import faiss
import numpy as np
import pandas as pd
import pytest
from corpus_server import CorpusServer

from everycell.base.errors import DataError
from everycell.retrieval import prebuilt
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import (
    PrebuiltError,
    deepimpact_query,
    index_texts,
    read_encoded_queries,
    search_impacts,
    search_vectors,
    search_words,
    write_encoded_queries,
)
from everycell.retrieval.published_indexes import fetch_index, fetched_index, find_index
from everycell.sources.published_files import CorpusError

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

    position = tmp_path_factory.mktemp("impacts")
    (position / "vectors").mkdir()
    lines = [
        json.dumps({"id": name, "contents": "", "vector": vector}) + "\n"
        for name, vector in IMPACTS.items()
    ]
    (position / "vectors" / "0.jsonl").write_text("".join(lines), encoding="utf-8")
    autoclass("io.anserini.index.IndexCollection").main(
        ["-collection", "JsonVectorCollection", "-input", str(position / "vectors")]
        + ["-generator", "DefaultLuceneDocumentGenerator", "-index", str(position / "index")]
        + ["-impact", "-pretokenized", "-quiet"]
    )
    return position / "index"


def by_query(run: pd.DataFrame) -> dict[str, dict[str, float]]:
    return {
        query: dict(zip(rows["document"], rows["score"], strict=True))
        for query, rows in run.groupby("query", sort=False)
    }


def test_search_words_equals_lucene(words):
    result = by_query(search_words(words, {"q": "the bee", "r": "RIVERS"}, k1=0.9, b=0.4))
    assert list(result["q"]) == ["b", "a"] and set(result["r"]) == {"a", "c"}
    # Without stop words: bee fli over river; bee bee anoth bee; bridg river 漢 🐝.
    average = (4 + 4 + 4) / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    norm = 0.9 * (1 - 0.4 + 0.4 * 4 / average)
    # Anserini rounds scores to four decimals.
    assert result["q"]["b"] == pytest.approx(idf * 3 / (3 + norm), abs=1e-3)
    assert result["q"]["a"] == pytest.approx(idf * 1 / (1 + norm), abs=1e-3)


def test_search_words_parameters(words):
    queries = {str(number): "bee river" for number in range(150)}
    run = search_words(words, queries, k1=0.9, b=0.4, hits=2, threads=2)
    assert list(dict.fromkeys(run["query"])) == list(queries)
    assert (run.groupby("query").size() == 2).all()
    # Without saturation the passage that repeats its word is no better.
    flat = by_query(search_words(words, {"q": "bee"}, k1=0.0, b=0.4))["q"]
    assert flat["a"] == pytest.approx(flat["b"], abs=1e-3)


def test_search_words_unknown_words(words):
    run = search_words(words, {"q": "the", "r": "protein", "s": "漢"}, k1=0.9, b=0.4)
    assert run[["query", "document"]].values.tolist() == [["s", "c"]]


def test_search_impacts_sums(impacts):
    result = search_impacts(impacts, {"q": {"bee": 2, "river": 10}, "r": {"🐝": 1}})
    assert by_query(result) == {"q": {"a": 26.0, "b": 10.0}, "r": {"c": 7.0}}


def test_search_impacts_uninformative_terms(impacts):
    result = search_impacts(impacts, {"q": {"x": 5, "bee": 1, "protein": 3, "river": 0}})
    assert by_query(result) == {"q": {"b": 5.0, "a": 3.0}}


@pytest.mark.slow
def test_search_words_without_torch(words):
    # Other tests of this process may have imported them.
    import subprocess

    code = (
        "import sys; from everycell.retrieval.prebuilt import search_words;"
        f"search_words({str(words)!r}, {{'q': 'bee'}}, k1=1.0, b=0.4);"
        "print(sorted({'torch', 'transformers', 'faiss', 'pyserini'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_index_texts_invalid(tmp_path, monkeypatch):
    with pytest.raises(DataError) as error:
        index_texts([("a", " ")], tmp_path / "index")
    assert error.value.path == tmp_path / "index"
    write = prebuilt._write_texts
    monkeypatch.setattr(prebuilt, "_write_texts", lambda *arguments: write(*arguments) + 1)
    with pytest.raises(PrebuiltError, match="Anserini indexed 2 of 3 documents"):
        index_texts([("a", "bee"), ("b", "fly")], tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_index_texts_existing_files(tmp_path):
    (tmp_path / "thesis.pdf").touch()
    with pytest.raises(DataError) as error:
        index_texts([("a", "bee")], tmp_path)
    assert error.value.path == tmp_path


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Return an index that pyserini publishes on a server of this machine."""
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "2")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    start_java()
    from pyserini import prebuilt_index_info, util

    (tmp_path / "toy-index").mkdir()
    (tmp_path / "toy-index/segments_1").write_text("index")
    archive = tmp_path / "toy-index.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / "toy-index", "toy-index")
        # Beside the folder, as macOS packs it.
        packed.addfile(tarfile.TarInfo("._toy-index"))
        packed.add(tmp_path / "toy-index", "__MACOSX")
    with CorpusServer() as server:
        server.add_file("/indexes/toy-index.tar.gz", archive.read_bytes())
        entry = {
            "urls": [f"{server.url}/indexes/toy-index.tar.gz"],
            "md5": util.compute_md5(archive),
            "size compressed (bytes)": archive.stat().st_size,
            "server": server,
        }
        for table in (prebuilt_index_info.TF_INDEX_INFO, util.TF_INDEX_INFO):
            monkeypatch.setitem(table, "toy", entry)
        yield entry


def test_find_index_folder_or_download(tmp_path, published):
    assert find_index(str(tmp_path)) == tmp_path
    published["server"].fault("/indexes/toy-index.tar.gz", "cut", times=1)
    folder = find_index("toy")
    assert folder == tmp_path / f"cache/indexes/toy-index.{published['md5']}"
    assert [path.name for path in folder.iterdir()] == ["segments_1"]
    # Where pyserini itself would look; nothing else is left.
    from pyserini import util

    assert util.check_downloaded("toy")
    remaining = [path.name for path in folder.parent.iterdir() if not path.name.endswith(".lock")]
    assert remaining == [folder.name]
    published["server"].asked.clear()
    assert find_index("toy", network=False) == folder and published["server"].asked == []


def test_find_index_mirror(tmp_path, published):
    downloads = tmp_path / "downloads.json"
    mirror = published["urls"][0].replace("/indexes/", "/mirror/")
    downloads.write_text(json.dumps({"pyserini": {"toy": {"url": mirror}}}))
    server = published["server"]
    server.add_file("/mirror/toy-index.tar.gz", server.files["/indexes/toy-index.tar.gz"])
    with pytest.raises(CorpusError, match="switches the network off: put the file at"):
        find_index("toy", network=False, downloads=downloads)
    fetch_index("toy", tmp_path / "toy.json", downloads=downloads)
    assert fetched_index(tmp_path / "toy.json").name == f"toy-index.{published['md5']}"
    assert {path for _, path, _ in server.asked} == {"/mirror/toy-index.tar.gz"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("md5", "0" * 32, "returned .* bytes.*, expected 0{32}"),
        ("size compressed (bytes)", 10**17, "needs about 220000000 GB in .*cache/indexes, but"),
        ("urls", ["http://127.0.0.1:9/toy-index.tar.gz"], "broke off after 0 of .* bytes"),
    ],
)
def test_find_index_wrong_archive(tmp_path, published, key, value, message):
    published[key] = value
    with pytest.raises((PrebuiltError, CorpusError), match=message):
        find_index("toy")
    assert not list(tmp_path.glob("cache/indexes/toy-index.*/segments_1"))


@pytest.mark.parametrize("search", [search_impacts, search_words])
def test_search_words_not_an_index(tmp_path, search):
    options = {"k1": 0.9, "b": 0.4} if search is search_words else {}
    with pytest.raises(PrebuiltError, match="is not a Lucene index: give the folder of an"):
        search(tmp_path, {}, **options)


def test_published_index_names_in_config():
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


def test_search_vectors_without_faiss(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt, "find_spec", lambda name: None)
    with pytest.raises(PrebuiltError, match="needs the package faiss-cpu, which is not installed"):
        search_vectors(tmp_path, {"q": [1.0]})


def write_vectors(folder: Path, index: faiss.Index, vectors: list[list[float]]) -> None:
    """An index of vectors as pyserini publishes one; its ids are letters."""
    rows = np.array(vectors, dtype=np.float32)
    if not index.is_trained:
        index.train(rows)
    index.add(rows)
    faiss.write_index(index, str(folder / "index"))
    (folder / "docid").write_text("".join(f"{chr(97 + n)}\n" for n in range(len(rows))))


def test_search_vectors_inner_product(tmp_path):
    write_vectors(tmp_path, faiss.IndexFlatIP(2), [[1, 0], [0, 2], [1, 1]])
    result = by_query(search_vectors(tmp_path, {"q": [1.0, 3.0], "r": [2.0, 0.0]}, hits=2))
    assert result == {"q": {"b": 6.0, "c": 4.0}, "r": {"a": 2.0, "c": 2.0}}
    assert len(search_vectors(tmp_path, {"q": [1.0, 3.0]}, hits=9)) == 3
    with pytest.raises(PrebuiltError, match="the queries have vectors of length 3"):
        search_vectors(tmp_path, {"q": [1.0, 3.0, 2.0]})
    (tmp_path / "docid").unlink()
    with pytest.raises(PrebuiltError, match="has no file 'docid'"):
        search_vectors(tmp_path, {"q": [1.0, 3.0]})


def test_search_vectors_missing_neighbours(tmp_path):
    # Of two cells, the one next to the query is looked through.
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(2), 2, 2, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1
    write_vectors(tmp_path, index, [[9, 0], [8, 0], [0, 9], [0, 8]])
    result = by_query(search_vectors(tmp_path, {"q": [1.0, 0.0]}))
    assert result == {"q": {"a": 9.0, "b": 8.0}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # As castorini's topics.msmarco-passage.dev-subset.deepimpact.tsv has such words.
        ("u.s. laws", "us laws"),
        ("e.g. meaning", "eg meaning"),
        ("what is the x-axis", "what xaxis"),
        ("paula deen's brother", "paula deen s brother"),
        # Worked out by hand from the authors' rule.
        ("The bee's the BEE é 漢字 2nd_x", "bee s bee 2nd x"),
        ("3.5 mm vs. 10.25mm", "35 mm vs 10 25mm"),
        ("wi-fi, t-shirt, a-b-cd - x-", "wi fi tshirt abcd x"),
        ("u.s.-based", "u s based"),
        ("don't dont you'd", "don t d"),
        ("300\u212a", "300"),
        (" ?! a.the-", ""),
        ("it's the", "s"),
        ("teach myself", "teach"),
    ],
)
def test_deepimpact_query_words(text, words):
    assert deepimpact_query(text) == Counter(words.split())


def test_deepimpact_query_stop_words():
    # Of the list in src/utils2.py of DI4IR/SIGIR2021, without its apostrophes.
    words = " ".join(sorted(prebuilt._STOP_WORDS)).encode()
    assert sha256(words).hexdigest() == (
        "f93ce4d1a1f37af4b666da56e3de67d9c3d8ca4a861f23c5c763b93fa760e85e"
    )


def test_read_encoded_queries_by_text(tmp_path):
    path = tmp_path / "queries.jsonl"
    write_encoded_queries(path, {"1": "red bee", "2": "é"}, [{"red": 2}, [0.5, 1.0]])
    result = read_encoded_queries(path, {"8": "é", "9": " red bee "})
    assert result == {"8": [0.5, 1.0], "9": {"red": 2}} and list(result) == ["8", "9"]
    with pytest.raises(PrebuiltError, match="has no vector for query 3, 'river'"):
        read_encoded_queries(path, {"3": "river"})
    path.write_text('{"contents": "a", "vector": []}\n["a"]\n')
    with pytest.raises(PrebuiltError, match="line 2 is not a JSON object with 'contents'"):
        read_encoded_queries(path, {})
    with pytest.raises(PrebuiltError, match="does not exist: give a file of encoded queries"):
        read_encoded_queries(tmp_path / "none", {})
    with pytest.raises(ValueError, match="shorter"):
        write_encoded_queries(path, {"1": "a", "2": "b"}, [{}])


def test_fetched_index_removed_folder(tmp_path):
    (tmp_path / "toy.json").write_text('{"index": "toy", "folder": "toy.0"}')
    with pytest.raises(PrebuiltError, match="The index 'toy' is no longer in .*/indexes: remove"):
        fetched_index(tmp_path / "toy.json")
