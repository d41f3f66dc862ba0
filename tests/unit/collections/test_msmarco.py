"""MS MARCO: readers on small files, and on the released query sets."""

from __future__ import annotations

import itertools
import tracemalloc
from pathlib import Path

import pytest

from everycell.base.errors import DataError
from everycell.collections.msmarco import (
    COLLECTION,
    LABELS,
    QUERY_SETS,
    merge_query_sets,
    read_annotated_queries,
    read_judgements,
    read_passages,
    read_queries,
    read_query_set,
    stream_passages,
)
from everycell.config import Config
from everycell.sources import fetch


@pytest.fixture
def write(tmp_path):
    def written(content: str | bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def test_stream_passages_characters(write):
    # Characters at which str.splitlines would cut, and none that is white space to be lost.
    texts = ["  a\x0bb\x85c\u2028d ", "", "é 漢"]
    path = write("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    assert list(stream_passages(path, expected=3)) == [
        (str(number), text) for number, text in enumerate(texts)
    ]


def test_stream_passages_line_ends(write):
    assert list(stream_passages(write("0\ta\r\n1\tb"))) == [("0", "a"), ("1", "b")]


def test_stream_passages_constant_memory(write):
    path = write("".join(f"{number}\t{'bee ' * 50}\n" for number in range(20_000)))
    tracemalloc.start()
    assert sum(1 for _ in stream_passages(path)) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 4e6 > 1e6 > peak


def test_stream_passages_lazy(write):
    path = write("0\ta\n1\tb\nbroken\n")
    assert list(itertools.islice(stream_passages(path), 2)) == [("0", "a"), ("1", "b")]


@pytest.mark.parametrize(
    ("content", "row", "value"),
    [
        ("0\ta\n1 b\n", 2, ...),
        ("0\ta\tb\n", 1, ...),
        ("0\ta\n0\tb\n", 2, "0"),
        ("1\ta\n", 1, "1"),
        ("0\ta\n\n", 2, ...),
        ("0\ta\n", None, ...),
        ("", None, ...),
    ],
)
def test_stream_passages_invalid(write, content, row, value):
    path = write(content)
    with pytest.raises(DataError) as caught:
        list(stream_passages(path, expected=2))
    assert (caught.value.path, caught.value.row, caught.value.value) == (path, row, value)


def test_stream_passages_other_encoding(write):
    with pytest.raises(ValueError, match="2 .*is not UTF-8 text"):
        list(stream_passages(write(b"0\ta\n1\t\xff\n")))


def test_read_passages_missing(write):
    path = write("0\ta\n1\tb\n2\tc\n")
    assert read_passages(path, ["2", "0"]) == {"0": "a", "2": "c"}
    with pytest.raises(DataError, match="2 of 3") as caught:
        read_passages(path, ["0", "9", "7"])
    assert (caught.value.path, caught.value.value) == (path, "7")


@pytest.mark.parametrize(
    ("content", "row", "value"),
    [
        ("1 bee\n", 1, "1 bee"),
        ("x\tbee\n", 1, "x\tbee"),
        ("1\tbee\tfly\n", 1, "1\tbee\tfly"),
        ("1\tbee\n1\tfly\n", 2, "1"),
        ("", None, ...),
    ],
)
def test_read_queries_invalid(write, content, row, value):
    path = write(content)
    with pytest.raises(DataError) as caught:
        read_queries(path)
    assert (caught.value.path, caught.value.row, caught.value.value) == (path, row, value)


def test_read_queries_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"see docs/data-cards/msmarco.md") as caught:
        read_queries(tmp_path / "none")
    assert caught.value.path == tmp_path / "none"


def test_read_annotated_queries_labels(write):
    path = write("1,how old, in days?,n\n2,who,m\n")
    assert read_annotated_queries(path) == {"1": "how old, in days?"}
    assert read_annotated_queries(path, None) == {"1": "how old, in days?", "2": "who"}


def test_merge_query_sets_shared_query():
    table = merge_query_sets({"qs1": {"1": "bee", "2": "fly"}, "qs2": {"1": "bee"}})
    assert table.values.tolist() == [["1", "bee", True, True], ["2", "fly", True, False]]


def test_read_judgements_of_some_queries(write):
    path = write("1\t0\t10\t1\n2\t0\t11\t1\n1\t0\t12\t0\n3 0 13 1\n")
    result = read_judgements(path, ["1", "3", "4"])
    assert result.values.tolist() == [["1", "10", 1], ["1", "12", 0], ["3", "13", 1]]


@pytest.mark.parametrize(
    ("content", "row", "value"),
    [
        ("1\t0\t10\n", 1, "1\t0\t10"),
        ("1\t0\tD10\t1\n", 1, "1\t0\tD10\t1"),
        ("1\t0\t10\t1\n1\t0\t10\t1\n", 2, "10"),
        ("2\t0\t10\t1\n", None, ...),
    ],
)
def test_read_judgements_invalid(write, content, row, value):
    path = write(content)
    with pytest.raises(DataError) as caught:
        read_judgements(path, ["1"])
    assert (caught.value.path, caught.value.row, caught.value.value) == (path, row, value)


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory) -> dict[str, Path]:
    """Return the files of the query sets."""
    cache = tmp_path_factory.mktemp("cache")
    return {
        name: fetch(key, cache, mirror=mirror, network=False) for name, key in QUERY_SETS.items()
    }


@pytest.mark.released
def test_data_card(released, repository):
    sets = {name: read_query_set(name, path) for name, path in released.items()}
    by_label = {label: len(read_annotated_queries(released["qs1"], label)) for label in LABELS}
    assert by_label == {"n": 1765, "m": 1202, "f": 742, "o": 41}
    assert len(read_annotated_queries(released["qs1"], None)) == 3750
    assert {name: len(result) for name, result in sets.items()} == {"qs1": 1765, "qs2": 215}
    assert sets["qs2"].keys() <= sets["qs1"].keys()
    card = (repository / "docs" / "data-cards" / "msmarco.md").read_text(encoding="utf-8")
    for number in ("3,750", "1,765", "1,202", "742", "41", "215"):
        assert f" {number} " in card, number
    assert f"{Config().term_fairness.msmarco.passages:,}" in card and COLLECTION in card
