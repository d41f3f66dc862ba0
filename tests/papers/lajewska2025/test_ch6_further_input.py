"""lajewska2025, chapter 6: rephrased and retrieved input, with a model of fixed answers."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from everycell.base.errors import DataError
from papers.lajewska2025.ch6_further_input import (
    COLUMNS,
    read_passages,
    rephrase_passages,
    retrieved_passages,
    search_passages,
)
from papers.lajewska2025.ch6_prompts import read_prompt

PASSAGES = pd.DataFrame(
    [
        ("relevant", "1_1", "What do owls eat?", "A", "Owls eat mice."),
        ("relevant", "1_1", "What do owls eat?", "B", "They hunt voles."),
        ("irrelevant", "1_1", "What do owls eat?", "C", "Ships sail."),
    ],
    columns=COLUMNS,
)
QUESTIONS = {"1_1": "What do owls eat?", "1_2": "Where do ships sail?"}


def test_rephrase_passages_of_relevant_input() -> None:
    table = rephrase_passages(
        PASSAGES,
        lambda prompts: [messages[-1].content.splitlines()[-1].upper() for messages in prompts],
        read_prompt("rephrase"),
    )
    assert table["text"].tolist() == ["OWLS EAT MICE.", "THEY HUNT VOLES."]
    assert table["passage_id"].tolist() == ["A", "B"] and set(table["input"]) == {"rephrased"}


def test_search_passages_best_first() -> None:
    texts = {"A": "Owls eat mice.", "B": "Owls sing.", "C": "Ships sail.", "D": "It rains."}
    table = search_passages(texts, QUESTIONS, 2)
    by_topic = table.groupby("topic", sort=False)["passage_id"].agg(list).to_dict()
    assert by_topic["1_1"] == ["A", "B"] and by_topic["1_2"][0] == "C"
    assert list(table.columns) == COLUMNS and set(table["input"]) == {"retrieved"}
    assert table["text"].tolist() == [texts[passage] for passage in table["passage_id"]]


@pytest.mark.parametrize("packed", [False, True])
def test_retrieved_passages_of_a_run(tmp_path: Path, packed: bool) -> None:
    lines = "".join(f"{name}\tText of {name}.\n" for name in "ABCD")
    path = tmp_path / ("passages.tsv.gz" if packed else "passages.tsv")
    path.write_bytes(gzip.compress(lines.encode()) if packed else lines.encode())
    run = pd.DataFrame(
        {
            "query": ["1_1"] * 3 + ["1_2"] * 2,
            "document": list("CABAD"),
            "rank": [1, 2, 3, 1, 2],
            "score": [3.0, 2, 1, 3, 2],
        }
    )
    table = retrieved_passages(run, path, QUESTIONS, 2)
    assert list(zip(table["topic"], table["passage_id"], strict=True)) == [
        ("1_1", "C"),
        ("1_1", "A"),
        ("1_2", "A"),
        ("1_2", "D"),
    ]
    assert table["text"].iloc[0] == "Text of C."
    with pytest.raises(ValueError, match="has no passages for topic '1_3'"):
        retrieved_passages(run, path, QUESTIONS | {"1_3": "Why?"}, 2)
    run.loc[0, "document"] = "Z"
    with pytest.raises(ValueError, match="has no passage 'Z', which the run has for topic '1_1'"):
        retrieved_passages(run, path, QUESTIONS, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tone\nB two\n", "line 2: 'B two', which has no tab"),
        ("A\t \n", "line 1: text is ' '"),
    ],
)
def test_read_passages_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "passages.tsv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_passages(path, {"A"})


def test_read_passages_only_those_needed(tmp_path: Path) -> None:
    path = tmp_path / "passages.tsv"
    path.write_text("A\tone\nB\t\nC\tthree\tparts\n")
    assert read_passages(path, {"A", "C"}) == {"A": "one", "C": "three\tparts"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"A\tOwls \xe9\n", "line 1 is not UTF-8 text"),
        ("a.tsv", gzip.compress(b"A\tOwls\n"), "compressed with gzip"),
        ("a.tsv.gz", b"A\tOwls\n", "is damaged or not a gzip file"),
        ("a.tsv.gz", gzip.compress(b"A\tOwls\n" * 99)[:-9], "is damaged or not a gzip file"),
        ("a.tsv", None, "a.tsv"),
    ],
    # Packed bytes contain the time, and all workers must give a test the same name.
    ids=["other encoding", "packed", "unpacked", "cut off", "absent"],
)
def test_read_passages_damaged_file(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_passages(tmp_path / name, {"A"})
