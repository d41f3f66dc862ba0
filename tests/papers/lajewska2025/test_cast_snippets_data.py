"""Snippet annotations: readers, spans and released counts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.sources import fetch
from papers.lajewska2025.cast_snippets_data import (
    FILES,
    SELECTION_FILES,
    AnnotationCounts,
    check_same_texts,
    count_annotations,
    read_annotations,
    read_tasks,
)
from papers.lajewska2025.spans import first_overlap

TEXT = "A lid, a pot, and heat."
#: Counts of the released files, as in the data card.
COUNTS = {
    "paragraph_regular": AnnotationCounts(110, 550, 5, 910, 0, 0, 5),
    "paragraph_master": AnnotationCounts(110, 550, 5, 1829, 0, 0, 11),
    "paragraph_prolific": AnnotationCounts(110, 550, 5, 1980, 0, 12, 0),
    # The experts have one name between them.
    "paragraph_expert": AnnotationCounts(110, 330, 3, 967, 0, 0, 220),
    "sentence_regular": AnnotationCounts(362, 1086, 3, 1263, 0, 0, 1),
    "sentence_master": AnnotationCounts(510, 1530, 3, 1926, 0, 0, 53),
    "dataset": AnnotationCounts(1855, 5565, 3, 12787, 676, 0, 0),
}


def answer(*spans):
    """Answer as the annotation tool writes it."""
    entities = ",".join(
        f'{{"endOffset":{end},"label":"x","startOffset":{start}}}' for start, end in spans
    )
    return (
        '[{"answer_confidence":{"high":False,"low":True},'
        f'"relevant-text-spans-single-passage-annotation":{{"entities":[{entities}]}}}}]'
    )


def row(**changes):
    """One annotation of MTurk."""
    return {
        "WorkerId": "worker_1",
        "Input.turn_id": "8_1",
        "Input.passage_id": "p1",
        "Input.passage": TEXT,
        "Answer.taskAnswers": answer((2, 5), (9, 12)),
        "text_spans": "['lid', 'pot']",
    } | changes


@pytest.fixture
def save(tmp_path):
    """Write rows as CSV and return the path."""

    def write(*rows, name="batch.csv"):
        path = tmp_path / name
        pd.DataFrame(rows).to_csv(path, index=False)
        return path

    return write


def test_read_annotations_spans_and_texts(save):
    nothing = row(WorkerId="worker_2", text_spans="[]") | {"Answer.taskAnswers": answer()}
    result = read_annotations([save(row(), nothing)])
    assert result["spans"].tolist() == [((2, 5), (9, 12)), ()]
    assert result["snippets"].tolist() == [("lid", "pot"), ()]
    assert result["text_id"].tolist() == result["passage_id"].tolist() == ["p1", "p1"]
    assert [TEXT[start:end] for start, end in result["spans"][0]] == ["lid", "pot"]


def test_read_annotations_sentences_and_prolific(save):
    sentence = row(**{"Input.sentence_id": "p1-0", "Input.sentence": TEXT})
    prolific = row(**{"Input.passage_id": "['p1']"})
    assert read_annotations([save(sentence)])["text_id"].tolist() == ["p1-0"]
    assert read_annotations([save(prolific)])["text_id"].tolist() == ["p1"]


def test_read_annotations_checked_texts(save):
    checked = row(text_spans="['old']", text_spans_2="['lid', 'pot']")
    assert read_annotations([save(checked)])["snippets"][0] == ("lid", "pot")


def test_read_annotations_other_characters(save):
    text = row(**{"Input.passage": "A lìd, a pot.", "text_spans": "['ld', 'pot']"})
    assert read_annotations([save(text)])["spans"][0] == ((2, 5), (9, 12))


@pytest.mark.parametrize(
    ("levels", "expected"), [({"low": True, "high": False}, 2.0), ({"very_high": True}, 5.0)]
)
def test_read_annotations_confidence(save, levels, expected):
    message = [{"answer_confidence": levels, "x": {"entities": []}}]
    path = save(row(**{"Answer.taskAnswers": str(message), "text_spans": "[]"}))
    assert read_annotations([path])["confidence"].tolist() == [expected]


def test_read_annotations_without_confidence(save):
    message = [{"x": {"entities": []}}]
    path = save(row(**{"Answer.taskAnswers": str(message), "text_spans": "[]"}))
    assert read_annotations([path])["confidence"].isna().all()


def test_count_annotations_unequal_numbers(save):
    second = row(**{"Input.passage_id": "p2"})
    with pytest.raises(DataError):
        count_annotations(read_annotations([save(row(), row(), second)]))


def test_check_same_texts_other_texts(save):
    annotations, reworded, other_text = (
        read_annotations([save(row(**changes))])
        for changes in ({}, {"Input.passage": TEXT.replace("A", "O")}, {"Input.passage_id": "p2"})
    )
    check_same_texts(annotations, annotations)
    for other in (reworded, other_text):
        with pytest.raises(DataError) as caught:
            check_same_texts(annotations, other)
        assert caught.value.row == "text p1 of turn 8_1"


def test_read_tasks_times_and_rewards(save):
    task = {"Input.turn_id": "8_1", "Input.passage_id": "p1", "WorkTimeInSeconds": 9}
    result = read_tasks([save(task | {"Reward": "$0.30"}), save(task | {"Reward": "$0.30"})])
    assert result["seconds"].tolist() == [9, 9] and result["reward"].tolist() == [0.3, 0.3]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=5))
def test_first_overlap_shared_characters(rows):
    spans = [(start, start + length) for start, length in rows]
    characters = [position for start, end in spans for position in range(start, end)]
    assert (first_overlap(spans) is not None) == (len(set(characters)) < len(characters))


@pytest.mark.parametrize("group", COUNTS)
def test_count_annotations_released_files(mirror, tmp_path, group):
    paths = [fetch(key, tmp_path, mirror=mirror, network=False) for key in FILES[group]]
    assert count_annotations(read_annotations(paths)) == COUNTS[group]


def test_read_tasks_released_selections(mirror, tmp_path):
    for keys in SELECTION_FILES.values():
        paths = [fetch(key, tmp_path, mirror=mirror, network=False) for key in keys]
        assert set(read_tasks(paths).groupby(["turn_id", "passage_id"]).size()) == {3}


def test_data_card_counts(repository):
    card = (repository / "docs" / "data-cards" / "cast-snippets.md").read_text()
    for group, counts in COUNTS.items():
        numbers = (counts.texts, counts.annotations, counts.per_text, counts.snippets, counts.empty,
                   counts.overlapping)  # fmt: skip
        assert f"| `{group}` | " + " | ".join(f"{number:,}" for number in numbers) in card
