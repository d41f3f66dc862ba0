"""The talent search: the model by hand, what the released recipe draws, the drawing."""

import numpy as np
import pandas as pd
import pytest
from harness import REPOSITORY

from everycell.explain.shapley import shapley_values
from everycell.records.cells import read_cells
from papers.heuss2025.ch4_attributions import (
    WITH_BASE,
    attribution_deviations,
    candidate_attributions,
    compare_choices,
    compare_objectives,
    list_attributions,
    ranks_in_queries,
    remove_base,
)
from papers.heuss2025.ch4_figures import draw_bars, select_attributions
from papers.heuss2025.ch4_talent_search import (
    GRADES,
    OLDER_VALUES,
    QUERIES,
    TalentModel,
    background,
    candidates,
    universities,
)

PUBLISHED = REPOSITORY / "published" / "heuss2025"


@pytest.fixture(scope="module")
def tables():
    """Printed inputs: candidates and universities."""
    return [read_cells(PUBLISHED / f"table_4_A_{number}.csv") for number in (1, 2)]


@pytest.fixture(scope="module")
def schools(tables):
    """Universities of Table 4.A.2."""
    return universities(tables[1])


@pytest.fixture(scope="module")
def biased(schools):
    """The biased model."""
    return TalentModel(schools, biased=True)


@pytest.fixture(scope="module")
def people(tables, schools):
    """Candidates of Table 4.A.1."""
    return candidates(tables[0], schools)


@pytest.fixture(scope="module")
def samples(schools):
    """Background of 1,000 candidates."""
    return background(schools, 1000, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("name", "with_bias", "without"),
    [
        ("qual-1", 0.8 + 0.55 + 2.5 / 3, 0.8 + 0.55 + 2.5 / 3),
        ("non-qual", 0.25 * (1.4 + 2 / 3), 0.25 * (1.4 + 2 / 3)),
        # Requirements do not count for the favoured university.
        ("privileged", 1.4 + 2.6 / 3, 0.25 * (1.4 + 2.6 / 3)),
        ("qual-biased", 0.9 * (1.5 + 2.6 / 3), 1.5 + 2.6 / 3),
        # A scheme in which 1 is the best grade, and one from 6 to 10.
        ("qual-ger", 1.6 + 1, 1.6 + 1),
        ("qual-net", 1.6 + 0.5, 1.6 + 0.5),
    ],
)
def test_talent_model_scores_by_hand(biased, people, name, with_bias, without):
    vector = people[name][None]
    assert biased(vector)[0] == pytest.approx(with_bias)
    assert biased._replace(biased=False)(vector)[0] == pytest.approx(without)


def test_ranks_in_queries_published_ranks(biased, people):
    published = read_cells(PUBLISHED / "table_4_A_3.csv").astype({"value": int})
    for model, columns in (
        (biased, ["average", "nepotism", "qualified", "internat."]),
        (biased._replace(biased=False), ["biased"]),
    ):
        both = ranks_in_queries(model, people).merge(published, on=["row", "query"])
        both = both[both["query"].isin(columns)]
        assert len(both) == 8 * len(columns)
        assert (both["value_x"] == both["value_y"]).all()


def test_background_of_the_text(schools):
    drawn = background(schools, 20_000, np.random.default_rng(1))
    assert drawn[:, :2].mean(axis=0) == pytest.approx(0.5, abs=0.01)
    for number in range(len(schools.names)):
        grades = drawn[drawn[:, 3] == number, GRADES]
        low, high = sorted((schools.lowest[number], schools.highest[number]))
        assert len(grades) == pytest.approx(4000, abs=300)
        assert low <= grades.min() < low + 0.01 * (high - low)
        assert grades.mean() == pytest.approx((low + high) / 2, abs=0.02 * (high - low))
    assert drawn[:, 4].mean() == pytest.approx(0.5, abs=0.02)


def values(frame, **selection):
    """Values by feature of the rows with these entries."""
    rows = frame
    for column, value in selection.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 5
    return rows.set_index("feature")["value"].to_dict()


def test_list_attributions_published_figures(biased, people, samples):
    # As measured in the figures: requirements, and the university with a disfavoured candidate.
    lists = list_attributions(biased, people, samples)
    listwise = {query: values(lists, query=query, explainer="RankingSHAP") for query in QUERIES}
    assert listwise["qualified"]["req"] == pytest.approx(0.2)
    assert listwise["biased"]["university"] == pytest.approx(0.51, abs=0.03)
    assert listwise["average"]["university"] == pytest.approx(0.24, abs=0.03)
    third = candidate_attributions(biased, people, samples)
    third = values(third, query="biased", explainer="RankingSHAP", rank=3)
    assert third["university"] == pytest.approx(-0.18, abs=0.02)
    for result in listwise.values():
        assert sum(result.values()) == pytest.approx(1)


def test_list_attributions_unbiased_candidates(biased, tables, schools, samples):
    model = biased._replace(biased=False)
    drawn = {"experience": 0.289, "skills": 0.622, "grades": -0.044, "university": 0.067}
    older, published = (
        values(
            list_attributions(model, candidates(tables[0], schools, changed), samples),
            query="qualified",
            explainer="RankingSHAP",
        )
        for changed in (OLDER_VALUES, None)
    )
    assert {name: older[name] for name in drawn} == pytest.approx(drawn, abs=0.02)
    assert abs(published["grades"] - drawn["grades"]) > 0.4


