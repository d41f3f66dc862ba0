"""Rank-biased overlap: the definition, all orders of ties, peers, invariants and errors."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.metrics.crbo import crbo
from everycell.metrics.rbo import rbo

persistence = st.sampled_from([0.3, 0.8, 0.9, 0.98])
variants = st.sampled_from(["truncated", "min", "ext"])
plain = st.permutations("abcdefgh").flatmap(
    lambda items: st.integers(1, 8).map(lambda n: list(items[:n]))
)


@st.composite
def tied(draw, length_limit=6):
    """A ranking in which some neighbours tie."""
    items = draw(st.permutations("abcdefgh"))[: draw(st.integers(1, length_limit))]
    ranking = []
    for item in items:
        if ranking and draw(st.booleans()):
            ranking[-1] = ranking[-1] | {item}
        else:
            ranking.append(frozenset([item]))
    return ranking


def in_order(first, second, p, variant, deep=3000):
    """RBO of rankings without ties, summed depth by depth far beyond their end.

    Beyond the shorter ranking's end "ext" takes its share of common items as that at its end, and
    beyond both the agreement as it is; "min" adds no common item.
    """
    short, long = sorted((first, second), key=len)
    s, l_ = len(short), len(long)

    def agreement(depth):
        common = len(set(short[:depth]) & set(long[:depth]))
        if variant == "ext":
            if depth > l_:
                return agreement(l_)
            unseen = max(depth - s, 0) * len(set(short) & set(long[:s])) / s
            return (common + unseen) / depth
        return common / depth

    last = l_ if variant == "truncated" else deep
    cache = agreement(l_) if variant == "ext" else None
    return (1 - p) * sum(
        p ** (d - 1) * (cache if cache is not None and d > l_ else agreement(d))
        for d in range(1, last + 1)
    )


@settings(max_examples=40)
@given(first=plain, second=plain, p=persistence, variant=variants)
def test_rbo_equals_sum_over_depths(first, second, p, variant):
    expected = in_order(first, second, p, variant, deep=1500)
    assert rbo(first, second, p, variant=variant) == pytest.approx(expected, abs=1e-9)


def orders(ranking):
    """Every order of the ties of a ranking."""
    for groups in itertools.product(*(itertools.permutations(sorted(group)) for group in ranking)):
        yield [item for group in groups for item in group]


@settings(max_examples=40)
@given(first=tied(length_limit=4), second=tied(length_limit=4), p=persistence, variant=variants)
def test_rbo_ties_a_mean_over_orders(first, second, p, variant):
    if variant == "ext":
        # Extrapolation of unequal lengths is not linear in the orders, so lengths are made equal.
        size = min(sum(map(len, first)), sum(map(len, second)))
        first, second = (_cut(ranking, size) for ranking in (first, second))
    values = [rbo(x, y, p, variant=variant) for x in orders(first) for y in orders(second)]
    assert rbo(first, second, p, variant=variant, ties="a") == pytest.approx(np.mean(values))


def _cut(ranking, size):
    """The first items of a ranking; a tie that is cut keeps its first items by name."""
    remaining = []
    for group in ranking:
        room = size - sum(map(len, remaining))
        if room:
            remaining.append(frozenset(sorted(group)[:room]))
    return remaining


@settings(max_examples=40)
@given(first=tied(), second=tied(), p=persistence)
def test_rbo_ties_w_first_rank(first, second, p):
    def top(ranking, depth):
        result = set()
        for group in ranking:
            if len(result) >= depth:
                break
            result |= group
        return result

    length = min(sum(map(len, first)), sum(map(len, second)))
    same = [_cut(ranking, length) for ranking in (first, second)]
    expected = (1 - p) * sum(
        p ** (d - 1)
        * 2
        * len(top(same[0], d) & top(same[1], d))
        / (len(top(same[0], d)) + len(top(same[1], d)))
        for d in range(1, length + 1)
    )
    assert rbo(*same, p, variant="truncated", ties="w") == pytest.approx(expected)


@settings(max_examples=40)
@given(ranking=tied(), p=persistence)
def test_rbo_ties_b_and_w_identical(ranking, p):
    assert rbo(ranking, ranking, p, ties="b") == pytest.approx(1)
    assert rbo(ranking, ranking, p, ties="w") == pytest.approx(1)
    assert rbo(ranking, ranking, p, ties="a") <= 1 + 1e-12


@settings(max_examples=40)
@given(first=tied(), second=tied(), p=persistence, ties=st.sampled_from("awb"))
def test_rbo_range_and_symmetry(first, second, p, ties):
    values = [rbo(first, second, p, variant=v, ties=ties) for v in ("truncated", "min", "ext")]
    assert 0 <= values[0] <= values[1] + 1e-12
    assert values[1] <= values[2] + 1e-12 <= 1 + 1e-9
    for variant, value in zip(("truncated", "min", "ext"), values, strict=True):
        assert rbo(second, first, p, variant=variant, ties=ties) == pytest.approx(value)
        further = [frozenset(item.upper() for item in group) for group in second]
        assert rbo(first, further, p, variant=variant, ties=ties) == 0


@settings(max_examples=40)
@given(first=plain, second=plain, p=persistence, variant=variants)
def test_rbo_without_ties(first, second, p, variant):
    values = {round(rbo(first, second, p, variant=variant, ties=t), 12) for t in "awb"}
    assert len(values) == 1


@pytest.mark.compares("rbo")
@pytest.mark.parametrize(
    ("first", "second", "p", "expected"),
    [
        ("abcdefg", "bacfh", 0.9, 0.7050966428571429),
        ("abcd", "dcba", 0.8, 0.5973333333333334),
        ("ab", "cdeba", 0.98, 0.373653224),
    ],
)
def test_rbo_equals_package(first, second, p, expected):
    """rbo 0.1.3 (changyaochen/rbo), `rbo_ext`; it wants NumPy 1, so it is in no lock."""
    assert rbo(first, second, p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ties", "ext", "lower_bound"),
    [
        ("a", 0.6684523571428571, 0.44915865244179787),
        ("w", 0.6935890757575758, 0.4723355918357373),
        ("b", 0.7126554622012268, 0.4869658579254481),
    ],
)
def test_rbo_ties_published_values(ties, ext, lower_bound):
    """rbo.py of julian-urbano/sigir2024-rbo on the example of its README, p = 0.9."""
    first = ["red", {"blue", "green"}, "yellow", "pink"]
    second = [{"blue", "red"}, "white", {"yellow", "black", "purple"}, "green"]
    assert rbo(first, second, ties=ties) == pytest.approx(ext, abs=1e-12)
    assert rbo(first, second, ties=ties, variant="min") == pytest.approx(lower_bound, abs=1e-12)


def test_crbo_published_variant():
    """Ten documents: identical lists have 0.651 and 0.856, the thesis prints 0.95 to 0.98."""
    ten = list(range(10))
    assert rbo(ten, ten, variant="truncated") == pytest.approx(1 - 0.9**10)
    tail = math.log(10) - sum(0.9**d / d for d in range(1, 11))
    assert rbo(ten, ten, variant="min") == pytest.approx(1 - 0.9**10 + 10 / 9 * tail)
    assert rbo(ten, ten, variant="min") < 0.95
    assert rbo(ten, ten) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "options", "path", "column", "value"),
    [
        (("", "a"), {}, "first ranking", None, ...),
        (("a", []), {}, "second ranking", None, ...),
        (("aba", "a"), {}, "first ranking", "item", "a"),
        ((["a", {"b", "a"}], "a"), {}, "first ranking", "item", "a"),
        (("a", "a", 1), {}, "None", "p", 1),
        (("a", "a"), {"variant": "max"}, "None", "variant", "max"),
        (("a", "a"), {"ties": "c"}, "None", "ties", "c"),
        (({"a", "b"}, "ab"), {}, "first ranking", "type", "set"),
        (("ab", frozenset("ab")), {}, "second ranking", "type", "frozenset"),
        (("ab", {"a": 1}), {}, "second ranking", "type", "dict"),
        (([["a"]], "a"), {}, "first ranking", "item", ["a"]),
    ],
)
def test_rbo_invalid_rankings(arguments, options, path, column, value):
    with refused(column, value, path=path):
        rbo(*arguments, **options)


def run_of(lists):
    return pd.DataFrame(
        [(q, d, r) for q, items in lists.items() for r, d in enumerate(items, 1)],
        columns=["query", "document", "rank"],
    )


@pytest.mark.compares("crbo")
@settings(max_examples=20)
@given(
    before=st.lists(plain, min_size=1, max_size=3),
    data=st.data(),
    p=persistence,
    variant=variants,
    depth=st.integers(1, 9),
)
def test_crbo_equals_rbo(before, data, p, variant, depth):
    original = {f"q{position}": items for position, items in enumerate(before)}
    swapped = {query: data.draw(plain) for query in original}
    rows = data.draw(st.randoms(use_true_random=False)).sample
    other = run_of(swapped)
    shuffled = other.iloc[rows(range(len(other)), len(other))]
    result = crbo(run_of(original), shuffled, p, depth=depth, variant=variant)
    assert result.index.tolist() == list(original)
    for query in original:
        expected = rbo(original[query][:depth], swapped[query][:depth], p, variant=variant)
        assert result[query] == pytest.approx(expected)


RUN = run_of({"q": ["a", "b", "c"]})


@pytest.mark.parametrize(
    ("other", "options", "row", "column", "value"),
    [
        (RUN.iloc[:0], {}, None, None, ...),
        (RUN.assign(document=["a", None, "c"]), {}, "row 1 (counted from 0)", "document", ...),
        (RUN.assign(document="a"), {}, "row 1, query 'q'", "document", "a"),
        (RUN.assign(rank=[1, 2, 4]), {}, "row 2, query 'q'", "rank", 4),
        (RUN.assign(rank=[1, 2, 2]), {}, "row 2, query 'q'", "rank", 2),
        (RUN.assign(query="p"), {}, None, "query", "q"),
        (pd.concat([RUN, RUN.assign(query="p")]), {}, None, "query", "p"),
        (RUN, {"depth": 0}, None, "depth", 0),
        (RUN, {"p": 0}, None, "p", 0),
    ],
)
def test_crbo_invalid_runs(other, options, row, column, value):
    path = "None" if options or column == "query" else "counterfactual run"
    with refused(column, value, row=row, path=path):
        crbo(RUN, other, **options)


def test_crbo_missing_column():
    with pytest.raises(ValueError, match="counterfactual run has no column 'rank'"):
        crbo(RUN, RUN.drop(columns="rank"))


@pytest.mark.parametrize(
    ("change", "column", "value"),
    [
        ({"rank": [1.0, 2.0]}, "rank", 1.0),
        ({"rank": ["1", "2"]}, "rank", "1"),
        ({"rank": [1 + 0j, 2]}, "rank", 1 + 0j),
        ({"query": [1, 1]}, "query", 1),
        ({"document": [1, 2]}, "document", 1),
    ],
)
def test_crbo_invalid_types(change, column, value):
    run = pd.DataFrame({"query": "1", "document": ["a", "b"], "rank": [1, 2]})
    with refused(column, value, path="counterfactual run"):
        crbo(run, run.assign(**change))


def test_crbo_duplicate_column():
    run = pd.DataFrame({"query": "1", "document": ["a", "b"], "rank": [1, 2]})
    with pytest.raises(ValueError, match="original run has 2 columns named 'rank'"):
        crbo(pd.concat([run, run[["rank"]]], axis=1), run)


def test_crbo_categorical_and_mixed_ids():
    run = pd.DataFrame({"query": list("qqrr"), "document": list("abab"), "rank": [1, 2] * 2})
    swapped = run.assign(rank=[2, 1, 1, 2])
    typed = swapped.astype({"query": "category", "document": "category"})
    assert crbo(run, typed).tolist() == crbo(run, swapped).tolist()
    mixed = {"document": pd.Series([1, "b"] * 2, dtype=object)}
    assert crbo(run.assign(**mixed), swapped.assign(**mixed)).equals(crbo(run, swapped))
