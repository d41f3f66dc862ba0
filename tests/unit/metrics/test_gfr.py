"""GFR of ranked lists: a plain loop, hand-worked lists, FairWeb-1's files, invariants, errors."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.metrics.divergences import AttributeSet, distribution_similarity
from everycell.metrics.gfr import gfr, stopping

LEVELS = {"L0": 0, "L1": 1, "L2": 3}
#: Attribute sets of FairWeb-1 by topic, with the divergence that suits their groups.
SETS = {
    "P001": {"R-HINDEX": "NMD", "R-GENDER": "JSD"},
    "P002": {"M-RATINGS": "RNOD", "M-ORIGIN": "JSD"},
    "P003": {"T-FOLLOWERS": "NMD"},
    "P004": {"Y-SUBSCS": "RNOD"},
}


def plain(gains, memberships, target, divergence, max_gain):
    """ERR and GF of one list, document by document as NTCIREVAL goes."""
    utility = fairness = 0.0
    going_on = 1.0
    calls = np.zeros(len(target))
    for rank, (gain, shares) in enumerate(zip(gains, memberships, strict=True), 1):
        calls += shares
        stop = going_on * gain / (max_gain + 1)
        utility += stop / rank
        fairness += stop * float(distribution_similarity(calls / rank, target, divergence))
        going_on *= 1 - gain / (max_gain + 1)
    return utility, fairness


@st.composite
def lists(draw):
    ranks, groups = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    gains = draw(st.lists(st.sampled_from([0, 1, 3]), min_size=ranks, max_size=ranks))
    rows = st.lists(st.integers(0, 5), min_size=groups, max_size=groups).filter(sum)
    counts = np.array(draw(st.lists(rows, min_size=ranks, max_size=ranks)), dtype=float)
    target = np.array(draw(st.lists(st.integers(1, 5), min_size=groups, max_size=groups)))
    return gains, counts / counts.sum(axis=1, keepdims=True), target / target.sum()


@settings(max_examples=40)
@given(example_list=lists(), divergence=st.sampled_from(["JSD", "NMD", "RNOD"]))
def test_gfr_equals_plain_loop(example_list, divergence):
    gains, shares, target = example_list
    sets = {"set": AttributeSet(tuple(target), divergence)}
    scores = gfr([gains], {"set": [shares]}, sets, max_gain=3)
    for k in range(1, len(gains) + 1):
        utility, fairness = plain(gains[:k], shares[:k], target, divergence, 3)
        assert scores.utility[0, k - 1] == pytest.approx(utility)
        assert scores.by_attribute_set["set"][0, k - 1] == pytest.approx(fairness, abs=1e-12)
        assert scores.combined[0, k - 1] == pytest.approx((utility + fairness) / 2)


@settings(max_examples=40)
@given(example_list=lists(), end=st.integers(0, 6))
def test_gfr_range_and_short_lists(example_list, end):
    gains, shares, target = example_list
    sets = {"set": AttributeSet(tuple(target), "JSD")}
    listed = (np.arange(len(gains)) < end)[None]
    rubbish = np.where(listed[0][:, None], shares, np.nan)
    scores = gfr([gains], {"set": [rubbish]}, sets, max_gain=3, listed=listed)
    full = gfr([gains], {"set": [shares]}, sets, max_gain=3)
    for short, long in (
        (scores.utility, full.utility),
        (scores.by_attribute_set["set"], full.by_attribute_set["set"]),
    ):
        assert (np.diff(short[0]) >= -1e-12).all()
        assert 0 <= short[0, -1] < 1
        np.testing.assert_array_equal(short[listed], long[listed])
        last = long[0, end - 1] if 0 < end <= len(gains) else long[0, -1] if end else 0
        assert short[0, -1] == last


@pytest.mark.compares("stopping")
def test_stopping_by_hand():
    """By hand: 3/4 stop at the first document, a quarter of the others at the fourth."""
    assert stopping([[3, 0, 0, 1]], 3).tolist() == [[0.75, 0, 0, 0.0625]]
    assert stopping([[3, 3]], 3, [[True, False]]).tolist() == [[0.75, 0]]


def test_gfr_irbu_and_weights():
    sets = {"set": AttributeSet((0.5, 0.5), "JSD")}
    options = {"max_gain": 1, "utility": "iRBU", "weights": [3, 1]}
    scores = gfr([[0, 1]], {"set": [[[0.5, 0.5]] * 2]}, sets, **options)
    assert scores.utility[0, 1] == pytest.approx(0.5 * 0.99**2)
    assert scores.combined[0, 1] == pytest.approx(0.75 * 0.5 * 0.99**2 + 0.25 * 0.5)


def test_gfr_no_relevant_document():
    scores = gfr([[0]], {"s": [[[0.5, 0.5]]]}, {"s": AttributeSet((0.5, 0.5), "NMD")}, max_gain=3)
    assert scores.combined.tolist() == [[0]]


def read(path):
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("<")]


def scores_of(folder, prefix, run, topic, divergences):
    """Scores of one run and topic, and what the plain loop makes of the same files."""
    levels = {d: LEVELS[level] for t, d, level in read(folder / f"{prefix}.qrels") if t == topic}
    documents = [
        row[2] for row in sorted(read(run), key=lambda row: int(row[3])) if row[0] == topic
    ]
    assert documents
    gains = [levels.get(document, 0) for document in documents]
    shares, sets, loops = {}, {}, {}
    for name, divergence in divergences.items():
        target = [float(row[0]) for row in read(folder / f"{name}.golddistr")]
        gmemb = folder / f"{prefix.removesuffix('.4topics')}.{name}.gmemb"
        known = {row[1]: [float(x) for x in row[2:]] for row in read(gmemb) if row[0] == topic}
        uniform = [1 / len(target)] * len(target)
        shares[name] = [[known.get(document, uniform) for document in documents]]
        sets[name] = AttributeSet(tuple(target), divergence)
        loops[name] = plain(gains, np.array(shares[name][0]), target, divergence, 3)
    return gfr([gains], shares, sets, max_gain=3), loops


@pytest.mark.compares("gfr")
@pytest.mark.released
@pytest.mark.parametrize("topic", SETS)
@pytest.mark.parametrize("part", ["toy", "pilot"])
def test_gfr_fairweb1(mirror, part, topic):
    folder = mirror / "ntcir-fairweb1" / part
    prefix = {"toy": "toy.4topics", "pilot": "fairweb1pilot"}[part]
    runs = sorted(folder.glob("toyrun?")) + sorted(folder.glob("run.*"))
    assert len(runs) == {"toy": 2, "pilot": 3}[part]
    result = []
    for run in runs:
        scores, loops = scores_of(folder, prefix, run, topic, SETS[topic])
        for name, (utility, fairness) in loops.items():
            assert scores.utility[0, -1] == pytest.approx(utility)
            assert scores.by_attribute_set[name][0, -1] == pytest.approx(fairness)
        # One of the pilot's runs finds nothing relevant on Twitter.
        assert (scores.combined[0, -1] > 0) == (scores.utility[0, -1] > 0)
        result.append(scores.combined[0, -1] > 0)
    assert any(result)


@pytest.mark.released
def test_gfr_by_hand(mirror):
    """P001, toyrun1: an L2 document (one woman, lowest h-index) first and an L1 document fourth."""
    folder = mirror / "ntcir-fairweb1/toy"
    scores, _ = scores_of(folder, "toy.4topics", folder / "toyrun1", "P001", {"R-HINDEX": "NMD"})
    assert scores.utility[0, -1] == pytest.approx(0.75 + 0.0625 / 4)
    # At rank 1 all is in the first of four groups, NMD 1/2. Down to rank 4 the groups have
    # 1 + 1/4 + 1/4, 1/2, 1/2 and 1/4 + 1/4 + 1 of 4 documents: |1/8| + 0 + |1/8| of 3 is 1/12.
    assert scores.by_attribute_set["R-HINDEX"][0, -1] == pytest.approx(0.75 / 2 + 0.0625 * 11 / 12)


GOOD = {"gains": [[1, 0]], "memberships": {"s": [[[0.5, 0.5]] * 2]}}
GROUPS = {"s": AttributeSet((0.5, 0.5), "JSD")}


@pytest.mark.parametrize(
    ("change", "column", "value"),
    [
        ({"attribute_sets": {}}, None, ...),
        ({"memberships": {"t": [[[1, 0]] * 2]}}, "attribute set", "s"),
        ({"memberships": {"s": [[[1, 0]]]}}, "shape of the memberships of 's'", (1, 1, 2)),
        ({"memberships": {"s": [[[1, 0], [1, 1]]]}}, "membership of 's'", [1, 1]),
        ({"memberships": {"s": [[[1.5, -0.5], [1, 0]]]}}, "membership of 's'", [1.5, -0.5]),
        ({"gains": [[4, 0]]}, "gain", 4),
        ({"gains": [[-1, 0]]}, "value in the gains", -1),
        ({"gains": [[[1, 0]]]}, "shape of the gains", (1, 1, 2)),
        ({"max_gain": 0}, "max_gain", 0),
        ({"utility": "nDCG"}, "utility", "nDCG"),
        ({"weights": [1]}, "weights", [1]),
        ({"weights": [0, 0]}, "weights", [0, 0]),
        (
            {"attribute_sets": {"s": AttributeSet((0.5, 0.6), "JSD")}},
            "sum of the target distribution",
            1.1,
        ),
    ],
)
def test_gfr_invalid_values(change, column, value):
    with refused(column, value):
        gfr(**({"attribute_sets": GROUPS, "max_gain": 3} | GOOD | change))


def test_gfr_invalid_membership():
    with refused("membership of 's'", [1, 1], row="rank 2 of query 0 (counted from 0)"):
        gfr([[1, 0]], {"s": [[[1, 0], [1, 1]]]}, GROUPS, max_gain=3)
