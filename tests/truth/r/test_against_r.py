"""Statistics against the output of the R scripts in this folder."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from everycell.statistics.anova import anova
from everycell.statistics.fast_anova import FastAnova, RankDeficientDesignWarning
from everycell.statistics.hypothesis_tests import pearson, t_tests
from everycell.statistics.power import anova_power, power_from_f, required_per_group

HERE = Path(__file__).parent
DATA = pd.read_csv(HERE / "anova_data.csv")
R_ANOVA = pd.read_csv(HERE / "anova_r.csv")
R_TESTS = pd.read_csv(HERE / "tests_r.csv").set_index("name")["value"]
CASES = list(R_ANOVA[["set", "factors", "typ"]].drop_duplicates().itertuples(index=False))
FULL_RANK = [case for case in CASES if case.set in ("balanced", "unbalanced")]
EMPTY_CELL = [case for case in CASES if case.set in ("one_empty", "nested")]
COLUMNS = ["sum_sq", "df", "F", "p"]


def rows_of(case) -> tuple[pd.DataFrame, list[str]]:
    return DATA[DATA["set"] == case.set], case.factors.split()


def r_table(case) -> pd.DataFrame:
    """Rows of R for one analysis, without the intercept and the residual."""
    selection = (R_ANOVA[["set", "factors", "typ"]] == list(case)).all(axis=1)
    table = R_ANOVA[selection].set_index("term")
    return table.drop(index=["(Intercept)", "Residuals"], errors="ignore")[COLUMNS].astype(float)


def supported_anova(rows, response, factors, typ) -> pd.DataFrame:
    return FastAnova(rows, factors, typ=typ, solution="supported").fit(rows[response]).table()


def test_r_output_of_analyses():
    assert len(FULL_RANK) == 12
    assert len(EMPTY_CELL) == 8


@pytest.mark.compares("anova")
@pytest.mark.parametrize("case", FULL_RANK, ids=str)
@pytest.mark.parametrize("function", [anova, supported_anova])
def test_full_rank_equals_r(case, function):
    rows, factors = rows_of(case)
    ours = function(rows, "y", factors, typ=case.typ)
    pd.testing.assert_frame_equal(ours[COLUMNS], r_table(case), rtol=1e-9, check_names=False)


@pytest.mark.parametrize("case", EMPTY_CELL, ids=str)
def test_supported_anova_equals_r_with_empty_cells(case):
    rows, factors = rows_of(case)
    ours = supported_anova(rows, "y", factors, typ=case.typ)[COLUMNS]
    theirs = r_table(case)
    # anova() of R leaves a term without degrees of freedom out, car::Anova prints NA.
    theirs = theirs[theirs["df"] > 0]
    tested = ours[ours["df"] > 0]
    assert set(tested.index) == set(theirs.index)
    pd.testing.assert_frame_equal(tested.loc[theirs.index], theirs, rtol=1e-9, check_names=False)
    assert ours.loc[ours["df"] == 0, ["sum_sq", "F", "p"]].isna().all(axis=None)


@pytest.mark.parametrize("factors", [["a", "b"], ["a", "b", "c"]])
def test_minimum_norm_differs_from_r_in_the_viewpoints_design(factors):
    """b1 occurs with a1 only: the minimum-norm type II test of b is empty, R's is not."""
    rows = DATA[DATA["set"] == "nested"]
    with pytest.warns(RankDeficientDesignWarning):
        ours = anova(rows, "y", factors)
    case = next(c for c in EMPTY_CELL if c.set == "nested" and c.factors == " ".join(factors))
    theirs = r_table(case._replace(typ=2))
    assert ours.loc["b", "F"] == 0
    assert ours.loc["b", "p"] == 1
    assert theirs.loc["b", "p"] == pytest.approx(0.40, abs=0.01)
    # The effect of b is in the row of the interaction, of which R says that it has no df.
    assert ours.loc["a:b", "F"] == pytest.approx(theirs.loc["b", "F"], rel=1e-9)
    assert theirs.loc["a:b", "df"] == 0
    assert ours.loc["a", "F"] > 1.5 * theirs.loc["a", "F"]


@pytest.mark.compares("t_tests", "pearson")
def test_t_tests_and_corrections_equal_r():
    sets = {name: group["y"].to_numpy()[:30] for name, group in DATA.groupby("set")}
    samples = {"a": sets["balanced"], "b": sets["unbalanced"] + 0.9, "c": sets["one_empty"] - 1}
    holm = t_tests(samples)
    bonferroni = t_tests(samples, correction="bonferroni")
    pairs = holm["a"] + holm["b"]
    for column, prefix in (("t", "paired_t_"), ("p", "paired_p_"), ("p_corrected", "holm_")):
        np.testing.assert_allclose(holm[column], R_TESTS[prefix + pairs], rtol=1e-9)
    np.testing.assert_allclose(bonferroni["p_corrected"], R_TESTS["bonferroni_" + pairs], rtol=1e-9)
    student = t_tests(samples, [("a", "b")], paired=False).iloc[0]
    welch = t_tests(samples, [("a", "b")], paired=False, equal_variance=False).iloc[0]
    assert student["t"] == pytest.approx(R_TESTS["student_t"], rel=1e-9)
    assert student["p"] == pytest.approx(R_TESTS["student_p"], rel=1e-9)
    assert welch["df"] == pytest.approx(R_TESTS["welch_df"], rel=1e-9)
    assert welch["p"] == pytest.approx(R_TESTS["welch_p"], rel=1e-9)
    row = pearson(samples, [("a", "b")]).iloc[0]
    for column in ("r", "p", "low", "high"):
        assert row[column] == pytest.approx(R_TESTS[f"pearson_{column}"], rel=1e-9)


@pytest.mark.compares("anova_power", "required_per_group", "power_from_f")
def test_power_equals_r():
    # R solves for n to about 1e-5 only.
    assert required_per_group(0.1, 4) == pytest.approx(R_TESTS["size_f10_m4"], rel=1e-4)
    assert required_per_group(0.4, 3) == pytest.approx(R_TESTS["size_f40_m3"], rel=1e-4)
    for f_value, name in ((2.145, "size_pilot_2145"), (0.578, "size_pilot_578")):
        ours = power_from_f(f_value, groups=2, per_group=5).per_group
        assert ours == pytest.approx(R_TESTS[name], rel=1e-4)
    assert anova_power(0.25, 3, 20) == pytest.approx(R_TESTS["power_f25_m3_n20"], rel=1e-6)
