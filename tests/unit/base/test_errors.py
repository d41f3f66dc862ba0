"""The sentence of a DataError, its parts and its way through a process."""

import pickle

import pytest

from everycell.base.errors import DataError

SENTENCES = [
    ({"path": "a.run", "row": 3, "column": "rank", "value": "x"}, "a.run, line 3: rank is 'x'."),
    ({"path": "a.run", "row": "query 31", "fault": "has no rows"}, "a.run, query 31 has no rows."),
    ({"column": "depth", "value": 0, "expected": "at least 1"}, "depth is 0; expected at least 1."),
    ({"value": None, "fault": "which is not text"}, "None, which is not text."),
    ({"fault": "No query is judged", "fix": "use other qrels"},
     "No query is judged: use other qrels."),
    ({"path": "a.csv", "column": "query", "fault": "is missing"}, "a.csv: query is missing."),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "sentence"), SENTENCES)
def test_data_error_sentence(parts, sentence):
    assert str(DataError(**parts)) == sentence


def test_data_error_pickled():
    error = DataError("a.run", 3, "rank", value=float("inf"), fix="correct the line")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.row, copy.value) == (str(error), 3, float("inf"))
    assert pickle.loads(pickle.dumps(DataError("a.run"))).value is ...


def test_data_error_shortens_a_long_value():
    assert len(str(DataError("a.run", 1, "text", "x" * 10_000))) < 400


def test_data_error_escapes_controls_of_terminals():
    parts = {"path": "a\x1b[2Jb.run", "row": "query \x1b[31mx", "fault": "has \x07no lines"}
    sentence = str(DataError(**parts))
    assert sentence == r"a\x1b[2Jb.run, query \x1b[31mx has \x07no lines."
