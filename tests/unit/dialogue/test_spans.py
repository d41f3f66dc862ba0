"""Agreement on spans: worked examples, scikit-learn, invariants, faults, published tables."""

import numpy as np
import pytest
from harness import published
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score

from everycell.collections.snippets import FILES, read_annotations
from everycell.dialogue.spans import (
    AGGREGATIONS,
    SpanError,
    align,
    clip,
    jaccard,
    mark_characters,
    mean_jaccard,
    most_similar,
    reference_similarity,
)
from everycell.sources import fetch

PEOPLE = st.tuples(st.integers(2, 5), st.integers(0, 12)).flatmap(
    lambda shape: arrays(np.bool_, shape)
)


def test_spans_end_before_their_end():
    assert mark_characters([[(0, 1), (1, 3)], []], 4).tolist() == [
        [True, True, True, False],
        [False] * 4,
    ]


def test_the_union_of_overlapping_spans_counts_each_character_once():
    assert mark_characters([[(0, 3), (2, 4)]], 5, overlapping="union").sum() == 4


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(4, 6)], "Annotation 1: the span 4 to 6 is not within the text of 5 characters"),
        ([(-1, 2)], "the span -1 to 2 is not within"),
        ([(3, 1)], "the span 3 to 1 ends before it starts"),
        ([(2, 2)], "the span 2 to 2 is empty"),
        ([(2, 4), (0, 3)], "the spans 0 to 3 and 2 to 4 overlap"),
        ([(0, 5), (1, 2)], "the spans 0 to 5 and 1 to 2 overlap"),
    ],
)
def test_spans_that_are_none_are_named(spans, message):
    with pytest.raises(SpanError, match=message):
        mark_characters([[(0, 1)], spans], 5)


def test_a_text_that_nobody_annotated_is_refused():
    with pytest.raises(SpanError, match="There are 0 annotations"):
        mark_characters([], 5)
    with pytest.raises(SpanError, match="a text of -1 characters"):
        mark_characters([[]], -1)


def test_jaccard_by_hand():
    people = mark_characters([[(0, 10)], [(5, 10)], [(5, 7), (20, 30)]], 40)
    # 20 characters are marked by anyone: 2 by all three, 5 by two.
    assert jaccard(people) == 2 / 20
    assert jaccard(people, 2) == 5 / 20


def test_nobody_marking_anything_is_agreement_but_no_overlap():
    people = mark_characters([[], []], 7)
    assert jaccard(people) == jaccard(people, 1) == 1.0
    assert reference_similarity(people[:1], people[1:]) == (0.0, 0.0, 0.0)


@given(PEOPLE)
def test_jaccard_falls_with_k_and_ignores_who_is_who(people):
    values = [jaccard(people, k) for k in range(1, len(people) + 1)]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0 and values[-1] == jaccard(people) >= 0
    assert jaccard(people[::-1], 2) == values[1]


@given(PEOPLE)
def test_text_that_nobody_marked_changes_nothing(people):
    longer = np.hstack([people, np.zeros((len(people), 3), dtype=bool)])
    assert jaccard(longer) == jaccard(people)
    for how in AGGREGATIONS:
        assert reference_similarity(longer, longer[:1], how) == pytest.approx(
            reference_similarity(people, people[:1], how)
        )


@given(PEOPLE.filter(lambda people: people.any()))
def test_two_people_as_scikit_learn_has_it(people):
    first, second = people[:2]
    full = jaccard(people[:2])
    assert full == pytest.approx(
        jaccard_score(first, second, zero_division=1.0) if (first | second).any() else 1.0
    )
    expected = [
        score(second, first, zero_division=0.0)
        for score in (precision_score, recall_score, f1_score)
    ]
    assert reference_similarity(people[:1], people[1:2]) == pytest.approx(expected)


@given(PEOPLE)
def test_the_mean_is_that_of_the_pairs(people):
    workers, experts = people[:-1], people[-2:]
    pairs = [reference_similarity([one], [other]) for one in workers for other in experts]
    assert reference_similarity(workers, experts) == pytest.approx(np.mean(pairs, axis=0))


@given(PEOPLE)
def test_majority_and_similarity_are_one_annotation(people):
    by_hand = people.sum(axis=0) > len(people) / 2
    assert reference_similarity(people, people, "majority") == pytest.approx(
        reference_similarity(by_hand[None], people)
    )
    selection = people[[most_similar(people)]]
    assert reference_similarity(people, people, "similarity") == pytest.approx(
        reference_similarity(selection, people)
    )


def test_the_first_of_equally_similar_workers_is_taken():
    workers = mark_characters([[(0, 1)], [(4, 8)], [(4, 8)]], 8)
    assert most_similar(workers) == 1
    assert most_similar(mark_characters([[], [], []], 4)) == 0


