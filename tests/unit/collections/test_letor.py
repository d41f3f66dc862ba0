"""Judged features in LETOR's format."""

import pytest

from everycell.base.errors import DataError
from everycell.collections.letor import read_letor

GOOD = "2 qid:10 1:0.5 3:1e-2 # docid = GX1\n0 qid:10 2:-1\n1 qid:7 1:3\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="data.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_read_letor_missing_features(file):
    result = read_letor(file(GOOD))
    assert list(result) == ["query", "relevance", "feature_1", "feature_2", "feature_3"]
    assert result["query"].tolist() == ["10", "10", "7"]
    assert result["relevance"].tolist() == [2, 0, 1]
    assert result.iloc[:, 2:].values.tolist() == [[0.5, 0, 0.01], [0, -1, 0], [3, 0, 0]]


def test_read_letor_number_of_features(file):
    assert read_letor(file(GOOD), features=5).shape == (3, 7)


@pytest.mark.parametrize(
    ("text", "options", "row", "value"),
    [
        ("2 qid:10 1:a\n", {}, 1, "2 qid:10 1:a"),
        (GOOD + "x\n", {}, 4, "x"),
        (GOOD, {"features": 2}, 1, 3),
        ("2 qid:10 0:1\n", {}, 1, ...),
        ("2 qid:10 99999999999:1\n", {}, 1, ...),
        ("2 qid:10 20000:1\n", {}, None, 20_000),
        ("2 qid:10 1:1e999\n", {}, "document 1", ...),
        ("2 1:1\n", {}, 1, ...),
        ("2 qid:7 1:1\n1 qid:+0 1:1\n", {}, 2, "1 qid:+0 1:1"),
        ("", {}, None, ...),
        ("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n", {}, "query 1", ...),
    ],
)
def test_read_letor_invalid(file, text, options, row, value):
    path = file(text)
    with pytest.raises(DataError) as caught:
        read_letor(path, **options)
    assert (caught.value.path, caught.value.row, caught.value.value) == (path, row, value)


def test_read_letor_comment_after_the_query(file):
    assert read_letor(file("2 qid:7 1:1\n1 qid:0#c\n1 qid:11# c\n"))["query"].tolist() == [
        "7",
        "0",
        "11",
    ]
