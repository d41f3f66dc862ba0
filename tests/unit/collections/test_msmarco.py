"""MS MARCO: readers on small files, and on the released query sets."""

from __future__ import annotations

import itertools
import tracemalloc
from pathlib import Path

import pytest

from everycell.collections.msmarco import (
    COLLECTION,
    LABELS,
    QUERY_SETS,
    MsMarcoError,
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


def test_a_passage_keeps_its_characters(write):
    # Characters at which str.splitlines would cut, and none that is white space to be lost.
    texts = ["  a\x0bb\x85c\u2028d ", "", "é 漢"]
    path = write("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    assert list(stream_passages(path, expected=3)) == [
        (str(number), text) for number, text in enumerate(texts)
    ]


def test_line_ends_of_windows_and_a_missing_last_one_do_no_harm(write):
    assert list(stream_passages(write("0\ta\r\n1\tb"))) == [("0", "a"), ("1", "b")]


def test_memory_does_not_grow_with_the_collection(write):
    path = write("".join(f"{number}\t{'bee ' * 50}\n" for number in range(20_000)))
    tracemalloc.start()
    assert sum(1 for _ in stream_passages(path)) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 4e6 > 1e6 > peak


def test_nothing_is_read_before_it_is_asked_for(write):
    path = write("0\ta\n1\tb\nbroken\n")
    assert list(itertools.islice(stream_passages(path), 2)) == [("0", "a"), ("1", "b")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0\ta\n1 b\n", "line 2 has 0 tabs: expected 'id, tab, text'"),
        ("0\ta\tb\n", "line 1 has 2 tabs"),
        ("0\ta\n0\tb\n", "line 2 has the id '0', expected 1"),
        ("1\ta\n", "line 1 has the id '1', expected 0"),
        ("0\ta\n\n", "line 2 has 0 tabs"),
        (b"0\ta\n1\t\xff\n", "is not UTF-8 text"),
        ("0\ta\n", "has 1 passages, expected 2"),
        ("", "has 0 passages, expected 2"),
    ],
)
def test_a_wrong_collection_is_refused(write, content, message):
    with pytest.raises(MsMarcoError, match=message):
        list(stream_passages(write(content), expected=2))


def test_wanted_passages_must_be_there(write):
    path = write("0\ta\n1\tb\n2\tc\n")
    assert read_passages(path, ["2", "0"]) == {"0": "a", "2": "c"}
    with pytest.raises(MsMarcoError, match=r"has no passage '7' \(2 of 3 are missing\)"):
        read_passages(path, ["0", "9", "7"])


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_queries, "1 bee\n", "line 1 has the id '1 bee' and the text ''"),
        (read_queries, "x\tbee\n", "line 1 has the id 'x'"),
        (read_queries, "1\tbee\tfly\n", "expected 'id, tab, text'"),
        (read_queries, "1\tbee\n1\tfly\n", "line 2 repeats the query 1"),
        (read_queries, "", "has no queries"),
        (read_annotated_queries, "1,bee,n\n2,fly,x\n", "line 2 has the label 'x': it must be"),
        (read_annotated_queries, "1,n\n", "line 1 has the id '1' and the text ''"),
        (read_annotated_queries, "1,bee,n\n1,fly,m\n", "repeats the query"),
    ],
)
def test_a_wrong_line_of_queries_is_refused(write, read, content, message):
    with pytest.raises(MsMarcoError, match=message):
        read(write(content))


def test_unknown_labels_sets_and_files_are_refused(write, tmp_path):
    with pytest.raises(MsMarcoError, match="label is 'x': use one of n, m, f, o, or None"):
        read_annotated_queries(write("1,bee,n\n"), "x")
    with pytest.raises(MsMarcoError, match="query set 'qs3': use one of qs1, qs2"):
        read_query_set("qs3", write("1\tbee\n"))
    with pytest.raises(MsMarcoError, match="does not exist: see docs/data-cards/msmarco.md"):
        read_queries(tmp_path / "none")


def test_a_query_of_two_sets_has_one_text():
    with pytest.raises(MsMarcoError, match="Query 1 is 'fly' in qs2 and 'bee' in another set"):
        merge_query_sets({"qs1": {"1": "bee"}, "qs2": {"1": "fly"}})


def test_judgements_of_the_wanted_queries_are_kept(write):
    path = write("1\t0\t10\t1\n2\t0\t11\t1\n1\t0\t12\t0\n3 0 13 1\n")
    result = read_judgements(path, ["1", "3", "4"])
    assert result.values.tolist() == [["1", "10", 1], ["1", "12", 0], ["3", "13", 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\t0\t10\n", "line 1 is '1.t0.t10': expected"),
        ("1\t0\tD10\t1\n", "'query 0 passage relevance'"),
        ("1\t0\t10\t1\n1\t0\t10\t1\n", "line 2 judges passage 10 for query 1 again"),
        ("2\t0\t10\t1\n", "has no judgements for the 1 queries"),
    ],
)
def test_wrong_judgements_are_refused(write, content, message):
    with pytest.raises(MsMarcoError, match=message):
        read_judgements(write(content), ["1"])


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory) -> dict[str, Path]:
    """Return the files of the query sets."""
    cache = tmp_path_factory.mktemp("cache")
    return {
        name: fetch(key, cache, mirror=mirror, network=False) for name, key in QUERY_SETS.items()
    }


@pytest.mark.released
def test_counts_of_the_released_sets_stand_on_the_card(released, repository):
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
