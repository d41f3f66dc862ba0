"""Public functions refuse missing and impossible values, as their docstrings say."""

import math

import numpy as np
import pandas as pd
import pytest
from data_errors import refused

from everycell.base.errors import DataError
from everycell.fair_ranking.fa_ir import fa_ir, failure_probability
from everycell.fair_ranking.policies import exposure_error
from everycell.fair_ranking.pufr import pufr
from everycell.metrics.attribution import attribution_confidence, paired_difference, ratio_interval
from everycell.metrics.gfrc import achieved_distributions, combine, position_weight
from everycell.metrics.rbo import rbo
from everycell.metrics.satisfaction import fitting_confusions
from everycell.metrics.term_fairness import fairness_curves, fairness_report
from everycell.metrics.texfair import ted, term_exposure, texfair
from everycell.statistics.agreement import cohens_kappa, fleiss_kappa, percent_agreement
from everycell.statistics.anova import anova
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.hypothesis_tests import pearson, t_tests
from everycell.statistics.laplace import LastLayer, fisher_diagonal, log_odds_distribution
from everycell.statistics.power import anova_power, power_from_f, required_per_group

NAN, INF = math.nan, math.inf
#: Missing labels among numbers, and among strings.
MISSING = [
    *[(1, 0, missing) for missing in (None, NAN, np.float64("nan"), pd.NA, pd.NaT, "", " ")],
    *[("a", "b", missing) for missing in (None, NAN, pd.NA, "", "\t")],
]
PAIR = {"a": [1.0, 2, 3], "b": [1.0, 2, 4]}
HEAD = LastLayer(np.ones((1, 1)), np.zeros(1))


@pytest.mark.parametrize(("first", "second", "missing"), MISSING)
def test_agreement_missing_label(first, second, missing):
    labels = [[first, first], [second, second], [first, missing]]
    for table in (labels, pd.DataFrame(labels), np.array(labels, dtype=object)):
        with pytest.raises(ValueError, match="missing"):
            fleiss_kappa(table)
    columns = list(zip(*labels, strict=True))
    for measure in (percent_agreement, cohens_kappa):
        for pair in (columns, columns[::-1], map(pd.Series, columns)):
            with pytest.raises(ValueError, match="missing"):
                measure(*pair)


def test_agreement_masked_label():
    labels = np.ma.array([[1, 1], [1, 0], [0, 0]], mask=[[0, 0], [0, 1], [0, 0]])
    with pytest.raises(ValueError, match="None"):
        fleiss_kappa(labels)
    with pytest.raises(ValueError, match="None"):
        cohens_kappa(labels[:, 0], labels[:, 1])


def test_agreement_strings_and_numbers():
    with refused("labels", ("1", 1)):
        fleiss_kappa([["1", 1], ["1", 1]])
    for measure in (percent_agreement, cohens_kappa):
        with refused("labels", ("1", 1)):
            measure([1, 0], ["1", "0"])
        assert measure([1, 0], [True, False]) == measure([1.0, 0.0], [1, 0])


