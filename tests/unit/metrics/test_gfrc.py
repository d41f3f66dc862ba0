"""Divergences, relevance and group fairness: invariants, peers, edges and errors."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

from everycell.metrics.divergences import (
    DIVERGENCES,
    AttributeSet,
    distribution_similarity,
    jensen_shannon,
    nmd,
    rnod,
)
from everycell.metrics.gfrc import (
    achieved_distributions,
    combine,
    gfrc,
    group_fairness,
    position_weight,
    relevance,
    turn_similarities,
    turn_weights,
    without_duplicates,
)


def distributions(groups, *, full=False):
    """Distributions over so many groups; with `full` no group is empty."""
    weights = st.lists(st.integers(int(full), 20), min_size=groups, max_size=groups)
    return weights.filter(sum).map(
        lambda gains_by_position: np.array(gains_by_position) / sum(gains_by_position)
    )


def pairs(*, max_groups=8, full=False):
    """An achieved distribution and a target over the same two to `most` groups."""
    return st.integers(2, max_groups).flatmap(
        lambda groups: st.tuples(distributions(groups), distributions(groups, full=full))
    )


every_divergence = pytest.mark.parametrize("divergence", sorted(DIVERGENCES))


@every_divergence
@given(pair=pairs(full=True) | pairs(max_groups=4))
def test_distribution_similarity_range(divergence, pair):
    assert -1e-12 <= distribution_similarity(*pair, divergence) <= 1


@every_divergence
@given(pair=pairs())
def test_distribution_similarity_at_target(divergence, pair):
    achieved, target = pair
    assert distribution_similarity(target, target, divergence) == pytest.approx(1)
    if not np.allclose(achieved, target):
        assert distribution_similarity(achieved, target, divergence) < 1


def test_rnod_above_1():
    target = [1e-6, 1e-6, 0, 0, 1 - 2e-6]
    # By hand: DW of groups 1, 2 and 5 is 7, 5 and 1; 13 / 3 / 4.
    assert rnod([0, 0, 0, 1, 0], target) == pytest.approx((13 / 12) ** 0.5, abs=1e-5)


@given(pair=pairs(), data=st.data())
def test_jensen_shannon_order_of_groups(pair, data):
    achieved, target = pair
    order = data.draw(st.permutations(range(len(target))))
    shuffled = jensen_shannon(achieved[order], target[order])
    assert shuffled == pytest.approx(float(jensen_shannon(achieved, target)), abs=1e-12)


@given(pair=pairs())
def test_jensen_shannon_and_nmd_symmetric(pair):
    achieved, target = pair
    for divergence in (jensen_shannon, nmd):
        existing, back = divergence(achieved, target), divergence(target, achieved)
        assert existing == pytest.approx(float(back), abs=1e-12)


@pytest.mark.parametrize("groups", range(3, 9))
@pytest.mark.parametrize("divergence", [rnod, nmd])
def test_rnod_and_nmd_distance_from_target(divergence, groups):
    points = np.eye(groups)
    assert (np.diff(divergence(points, points[0])) > 0).all()
    assert divergence(points[-1], points[0]) == 1


@pytest.mark.parametrize("groups", range(3, 9))
def test_jensen_shannon_distance_from_target(groups):
    points = np.eye(groups)
    assert jensen_shannon(points[1:], points[0]) == pytest.approx(np.ones(groups - 1))


@pytest.mark.compares("jensen_shannon")
@given(pair=pairs())
def test_jensen_shannon_equals_scipy(pair):
    peer = np.nan_to_num(jensenshannon(*pair, base=2)) ** 2
    assert jensen_shannon(*pair) == pytest.approx(float(peer), abs=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")
def test_jensen_shannon_nearly_equal():
    achieved = np.random.default_rng(0).dirichlet(np.ones(8), 1000)
    target = np.nextafter(achieved, 1)
    assert np.isnan(jensenshannon(achieved, target, base=2, axis=1)).any()
    assert jensen_shannon(achieved, target) == pytest.approx(np.zeros(1000), abs=1e-12)


@pytest.mark.compares("nmd")
@given(pair=pairs())
def test_nmd_equals_scipy(pair):
    groups = np.arange(len(pair[0]))
    peer = wasserstein_distance(groups, groups, *pair) / groups[-1]
    assert nmd(*pair) == pytest.approx(peer, abs=1e-12)


@pytest.mark.compares("rnod")
@given(pair=pairs())
def test_rnod_equals_definition(pair):
    p, q = pair
    expected = [i for i in range(len(q)) if q[i] > 0]
    weighted = [sum(abs(i - j) * (p[j] - q[j]) ** 2 for j in range(len(q))) for i in expected]
    direct = (sum(weighted) / len(expected) / (len(q) - 1)) ** 0.5
    assert rnod(p, q) == pytest.approx(direct, abs=1e-12)


@every_divergence
def test_divergences_broadcast(divergence):
    achieved = np.random.default_rng(1).dirichlet(np.ones(4), (3, 5))
    # Targets with different groups, which RNOD must distinguish row by row.
    target = np.array([[1, 0, 0, 0], [0.5, 0, 0, 0.5], [0.25] * 4, [0, 1, 0, 0], [0, 0, 0.3, 0.7]])
    result = DIVERGENCES[divergence](achieved, target)
    one_by_one = [
        [DIVERGENCES[divergence](p, q) for p, q in zip(a, target, strict=True)] for a in achieved
    ]
    assert result == pytest.approx(np.array(one_by_one))


@pytest.mark.parametrize(
    ("achieved", "target", "column", "value"),
    [
        ([1.0], [1.0], "shape of the achieved distribution", (1,)),
        ([0.5, 0.6], [0.5, 0.5], "sum of the achieved distribution", 1.1),
        ([0.5, 0.5], [0.5, 0.4], "sum of the target distribution", 0.9),
        ([1.5, -0.5], [0.5, 0.5], "share of the achieved distribution", -0.5),
        ([np.nan, 1.0], [0.5, 0.5], "share of the achieved distribution", np.nan),
        ([0.5, 0.5], [np.inf, 0.5], "share of the target distribution", np.inf),
        ([0.5, 0.5], [0.2, 0.3, 0.5], "number of achieved groups", 2),
    ],
)
@every_divergence
def test_distribution_similarity_invalid_distribution(divergence, achieved, target, column, value):
    with refused(column, value):
        distribution_similarity(achieved, target, divergence)


def test_distribution_similarity_unknown_divergence():
    with refused("divergence", "KL"):
        distribution_similarity([0.5, 0.5], [0.5, 0.5], "KL")


def test_divergences_rounded_target():
    assert rnod([0.333333] * 3, [1 / 3] * 3) == pytest.approx(0, abs=1e-12)


@pytest.mark.compares("position_weight")
@given(budget=st.integers(1, 2000))
def test_position_weight(budget):
    weights = position_weight(np.arange(1, budget + 3), budget)
    assert weights[0] == 1
    assert weights[-2:].tolist() == [0, 0]
    assert (np.diff(weights[:-1]) < 0).all()
    # The normaliser of Eq. 7 is the sum of all weights.
    assert weights.sum() == pytest.approx((budget + 1) / 2)


mentions = st.dictionaries(st.integers(1, 60), st.floats(0, 1), max_size=30)


@given(gains_by_position=mentions, budget=st.integers(1, 50))
def test_relevance_range(gains_by_position, budget):
    assert (
        0
        <= relevance(list(gains_by_position), list(gains_by_position.values()), budget)
        <= 1 + 1e-12
    )


def test_relevance_extremes():
    assert relevance(range(1, 1251), np.ones(1250)) == pytest.approx(1)
    assert relevance([35, 39], [0, 0]) == relevance([], []) == 0


@given(gains_by_position=mentions.filter(bool), later=st.integers(1, 40))
def test_relevance_later_entities(gains_by_position, later):
    counts, gains = np.array(list(gains_by_position)), list(gains_by_position.values())
    assert relevance(counts + later, gains, 50) <= relevance(counts, gains, 50)
    assert relevance([5 + later], [1], 50) < relevance([5], [1], 50)


def test_relevance_missing_word_counts():
    assert relevance([35, np.nan], [1, 0]) == relevance([35], [1])
    with refused(row="entity 2"):
        relevance([35, np.nan], [1, 0.5])


@pytest.mark.parametrize(
    ("call", "column", "value"),
    [
        (lambda: position_weight([0]), "word count", 0),
        (lambda: position_weight([1], 0), "budget", 0),
        (lambda: relevance([1, 2], [1]), "number of word counts", 2),
        (lambda: relevance([1], [2]), "gain", 2),
        (lambda: relevance([1], [np.nan]), "gain", np.nan),
        (lambda: combine(0.1, 0.2, 1.5), "alpha", 1.5),
    ],
)
def test_gfrc_invalid_values(call, column, value):
    with refused(column, value):
        call()


@pytest.mark.compares("without_duplicates")
def test_without_duplicates():
    names = ["a", "a", "b", "a", "b"]
    assert without_duplicates(names, [0, 0.5, 1, 1, 1]).tolist() == [0, 0.5, 1, 0, 0]
    assert without_duplicates([], []).tolist() == []


FILMS = np.array([[1, 0, 0], [0, 1, 0], [np.nan] * 3, [0, 0, 1], [0, 1, 0]])
TURNS = ["S2", "S2", "S3", "S10", "S10"]
GAINS = [1, 0.5, 0, 1, 1]


@pytest.mark.compares("achieved_distributions")
def test_achieved_distributions_methods():
    own = achieved_distributions(TURNS, GAINS, FILMS)
    assert own.index.tolist() == ["S2", "S10"]
    assert own.to_numpy() == pytest.approx(np.array([[0.5, 0.5, 0], [0, 0.5, 0.5]]))
    so_far = achieved_distributions(TURNS, GAINS, FILMS, "cumulative")
    assert so_far.to_numpy() == pytest.approx(np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25]]))


@given(data=st.data(), groups=st.integers(2, 5))
def test_achieved_distributions_last_cumulative(data, groups):
    rows = data.draw(st.lists(distributions(groups), min_size=1, max_size=12))
    turns = sorted(data.draw(st.integers(1, 4)) for _ in rows)
    result = achieved_distributions(turns, np.ones(len(rows)), rows, "cumulative")
    assert result.iloc[-1].to_numpy() == pytest.approx(np.mean(rows, axis=0))


def test_group_fairness_turn_without_relevant_entity():
    uniform = AttributeSet((1 / 3,) * 3, "JSD")
    with_gap = turn_similarities(TURNS, GAINS, FILMS, uniform)
    without = turn_similarities(
        [turn for turn in TURNS if turn != "S3"], [1, 0.5, 1, 1], FILMS[[0, 1, 3, 4]], uniform
    )
    assert with_gap.equals(without)
    assert group_fairness(with_gap) == pytest.approx(with_gap.sum() / 2)


@pytest.mark.compares("turn_weights")
def test_group_fairness_weighted_turns():
    weights = turn_weights(TURNS, [10, 51, np.nan, 91, 61], GAINS, budget=100)
    assert weights.to_dict() == pytest.approx({"S2": 0.91, "S10": 0.4})
    assert group_fairness([0.2, 0.8], weights) == pytest.approx((0.2 * 0.91 + 0.8 * 0.4) / 1.31)
    assert group_fairness([0.2, 0.8], [0.5, 0.5]) == pytest.approx(group_fairness([0.2, 0.8]))
    assert group_fairness([0.2], turn_weights(["S1"], [500], [1], budget=100)) == 0


@pytest.mark.parametrize("method", ["independent", "cumulative"])
@every_divergence
def test_gfrc_no_relevant_entity(divergence, method):
    sets = {"RATINGS": AttributeSet((0.2, 0.3, 0.5), divergence)}
    scores = gfrc(
        TURNS, list("abcde"), [np.nan] * 5, [0] * 5, {"RATINGS": FILMS}, sets, method=method
    )
    assert (scores.relevance, scores.group_fairness, scores.combined) == (0, 0, 0)


def test_turn_similarities_relevant_entity_without_memberships():
    with refused("share of the achieved distribution", np.nan):
        turn_similarities(["S1"], [1], [[np.nan] * 2], AttributeSet((0.5, 0.5), "JSD"))


@pytest.mark.parametrize(
    ("turns", "gains", "method", "column", "value"),
    [
        (["S1", "S2", "S1"], [1, 1, 1], "independent", "turn", "S1"),
        (
            ["S1", "S1"],
            [1, 1, 1],
            "independent",
            "numbers of turns, gains, memberships and groups",
            (2, 3, 3, 3),
        ),
        (["S1"] * 3, [1, 1, 1], "sliding", "method", "sliding"),
    ],
)
def test_achieved_distributions_invalid_turns(turns, gains, method, column, value):
    with refused(column, value):
        achieved_distributions(turns, gains, np.eye(3), method)


@pytest.mark.compares(
    "combine", "gfrc", "group_fairness", "turn_similarities", "distribution_similarity", "relevance"
)
def test_gfrc_equals_parts():
    memberships = {"A": [[1, 0], [0, 1], [0, 1]], "B": [[0, 1], [0, 1], [1, 0]]}
    sets = {"A": AttributeSet((0.5, 0.5), "JSD"), "B": AttributeSet((0.3, 0.7), "NMD")}
    # The second mention of "x" is a duplicate: its turn holds nothing relevant.
    scores = gfrc(
        ["S1", "S1", "S2"],
        ["x", "y", "x"],
        [10, 20, 30],
        [1, 0.5, 1],
        memberships,
        sets,
        budget=100,
        alpha=0.2,
    )
    assert scores.relevance == pytest.approx((0.91 + 0.5 * 0.81) / 50.5)
    assert scores.by_attribute_set == pytest.approx({"A": 1, "B": 0.7})
    assert scores.group_fairness == pytest.approx(0.85)
    assert scores.combined == pytest.approx(0.2 * scores.relevance + 0.8 * 0.85)


def test_gfrc_missing_attribute_set():
    with refused(fault="There is no attribute set"):
        gfrc(["S1"], ["x"], [1], [1], {}, {})
    with refused("attribute set", "A"):
        gfrc(["S1"], ["x"], [1], [1], {"B": [[1, 0]]}, {"A": AttributeSet((0.5, 0.5), "JSD")})
