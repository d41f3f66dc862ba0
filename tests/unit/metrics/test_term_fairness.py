"""NFaiRR, TExFAIR and their parts: plain implementations, invariants, edges and errors."""

import math

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.metrics.awrf import awrf
from everycell.metrics.nfairr import ideal_fairr, neutrality, nfairr
from everycell.metrics.ranked_groups import alignments, ranked_counts
from everycell.metrics.term_counts import count_terms
from everycell.metrics.term_fairness import (
    MEASURES,
    correlation,
    fairness_by_query,
    fairness_curves,
)
from everycell.metrics.texfair import (
    group_representation,
    largest_divergence,
    rbdf,
    ted,
    term_exposure,
    texfair,
)
from everycell.trec.runs import read_run, trec_order, write_run

SHE, HE, NONE = [1, 0], [0, 1], [0, 0]


@st.composite
def lists(draw, groups=None, max_ranks=6):
    """Counts, lengths and the mask of one to three queries; lists may be short or empty."""
    groups = groups or draw(st.integers(2, 4))
    queries, ranks = draw(st.integers(1, 3)), draw(st.integers(1, max_ranks))
    numbers = st.lists(
        st.integers(0, 4), min_size=queries * ranks * groups, max_size=queries * ranks * groups
    )
    counts = np.array(draw(numbers)).reshape(queries, ranks, groups)
    more = draw(st.lists(st.integers(0, 9), min_size=ranks, max_size=ranks))
    ends = draw(st.lists(st.integers(0, ranks), min_size=queries, max_size=queries))
    return counts, counts.sum(axis=2) + more, np.arange(ranks) < np.array(ends)[:, None]


def targets(groups):
    weights = st.lists(st.integers(1, 9), min_size=groups, max_size=groups)
    return weights.map(lambda example_lists: np.array(example_lists) / sum(example_lists))


def plain_nfairr(documents, words, k, tau, background):
    """Equations 4.1 to 4.3 word for word: texts, sets of terms, one query."""

    def omega(text):
        tokens = text.lower().split(" ")
        magnitude = [sum(tokens.count(term) for term in terms) for terms in words.values()]
        if sum(magnitude) <= tau:
            return 1.0
        return 1 - sum(abs(m / sum(magnitude) - 1 / len(words)) for m in magnitude)

    def fairr(texts):
        return sum(omega(text) / math.log(r + 1) for r, text in enumerate(texts[:k], 1))

    return fairr(documents) / fairr(sorted(background, key=omega, reverse=True))


def plain_texfair(documents, words, k, proportional):
    """Equations 4.8 to 4.13 word for word, two groups with equal shares."""

    def exposure(term):
        return sum(
            text.split(" ").count(term) / len(text.split(" ")) / math.log(r + 1)
            for r, text in enumerate(documents[:k], 1)
        )

    by_group = [sum(exposure(term) for term in terms) for terms in words.values()]
    ranks = range(1, len(documents[:k]) + 1)
    representative = [
        any(term in documents[r - 1].split(" ") for terms in words.values() for term in terms)
        for r in ranks
    ]
    factor = sum(s / math.log(1 + r) for s, r in zip(representative, ranks, strict=True)) / sum(
        1 / math.log(1 + r) for r in ranks
    )
    if not sum(by_group):
        return 1.0 if proportional else math.nan
    divergence = sum(abs(e / sum(by_group) - 0.5) for e in by_group)
    return 1 - divergence * (factor if proportional else 1)


WORDS = {"f": ["she", "her"], "m": ["he", "his"]}
texts = st.lists(st.sampled_from(["she", "her", "he", "his", "x", "y", "z"]), min_size=1).map(
    " ".join
)