@pytest.mark.parametrize(
    ("function", "arguments", "options"),
    [
        (t_tests, (PAIR,), {"alpha": 5}),
        (t_tests, (PAIR,), {"alpha": NAN}),
        (pearson, (PAIR,), {"confidence": 95}),
        (pearson, (PAIR,), {"confidence": NAN}),
        (anova_power, (INF, 3, 10), {}),
        (anova_power, (0.2, NAN, 10), {}),
        (anova_power, (0.2, 2.5, 10), {}),
        (anova_power, (0.2, 3, INF), {}),
        (required_per_group, (INF, 3), {}),
        (required_per_group, (0.2, NAN), {}),
        (power_from_f, (INF, 3, 5), {}),
        (power_from_f, (2.0, 3, NAN), {}),
        (EffectScale, ("x", ((NAN, "L"), (0.1, "S"))), {}),
        (EffectScale, ("x", ((0.2, "L"), (NAN, "S"))), {}),
        (fisher_diagonal, (LastLayer(np.array([[NAN]]), np.zeros(1)), [[1.0]]), {}),
        (log_odds_distribution, (HEAD, [[INF, 1]], [[1.0]]), {}),
        (anova, (pd.DataFrame({"y": [1, 2, 3, 4], "f": ["a", "a", "b", ""]}), "y", ["f"]), {}),
        (attribution_confidence, ([[None]], [[True]]), {}),
        (achieved_distributions, (["1", None], [1.0, 1.0], [[0.5, 0.5]] * 2), {}),
        (combine, (NAN, 0.5), {}),
        (combine, (0.5, NAN), {}),
        (position_weight, (5, NAN), {}),
        (rbo, ([1, NAN], [1, 2]), {}),
        (rbo, ([1, 2], [1, None]), {}),
        (rbo, ([1, pd.NA], [1, 2]), {}),
        (rbo, ([1, {2, None}], [1, 2]), {}),
        (rbo, ([1, 2], ["1", "2"]), {}),
        (fitting_confusions, ({"accuracy": NAN}, 5, 5), {}),
        (exposure_error, ([NAN, 1], [1, 1]), {}),
        (failure_probability, ([2, 1], 0.5), {}),
        (failure_probability, ([0, 1, 0], 0.5), {}),
        (fa_ir, ([1, 2], [True, NAN], [0, 0]), {}),
        (fa_ir, ([1, 2], [True, None], [0, 0]), {}),
        (fa_ir, ([1, 2], ["True", "False"], [0, 0]), {}),
        (pufr, ([1, 2], [1, 1], [True, None], 1), {}),
        (pufr, ([1, 2], [1, 1], [2, 0], 1), {}),
    ],
)
def test_invalid_value(function, arguments, options):
    with pytest.raises(ValueError, match=r"\w+.*[:;] \w+"):
        function(*arguments, **options)


@pytest.mark.parametrize("measure", [fairness_curves, ted, term_exposure, texfair])
def test_fairness_without_lengths(measure):
    with pytest.raises(DataError, match=r"shape of the lengths is \(\)"):
        measure([[[0, 1], [1, 0]]], None)


@pytest.mark.parametrize(("length", "terms"), [(INF, 0), (NAN, 0), (INF, INF)])
def test_fairness_infinite_count(length, terms):
    run = pd.DataFrame({"query": "q", "document": ["a", "b"], "score": [2.0, 1.0]})
    counts = pd.DataFrame({"length": [5, length], "f": [1, terms], "m": [0, 2]}, index=["a", "b"])
    with pytest.raises(DataError, match="document 'b'.*finite numbers of 0 or more"):
        fairness_report(run, counts, [2])


@pytest.mark.parametrize("cutoffs", [[1, NAN], [NAN], [0], []])
def test_fairness_cutoffs(cutoffs):
    run = pd.DataFrame({"query": "q", "document": ["a"], "score": [2.0]})
    counts = pd.DataFrame({"length": [5], "f": [1], "m": [0]}, index=["a"])
    with pytest.raises(DataError, match="cut-offs is"):
        fairness_report(run, counts, cutoffs)


@pytest.mark.parametrize("confidence", [0, 1, -1, 1.5, 95, NAN])
def test_bootstrap_confidence(confidence):
    with pytest.raises(DataError, match="confidence is .* above 0 and below 1"):
        ratio_interval([1, 2, 3], [1, 1, 1], seed=0, confidence=confidence)
    with pytest.raises(DataError, match="confidence is"):
        paired_difference([1, 0, 1], [0, 0, 1], seed=0, confidence=confidence)


@pytest.mark.parametrize(
    ("sums", "counts", "fault"),
    [
        ([1, NAN], [1, 1], "sum is nan"),
        ([1, INF], [1, 1], "sum is inf"),
        ([1, 1], [1, NAN], "count is nan"),
        ([1, 1], [1, -1], "count is -1"),
        ([1, 1], [0, 0], "counts is .*above 0"),
        ([], [], "counts is .*above 0"),
        ([1, 1], [1], "one of each per query"),
        ([[1, 1]], [[1, 1]], "one of each per query"),
    ],
)
def test_bootstrap_sums_and_counts(sums, counts, fault):
    with pytest.raises(DataError, match=fault):
        ratio_interval(sums, counts, seed=0)


def test_pufr_table_of_deviations():
    with pytest.raises(DataError, match="one of each per document"):
        pufr([3, 2, 1], [[0.1, 0.1, 0.1]], [False, False, True], 1.0)
