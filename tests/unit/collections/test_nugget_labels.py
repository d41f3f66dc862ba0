"""Reading nugget labels: what comes out, the sentence for each fault, and the released file."""

import csv
import json

import pandas as pd
import pytest

from everycell.collections.nugget_labels import (
    CONDENSED,
    JUDGES,
    PARTS,
    SYSTEMS,
    TABLES,
    LabelsError,
    read_nugget_labels,
)
from everycell.records.registry import load_registry
from everycell.sources import fetch


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


def test_a_response_without_nuggets_stays_a_response(save):
    empty = entry(qid="2", nuggets=[], importance=[], assignment=[], v_strict=0)
    labels = read_nugget_labels(save(entry(), empty))
    assert labels.responses["topic"].tolist() == ["1", "2"]
    assert labels.responses["released"].tolist() == [0.5, 0.0]
    assert labels.nuggets["topic"].tolist() == ["1", "1"]


def test_importance_keeps_its_spelling_and_what_was_not_labelled_is_empty(save):
    labels = read_nugget_labels(save(entry(importance=["Vital"])))
    assert labels.nuggets["importance"].tolist() == ["Vital", ""]
    assert labels.nuggets["nugget"].tolist() == [1, 2]


def test_blank_lines_are_no_responses(save):
    path = save(entry())
    path.write_text("\n" + path.read_text() + "\n\n")
    assert len(read_nugget_labels(path).responses) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": ""}, r"line 1: 'judge' is ''"),
        ({"qid": 7}, r"line 1: 'qid' is 7"),
        ({"nuggets": "red"}, r"line 1: 'nuggets' is 'red'"),
        ({"assignment": ["support", 1]}, r"line 1: 'assignment' is .*"),
        ({"importance": ["vital", "nice"]}, r"nugget 2 has the importance 'nice'"),
        ({"assignment": ["supports"] * 2}, r"nugget 1 has the assignment 'supports'"),
        ({"assignment": ["support"]}, r"2 nuggets, 2 importance labels and 1 support labels"),
        ({"importance": ["okay"] * 3}, r"2 nuggets, 3 importance labels and 2 support labels"),
        ({"v_strict": float("nan")}, r"'v_strict' is nan"),
        ({"v_strict": 1.5}, r"'v_strict' is 1.5"),
        ({"v_strict": True}, r"'v_strict' is True"),
        ({"v_strict": None}, r"'v_strict' is None"),
    ],
)
def test_a_bad_line_is_named(save, changes, message):
    with pytest.raises(LabelsError, match=message):
        read_nugget_labels(save(entry(**changes)))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({}, r"line 2: judge 'gpt4' labels run 'a', topic '1' again, after .*line 1"),
        ({"run": "b", "nuggets": ["red", "tall"]}, r"line 2: the nuggets of judge 'gpt4' for top"),
        (
            {"run": "b", "qid": "2"},
            r"line 1 and below: judge 'gpt4' has no labels of run 'a' for topic '2'",
        ),
    ],
)
def test_lines_that_do_not_fit_each_other_are_named(save, second, message):
    with pytest.raises(LabelsError, match=message):
        read_nugget_labels(save(entry(), entry(**second)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; fetch it again"),
        (b"<html>\n", "line 1 is not JSON"),
        (b"[]\n", "line 1: 'judge' is None"),
        (b'{"judge": "\xff"}\n', "is not UTF-8 text"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path, content, message):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(content)
    with pytest.raises(LabelsError, match=message):
        read_nugget_labels(path)


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


def test_the_authors_tables_hold_the_same_labels(save, tabled):
    entries = [
        entry(nuggets=['it\'s "red"; tall', "big"], importance=["Vital"]),
        entry(qid="2", nuggets=[], importance=[], assignment=[], v_strict=0),
    ]
    further = [line | {"run": "b", "v_strict": 1} for line in entries]
    lines = read_nugget_labels(save(*entries, *further))
    tables = read_nugget_labels(tabled(*entries), tabled(*further, earlier="a"))
    pd.testing.assert_frame_equal(tables.responses, lines.responses)
    pd.testing.assert_frame_equal(tables.nuggets, lines.nuggets)


def test_every_table_is_known_to_the_registry():
    files = load_registry().files
    assert len(TABLES) == 27 and set(TABLES) | {CONDENSED} <= files.keys()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a_nuggets_importance", "x", "lacks the column 'a_nuggets_importance'"),
        (
            "['vital', 'vital']",
            "['vital', vital]",
            "line 3: 'a_nuggets_importance' is not a Python list or n",
        ),
        ("['vital', 'vital']", "['vital', 'nice']", "line 3: nugget 2 has the importance 'nice'"),
        (";0.5", ";", "line 3: 'a_v_strict_score' is not a Python list or number"),
        (";0.5", ";1.5", "line 3: 'v_strict' is 1.5"),
    ],
)
def test_a_bad_table_is_named(tabled, old, new, message):
    path = tabled(entry())
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(LabelsError, match=message):
        read_nugget_labels(path)


def test_an_empty_table_is_named(tmp_path):
    path = tmp_path / "gpt4_nugget_assignment_301_topics_a.csv"
    path.touch()
    with pytest.raises(LabelsError, match="is empty; fetch it again"):
        read_nugget_labels(path)


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory):
    """Read the released labels."""
    cache = tmp_path_factory.mktemp("cache")
    return read_nugget_labels(fetch(CONDENSED, cache, mirror=mirror))


@pytest.mark.released
def test_the_released_labels(released):
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
def test_no_importance_is_the_same_for_all_systems(released):
    """Judges were asked again for each system: count the topics with several answer keys."""
    lower = released.nuggets.assign(importance=released.nuggets["importance"].str.lower())
    kinds = lower.groupby(["judge", "topic", "nugget"])["importance"].nunique()
    changed = (kinds > 1).groupby(["judge", "topic"]).any().groupby("judge").sum()
    assert changed.to_dict() == {"claude": 48, "gemini": 49, "gpt4": 217}