def test_remove_base_shares(biased, people, samples):
    result = compare_choices(biased, people, samples)
    for query in QUERIES:
        released, exact = (
            np.array(
                list(values(result, query=query, explainer="RankingSHAP", choice=choice).values())
            )
            for choice in ("as released", WITH_BASE)
        )
        assert np.ptp(released - exact) == pytest.approx(0, abs=1e-12)
    exact = values(result, query="qualified", explainer="RankingSHAP", choice=WITH_BASE)
    assert exact["req"] == pytest.approx(0, abs=1e-12)
    worth = np.random.default_rng(0).normal(size=32)
    more = shapley_values(remove_base(worth)) - shapley_values(worth)
    np.testing.assert_allclose(more, worth[0] / 5)


def test_candidate_attributions_sums(biased, people, samples):
    lists = list_attributions(biased, people, samples)
    sums = lists[lists["explainer"] == "PointwiseSHAP"].groupby("query")["value"].sum()
    assert sums.to_numpy() == pytest.approx(1)
    item = candidate_attributions(biased, people, samples)
    item = item[(item["explainer"] == "PointwiseSHAP") & (item["candidate"] == "qual-ger")]
    assert item["value"].sum() == pytest.approx(2.6 - biased(samples).mean())


def test_compare_objectives_sums(biased, people, samples):
    values = compare_objectives(biased, people, samples)
    # The ranks of a list have a constant sum, and so have their exposures.
    by_feature = values.groupby(["query", "objective", "feature"])["value"].sum()
    assert by_feature.abs().max() < 1e-9
    exposed = values[values["objective"] == "exposure"].drop(columns="objective")
    listwise = candidate_attributions(biased, people, samples)
    listwise = listwise[listwise["explainer"] == "RankingSHAP"].drop(columns="explainer")
    keys = ["query", "candidate", "rank", "feature"]
    both = exposed.merge(listwise, on=keys, suffixes=("", "_as_released"))
    # The released explainer adds a fifth of the value of the empty coalition.
    added = (both["value_as_released"] - both["value"]).groupby([both["query"], both["candidate"]])
    assert len(both) == len(listwise) and added.std().max() < 1e-9 and added.min().gt(0).all()


def test_attribution_deviations_of_draws(biased, people, schools):
    rng = np.random.default_rng(3)
    few = [background(schools, 100, rng) for _ in range(8)]
    many = [background(schools, 1600, rng) for _ in range(8)]
    small, large = (
        attribution_deviations(biased, people, draws).query("explainer == 'RankingSHAP'")["value"]
        for draws in (many, few)
    )
    assert small.mean() < 0.5 * large.mean() < 0.1


def points():
    """Two explainers in two panels, one of them without a bar."""
    frame = pd.DataFrame(
        [
            (query, explainer, feature, 0.1 * position - 0.2)
            for query in ("average", "biased")
            for explainer in ("Greedy", "RankingSHAP")
            for position, feature in enumerate(("experience", "req", "skills"))
        ],
        columns=["query", "explainer", "feature", "value"],
    )
    return select_attributions(frame.iloc[:-1], None)


def test_draw_bars_positions():
    frame = points()
    marked = frame[frame["explainer"] == "RankingSHAP"].assign(value=0.5)
    figure = draw_bars(frame, "explainer", ["query"], marked)
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["req", "skills", "exp"]
    for axes, query in ((left, "average"), (right, "biased")):
        rows = frame[frame["query"] == query]
        widths = [bar.get_width() for group in axes.containers for bar in group]
        assert sorted(widths) == pytest.approx(sorted(rows["value"]))
        (diamonds,) = [line for line in axes.lines if line.get_marker() == "D"]
        assert set(diamonds.get_xdata()) == {0.5}
        low, high = axes.get_xlim()
        assert low < -0.2
        assert high > 0.5
    assert left.yaxis_inverted()


def test_draw_bars_duplicate():
    frame = points()
    with pytest.raises(ValueError, match="twice|two|more than"):
        draw_bars(pd.concat([frame, frame]), "explainer", ["query"])


def test_talent_model_ties(schools):
    """Equal sums of other terms, as with values of two candidates mixed."""
    model = TalentModel(schools, biased=True)
    for number in range(len(schools.names)):
        rows = [[0.1, 0.7, 3.3, number, 1], [0.7, 0.1, 3.3, number, 1], [0.3, 0.5, 3.3, number, 1]]
        for required in (0, 1):
            scores = model(np.array([[*row[:4], required] for row in rows]))
            assert len(set(scores.tolist())) == 1


def test_attribution_deviations_of_two_draws(biased, people, schools):
    """The sample standard deviation of two values is their distance by the root of 2."""
    rng = np.random.default_rng(3)
    draws = [background(schools, 50, rng) for _ in range(2)]
    first, second = (list_attributions(biased, people, samples)["value"] for samples in draws)
    result = attribution_deviations(biased, people, draws)["value"]
    assert result.tolist() == pytest.approx((first - second).abs().div(np.sqrt(2)).tolist())
    assert result.max() > 0