@pytest.mark.compares(
    "term_exposure",
    "group_representation",
    "rbdf",
    "ted",
    "texfair",
    "neutrality",
    "nfairr",
    "ideal_fairr",
    "divergence_and_factor",
    "apply_discount",
)
@settings(max_examples=40)
@given(documents=st.lists(texts, min_size=1, max_size=6), tau=st.integers(0, 3))
def test_fairness_curves_equal_equations(tmp_path_factory, documents, tau):
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    names = [f"d{position}" for position in range(len(documents))]
    count_terms(zip(names, documents, strict=True), WORDS, path)
    run = pd.DataFrame({"query": "q", "document": names, "score": -np.arange(len(names), 0.0, -1)})
    ranked = ranked_counts(run, path)
    documents = documents[::-1]
    result = fairness_by_query(ranked, range(1, len(names) + 1), tau=tau, background=ranked)
    for row in result.to_dict("records"):
        try:
            expected = plain_nfairr(documents, WORDS, row["k"], tau, documents)
        except ZeroDivisionError:
            expected = math.nan
        assert row["NFaiRR"] == pytest.approx(expected, nan_ok=True)
        for name, proportional in (("TExFAIR", True), ("TExFAIR without RBDF", False)):
            expected = plain_texfair(documents, WORDS, row["k"], proportional)
            assert row[name] == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_texfair_figure_4_1():
    """Figure 4.1: all documents are biased, but on the left they balance each other."""
    counts = [[HE, SHE, SHE, HE], [HE, HE, HE, HE]]
    lengths = np.full((2, 4), 12)
    assert nfairr(counts, tau=0)[:, 3].tolist() == [0, 0]
    # With the threshold of the authors' code one pronoun a document is none.
    assert nfairr(counts)[:, 3].tolist() == [1, 1]
    # By hand: p(f) = (1 / log2(3) + 1 / 2) / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)).
    female = 1 / math.log2(3) + 0.5
    male = 1 + 1 / math.log2(5)
    expected = 1 - abs(female - male) / (female + male)
    assert texfair(counts, lengths)[:, 3] == pytest.approx([expected, 0])
    assert round(expected, 3) == 0.883


@settings(max_examples=40)
@given(example_lists=lists(), data=st.data())
def test_fairness_curves_ranges(example_lists, data):
    counts, lengths, listed = example_lists
    groups = counts.shape[2]
    target = data.draw(targets(groups))
    highest = largest_divergence(target, groups)
    some = np.broadcast_to(listed[:, :1], listed.shape)
    for proportional in (True, False):
        values = texfair(counts, lengths, target, proportional=proportional, listed=listed)
        with_value = values[~np.isnan(values)]
        assert ((with_value >= 0) & (with_value <= highest + 1e-12)).all()
        if proportional:
            assert (np.isnan(values) == ~some).all()
    fair = nfairr(counts, tau=0, target=target, listed=listed)
    assert (np.isnan(fair) == ~some).all()
    assert (fair[some] <= 1 + 1e-12).all()
    assert (fair[some] >= 1 - highest - 1e-12).all()
    factor = rbdf(counts, listed=listed)[some]
    assert ((factor >= 0) & (factor <= 1 + 1e-12)).all()


@pytest.mark.compares("largest_divergence")
def test_largest_divergence():
    target = [0.2, 0.3, 0.5]
    one_group = [[[3, 0, 0]]]
    assert ted(one_group, [[7]], target)[0, 0] == pytest.approx(largest_divergence(target, 3))
    assert texfair(one_group, [[7]], target)[0, 0] == 0


@settings(max_examples=40)
@given(example_lists=lists(), data=st.data())
def test_fairness_curves_swapped_groups(example_lists, data):
    counts, lengths, listed = example_lists
    order = data.draw(st.permutations(range(counts.shape[2])))
    target = data.draw(targets(counts.shape[2]))
    before = fairness_curves(counts, lengths, target, listed=listed)
    after = fairness_curves(counts[:, :, order], lengths, target[order], listed=listed)
    for measure in MEASURES:
        np.testing.assert_allclose(before[measure], after[measure], atol=1e-12)


@settings(max_examples=40)
@given(example_lists=lists(), base=st.floats(1.1, 20))
def test_texfair_base_of_logarithm(example_lists, base):
    counts, lengths, listed = example_lists
    ranks = counts.shape[1]
    ours = {"listed": listed, "weights": np.log(base) / np.log(np.arange(2, ranks + 2))}
    for function, arguments in (
        (nfairr, (counts,)),
        (texfair, (counts, lengths)),
        (rbdf, (counts,)),
        (awrf, (alignments(counts),)),
    ):
        found_now = function(*arguments, **ours)
        np.testing.assert_allclose(found_now, function(*arguments, listed=listed), atol=1e-9)


@pytest.mark.compares(
    "fairness_curves",
    "fairness_by_query",
    "exposure_distance",
    "document_neutrality",
    "relative_neutrality",
)
@settings(max_examples=40)
@given(example_lists=lists())
def test_fairness_curves_equal_measures(example_lists):
    counts, lengths, listed = example_lists
    curves = fairness_curves(counts, lengths, listed=listed)
    same = np.testing.assert_array_equal
    same(curves["NFaiRR"], nfairr(counts, listed=listed))
    same(curves["TExFAIR"], texfair(counts, lengths, listed=listed))
    same(
        curves["TExFAIR without RBDF"], texfair(counts, lengths, proportional=False, listed=listed)
    )
    same(curves["AWRF"], awrf(alignments(counts), listed=listed))


