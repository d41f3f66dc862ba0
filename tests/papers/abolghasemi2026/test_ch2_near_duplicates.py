"""The exact similarity join against a loop over all pairs of sets."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import jaccard_score

from papers.abolghasemi2026.ch2_docstrings import group_numbers, shingles, similar_pairs

TEXTS = st.lists(st.text(alphabet="ab c", max_size=14), max_size=8)


def matrix(rows):
    return sparse.csr_array(np.array(rows, dtype=np.int32))


@given(TEXTS, st.integers(1, 3))
def test_shingles_are_sets_of_word_runs(texts, length):
    result = shingles(texts, length).toarray().astype(bool)
    sets = [
        {tuple(words[at : at + length]) for at in range(max(len(words) - length, 0) + 1)}
        if (words := text.split())
        else set()
        for text in texts
    ]
    for (a, left), (b, right) in itertools.combinations(enumerate(sets), 2):
        assert (result[a] & result[b]).sum() == len(left & right)
        assert (result[a] | result[b]).sum() == len(left | right)


@given(
    st.integers(1, 9).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=9
        )
    ),
    st.sampled_from([0.1, 0.2, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]),
)
def test_similar_pairs_equals_all_pairs(rows, threshold):
    """The thresholds are similarities that small sets reach exactly."""
    expected = []
    for (a, left), (b, right) in itertools.combinations(enumerate(map(np.array, rows)), 2):
        union = (left | right).sum()
        if left.any() and right.any() and (left & right).sum() / union >= threshold:
            expected.append((a, b))
    result = similar_pairs(matrix(rows), threshold)
    assert list(zip(result["left"], result["right"], strict=True)) == expected
    for row in result.itertuples():
        similarity = jaccard_score(rows[row.left], rows[row.right])
        assert row.jaccard == pytest.approx(similarity, abs=1e-12)


def test_similar_pairs_rounding_at_the_threshold():
    # 0.55 * 100 is above 55 in binary.
    rows = [[1] * 100, [0] * 45 + [1] * 55]
    assert similar_pairs(matrix(rows), 0.55)["jaccard"].tolist() == [0.55]


def test_similar_pairs_dense_product():
    draw = np.random.default_rng(0)
    base = draw.random((40, 300)) < 0.15
    noisy = [row ^ (draw.random(300) < rate) for row in base for rate in (0.0, 0.01, 0.03, 0.06)]
    dense = np.array(noisy, dtype=np.int32)
    both = dense @ dense.T
    sizes = dense.sum(axis=1)
    jaccard = np.triu(both / (sizes[:, None] + sizes - both), k=1)
    result = similar_pairs(sparse.csr_array(dense), 0.5)
    assert list(zip(result["left"], result["right"], strict=True)) == list(
        zip(*np.nonzero(jaccard >= 0.5), strict=True)
    )
    assert len(result) > 40


def test_similar_pairs_empty_sets():
    assert similar_pairs(shingles(["", "", "a b c"]), 0.5).empty
    assert similar_pairs(shingles([]), 0.5).empty


def test_group_numbers_transitive():
    pairs = pd.DataFrame({"left": [3, 0], "right": [4, 3]})
    assert group_numbers(pairs, 5).tolist() == [0, 1, 2, 0, 0]
    assert group_numbers(similar_pairs(shingles(["a", "b"]), 1.0), 2).tolist() == [0, 1]
