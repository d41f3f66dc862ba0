"""Released responses of GINGER: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from everycell.base.errors import CollectionError
from everycell.collections.ginger_responses import FILES, read_responses
from everycell.sources import fetch


@pytest.fixture
def save(tmp_path: Path):
    def write(text: str, name: str = "runs.csv") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_an_empty_response_stays_and_a_quoted_semicolon_parts_nothing(save):
    result = read_responses([save('qid;query;a;b\n1;why?;"So; yes.";\n')])
    assert result.values.tolist() == [["a", "1", "why?", "So; yes."], ["b", "1", "why?", ""]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid;query\n1;why?\n", "has only the columns qid, query"),
        ("qid;query;a\n1;why?;x\n1;why?;y\n", "topic '1' occurs twice"),
        ("qid,query,a\n1,why?,x\n", "qid"),
        ("", "is empty"),
    ],
)
def test_what_is_no_table_of_runs_is_refused(save, text, message):
    with pytest.raises(CollectionError, match=message):
        read_responses([save(text)])


def test_files_must_agree_on_questions_and_have_their_own_runs(save):
    first = save("qid;query;a\n1;why?;x\n")
    with pytest.raises(CollectionError, match="topic '1' has a different question"):
        read_responses([first, save("qid;query;b\n1;how?;x\n", "other.csv")])
    with pytest.raises(CollectionError, match="run 'a' is also in .*runs.csv"):
        read_responses([first, save("qid;query;a\n1;why?;x\n", "other.csv")])


def test_the_released_files_have_eight_runs_of_301_topics(mirror, tmp_path):
    result = read_responses([fetch(key, tmp_path, mirror=mirror) for key in FILES])
    assert result.groupby("run").size().tolist() == [301] * 8
    assert result["topic"].nunique() == 301
