"""Judged features in the form of LETOR: what is read, and what is refused."""

import pytest

from everycell.base.errors import CollectionError
from everycell.collections.letor import read_letor

GOOD = "2 qid:10 1:0.5 3:1e-2 # docid = GX1\n0 qid:10 2:-1\n1 qid:7 1:3\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="data.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_what_is_left_out_is_zero(file):
    result = read_letor(file(GOOD))
    assert list(result) == ["query", "relevance", "feature_1", "feature_2", "feature_3"]
    assert result["query"].tolist() == ["10", "10", "7"]
    assert result["relevance"].tolist() == [2, 0, 1]
    assert result.iloc[:, 2:].values.tolist() == [[0.5, 0, 0.01], [0, -1, 0], [3, 0, 0]]


def test_features_that_the_file_lacks_are_zero(file):
    assert read_letor(file(GOOD), features=5).shape == (3, 7)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("2 qid:10 1:a\n", {}, "line 1 is '2 qid:10 1:a': expected a label, 'qid:'"),
        (GOOD + "x\n", {}, "line 4 is 'x': expected a label"),
        (GOOD, {"features": 2}, "line 1 has feature 3: expected features from 1 to 2"),
        ("2 qid:10 0:1\n", {}, "line 1 has features out of order: sort them, and number from 1"),
        ("2 1:1\n", {}, "line 1 has no query"),
        ("2 qid:7 1:1\n1 qid:+0 1:1\n", {}, "line 2: expected 'qid:'"),
        ("", {}, "has no documents"),
        ("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n", {}, "lines of query 1"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(file, text, options, message):
    with pytest.raises(CollectionError, match=message) as raised:
        read_letor(file(text), **options)
    assert "data.txt" in str(raised.value)


def test_a_comment_may_follow_the_query_at_once(file):
    assert read_letor(file("2 qid:7 1:1\n1 qid:0#c\n1 qid:11# c\n"))["query"].tolist() == [
        "7",
        "0",
        "11",
    ]
