"""lajewska2025, chapter 5: flags of annotations, agreement beyond chance, labels by the rules."""

import numpy as np
import pandas as pd
import pytest
from nltk.metrics.agreement import AnnotationTask

from papers.lajewska2025 import ch5_labels, ch5_quality


def marks(*rows):
    return np.array([[mark == "x" for mark in row] for row in rows])


@pytest.mark.parametrize(
    ("rows", "flags"),
    [
        (("xx..", "xx..", "xx.."), (0, 0, 0)),
        (("xxx.", "xxx.", "xxx."), (1, 0, 0)),
        (("xx..", "x...", "x..."), (0, 1, 0)),
        (("xx..", "xx..", "...."), (0, 1, 1)),
        (("....", "xx..", "xx.."), (0, 0, 0)),
    ],
)
def test_flag_marks_first_person(rows, flags):
    assert tuple(ch5_quality.flag_marks(marks(*rows), 0.5).loc[0]) == flags


@pytest.mark.parametrize(
    ("rows", "flags"),
    [
        (("x...", "x...", "...x"), (0, 0, 0)),
        (("....", "x...", "...x"), (1, 0, 1)),
        (("xxxx", "x...", "...x"), (0, 1, 0)),
        (("xx..", "..x.", "...x"), (0, 0, 1)),
    ],
)
def test_flag_selections_first_person(rows, flags):
    assert tuple(ch5_quality.flag_selections(marks(*rows)).loc[0]) == flags


def test_read_selections_of_another_passage(tmp_path):
    columns = ["Input.turn_id", "Input.passage_id"]
    columns += [f"Answer.1_1--{name}--{number}.on" for name in "pq" for number in (0, 1)]
    rows = [
        ("1_1", "p", "True", "False", "", ""),
        ("1_1", "p", "", "", "True", "True"),
        ("1_1", "q", "", "", "False", "True"),
    ]
    path = tmp_path / "selections.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    selections = ch5_quality.read_selections([path])
    assert {name: rows.tolist() for (_, name), rows in selections.items()} == {
        "p": [[True, False]],
        "q": [[False, True]],
    }


def test_krippendorff_alpha_of_nltk():
    people = np.random.default_rng(1).random((3, 40)) < 0.4
    triples = [
        (str(person), str(item), bool(mark))
        for person, row in enumerate(people)
        for item, mark in enumerate(row)
    ]
    assert ch5_quality.krippendorff_alpha(people) == pytest.approx(AnnotationTask(triples).alpha())


def test_sentence_overlaps_any_annotator():
    snippets = pd.DataFrame(
        [("1_1", "p", "One two. Three.", "['One two.']", "['Three.']")],
        columns=["Input.turn_id", "Input.passage_id", "Input.passage", *ch5_labels.LABELS],
    )
    annotations = pd.DataFrame(
        {"turn_id": "1_1", "passage_id": "p", "spans": [((4, 7),), ((0, 3),), ()]}
    )
    overlaps = ch5_labels.sentence_overlaps(snippets, annotations)
    assert overlaps.to_numpy().tolist() == [[True, 2], [False, 0]]
    rows = {metric: number for _, metric, number in ch5_labels.label_agreement(overlaps, 3)}
    assert rows == {"number": 2, "label by 1 or more": 2, "label by 2 or more": 2,
                    "label by 3 or more": 1}  # fmt: skip


def test_non_relevant_passages_judged_year_only():
    added = pd.DataFrame({"turn_id": ["1", "1", "9"], "passage_id": ["a", "b", "c"]})
    qrels = pd.DataFrame({"query": ["1", "1"], "document": ["a", "b"], "relevance": [0, 2]})
    rows = ch5_labels.non_relevant_passages(added, qrels, 2)
    assert [number for *_, number in rows] == [2, 1, 2, 1]
