"""Agreement and effort: worked examples, scikit-learn, invariants, published tables."""

import numpy as np
import pandas as pd
import pytest
from harness import published
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score

from everycell.base.errors import DataError
from everycell.sources import fetch
from papers.lajewska2025.cast_snippets_data import FILES, read_annotations
from papers.lajewska2025.spans import (
    AGGREGATIONS,
    Effort,
    align,
    clip,
    jaccard,
    mark_characters,
    mean_effort,
    mean_jaccard,
    most_similar,
    passage_effort,
    reference_similarity,
)

PEOPLE = st.tuples(st.integers(2, 5), st.integers(0, 12)).flatmap(
    lambda shape: arrays(np.bool_, shape)
)


def test_mark_characters():
    assert mark_characters([[(0, 1), (1, 3)], []], 4).tolist() == [
        [True, True, True, False],
        [False] * 4,
    ]


def test_mark_characters_union():
    assert mark_characters([[(0, 3), (2, 4)]], 5, overlapping="union").sum() == 4


@pytest.mark.parametrize("spans", [[(2, 4), (0, 3)], [(0, 5), (1, 2)]])
def test_mark_characters_overlapping(spans):
    with pytest.raises(DataError) as caught:
        mark_characters([[(0, 1)], spans], 5)
    assert (caught.value.row, caught.value.value) == ("annotation 1", tuple(sorted(spans)))


def test_jaccard_by_hand():
    people = mark_characters([[(0, 10)], [(5, 10)], [(5, 7), (20, 30)]], 40)
    # 20 characters are marked by anyone: 2 by all three, 5 by two.
    assert jaccard(people) == 2 / 20
    assert jaccard(people, 2) == 5 / 20


def test_jaccard_nothing_marked():
    people = mark_characters([[], []], 7)
    assert jaccard(people) == jaccard(people, 1) == 1.0
    assert reference_similarity(people[:1], people[1:]) == (0.0, 0.0, 0.0)


@given(PEOPLE)
def test_jaccard_falls_with_k(people):
    values = [jaccard(people, k) for k in range(1, len(people) + 1)]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0 and values[-1] == jaccard(people) >= 0
    assert jaccard(people[::-1], 2) == values[1]


@given(PEOPLE)
def test_reference_similarity_unmarked_text(people):
    longer = np.hstack([people, np.zeros((len(people), 3), dtype=bool)])
    assert jaccard(longer) == jaccard(people)
    for how in AGGREGATIONS:
        assert reference_similarity(longer, longer[:1], how) == pytest.approx(
            reference_similarity(people, people[:1], how)
        )


@given(PEOPLE.filter(lambda people: people.any()))
def test_reference_similarity_equals_scikit_learn(people):
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
def test_reference_similarity_mean_of_pairs(people):
    workers, experts = people[:-1], people[-2:]
    pairs = [reference_similarity([one], [other]) for one in workers for other in experts]
    assert reference_similarity(workers, experts) == pytest.approx(np.mean(pairs, axis=0))


@given(PEOPLE)
def test_reference_similarity_majority_and_similarity(people):
    by_hand = people.sum(axis=0) > len(people) / 2
    assert reference_similarity(people, people, "majority") == pytest.approx(
        reference_similarity(by_hand[None], people)
    )
    selection = people[[most_similar(people)]]
    assert reference_similarity(people, people, "similarity") == pytest.approx(
        reference_similarity(selection, people)
    )


def test_most_similar_tie():
    workers = mark_characters([[(0, 1)], [(4, 8)], [(4, 8)]], 8)
    assert most_similar(workers) == 1
    assert most_similar(mark_characters([[], [], []], 4)) == 0


SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9)), max_size=4).map(
    lambda lengths_by_start: [(start, start + length) for start, length in lengths_by_start]
)


@given(SPANS, st.integers(0, 15), st.integers(1, 15))
def test_clip(spans, start, length):
    full = mark_characters([spans], 30, overlapping="union")
    part = mark_characters([clip(spans, start, start + length)], length, overlapping="union")
    assert part.tolist() == full[:, start : start + length].tolist()


@given(st.text(st.sampled_from("ab1 ’.é"), max_size=20), st.data())
def test_align(original, data):
    start = data.draw(st.integers(0, len(original)))
    piece = original[start : data.draw(st.integers(start, len(original)))]
    copy = "".join(letter for letter in piece if letter.isascii())
    if not any(letter.isalnum() for letter in copy):
        with pytest.raises(DataError) as caught:
            align(copy, original)
        assert caught.value.value == copy
        return
    local, existing = align(copy, original)
    assert [copy[position] for position in local] == [original[position] for position in existing]
    assert len(local) == sum(letter.isalnum() for letter in copy)
    assert (np.diff(existing) > 0).all()


def test_align_other_passage():
    with pytest.raises(DataError) as caught:
        align("Salt it", "Stir the pot.")
    assert (caught.value.column, caught.value.value) == ("sentence", "Salt it")
    assert "Stir the pot." in caught.value.fault


@pytest.fixture(scope="module")
def texts(mirror, tmp_path_factory):
    """Marks of each group of the preliminary study per passage."""
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
def test_mean_jaccard_table_5_2(texts, repository, k, metric):
    lengths_by_start = mean_jaccard(texts["paragraph_master"], k)
    assert round(lengths_by_start, 2) == published_values(repository, "table_5_2", metric)


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_reference_similarity_table_5_3(texts, repository, how):
    workers, experts = texts["paragraph_master"], texts["paragraph_expert"]
    f1 = [reference_similarity(workers[name], experts[name], how).f1 for name in experts]
    assert round(float(np.mean(f1)), 2) == published_values(repository, "table_5_3", f"F1_{how}")


def tasks(*rows):
    """Tasks as `read_tasks` gives them."""
    return pd.DataFrame(rows, columns=["turn_id", "passage_id", "seconds", "reward"])


def test_passage_effort_two_steps():
    selection = tasks(
        *(("1_1", "p1", seconds, 0.1) for seconds in (10, 20, 90)),
        *(("1_1", "p2", seconds, 0.1) for seconds in (20, 30, 40)),
    )
    # Three sentences of p1, none of p2, by three people: 1.5 sentences a passage.
    sentences = tasks(*(("1_1", "p1", seconds, 0.2) for seconds in (1, 2, 3, 4, 5, 6, 7, 8, 100)))
    result = passage_effort(sentences, 3, selection)
    assert result == (2, pytest.approx(25 + 1.5 * 5), pytest.approx(0.1 + 1.5 * 0.2))


@given(st.lists(st.tuples(st.integers(1, 99), st.floats(1, 999)), min_size=1, max_size=5))
def test_mean_effort(medians):
    parts = [Effort(passages, seconds, 0.3) for passages, seconds in medians]
    full = mean_effort(parts)
    assert full.passages == sum(part.passages for part in parts)
    assert min(part.seconds for part in parts) - 1e-6 <= full.seconds
    assert full.seconds <= max(part.seconds for part in parts) + 1e-6
    halves = [mean_effort(parts[:1]), *parts[1:]] + [full]
    assert mean_effort(halves).seconds == pytest.approx(full.seconds)
