"""The ANOVA functions: against statsmodels and scipy, invariances, bad data."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.anova import anova_lm

from everycell.statistics.anova import (
    anova,
    anova_cells,
    supported_cells,
)
from everycell.statistics.effect_size import CULPEPPER
from everycell.statistics.fast_anova import FastAnova, RankDeficientDesignWarning

COLUMNS = ["sum_sq", "df", "F", "p"]


def crossed(counts, seed=0) -> pd.DataFrame:
    """Rows for cells (a, b, ...) with the given counts, and three responses."""
    cells = [cell for cell, n in counts.items() for _ in range(n)]
    frame = pd.DataFrame(cells, columns=list("abc")[: len(cells[0])])
    rng = np.random.default_rng(seed)
    shift = frame.to_numpy().sum(axis=1)[:, None]
    frame[["x", "y", "z"]] = np.round(
        rng.normal(3, 1, (len(frame), 3)) + shift * [0.0, 0.2, 0.8], 2
    )
    return frame


def unbalanced(seed=0) -> pd.DataFrame:
    rng = np.random.default_rng(seed + 100)
    cells = itertools.product(range(2), range(3), range(4))
    return crossed({cell: int(rng.integers(1, 5)) for cell in cells}, seed)


def viewpoints_like(seed=0) -> pd.DataFrame:
    """Three of the four cells a x b, as in the viewpoints study, with c crossed."""
    cells = itertools.product(range(2), range(2), range(5))
    return crossed({cell: 4 for cell in cells if cell[:2] != (0, 1)}, seed)


def statsmodels_table(frame, response, factors, typ) -> pd.DataFrame:
    coding = "C({}, Sum)" if typ == 3 else "C({})"
    formula = f"{response} ~ " + " * ".join(coding.format(factor) for factor in factors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = anova_lm(smf.ols(formula, frame).fit(), typ=typ)
    table = table.drop(index=["Residual", "Intercept"], errors="ignore")
    return table.rename(columns={"PR(>F)": "p"})[COLUMNS].reset_index(drop=True)


def supported_anova(frame, response, factors, typ=2) -> pd.DataFrame:
    return FastAnova(frame, factors, typ=typ, solution="supported").fit(frame[response]).table()


def as_tested(table: pd.DataFrame) -> pd.DataFrame:
    return table[COLUMNS].reset_index(drop=True)


@pytest.mark.parametrize("typ", [1, 2, 3])
@pytest.mark.parametrize("factors", [["a"], ["b", "a"], ["a", "b", "c"]])
def test_anova_equals_statsmodels(typ, factors):
    frame = unbalanced()
    fast = FastAnova(frame, factors, typ=typ).fit(frame[["x", "y", "z"]])
    for column, response in enumerate(["x", "y", "z"]):
        expected = statsmodels_table(frame, response, factors, typ)
        table = anova(frame, response, factors, typ=typ)
        pd.testing.assert_frame_equal(as_tested(table), expected, rtol=1e-9)
        pd.testing.assert_frame_equal(fast.table(column), table, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::everycell.statistics.fast_anova.RankDeficientDesignWarning")
@pytest.mark.parametrize("factors", [["a", "b"], ["a", "b", "c"]])
def test_anova_empty_cell_equals_statsmodels(factors):
    frame = viewpoints_like()
    fast = FastAnova(frame, factors).fit(frame[["x", "y", "z"]])
    for column, response in enumerate(["x", "y", "z"]):
        ours = fast.table(column)
        expected = statsmodels_table(frame, response, factors, 2).set_index(ours.index)
        # Coefficients that are equal by construction: 0/0 in statsmodels, see the module.
        nothing = [term for term in ours.index if term in ("b", "b:c")]
        assert (ours.loc[nothing, ["sum_sq", "F"]] == 0).all(axis=None)
        assert (ours.loc[nothing, "p"] == 1).all()
        tested = ours.index.difference(nothing)
        pd.testing.assert_frame_equal(
            ours.loc[tested, COLUMNS], expected.loc[tested], rtol=1e-9, check_names=False
        )
        pd.testing.assert_frame_equal(anova(frame, response, factors), ours)


@pytest.mark.filterwarnings("ignore::everycell.statistics.fast_anova.RankDeficientDesignWarning")
def test_anova_empty_cell_row_order():
    frame = viewpoints_like()
    expected = anova(frame, "z", ["a", "b"])
    for seed in range(20):
        shuffled = frame.sample(frac=1, random_state=seed)
        table = anova(shuffled, "z", ["a", "b"])
        pd.testing.assert_frame_equal(table, expected, rtol=1e-9)


def test_anova_empty_cell_warning():
    frame = viewpoints_like()
    with pytest.warns(RankDeficientDesignWarning, match="rank 3 for 4 columns"):
        anova(frame, "y", ["a", "b"])


def test_supported_anova_nested_models():
    frame = viewpoints_like()
    table = supported_anova(frame, "z", ["a", "b", "c"])
    smaller = smf.ols("z ~ C(a) * C(c)", frame).fit()
    larger = smf.ols("z ~ C(a) * C(c) + C(b)", frame).fit()
    assert table.loc["b", "sum_sq"] == pytest.approx(smaller.ssr - larger.ssr, rel=1e-9)
    assert table.loc["b", "df"] == 1
    assert table.loc[["a:b", "a:b:c"], "df"].tolist() == [0, 0]


def test_supported_anova_level_names():
    frame = viewpoints_like()
    renamed = frame.assign(a=frame["a"].map({0: "z", 1: "y"}))
    one, two = (supported_anova(data, "z", ["a", "b"]) for data in (frame, renamed))
    pd.testing.assert_frame_equal(one, two, rtol=1e-9)
    with pytest.warns(RankDeficientDesignWarning):
        before = anova(frame, "z", ["a", "b"]).loc["a", "F"]
        after = anova(renamed, "z", ["a", "b"]).loc["a", "F"]
    assert before != pytest.approx(after, rel=0.01)


def test_fast_anova_degrees_of_freedom():
    fast = FastAnova(viewpoints_like(), ["a", "b", "c"], solution="supported")
    assert (fast.n, fast.rank, fast.df_resid, fast.full_rank) == (60, 15, 45, False)
    assert fast.df.tolist() == [1, 1, 4, 0, 4, 4, 0]
    assert FastAnova(unbalanced(), ["a", "b", "c"]).full_rank


def test_anova_one_way_equals_scipy():
    frame = unbalanced()
    groups = [group["y"].to_numpy() for _, group in frame.groupby("c")]
    expected = stats.f_oneway(*groups)
    row = anova(frame, "y", ["c"]).loc["c"]
    assert row["F"] == pytest.approx(expected.statistic, rel=1e-9)
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-9)


def test_anova_effect_sizes():
    frame = unbalanced()
    row = anova(frame, "z", ["c"]).loc["c"]
    total = ((frame["z"] - frame["z"].mean()) ** 2).sum()
    mean_sq_error = (total - row["sum_sq"]) / row["df_resid"]
    omega = (row["sum_sq"] - row["df"] * mean_sq_error) / (total + mean_sq_error)
    assert row["omega_sq"] == pytest.approx(omega, rel=1e-9)
    assert row["eta_sq"] == pytest.approx(row["sum_sq"] / total, rel=1e-9)
    assert row["partial_eta_sq"] == pytest.approx(row["eta_sq"], rel=1e-9)
    assert row["n"] == len(frame)


def test_anova_interactions():
    table = anova(unbalanced(), "y", ["a", "b", "c"], interactions=2)
    assert table.index.tolist() == ["a", "b", "c", "a:b", "a:c", "b:c"]


def test_anova_odd_names():
    frame = unbalanced()
    odd = frame.rename(columns={"a": "Contr. Fact. Corr.", "y": "Q(1) ~ 'x'"})
    odd["Contr. Fact. Corr."] = odd["Contr. Fact. Corr."].map({0: "None", 1: "a:b"})
    table = anova(odd, "Q(1) ~ 'x'", ["Contr. Fact. Corr.", "b"])
    assert table.index[2] == "Contr. Fact. Corr.:b"
    expected = anova(frame, "y", ["a", "b"])
    np.testing.assert_allclose(table["F"], expected["F"], rtol=1e-9)


def test_anova_level_none():
    frame = pd.DataFrame({"mode": ["V", "T", "None"] * 4, "y": np.arange(12.0)})
    assert anova(frame, "y", ["mode"]).loc["mode", "df"] == 2


GOOD = pd.DataFrame({"y": [1.0, 2, 3, 4], "a": list("ppqq"), "b": list("rsrs")})


@pytest.mark.parametrize(
    ("frame", "response", "factors", "fields"),
    [
        (GOOD.iloc[:0], "y", ["a"], {"column": None}),
        (GOOD, "y", "a", {"column": "factors", "value": "a"}),
        (GOOD, "y", [], {"column": "factors", "value": []}),
        (GOOD, "y", ["a", "a"], {"column": "factors", "value": ["a", "a"]}),
        (GOOD, "y", ["a", "b"], {"column": "factors", "value": ["a", "b"]}),
        (GOOD, "a", ["b"], {"column": "a", "value": "p"}),
        (GOOD.assign(y=GOOD["y"] * 1j), "y", ["a"], {"column": "y", "value": 1j}),
        (GOOD.assign(y=[1, np.nan, 3, np.inf]), "y", ["a"], {"column": "y", "row": "row 1"}),
        (GOOD.assign(y=[np.nan] * 4), "y", ["a"], {"column": "y", "row": "row 0"}),
        (GOOD.assign(y=2), "y", ["a"], {"column": "y", "value": 2}),
        (GOOD.assign(y=[0.3, 0.1 + 0.2] * 2), "y", ["a"], {"column": "y", "value": 0.3}),
        (GOOD.assign(a="p"), "y", ["a"], {"column": "a", "value": "p"}),
        (GOOD.assign(a=["p", None, "q", "q"]), "y", ["a"], {"column": "a", "row": "row 1"}),
        (GOOD, "y", ["y"], {"column": "response", "value": "y"}),
    ],
)
def test_anova_invalid_data(frame, response, factors, fields):
    with refused(**fields):
        anova(frame, response, factors)
    with refused(**fields):
        supported_cells(frame, [response], factors, CULPEPPER)


def test_anova_missing_and_repeated_columns():
    for frame, factors in ((GOOD, ["w"]), (pd.concat([GOOD, GOOD["b"]], axis=1), ["b"])):
        with pytest.raises(ValueError, match=f"'{factors[0]}'"):
            anova(frame, "y", factors)


@pytest.mark.parametrize(
    "options", [{"typ": 4}, {"interactions": 2}, {"interactions": "all"}], ids=str
)
def test_anova_invalid_options(options):
    ((name, value),) = options.items()
    with refused(name, value):
        anova(GOOD, "y", ["a"], **options)


def test_anova_type_three_empty_cells():
    with refused("typ", 3):
        anova(viewpoints_like(), "y", ["a", "b"], typ=3)


def test_fast_anova_constant_response():
    result = FastAnova(GOOD, ["a"]).fit(np.column_stack([GOOD["y"], [2, 2, 2, 2]]))
    assert np.isnan(result.f[0, 1])
    assert np.isnan(result.p[0, 1])
    assert result.f[0, 0] == pytest.approx(8.0)


SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=20, deadline=None)


@FEW
@given(seed=SEEDS, typ=st.sampled_from([1, 2, 3]))
def test_anova_row_order_and_level_names(seed, typ):
    frame = unbalanced(seed)
    expected = anova(frame, "z", ["a", "b"], typ=typ)
    changed = frame.sample(frac=1, random_state=seed)
    changed["b"] = changed["b"].map({0: "z", 1: "m", 2: "k"})
    pd.testing.assert_frame_equal(
        anova(changed, "z", ["a", "b"], typ=typ), expected, rtol=1e-8, atol=1e-12
    )


@FEW
@given(seed=SEEDS, shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_anova_shift_and_scale(seed, shift, scale):
    frame = unbalanced(seed)
    moved = frame.assign(z=shift - scale * frame["z"])
    np.testing.assert_allclose(
        anova(moved, "z", ["a", "b"])["F"], anova(frame, "z", ["a", "b"])["F"], rtol=1e-6
    )


@FEW
@given(seed=SEEDS)
def test_fast_anova_type_one_sums(seed):
    frame = unbalanced(seed)
    result = FastAnova(frame, ["c", "a", "b"], typ=1).fit(frame["z"])
    total = ((frame["z"] - frame["z"].mean()) ** 2).sum()
    assert result.sum_sq.sum() + result.sum_sq_resid[0] == pytest.approx(total, rel=1e-9)
    assert result.df.sum() + result.df_resid == len(frame) - 1


@FEW
@given(seed=SEEDS)
def test_anova_types_balanced_design(seed):
    frame = crossed({cell: 3 for cell in itertools.product(range(2), range(3))}, seed)
    one, two, three = (anova(frame, "y", ["a", "b"], typ=typ) for typ in (1, 2, 3))
    pd.testing.assert_frame_equal(one, two, rtol=1e-8, atol=1e-12)
    pd.testing.assert_frame_equal(one, three, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("level", ["nan", "NaN", "None", "inf", "1e5"])
def test_anova_numeric_level_names(level):
    frame = unbalanced()
    renamed = frame.assign(c=frame["c"].map({0: "a", 1: "b", 2: "c", 3: level}))
    plain = frame.assign(c=frame["c"].map(dict(enumerate(sorted(["a", "b", "c", level])))))
    assert FastAnova(renamed, ["a", "c"]).n == len(frame)
    assert anova(renamed, "y", ["a", "c"])["n"].eq(len(frame)).all()
    assert supported_anova(plain, "y", ["a", "c"]).loc["c", "df"] == 3


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_anova_rounding(seed):
    """One factor fixes the response; what the others seem to explain is rounding."""
    rng = np.random.default_rng(seed)
    frame = crossed({cell: 3 for cell in itertools.product(range(2), range(3))}, seed)
    values = rng.normal(size=3)
    frame["z"] = values[frame["b"]]
    frame["z"] += np.where(rng.random(len(frame)) < 0.5, 0.3, 0.1 + 0.2)
    for function in (anova, supported_anova):
        table = function(frame, "z", ["a", "b"])
        assert table.loc["b", "p"] == 0 and np.isinf(table.loc["b", "F"])
        assert table.loc[["a", "a:b"], "F"].isna().all()


@pytest.mark.parametrize("function", [anova, supported_anova])
@pytest.mark.parametrize("typ", [1, 2, 3])
def test_anova_large_mean(function, typ):
    frame = unbalanced()
    frame["z"] = frame["z"].round()
    far = frame.assign(z=frame["z"] + 1e13)
    table, moved = (function(data, "z", ["a", "b"], typ=typ) for data in (frame, far))
    np.testing.assert_allclose(moved["F"], table["F"], rtol=1e-6)


@pytest.mark.parametrize("cells", [anova_cells, supported_cells])
def test_anova_cells_invalid_values(cells):
    frame = unbalanced()
    with refused("containing", "kind"):
        cells(frame, ["z"], ["a", "b"], CULPEPPER, containing="kind")
    with refused("z", 1):
        cells(frame.assign(z=1.0), ["z"], ["a", "b"], CULPEPPER)


@pytest.mark.compares("anova_cells", "supported_cells")
def test_anova_cells_and_supported_cells_in_long_format():
    frame = pd.DataFrame({"rating": [1, 2, 3, 4, 2, 4], "kind": list("aabbcc")})
    assert anova_cells(frame, ["rating"], ["kind"], CULPEPPER)["value"].tolist()[1] == "L"
    # Without a row for b=1 and a=0, the interaction has no degrees of freedom.
    frame = pd.DataFrame({"rating": [1, 2, 4, 3, 2, 4], "a": list("001111"), "b": list("000011")})
    cells = supported_cells(frame, ["rating"], ["a", "b"], CULPEPPER)
    assert cells[cells["metric"] == "df"]["value"].tolist() == [1, 1, 0]
