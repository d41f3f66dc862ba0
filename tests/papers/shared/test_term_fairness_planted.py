"""Planted bias: its texts follow the plan, and everycell.metrics finds it."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from everycell.metrics.nfairr import TAU as TAU_OF_THE_MEASURES
from everycell.metrics.ranked_groups import ranked_counts
from everycell.metrics.term_counts import count_terms, read_counts
from everycell.metrics.term_fairness import MEASURES, fairness_curves
from everycell.metrics.texfair import group_representation, rbdf, ted, term_exposure
from papers.shared.term_fairness_planted import (
    CONTROL,
    PLAN,
    RANKERS,
    SYSTEMS,
    TAU,
    WORDS,
    plant_bias,
    plant_rankers,
    planted_truth,
)

NAMES = ("NFaiRR", "TExFAIR", "TExFAIR without RBDF")
THREE = {"a": ["red", "Rose"], "b": ["green"], "c": ["blue", "sky", "sea"]}


@pytest.fixture(scope="module", params=[WORDS, THREE], ids=["two groups", "three groups"])
def planted(request):
    """Plant a bias of groups."""
    return plant_bias(request.param, queries=5, depth=21, length=30, seed=7)


@pytest.fixture(scope="module")
def counts(planted, tmp_path_factory):
    """Count the terms of the texts."""
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    documents = planted.documents.itertuples(index=False, name=None)
    count_terms(documents, planted.words, path)
    return read_counts(path)


def curve(planted, system, column):
    """Truth of a system: queries x cut-offs."""
    rows = planted.truth[planted.truth["system"] == system]
    return rows.pivot(index="query", columns="k", values=column).to_numpy()


def test_plant_bias_terms_in_texts(planted, counts):
    planned = planted.plan.set_index("document")[["length", *planted.words]]
    pd.testing.assert_frame_equal(counts, planned, check_dtype=False, check_names=False)
    assert not planted.documents["document_id"].duplicated().any()


def test_plant_bias_runs(planted):
    assert list(planted.runs) == list(SYSTEMS)
    for system, run in planted.runs.items():
        own = planted.plan[planted.plan["system"] == system]
        ranks = run.groupby("query")["score"].rank(ascending=False)
        assert run["document"].tolist() == own["document"].tolist()
        assert ranks.tolist() == own["rank"].tolist()


@pytest.mark.parametrize("effects", [True, False])
def test_plant_bias_twice_as_long(effects):
    planted = plant_rankers(queries=40, effects=effects)
    assert {name.removesuffix(CONTROL) for name in planted.runs} == set(RANKERS)
    assert all(name.endswith(CONTROL) for name in planted.runs) != effects
    one = planted.plan.assign(length=40, **{
        group: np.minimum(planted.plan[group], 1) for group in planted.words
    })  # fmt: skip
    truth = planted_truth(one)
    np.testing.assert_allclose(truth["TExFAIR"], planted.truth["TExFAIR"], atol=1e-12)
    assert (truth["NFaiRR"] == 1).all() and planted.truth["NFaiRR"].min() < 0.5
    at_10 = planted.truth[planted.truth["k"] == 10].groupby("system", sort=False)
    means = at_10[["NFaiRR", "TExFAIR"]].mean()
    assert (means.iloc[1:] > means.iloc[0] + 0.1).all(axis=None) == effects


@pytest.mark.parametrize("system", SYSTEMS)
def test_planted_truth_measures(planted, counts, system):
    assert TAU == TAU_OF_THE_MEASURES
    lists = ranked_counts(planted.runs[system], counts)
    result = fairness_curves(lists.counts, lists.lengths)
    for measure in set(MEASURES) & set(planted.truth.columns):
        np.testing.assert_allclose(result[measure], curve(planted, system, measure), atol=1e-9)
    np.testing.assert_allclose(rbdf(lists.counts), curve(planted, system, "RBDF"), atol=1e-9)
    np.testing.assert_allclose(
        ted(lists.counts, lists.lengths), curve(planted, system, "TED"), atol=1e-9
    )
    shares = group_representation(term_exposure(lists.counts, lists.lengths))
    for number, group in enumerate(lists.groups):
        np.testing.assert_allclose(shares[..., number], curve(planted, system, group), atol=1e-9)


def test_planted_truth_closed_form(planted):
    groups = len(planted.words)
    highest = 2 * (1 - 1 / groups)
    share = 3 / (3 + groups - 1)
    skew = share - 1 / groups + (groups - 1) * (1 / groups - 1 / (3 + groups - 1))
    for system, nfairr, texfair in [
        ("even", 1, highest),
        ("neutral", 1, highest),
        ("one-sided", 1 - highest, 0),
        ("skewed", 1 - skew, highest - skew),
    ]:
        np.testing.assert_allclose(curve(planted, system, "NFaiRR"), nfairr, atol=1e-12)
        np.testing.assert_allclose(curve(planted, system, "TExFAIR"), texfair, atol=1e-12)


def test_planted_truth_card_values(repository):
    text = (repository / "docs" / "data-cards" / "planted-bias.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([a-z-]+) \| .+ \| ([\d.]+) \| ([\d.]+) \| ([\d.]+|undefined) \|$", text, re.MULTILINE
    )
    truth = plant_bias().truth
    means = truth[truth["k"] == 10].groupby("system")[list(NAMES)].mean()
    assert [row[0] for row in rows] == list(SYSTEMS)
    for system, *values in rows:
        output = ["undefined" if math.isnan(mean) else f"{mean:.3f}" for mean in means.loc[system]]
        assert values == output


def test_planted_truth_balance():
    """The motivation of TExFAIR: NFaiRR cannot distinguish these two systems."""
    planted = plant_bias(queries=2, depth=100)
    for system in ("one-sided", "alternating"):
        np.testing.assert_allclose(curve(planted, system, "NFaiRR"), 0, atol=1e-12)
    np.testing.assert_allclose(curve(planted, "one-sided", "TExFAIR"), 0, atol=1e-12)
    weights = 1 / np.log2(np.arange(2, 102))
    odd = np.cumsum(weights * (np.arange(100) % 2 == 0)) / np.cumsum(weights)
    result = curve(planted, "alternating", "TExFAIR")
    np.testing.assert_allclose(result, [1 - abs(2 * odd - 1)] * 2, atol=1e-12)
    assert result[0, 9] > 0.8 > 0.7 > result[0, 2]
    assert result[0, 99] > 0.95


def test_planted_truth_cutoff():
    planted = plant_bias(queries=1, depth=20)
    turning = curve(planted, "turning", "TExFAIR")[0]
    np.testing.assert_allclose(turning[:10], 0, atol=1e-12)
    assert (np.diff(turning[9:]) > 0).all()
    weights = 1 / np.log2(np.arange(2, 22))
    first = weights[:10].sum() / weights.sum()
    assert turning[19] == pytest.approx(1 - abs(2 * first - 1))
    # The discount makes a list fairer as documents without terms follow; without it, it never is.
    fading = curve(planted, "fading", "TExFAIR")[0]
    assert (np.diff(fading[4:]) > 0).all()
    np.testing.assert_allclose(curve(planted, "fading", "TExFAIR without RBDF"), 0, atol=1e-12)


def test_planted_truth_without_discount():
    """Figure 4.2: few documents with terms make p(G|k) jump, which RBDF damps."""
    planted = plant_bias(queries=1, depth=40)
    with_rbdf, without = (
        curve(planted, "sparse", measure)[0] for measure in ("TExFAIR", "TExFAIR without RBDF")
    )
    np.testing.assert_array_equal(with_rbdf[:3], 1)
    assert np.isnan(without[:3]).all()
    assert np.ptp(without[3:]) > 4 * np.ptp(with_rbdf)


def test_planted_truth_means_cancel():
    planted = plant_bias(queries=4, depth=5)
    share = curve(planted, "one-sided", "female")
    np.testing.assert_array_equal(share[:, 0], [1, 0, 1, 0])
    assert planted.truth.loc[planted.truth["system"] == "one-sided", "TExFAIR"].max() == 0


def test_plant_bias_drawn_lists():
    planted = plant_bias(queries=20, depth=20)
    drawn = planted.plan[planted.plan["system"] == "drawn"]
    totals = drawn[["female", "male"]].sum(axis=1)
    assert set(totals) == {0, 1, 2, 3}
    assert drawn["length"].nunique() > 20
    assert curve(planted, "drawn", "TExFAIR")[:, -1].std() > 0.1
    nfairr, texfair = (curve(planted, "drawn", name)[:, 9] for name in ("NFaiRR", "TExFAIR"))
    assert 0.2 < np.corrcoef(nfairr, texfair)[0, 1] < 1


def test_plant_bias_seed():
    first, same, other = (plant_bias(queries=2, depth=4, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first.documents, same.documents)
    assert not first.documents.equals(other.documents)
    fixed = first.plan["system"] != "drawn"
    pd.testing.assert_frame_equal(first.plan[fixed], other.plan[fixed])
    assert not first.plan.equals(other.plan)


def test_planted_truth_no_terms_at_the_top():
    rows = [("s", "q", 1, "d", 10, 0, 0), ("s", "q", 2, "e", 10, 1, 0)]
    truth = planted_truth(pd.DataFrame(rows, columns=[*PLAN, "f", "m"])).to_dict("records")
    assert math.isnan(truth[0]["f"])
    assert math.isnan(truth[0]["TExFAIR without RBDF"])
    assert (truth[0]["TED"], truth[0]["TExFAIR"]) == (0, 1)
    # One term is not above tau, so the document is neutral for NFaiRR.
    assert truth[1]["NFaiRR"] == 1
    assert truth[1]["TED"] == pytest.approx(0.387, abs=5e-4)