def test_a_stricter_majority():
    workers = mark_characters([[(0, 4)], [(0, 3)], [(0, 2)]], 8)
    expert = mark_characters([[(0, 4)]], 8)
    recalls = [reference_similarity(workers, expert, "majority", majority=n).recall for n in (1, 3)]
    assert recalls == [1.0, 0.5]


SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=4).map(
    lambda lengths_by_start: [(start, start + length) for start, length in lengths_by_start]
)


@given(SPANS, st.integers(0, 15), st.integers(1, 15))
def test_a_clipped_span_marks_what_it_marked_in_the_part(spans, start, length):
    full = mark_characters([spans], 30, overlapping="union")
    part = mark_characters([clip(spans, start, start + length)], length, overlapping="union")
    assert part.tolist() == full[:, start : start + length].tolist()


@pytest.mark.parametrize("end", [3, 5])
def test_a_part_without_a_character_is_refused(end):
    with pytest.raises(SpanError, match=f"The part runs from 5 to {end}"):
        clip([], 5, end)


@given(st.text(st.sampled_from("ab1 ’.é"), max_size=20), st.data())
def test_a_copy_without_its_marks_is_aligned_letter_by_letter(original, data):
    start = data.draw(st.integers(0, len(original)))
    piece = original[start : data.draw(st.integers(start, len(original)))]
    copy = "".join(letter for letter in piece if letter.isascii())
    if not any(letter.isalnum() for letter in copy):
        with pytest.raises(SpanError, match="do not occur in"):
            align(copy, original)
        return
    local, existing = align(copy, original)
    assert [copy[position] for position in local] == [original[position] for position in existing]
    assert len(local) == sum(letter.isalnum() for letter in copy)
    assert (np.diff(existing) > 0).all()


def test_a_sentence_of_another_passage_is_not_aligned():
    with pytest.raises(SpanError, match="'Salt it' do not occur in 'Stir the pot.'"):
        align("Salt it", "Stir the pot.")


PAIR = np.ones((2, 3), dtype=bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jaccard(PAIR, 3), "k is 3; with 2 people"),
        (lambda: jaccard(PAIR, 0), "k is 0"),
        (lambda: jaccard([[1, 0]]), "the type int64"),
        (lambda: jaccard(PAIR[0]), r"the shape \(3,\)"),
        (lambda: mean_jaccard({}), "There are no texts"),
        (lambda: mean_jaccard({"a": PAIR, "b": PAIR[:1]}), "'b' has 1 annotations and 'a' has 2"),
        (lambda: reference_similarity(PAIR, PAIR[:, :2]), "have 3 and 2 characters"),
        (lambda: reference_similarity(PAIR, PAIR, "median"), "aggregation is 'median'"),
        (
            lambda: reference_similarity(PAIR, PAIR, "majority", majority=3),
            "majority is 3; with 2 workers",
        ),
        (lambda: reference_similarity(PAIR[:1], PAIR, "similarity"), "There is only one worker"),
    ],
)
def test_what_cannot_be_measured_is_named(call, message):
    with pytest.raises(SpanError, match=message):
        call()


@pytest.fixture(scope="module")
def texts(mirror, tmp_path_factory):
    """What each group of the preliminary study marked in each passage."""
    cache = tmp_path_factory.mktemp("cache")
    groups = ("paragraph_regular", "paragraph_master", "paragraph_expert")
    lengths_by_start = {}
    for group in groups:
        paths = [fetch(key, cache, mirror=mirror, network=False) for key in FILES[group]]
        rows = read_annotations(paths).groupby(["turn_id", "text_id"])
        lengths_by_start[group] = {
            name: mark_characters(text["spans"].tolist(), len(text["text"].iloc[0]))
            for name, text in rows
        }
    return lengths_by_start


def published_values(repository, table, metric):
    """Published value of the master workers on passages."""
    cells = published()["lajewska2025"].artefacts[table].cells
    task = "task" if "task" in cells else "task_variant"
    selection = cells[(cells["row"] == "MTurk master") & (cells["metric"] == metric)]
    return float(selection[selection[task].str.startswith("Paragraph")]["value"].item())


@pytest.mark.parametrize(("k", "metric"), [(None, "J"), (4, "J_4"), (3, "J_3"), (2, "J_2")])
def test_printed_agreement(texts, repository, k, metric):
    lengths_by_start = mean_jaccard(texts["paragraph_master"], k)
    assert round(lengths_by_start, 2) == published_values(repository, "table_5_2", metric)


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_printed_similarity(texts, repository, how):
    workers, experts = texts["paragraph_master"], texts["paragraph_expert"]
    f1 = [reference_similarity(workers[name], experts[name], how).f1 for name in experts]
    assert round(float(np.mean(f1)), 2) == published_values(repository, "table_5_3", f"F1_{how}")