def test_fairness_curves_several_blocks():
    counts = np.random.default_rng(0).integers(0, 3, (70, 5, 2))
    lengths = counts.sum(axis=2) + 3
    ideal = np.cumsum(np.linspace(1, 2, 70)[:, None] * np.ones(5), axis=1)
    curves = fairness_curves(counts, lengths, ideal=ideal)
    np.testing.assert_allclose(curves["TExFAIR"], texfair(counts, lengths))
    np.testing.assert_allclose(curves["NFaiRR"], nfairr(counts, ideal=ideal))


@settings(max_examples=40)
@given(example_lists=lists(groups=2), data=st.data())
def test_fairness_curves_cutoff(example_lists, data):
    counts, lengths, listed = example_lists
    k = data.draw(st.integers(1, counts.shape[1]))
    full = fairness_curves(counts, lengths, listed=listed)
    cut = fairness_curves(counts[:, :k], lengths[:, :k], listed=listed[:, :k])
    for measure in MEASURES:
        np.testing.assert_array_equal(full[measure][:, :k], cut[measure])


@settings(max_examples=40)
@given(example_lists=lists(groups=2), times=st.integers(2, 5))
def test_term_exposure_share_of_terms(example_lists, times):
    counts, lengths, listed = example_lists
    before = texfair(counts, lengths, listed=listed)
    np.testing.assert_allclose(
        before, texfair(counts * times, lengths * times, listed=listed), atol=1e-12
    )


@settings(max_examples=40)
@given(example_lists=lists(groups=2), lean=st.integers(1, 5))
def test_texfair_one_more_document(example_lists, lean):
    counts, lengths, _ = example_lists
    share = group_representation(term_exposure(counts, lengths))[:, -1]
    for query in np.flatnonzero(~np.isnan(share[:, 0])):
        ahead = int(share[query].argmax())
        document = np.zeros((1, 1, 2), dtype=int)
        document[0, 0, ahead] = lean
        longer = np.concatenate([counts[query : query + 1], document], axis=1)
        sizes = np.concatenate([lengths[query : query + 1], [[9]]], axis=1)
        values = texfair(longer, sizes, proportional=False)[0]
        assert values[-1] <= values[-2] + 1e-12


@settings(max_examples=40)
@given(example_lists=lists(groups=2))
def test_texfair_documents_without_terms(example_lists):
    counts, lengths, _ = example_lists
    empty = np.zeros((len(counts), 1, 2), dtype=int)
    longer = np.concatenate([counts, empty], axis=1)
    sizes = np.concatenate([lengths, np.full((len(counts), 1), 5)], axis=1)
    with_factor = texfair(longer, sizes)
    assert (with_factor[:, -1] >= with_factor[:, -2] - 1e-12).all()
    without = texfair(longer, sizes, proportional=False)
    np.testing.assert_array_equal(without[:, -1], without[:, -2])
    fair = nfairr(longer, tau=0)
    assert (fair[:, -1] >= fair[:, -2] - 1e-12).all()


def test_texfair_list_without_terms():
    counts, lengths = [[NONE, NONE]], [[3, 0]]
    assert texfair(counts, lengths).tolist() == [[1, 1]]
    assert np.isnan(texfair(counts, lengths, proportional=False)).all()
    assert texfair(counts, lengths, proportional=False, without_terms=0).tolist() == [[1, 1]]
    assert nfairr(counts).tolist() == [[1, 1]]


def test_term_exposure_empty_document():
    assert term_exposure([[NONE, SHE]], [[0, 1]]).round(3).tolist() == [[[0, 0], [0.631, 0]]]


def test_fairness_curves_short_list():
    counts, lengths = [[SHE, HE, NONE]], [[2, 2, 0]]
    listed = [[True, True, False]]
    values = texfair(counts, lengths, listed=listed)[0]
    assert values[2] == values[1]
    # Two neutral documents over an ideal of three.
    expected = (1 + 1 / math.log2(3)) / (1 + 1 / math.log2(3) + 0.5)
    assert nfairr(counts, listed=listed)[0] == pytest.approx([1, 1, expected])


def test_fairness_curves_query_without_documents():
    values = fairness_curves([[SHE]], [[2]], listed=[[False]])
    assert all(np.isnan(values[measure]).all() for measure in MEASURES)


