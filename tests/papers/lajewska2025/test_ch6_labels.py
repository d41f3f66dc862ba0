"""Responses of GINGER and labels of their nuggets, on small files and as released."""

import csv
import json

import pandas as pd
import pytest

from everycell.records.registry import load_registry
from everycell.sources import fetch
from papers.lajewska2025.ch6_labels import (
    CONDENSED,
    JUDGES,
    PARTS,
    RESPONSES,
    SYSTEMS,
    TABLES,
    read_nugget_labels,
    read_responses,
)


def entry(**changes):
    """Labels of one response: two nuggets, both vital, one of them supported."""
    return {
        "judge": "gpt4",
        "run": "a",
        "qid": "1",
        "nuggets": ["red", "big"],
        "importance": ["vital", "vital"],
        "assignment": ["support", "partial_support"],
        "v_strict": 0.5,
    } | changes


@pytest.fixture
def save(tmp_path):
    """Write entries as JSON lines and return the path."""

    def written(*entries):
        path = tmp_path / "labels.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in entries))
        return path

    return written


def test_read_nugget_labels_response_without_nuggets(save):
    empty = entry(qid="2", nuggets=[], importance=[], assignment=[], v_strict=0)
    labels = read_nugget_labels(save(entry(), empty))
    assert labels.responses["topic"].tolist() == ["1", "2"]
    assert labels.responses["released"].tolist() == [0.5, 0.0]
    assert labels.nuggets["topic"].tolist() == ["1", "1"]


def test_read_nugget_labels_spelling_and_missing_label(save):
    labels = read_nugget_labels(save(entry(importance=["Vital"])))
    assert labels.nuggets["importance"].tolist() == ["Vital", ""]
    assert labels.nuggets["nugget"].tolist() == [1, 2]


def test_read_nugget_labels_blank_lines(save):
    path = save(entry())
    path.write_text("\n" + path.read_text() + "\n\n")
    assert len(read_nugget_labels(path).responses) == 1


@pytest.fixture
def tabled(tmp_path):
    """Write entries of one judge and run as a table of the authors and return the path."""

    def written(*entries, earlier="first"):
        judge, run = entries[0]["judge"], entries[0]["run"]
        path = tmp_path / f"{judge}_nugget_assignment_2_topics_{run}.csv"
        parts = ("automatically_detected_nuggets", "nuggets_importance", "nuggets_assignments")
        columns = [
            f"{name}_{part}" for name in (earlier, run) for part in (*parts, "v_strict_score")
        ]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["qid", "query", *columns])
            for line in entries:
                own = [line[name] for name in ("nuggets", "importance", "assignment", "v_strict")]
                writer.writerow([line["qid"], "What; is\n'it'?", "[]", "[]", "[]", 0, *own])
        return path

    return written


def test_read_nugget_labels_tables_of_the_authors(save, tabled):
    entries = [
        entry(nuggets=['it\'s "red"; tall', "big"], importance=["Vital"]),
        entry(qid="2", nuggets=[], importance=[], assignment=[], v_strict=0),
    ]
    further = [line | {"run": "b", "v_strict": 1} for line in entries]
    lines = read_nugget_labels(save(*entries, *further))
    tables = read_nugget_labels(tabled(*entries), tabled(*further, earlier="a"))
    pd.testing.assert_frame_equal(tables.responses, lines.responses)
    pd.testing.assert_frame_equal(tables.nuggets, lines.nuggets)


def test_tables_in_the_registry():
    files = load_registry().files
    assert len(TABLES) == 27 and set(TABLES) | {CONDENSED} <= files.keys()


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory):
    """Read the released labels."""
    cache = tmp_path_factory.mktemp("cache")
    return read_nugget_labels(fetch(CONDENSED, cache, mirror=mirror))


@pytest.mark.released
def test_read_nugget_labels_released_file(released):
    sizes = released.responses.groupby(["judge", "run"])["topic"].nunique()
    assert set(sizes.index.get_level_values("judge")) == set(JUDGES.values())
    assert set(sizes.index.get_level_values("run")) == {*SYSTEMS.values(), *PARTS.values()}
    assert (sizes == 301).all()
    # The published scores depend on capitals, which the authors' code does not count, and on
    # lists that lack a label.
    spelled = released.nuggets[released.nuggets["importance"].isin(["Vital", "Okay"])]
    responses = spelled.drop_duplicates(["judge", "run", "topic"])["judge"].value_counts()
    assert responses.to_dict() == {"gemini": 200, "gpt4": 10}
    assert (released.nuggets["importance"] == "").sum() == 107


@pytest.mark.released
def test_read_nugget_labels_importance(released):
    """Judges were asked again for each system: count the topics with several answer keys."""
    lower = released.nuggets.assign(importance=released.nuggets["importance"].str.lower())
    kinds = lower.groupby(["judge", "topic", "nugget"])["importance"].nunique()
    changed = (kinds > 1).groupby(["judge", "topic"]).any().groupby("judge").sum()
    assert changed.to_dict() == {"claude": 48, "gemini": 49, "gpt4": 217}


def test_read_responses_empty_response_and_quoted_semicolon(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text('qid;query;a;b\n1;why?;"So; yes.";\n')
    result = read_responses([path])
    assert result.values.tolist() == [["a", "1", "why?", "So; yes."], ["b", "1", "why?", ""]]


def test_read_responses_released_files(mirror, tmp_path):
    result = read_responses([fetch(key, tmp_path, mirror=mirror) for key in RESPONSES])
    assert result.groupby("run").size().tolist() == [301] * 8
    assert result["topic"].nunique() == 301
