"""t-tests with corrections and Pearson's r."""

import itertools

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from scipy import stats

from everycell.statistics.hypothesis_tests import pearson, t_tests

RNG = np.random.default_rng(4)
SCORES = pd.DataFrame(RNG.random((20, 3)) + [0, 0.1, 0.4], columns=["a", "b", "c"])


def test_t_tests_equal_scipy():
    paired = t_tests(SCORES).set_index(["a", "b"])
    unpaired = t_tests(SCORES, paired=False).set_index(["a", "b"])
    for pair in paired.index:
        first, second = SCORES[pair[0]], SCORES[pair[1]]
        assert paired.loc[pair, "p"] == stats.ttest_rel(first, second).pvalue
        assert unpaired.loc[pair, "p"] == stats.ttest_ind(first, second).pvalue
    assert paired["df"].tolist() == [19] * 3
    assert unpaired["df"].tolist() == [38] * 3


def test_t_tests_corrections_by_hand():
    p = t_tests(SCORES, correction="none")["p"].to_numpy()
    np.testing.assert_allclose(
        t_tests(SCORES, correction="bonferroni")["p_corrected"], np.minimum(3 * p, 1)
    )
    order = np.argsort(p)
    holm = np.minimum(np.maximum.accumulate(p[order] * [3, 2, 1]), 1)
    np.testing.assert_allclose(t_tests(SCORES)["p_corrected"].to_numpy()[order], holm)


def test_t_tests_given_pairs():
    table = t_tests(SCORES, [("c", "a")], correction="bonferroni")
    assert len(table) == 1
    assert table.loc[0, "p_corrected"] == table.loc[0, "p"]
    assert table.loc[0, "difference"] == pytest.approx((SCORES["c"] - SCORES["a"]).mean())


def test_t_tests_identical_samples():
    same = {"a": [1.0, 2.0, 4.0], "b": [1.0, 2.0, 4.0]}
    assert t_tests(same)[["t", "p", "df"]].values.tolist() == [[0, 1, 2]]
    flat = {"a": [1.0, 1.0], "b": [1.0, 1.0, 1.0]}
    assert t_tests(flat, paired=False)[["t", "p", "df"]].values.tolist() == [[0, 1, 3]]


@pytest.mark.slow
@pytest.mark.parametrize("names", list(itertools.permutations("abc")), ids="".join)
def test_t_tests_swapped_samples(names):
    table = t_tests(SCORES[list(names)])
    for row in table.itertuples():
        mirrored = t_tests(SCORES, [(row.b, row.a)]).iloc[0]
        assert mirrored["t"] == pytest.approx(-row.t)
        assert mirrored["p"] == pytest.approx(row.p)


def test_pearson_equals_numpy_and_contains_r():
    table = pearson(SCORES)
    for row in table.itertuples():
        assert row.r == pytest.approx(np.corrcoef(SCORES[row.x], SCORES[row.y])[0, 1])
        assert row.low < row.r < row.high
    assert pearson(SCORES, confidence=0.5).loc[0, "high"] < table.loc[0, "high"]


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda: t_tests(SCORES, [("a", "d")]), {"column": "sample", "value": "d"}),
        (lambda: t_tests(SCORES, correction="fdr"), {"column": "correction", "value": "fdr"}),
        (lambda: t_tests(SCORES, alpha=1.0), {"column": "alpha", "value": 1}),
        (lambda: t_tests({"a": [1, 2]}), {"column": "samples", "value": ["a"]}),
        (lambda: t_tests({"a": [1, 2], "b": [1, 2, 3]}), {"column": "samples 'a' and 'b'"}),
        (
            lambda: t_tests({"a": [1, 2], "b": [1, np.nan]}),
            {"column": "sample 'b'", "row": "position 1", "value": np.nan},
        ),
        (lambda: t_tests({"a": [1], "b": [2]}), {"column": "sample 'a'", "value": [1]}),
        (
            lambda: pearson({"a": [1, 2, 3], "b": [2, 2, 2]}),
            {"column": "sample 'b'", "value": [2, 2, 2]},
        ),
        (lambda: pearson(SCORES, confidence=0), {"column": "confidence", "value": 0}),
    ],
)
def test_t_tests_invalid_samples(call, fields):
    with refused(**fields):
        call()


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_t_tests_significant_after_correction(correction):
    """Three p-values of .01 to .04: all are below .05, but not all of them after a correction."""
    draw = np.random.default_rng(7)
    base = draw.normal(size=12)
    noise = [sample - sample.mean() for sample in draw.normal(size=(3, 12))]
    shifts = stats.t.isf(np.array([0.012, 0.02, 0.04]) / 2, df=11)
    samples = {"base": base} | {
        name: base + error + shift * stats.sem(error)
        for name, error, shift in zip("abc", noise, shifts, strict=True)
    }
    table = t_tests(samples, [(name, "base") for name in "abc"], correction=correction)
    assert table["p"].tolist() == pytest.approx([0.012, 0.02, 0.04])
    # Holm: 3 * .012 = .036, 2 * .02 = .04, .04. Bonferroni: .036, .06, .12.
    expected = {"holm": [True] * 3, "bonferroni": [True, False, False], "none": [True] * 3}
    assert table["significant"].tolist() == expected[correction]
    stricter = t_tests(
        samples, [(name, "base") for name in "abc"], correction=correction, alpha=0.03
    )
    expected = {"holm": [False] * 3, "bonferroni": [False] * 3, "none": [True, True, False]}
    assert stricter["significant"].tolist() == expected[correction]


def test_pearson_interval_equals_fisher_z_by_hand():
    """r = .6 of 28 pairs: atanh(.6) = .693, and 1.96 / 5 on either side."""
    x = np.linspace(-1, 1, 28)
    error = np.random.default_rng(0).normal(size=28)
    error -= np.polyval(np.polyfit(x, error, 1), x)
    y = 0.6 * x / x.std() + 0.8 * error / error.std()
    row = pearson({"x": x, "y": y}).iloc[0]
    assert row["r"] == pytest.approx(0.6)
    assert (row["low"], row["high"]) == pytest.approx((0.2923, 0.7951), abs=1e-4)
    # t = .6 * sqrt(26 / .64) with 26 degrees of freedom.
    assert row["p"] == pytest.approx(2 * stats.t.sf(3.8243, 26), rel=1e-3)
