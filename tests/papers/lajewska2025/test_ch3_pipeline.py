"""lajewska2025, chapter 3: re-rankers that learn an order, cells and tests of tables."""

import numpy as np
import pandas as pd
import pytest

from papers.lajewska2025.cast_data import passages_to_documents
from papers.lajewska2025.ch3 import (
    TESTS,
    compare_pairs,
    mean_cells,
    melt_tests,
    organisers_readings,
    published_changes,
)
from papers.lajewska2025.ch3_pipeline import PassageRerankers

SUM = {"how": "sum", "symmetric": True}


class Oracle:
    """Scores passages by a number in their name, more or less well."""

    def __init__(self, noise):
        self.noise = noise

    def score(self, pairs):
        assert pairs["query"].str.contains(":").all()
        dice = np.random.default_rng(len(pairs))
        right = pairs["document"].str[1:].astype(float)
        return pairs.assign(score=right + dice.normal(0, self.noise, len(pairs)))


@pytest.fixture
def first_pass():
    """Four turns with twelve passages in the wrong order."""
    return pd.DataFrame(
        {
            "query": np.repeat([f"8_{turn}" for turn in range(4)], 12),
            "document": [f"p{number}" for number in range(12)] * 4,
            "score": np.tile(np.arange(12, 0, -1.0), 4),
        }
    )


@pytest.fixture
def rerankers(first_pass):
    qrels = first_pass[["query", "document"]].assign(
        relevance=first_pass["document"].str[1:].astype(int) // 3
    )
    # Nobody judged p0 to p2: they count as not relevant.
    qrels = qrels[qrels["relevance"] > 0]
    fitted = PassageRerankers([Oracle(0.01), Oracle(4.0)], first=5)
    return fitted.fit(first_pass, "training", qrels, relevance_level=2)


def order(run, query="8_0"):
    return run[run["query"] == query].sort_values("score", ascending=False)["document"].tolist()


def test_passage_rerankers_reverse_wrong_order(first_pass, rerankers):
    pointwise = rerankers.pointwise(first_pass, "canard")
    assert set(order(pointwise)[:6]) == {f"p{number}" for number in range(6, 12)}
    pairwise = rerankers.pairwise(first_pass, "canard", SUM)
    # Of the five that are compared, p3 and p4 are the better ones; the others stay below.
    assert set(order(pairwise)[:2]) == {"p3", "p4"}
    assert order(pairwise)[5:] == order(first_pass)[5:]


def test_compare_pairs_corrected_over_all_tests():
    dice = np.random.default_rng(5)
    turns = pd.Index([f"106_{turn}" for turn in range(30)], name="query")
    first = pd.DataFrame(dice.random((30, 2)), index=turns, columns=["R@500", "NDCG@3"])
    values = {"T5_CANARD, T5_CANARD": first, "T5_CANARD, T5_QReCC": first + 0.01}
    cells = mean_cells("4", "2021", values)
    assert cells["metric"].tolist() == ["Recall", "NDCG@3"] * 2
    assert cells["value"].iloc[0] == first["R@500"].mean()
    pairs = [("one", *values), ("another", *reversed(values))]
    tests = compare_pairs(values, pairs, ["R@500", "NDCG@3"])
    assert len(tests) == 4
    expected = (tests["p_unpaired"] * 4).clip(upper=1)
    np.testing.assert_allclose(tests["p_unpaired_corrected"], expected)
    assert (tests["p_paired"] < tests["p_unpaired"]).all()
    assert len(melt_tests(tests)) == 4 * len(TESTS)


def test_published_changes_duplicate_range():
    ranges = pd.DataFrame(
        {"comparison": "rewriter", "measure": "recall", "end": ["lowest"] * 2, "value": 1.0}
    )
    with pytest.raises(pd.errors.MergeError):
        published_changes(ranges, [("rewriter", "recall change", "lowest")])


def test_passages_to_documents_best_passage():
    wapo = "WAPO_b2e89334-33f9-11e1-825f-dabc29fd7071"
    run = pd.DataFrame(
        {
            "query": ["106_1"] * 3 + ["106_2"],
            "document": [f"{wapo}-3", f"{wapo}-1", "MARCO_D59865", f"{wapo}-1"],
            "score": [1.0, 4.0, 2.0, 9.0],
        }
    )
    assert passages_to_documents(run).values.tolist() == [
        ["106_1", wapo, 4.0],
        ["106_1", "MARCO_D59865", 2.0],
        ["106_2", wapo, 9.0],
    ]


def test_organisers_readings_cut():
    wapo = "WAPO_b2e89334-33f9-11e1-825f-dabc29fd7071"
    passages = pd.DataFrame(
        {"query": "106_1", "document": [f"{wapo}-3", "KILT_7-1"], "score": [4.0, 2.0]}
    )
    documents = passages.assign(document=["WAPO_b2e89334", "KILT_7"])
    result = organisers_readings(documents, passages)
    assert result["file of passages"]["document"].tolist() == [wapo, "KILT_7"]
    assert result["file of passages, ids cut"].values.tolist() == documents.values.tolist()
    assert list(organisers_readings(documents, None)) == ["file of documents"]


@pytest.mark.parametrize("files", [("KILT_7-1", "KILT_7-1"), ("KILT_7", "KILT_7")])
def test_organisers_readings_equal_names(files):
    runs = [pd.DataFrame({"query": "106_1", "document": [name], "score": 1.0}) for name in files]
    with pytest.raises(ValueError, match="cast_systems.organisers_passages"):
        organisers_readings(*runs)
