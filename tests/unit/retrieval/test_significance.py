"""Letters of the systems that are beaten."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.records.cells import read_cells
from everycell.retrieval.significance import (
    change_ranges,
    compare_paired_and_unpaired,
    mark_beaten_systems,
    paired_tests,
    system_letters,
)


def values(seed=0, n=40, effects=(0.0, 0.05, 0.2, 0.21)):
    rng = np.random.default_rng(seed)
    topics = rng.normal(0.5, 0.2, size=(n, 1))
    scores = topics + np.asarray(effects) + rng.normal(0, 0.1, size=(n, len(effects)))
    return pd.DataFrame(scores, columns=[f"s{i}" for i in range(len(effects))])


@pytest.mark.compares("paired_tests")
def test_paired_tests_equal_scipy():
    data = values()
    tests = paired_tests(data)
    assert list(zip(tests["a"], tests["b"], strict=True)) == [
        ("s0", "s1"),
        ("s0", "s2"),
        ("s0", "s3"),
        ("s1", "s2"),
        ("s1", "s3"),
        ("s2", "s3"),
    ]
    for row in tests.itertuples():
        expected = stats.ttest_rel(data[row.a], data[row.b])
        assert (row.t, row.p, row.df) == pytest.approx(
            (expected.statistic, expected.pvalue, expected.df)
        )
        assert row.difference == pytest.approx(data[row.a].mean() - data[row.b].mean())
    np.testing.assert_allclose(tests["p_corrected"], np.minimum(tests["p"] * 6, 1))
    assert (tests["comparisons"] == 6).all() and (tests["n"] == 40).all()


@pytest.mark.parametrize(
    ("comparisons", "pairs", "number"),
    [
        ("all_pairs", None, 6),
        ("others", None, 3),
        (24, None, 24),
        (1, None, 1),
        ("all_pairs", [("s0", "s3"), ("s1", "s3")], 2),
    ],
)
def test_paired_tests_comparisons(comparisons, pairs, number):
    tests = paired_tests(values(), pairs, comparisons=comparisons)
    assert (tests["comparisons"] == number).all()
    np.testing.assert_allclose(tests["p_corrected"], np.minimum(tests["p"] * number, 1))


def test_paired_tests_borderline():
    data = values(effects=(0.0, 0.05, 0.2))
    p = paired_tests(data, [("s0", "s1")])["p"].item()
    enough = int(0.05 / p)
    assert enough >= 1
    for number, better in ((enough, "s1"), (enough + 1, None)):
        tests = paired_tests(data, [("s0", "s1")], comparisons=number)
        assert tests["better"].item() == better


@pytest.mark.compares("system_letters", "mark_beaten_systems")
def test_system_letters_by_hand():
    tests = paired_tests(values())
    assert mark_beaten_systems(tests, system_letters(["s0", "s1", "s2", "s3"])) == {
        "s0": "",
        "s1": "",
        "s2": "ab",
        "s3": "ab",
    }
    # Letters are in the order of the table, whatever the order of the tests.
    table = {"s1": "a", "s0": "f", "s3": "g", "s2": "k"}
    assert mark_beaten_systems(tests[::-1], table) == {"s1": "", "s0": "", "s3": "af", "s2": "af"}


def test_mark_beaten_systems_tested_pairs():
    tests = paired_tests(values(), [("s3", "s0")])
    letters = mark_beaten_systems(tests, system_letters(["s0", "s1", "s2", "s3"]))
    assert letters == {"s0": "", "s1": "", "s2": "", "s3": "a"}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.05, 0.5]), st.sampled_from([1, "others"]))
def test_mark_beaten_systems_consistent(seed, level, comparisons):
    data = values(seed, n=6)
    letters = system_letters(data.columns)
    result = mark_beaten_systems(paired_tests(data, comparisons=comparisons, level=level), letters)
    for system, beaten in result.items():
        for other in data.columns:
            if letters[other] in beaten:
                assert data[system].mean() > data[other].mean()
                assert letters[system] not in result[other]


def test_paired_tests_equal_systems():
    data = pd.DataFrame({"a": [0.5, 0.2, 0.3], "b": [0.5, 0.2, 0.3]})
    tests = paired_tests(data, level=0.999)
    assert tests[["t", "p"]].values.tolist() == [[0.0, 1.0]]
    assert mark_beaten_systems(tests, {"a": "a", "b": "b"}) == {"a": "", "b": ""}


def test_paired_tests_swapped():
    one, other = (paired_tests(values(), [pair]) for pair in (("s0", "s2"), ("s2", "s0")))
    assert one["t"].item() == pytest.approx(-other["t"].item())
    assert one["p"].item() == pytest.approx(other["p"].item())
    assert one["better"].item() == other["better"].item() == "s2"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": [("s0", "bm25")]}, "'bm25'"),
        ({"values": values()[:1]}, "at least 2 values"),
        ({"values": values().mask(values() > values().max().max() - 1e-9)}, "position 6.* nan"),
    ],
)
def test_paired_tests_invalid(change, words):
    with pytest.raises(ValueError, match=words):
        paired_tests(**({"values": values()} | change))


def test_system_letters_many():
    assert system_letters([str(i) for i in range(26)])["25"] == "z"


def test_paired_tests_summation_order():
    data = values()[["s0"]]
    # 24 of 150 topics differed so on real data, all in one direction.
    data = data.assign(same=data["s0"] + np.where(np.arange(len(data)) % 3 == 0, 2.2e-16, 0))
    assert (data["s0"] != data["same"]).any()
    tests = paired_tests(data)
    assert (tests["t"].item(), tests["p"].item(), tests["better"].item()) == (0, 1, None)


@pytest.mark.compares("compare_paired_and_unpaired")
def test_compare_paired_and_unpaired_equal_scipy():
    data = values()
    tests = compare_paired_and_unpaired(data, comparisons=9)
    assert len(tests) == 6
    for row in tests.itertuples():
        first, second = data[row.a], data[row.b]
        assert row.p_paired == pytest.approx(stats.ttest_rel(first, second).pvalue)
        assert row.p_unpaired == pytest.approx(stats.ttest_ind(first, second).pvalue)
        change = 100 * (second.mean() - first.mean()) / first.mean()
        assert row.change_percent == pytest.approx(change)
    for name in ("p_paired", "p_unpaired"):
        np.testing.assert_allclose(tests[f"{name}_corrected"], np.minimum(tests[name] * 9, 1))


def test_compare_paired_and_unpaired_topics():
    # Each topic gains about 0.1 while topics differ by 0.9: seen in pairs only.
    data = pd.DataFrame({"a": [0.0, 0.3, 0.6, 0.9], "b": [0.1, 0.39, 0.71, 1.0]})
    tests = compare_paired_and_unpaired(data)
    assert tests["p_paired"].item() < 0.001 and tests["p_unpaired"].item() > 0.5
    back = compare_paired_and_unpaired(data, [("b", "a")])
    assert back["p_unpaired"].item() == pytest.approx(tests["p_unpaired"].item())
    assert back["change_percent"].item() < 0 < tests["change_percent"].item()


def test_compare_paired_and_unpaired_zero():
    tests = compare_paired_and_unpaired(pd.DataFrame({"a": [0.0, 0.0], "b": [0.1, 0.2]}))
    assert np.isnan(tests["change_percent"].item())


@pytest.mark.compares("change_ranges")
def test_change_ranges_published(repository):
    """Section 3.4.1 of lajewska2025: recall changes from Table 3.3, both years."""
    cells = read_cells(repository / "published/lajewska2025/table_3_3.csv").astype({"value": float})
    cells = cells[cells["metric"].str.startswith("R@")]
    means = pd.DataFrame(
        {"recall": cells["value"].to_numpy()}, index=cells["cast_year"] + " " + cells["row"]
    )
    rows = [name for name in means.index if name.startswith("2020")]
    pairs = {"rewriter": [(0, 1), (2, 3), (4, 5)], "rankers": [(0, 2), (1, 3)]}
    result = change_ranges(
        means,
        {
            name: [
                (year + rows[a][4:], year + rows[b][4:])
                for year in ("2020", "2021")
                for a, b in listed
            ]
            for name, listed in pairs.items()
        },
    )
    assert result["value"].round().tolist() == [-7, -3, 12, 29]


def test_change_ranges_of_zero():
    means = pd.DataFrame({"MAP": [0.0, 0.2]}, index=["a", "b"])
    assert change_ranges(means, {"x": [("a", "b")]})["value"].isna().all()


def test_paired_tests_at_a_level_equal_to_p():
    """The papers' tests are p < level: a p equal to the level is not significant."""
    data = values(n=8, effects=(0.0, 0.2))
    p = paired_tests(data)["p_corrected"].item()
    assert 0 < p < 1
    assert paired_tests(data, level=p)["better"].item() is None
    assert paired_tests(data, level=np.nextafter(p, 1))["better"].item() == "s1"
