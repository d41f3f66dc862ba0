"""Reading snippet annotations: what comes out, the sentence for each fault, the real counts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.collections.snippet_files import (
    FILES,
    SELECTION_FILES,
    parse_list_or_set,
    read_annotations,
    read_tasks,
)
from everycell.collections.snippets import (
    AnnotationCounts,
    AnnotationError,
    check_same_texts,
    count_annotations,
    first_overlap,
    span_fault,
)
from everycell.sources import fetch

TEXT = "A lid, a pot, and heat."
#: What the released files hold; the data card repeats it.
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


def test_spans_and_texts_of_an_annotation(save):
    nothing = row(WorkerId="worker_2", text_spans="[]") | {"Answer.taskAnswers": answer()}
    result = read_annotations([save(row(), nothing)], per_text=2)
    assert result["spans"].tolist() == [((2, 5), (9, 12)), ()]
    assert result["snippets"].tolist() == [("lid", "pot"), ()]
    assert result["text_id"].tolist() == result["passage_id"].tolist() == ["p1", "p1"]
    assert [TEXT[start:end] for start, end in result["spans"][0]] == ["lid", "pot"]


def test_sentences_and_prolific_have_other_columns(save):
    sentence = row(**{"Input.sentence_id": "p1-0", "Input.sentence": TEXT})
    prolific = row(**{"Input.passage_id": "['p1']"})
    assert read_annotations([save(sentence)])["text_id"].tolist() == ["p1-0"]
    assert read_annotations([save(prolific)])["text_id"].tolist() == ["p1"]


def test_the_checked_texts_of_the_data_set_are_taken(save):
    checked = row(text_spans="['old']", text_spans_2="['lid', 'pot']")
    assert read_annotations([save(checked)])["snippets"][0] == ("lid", "pot")


def test_released_texts_of_spans_lack_what_is_not_ascii(save):
    text = row(**{"Input.passage": "A lìd, a pot.", "text_spans": "['ld', 'pot']"})
    assert read_annotations([save(text)])["spans"][0] == ((2, 5), (9, 12))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Answer.taskAnswers": answer((5, 99))}, "row 1: the span 5 to 99 is not within"),
        ({"Answer.taskAnswers": answer((5, 2))}, "row 1: the span 5 to 2 ends before it starts"),
        ({"Answer.taskAnswers": answer((5, 5))}, "row 1: the span 5 to 5 is empty"),
        ({"Answer.taskAnswers": "[]"}, r"starts with '\[\]'"),
        ({"Answer.taskAnswers": "[{'x': {'entities': [{}]}}]"}, "each with an integer startOffset"),
        ({"Answer.taskAnswers": "import os"}, "is 'import os'"),
        ({"text_spans": "none"}, "text_spans is 'none'"),
        ({"Answer.taskAnswers": "[{'x': {}}]", "text_spans": "[]"}, "one list of entities"),
        ({"Answer.taskAnswers": "[{}]", "text_spans": "[]"}, "one list of entities"),
        ({"Answer.taskAnswers": "[{'x': {'entities': {}}}]", "text_spans": "[]"}, "one list of en"),
        (
            {"Answer.taskAnswers": "[{'x': {'entities': []}, 'y': {'entities': []}}]"},
            "one list of entities",
        ),
        ({"Answer.taskAnswers": answer((2.9, 5.9))}, "an integer startOffset"),
        ({"text_spans": "['lid', 'zzz']"}, r"has \('lid', 'zzz'\), but the spans have the text"),
        (
            {"text_spans": "['lid']"},
            r"has \('lid',\), but the spans have the text \('lid', 'pot'\)",
        ),
    ],
)
def test_a_broken_annotation_is_named(save, changes, message):
    with pytest.raises(AnnotationError, match=message):
        read_annotations([save(row(**changes))])


@pytest.mark.parametrize(
    ("levels", "expected"), [({"low": True, "high": False}, 2.0), ({"very_high": True}, 5.0)]
)
def test_confidence_is_a_number_from_one_to_five(save, levels, expected):
    message = [{"answer_confidence": levels, "x": {"entities": []}}]
    path = save(row(**{"Answer.taskAnswers": str(message), "text_spans": "[]"}))
    assert read_annotations([path])["confidence"].tolist() == [expected]


@pytest.mark.parametrize(
    "levels", [{"low": True, "high": True}, {"low": False}, {"sure": True}, [1]]
)
def test_confidence_has_one_known_level(save, levels):
    message = [{"answer_confidence": levels, "x": {"entities": []}}]
    with pytest.raises(AnnotationError, match="one level of confidence"):
        read_annotations([save(row(**{"Answer.taskAnswers": str(message), "text_spans": "[]"}))])


def test_nobody_asked_for_confidence(save):
    message = [{"x": {"entities": []}}]
    path = save(row(**{"Answer.taskAnswers": str(message), "text_spans": "[]"}))
    assert read_annotations([path])["confidence"].isna().all()


def test_a_text_has_one_wording_and_all_its_annotations(save):
    other = row(**{"Input.passage": TEXT.replace("A", "O")})
    with pytest.raises(AnnotationError, match=r"b.csv, row 2: the text p1 of turn 8_1 differs"):
        read_annotations([save(row(), name="a.csv"), save(row(), other, name="b.csv")])
    second = row(**{"Input.passage_id": "p2"})
    with pytest.raises(AnnotationError, match=r"row 3: the text p2 of turn 8_1 has 1 annotations"):
        read_annotations([save(row(), row(), second)], per_text=2)
    with pytest.raises(AnnotationError, match="from 1 to 2 annotations"):
        count_annotations(read_annotations([save(row(), row(), second)]))


def test_annotations_of_different_texts_are_not_compared(save):
    result, reworded, other_text = (
        read_annotations([save(row(**changes))])
        for changes in ({}, {"Input.passage": TEXT.replace("A", "O")}, {"Input.passage_id": "p2"})
    )
    check_same_texts(result, result)
    with pytest.raises(AnnotationError, match="text p1 of turn 8_1 differs between the two sets"):
        check_same_texts(result, reworded)
    with pytest.raises(AnnotationError, match="text p1 of turn 8_1 is missing from one"):
        check_same_texts(result, other_text)


def test_missing_columns_are_named(save):
    with pytest.raises(AnnotationError, match="lacks the column 'WorkerId'"):
        read_annotations([save({"Input.turn_id": "8_1"})])
    without = row()
    del without["text_spans"]
    with pytest.raises(AnnotationError, match="lacks the column 'text_spans'"):
        read_annotations([save(without)])


def test_times_and_rewards(save):
    task = {"Input.turn_id": "8_1", "Input.passage_id": "p1", "WorkTimeInSeconds": 9}
    result = read_tasks([save(task | {"Reward": "$0.30"}), save(task | {"Reward": "$0.30"})])
    assert result["seconds"].tolist() == [9, 9] and result["reward"].tolist() == [0.3, 0.3]
    with pytest.raises(AnnotationError, match="row 1: Reward is '0.3'; expected USD"):
        read_tasks([save(task | {"Reward": "0.3"})])
    with pytest.raises(
        AnnotationError, match="WorkTimeInSeconds is '0'; expected a positive whole"
    ):
        read_tasks([save(task | {"Reward": "$0.30", "WorkTimeInSeconds": 0})])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5))
def test_spans_without_fault_lie_in_the_text_and_overlap_if_they_share_a_character(spans):
    sound = span_fault(spans, 20) is None
    assert sound == all(start < end <= 20 for start, end in spans)
    if sound:
        characters = [position for start, end in spans for position in range(start, end)]
        assert (first_overlap(spans) is not None) == (len(set(characters)) < len(characters))


@pytest.mark.parametrize("group", COUNTS)
def test_counts_of_the_released_files(mirror, tmp_path, group):
    paths = [fetch(key, tmp_path, mirror=mirror, network=False) for key in FILES[group]]
    assert count_annotations(read_annotations(paths)) == COUNTS[group]


def test_every_passage_of_the_study_was_selected_from_by_three(mirror, tmp_path):
    for keys in SELECTION_FILES.values():
        paths = [fetch(key, tmp_path, mirror=mirror, network=False) for key in keys]
        assert set(read_tasks(paths).groupby(["turn_id", "passage_id"]).size()) == {3}


def test_the_data_card_has_the_counts(repository):
    card = (repository / "docs" / "data-cards" / "cast-snippets.md").read_text()
    for group, counts in COUNTS.items():
        numbers = (counts.texts, counts.annotations, counts.per_text, counts.snippets, counts.empty,
                   counts.overlapping)  # fmt: skip
        assert f"| `{group}` | " + " | ".join(f"{number:,}" for number in numbers) in card


def test_parse_list_or_set_kinds():
    assert parse_list_or_set("['a', 'b']", list, "x.csv, row 1: spans") == ["a", "b"]
    assert parse_list_or_set("set()", set, "x.csv, row 1: sentences") == set()