def test_fairness_curves_empty_ranks():
    listed = [[True, False]]
    with_rubbish = fairness_curves([[SHE, [9, np.nan]]], [[2, -4]], listed=listed)
    clean = fairness_curves([[SHE, NONE]], [[2, 0]], listed=listed)
    for measure in MEASURES:
        np.testing.assert_array_equal(with_rubbish[measure], clean[measure])


def test_neutrality_three_groups():
    # By hand: |1 - 1/3| + 2 |0 - 1/3| = 4/3.
    assert neutrality([5, 0, 0]) == pytest.approx(-1 / 3)
    assert neutrality([2, 0], target=[1, 0]) == 1


@pytest.mark.compares("find_most_neutral", "background_ideal")
def test_ideal_fairr_small_background():
    omega = [[0.0, 0.5, 1.0]]
    expected = np.cumsum([1, 0.5 / math.log2(3), 0, 0])
    assert ideal_fairr(omega, 4)[0] == pytest.approx(expected)
    assert ideal_fairr(omega, 4, listed=[[True, True, False]])[0, 0] == 0.5


def test_nfairr_unfair_ideal():
    assert np.isnan(nfairr([[[2, 0]]], ideal=ideal_fairr([[0.0]], 1))).all()


def counts_frame(**documents):
    frame = pd.DataFrame.from_dict(documents, orient="index", columns=["length", "f", "m"])
    return frame.rename_axis("document_id")


def run_frame(*rows):
    return pd.DataFrame(rows, columns=["query", "document", "score"])


COUNTS = counts_frame(d1=[5, 1, 0], d2=[4, 0, 2], d10=[3, 0, 0])


def test_fairness_by_query_background():
    counts = counts_frame(biased=[2, 2, 0], half=[4, 3, 1], neutral=[1, 0, 0])
    run = run_frame(("q", "biased", 2), ("q", "half", 1))
    ranked = ranked_counts(run, counts)
    by_hand = 0.5 / math.log2(3)
    weight = 1 / math.log2(3)
    for background, ideal in (
        (None, 1 + weight),
        (counts, 1 + 0.5 * weight),
        (counts.iloc[:2], 0.5),
        (ranked, 0.5),
        (ranked_counts(run_frame(("other", "half", 1), ("q", "neutral", 1)), counts), 1),
    ):
        result = fairness_by_query(ranked, [2], background=background)
        assert result["NFaiRR"].tolist() == pytest.approx([by_hand / ideal])


def test_ranked_counts_ranks():
    run = run_frame(
        ("q2", "d9", 1.0), ("q1", "d2", 1.0), ("q1", "d10", 1.0 + 1e-9), ("q1", "é", 1.0),
        ("q1", "D1", 3.0), ("q2", "d1", 2.0),
    )  # fmt: skip
    names = sorted(run["document"].unique())
    counts = pd.DataFrame({"length": range(10, 10 + len(names)), "f": 0, "m": 0}, index=names)
    ranked = ranked_counts(run, counts)
    expected = trec_order(run).groupby("query", sort=False)["document"].agg(list)
    assert list(ranked.queries) == list(expected.index) == ["q2", "q1"]
    result = [
        [names[int(length) - 10] for length in row[existing]]
        for row, existing in zip(ranked.lengths, ranked.listed, strict=True)
    ]
    assert result == expected.tolist()


def test_fairness_by_query_from_files(tmp_path):
    count_terms([("d1", "she runs"), ("d2", "he and his dog")], WORDS, tmp_path / "counts")
    write_run(run_frame(("7", "d1", 2.0), ("7", "d2", 1.0)), tmp_path / "bm25.run", tag="bm25")

    run = read_run(tmp_path / "bm25.run")
    ranked = ranked_counts(run, tmp_path / "counts", depth=10)
    values = fairness_by_query(ranked, cutoffs=[1, 2, 10])
    means = values.groupby("k")[["NFaiRR", "TExFAIR"]].mean()

    # By hand: both documents expose half of their tokens; the second one weighs 0.631.
    assert means.loc[2, "TExFAIR"] == pytest.approx(2 / (1 + math.log2(3)))
    assert means["NFaiRR"].round(3).tolist() == [1, 0.613, 0.22]


def test_ranked_counts_unknown_documents():
    run = run_frame(("q", "d1", 2), ("q", "new", 1))
    fault = "which has no counts, like 1 of 2 documents"
    with refused("document of the run", "new", fault=fault):
        ranked_counts(run, COUNTS)
    ranked = ranked_counts(run, COUNTS, unknown="neutral")
    assert ranked.counts[0].tolist() == [SHE, NONE]
    assert ranked.listed.all()


