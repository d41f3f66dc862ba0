"""Collections of BEIR as what attribution bias reads."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial
from pathlib import Path

import command_line
import pytest
from toy_corpora import TOWNS, YEARS, beir_zip, founded

from everycell.base.errors import DataError
from everycell.collections.cited_questions import (
    ConversionCounts,
    convert_beir,
    read_answers,
    read_cited_questions,
)

refused = partial(command_line.refused, "data", "convert-corpus")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """Return a BEIR folder with three questions."""
    requests = [(f"when was {town} founded?", f"d{n}") for n, town in enumerate(TOWNS[:3])]
    pool = {f"d{n}": founded(town) for n, town in enumerate(TOWNS[:5])} | {"empty": " "}
    with zipfile.ZipFile(io.BytesIO(beir_zip("toy", requests, pool))) as archive:
        archive.extractall(tmp_path)
    return tmp_path / "toy"


def test_convert_beir_answers(beir, tmp_path):
    answers = tmp_path / "answers.jsonl"
    rows = [
        {"question": f"When was {TOWNS[0]} founded", "answer": [YEARS[TOWNS[0]]]},
        {"id": "test1", "answers": ["then"]},
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    created = convert_beir(beir, tmp_path / "a", answers=answers)
    assert created == ConversionCounts(questions=3, answered=2, passages=5, left_out=0, empty=1)
    result = read_cited_questions(tmp_path / "a")
    assert result.questions["answers"].tolist() == [[YEARS[TOWNS[0]]], ["then"], []]
    assert result.relevant.values.tolist() == [["test0", "d0"], ["test1", "d1"], ["test2", "d2"]]
    assert result.passages["text"][0] == f"Page d0. {founded(TOWNS[0])}"


def test_convert_beir_missing_passage(beir, tmp_path):
    qrels = beir / "qrels/test.tsv"
    qrels.write_text(qrels.read_text().replace("\td2\t", "\telsewhere\t"))
    result = convert_beir(beir, tmp_path / "new")
    assert (result.left_out, result.missing_passages, result.missing_questions) == (1, 1, 0)


@pytest.mark.parametrize(
    ("name", "key", "row"), [("corpus.jsonl", "d0", 7), ("queries.jsonl", "test0", 4)]
)
def test_convert_beir_repeated_id(beir, tmp_path, name, key, row):
    path = beir / name
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[0]]))
    with pytest.raises(DataError) as caught:
        convert_beir(beir, tmp_path / "new")
    assert (caught.value.path, caught.value.row, caught.value.value) == (path, row, key)


def test_convert_beir_no_judged_passage(beir, tmp_path):
    qrels = beir / "qrels/test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\ntest0\telsewhere\t1\n")
    with pytest.raises(DataError, match="No question has a relevant passage in the collection"):
        convert_beir(beir, tmp_path / "other")


HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("file", "content", "row", "value"),
    [
        ("qrels/test.tsv", "test0\td0\t1\n", None, ...),
        ("qrels/test.tsv", HEADER + "test0\td0\n", 2, "test0\td0"),
        ("qrels/test.tsv", HEADER + "test0\td0\tx\n", 2, "x"),
        ("corpus.jsonl", '{"title": "a"}\n', 1, ...),
        ("queries.jsonl", "test0\n", 1, ...),
        ("corpus.jsonl", '{"_id": "d0", "title": "", "text": "a", "_id": "d1"}\n', 1, ...),
    ],
)
def test_convert_beir_invalid_file(beir, tmp_path, file, content, row, value):
    (beir / file).write_text(content)
    with pytest.raises(DataError) as caught:
        convert_beir(beir, tmp_path / "new")
    error = caught.value
    assert (error.path, error.row, error.value) == (beir / file, row, value)
    assert not (tmp_path / "new/questions.jsonl").exists()


def test_read_answers_without_key(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"answers": ["then"]}\n')
    with pytest.raises(DataError) as caught:
        read_answers(path)
    assert caught.value.path == path


def test_convert_beir_command(beir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.run").write_text("test0 Q0 d0 1 3.0 x\n")
    _, message, _ = command_line.call(
        "data", "convert-corpus", "new", "--beir", beir, "--run", "bm25=mine.run"
    )
    assert "new: 3 questions, 0 of them with correct answers, 5 passages" in message
    assert Path("new/bm25.run").read_text() == Path("mine.run").read_text()
    assert "new is a folder" in refused("new", "--beir", str(beir))
    assert "expected NAME=FILE" in refused("other", "--beir", str(beir), "--run", "mine.run")
    Path("bad.run").write_text("test0 d0\n")
    assert "bad.run" in refused("other", "--beir", str(beir), "--run", "bm25=bad.run")


def test_convert_beir_command_failure(beir, tmp_path):
    queries = beir / "queries.jsonl"
    sound = queries.read_text()
    queries.write_text("test0\n")
    target = tmp_path / "new"
    assert "is not JSON" in refused(str(target), "--beir", str(beir))
    (beir / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\ntest0\telsewhere\t1\n")
    queries.write_text(sound)
    message = refused(str(target), "--beir", str(beir))
    assert message.startswith("everycell: No question has a relevant passage")
    assert [path.name for path in tmp_path.iterdir() if path != beir] == []


def test_convert_beir_judgement_of_0(beir, tmp_path):
    qrels = beir / "qrels/test.tsv"
    before = convert_beir(beir, tmp_path / "before")
    qrels.write_text(qrels.read_text() + "test0\td1\t0\ntest0\td2\t-1\n")
    assert convert_beir(beir, tmp_path / "after") == before
    first, second = (read_cited_questions(tmp_path / name) for name in ("before", "after"))
    assert second.relevant.equals(first.relevant)