def test_ranked_counts_depth():
    run = run_frame(("q", "d1", 3), ("q", "d2", 2), ("p", "d1", 1))
    assert ranked_counts(run, COUNTS, depth=1).counts.tolist() == [[SHE], [SHE]]
    assert ranked_counts(run, COUNTS, depth=3).listed.tolist() == [
        [True, True, False],
        [True, False, False],
    ]


RUN = run_frame(("q", "d1", 1.0))


@pytest.mark.parametrize(
    ("run", "options", "says"),
    [
        (RUN.drop(columns="score"), {}, "no column 'score'"),
        (RUN.iloc[:0], {}, "no rows"),
        (RUN.assign(score=np.inf), {}, "row 0 of the run: score is inf"),
        (pd.concat([RUN, RUN]), {}, "row 1 of the run: document is 'd1'"),
        (RUN, {"depth": 0}, "depth is 0"),
        (RUN, {"unknown": "skip"}, "unknown is 'skip'"),
    ],
)
def test_ranked_counts_invalid_runs(run, options, says):
    with pytest.raises(ValueError, match=says):
        ranked_counts(run, COUNTS, **options)


@pytest.mark.parametrize(
    ("change", "row", "column", "value"),
    [
        (
            {"counts": [[SHE, [3, 3]]]},
            "rank 2 of query 0 (counted from 0)",
            "number of group terms",
            6,
        ),
        ({"counts": [[SHE, [-1, 0]]]}, None, "value in the counts", -1),
        ({"counts": [[SHE, [np.nan, 0]]]}, None, "value in the counts", np.nan),
        ({"counts": [SHE, HE]}, None, "shape of the counts", (2, 2)),
        ({"counts": [[[1], [1]]]}, None, "number of groups", 1),
        ({"lengths": [[5]]}, None, "shape of `lengths`", (1, 1)),
        ({"target": [0.5, 0.6]}, None, "target", [0.5, 0.6]),
        ({"target": [1.5, -0.5]}, None, "target", [1.5, -0.5]),
        ({"target": [0.2, 0.3, 0.5]}, None, "shape of `target`", (3,)),
        ({"weights": [0, 1]}, None, "weights", [0, 1]),
        ({"weights": [1]}, None, "shape of `weights`", (1,)),
        ({"listed": [[False, True]]}, "query 0 (counted from 0)", None, ...),
        ({"listed": [[True]]}, None, "shape of `listed`", (1, 1)),
    ],
)
def test_texfair_invalid_arrays(change, row, column, value):
    arguments = {"counts": [[SHE, HE]], "lengths": [[5, 5]]} | change
    with refused(column, value, row=row):
        texfair(**arguments)


def test_fairness_curves_invalid_values():
    ranked = ranked_counts(RUN, COUNTS)
    with refused("cut-off", 2):
        fairness_by_query(ranked, [2])
    with refused("groups of the background", ["m"]):
        fairness_by_query(ranked, [1], background=COUNTS[["length", "m"]])
    other = ranked_counts(RUN.assign(query="p"), COUNTS)
    with refused(row="query 'q'", fault="has no background documents"):
        fairness_by_query(ranked, [1], background=other)
    with refused("tau", -1):
        neutrality([1, 0], tau=-1)
    with refused("shape of `ideal`", (1, 2)):
        nfairr([[SHE]], ideal=[[1, 2]])
    many = np.ones((40, 1, 2))
    with refused("shape of `ideal`", (41, 1)):
        fairness_curves(many, many.sum(axis=2), ideal=np.ones((41, 1)))
    with refused("number of group terms", 2, row="rank 1 of query 39 (counted from 0)"):
        fairness_curves(many, [[2]] * 39 + [[1]])
    with refused("shape of `lengths`", (1, 1)):
        fairness_curves(many, [[2]])
    with refused("largest neutrality of an array of the shape (1, 1)", 2):
        ideal_fairr([[2.0]], 1)


@pytest.mark.compares("correlation")
def test_correlation_equals_numpy():
    first, second = np.random.default_rng(1).random((2, 30))
    result = correlation(np.append(first, np.nan), np.append(second, 0.5))
    assert result.r == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert result.queries == 30
    assert 0 < result.p < 1
    assert math.isnan(correlation([1, 1, 1], [1, 2, 3]).r)
    with refused("pair of shapes", ((2,), (3,))):
        correlation([1, 2], [1, 2, 3])
