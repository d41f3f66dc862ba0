"""Ranks of relevant documents: those of trec_order, and the measures of long lists to the bit."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.relevant_ranks import relevant_ranks
from everycell.trec.runs import trec_order


def long_lists(seed, levels):
    """Three topics in mixed rows, 3,000 documents each, with scores of a few or many levels."""
    rng = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(3000)]
    rows = pd.MultiIndex.from_product([["r", "q", "s"], names], names=["query", "document"])
    frame = rows.to_frame(index=False).sample(frac=1, random_state=seed, ignore_index=True)
    return (
        frame.assign(score=rng.integers(-levels, levels, len(frame)) / 7),
        frame.assign(relevance=rng.integers(-1, 4, len(frame)))[::3],
    )


@pytest.mark.parametrize("levels", [1, 3, 10_000])
def test_ranks_are_places_in_the_order_of_trec_eval(levels):
    run, qrels = long_lists(levels, levels)
    topics = pd.Index(["q", "r", "s"])
    result = relevant_ranks(run, qrels, topics)
    ordered = trec_order(run)
    ordered["rank"] = ordered.groupby("query").cumcount() + 1
    expected = ordered.merge(qrels[qrels["relevance"] > 0], on=["query", "document"])
    expected = expected.sort_values(["query", "rank"])
    assert topics[result.topic].tolist() == expected["query"].tolist()
    assert result.rank.tolist() == expected["rank"].tolist()
    assert result.relevance.tolist() == expected["relevance"].tolist()


@pytest.mark.parametrize("levels", [3, 10_000])
def test_sums_over_long_lists_are_those_of_pytrec_eval_to_the_last_bit(levels):
    run, qrels = long_lists(levels, levels)
    judged = qrels.assign(relevance=qrels["relevance"].clip(lower=0))
    nested = [
        {query: dict(zip(rows["document"], rows[column].tolist(), strict=True))
         for query, rows in frame.groupby("query")}
        for frame, column in ((judged, "relevance"), (run, "score"))
    ]  # fmt: skip
    evaluator = pytrec_eval.RelevanceEvaluator(nested[0], {"map", "ndcg", "ndcg_cut_2000"})
    expected = evaluator.evaluate(nested[1])
    result = evaluate(run, qrels, ["MAP", "nDCG", "nDCG@2000"])
    for query, row in result.iterrows():
        theirs = expected[query]
        assert row.tolist() == [theirs["map"], theirs["ndcg"], theirs["ndcg_cut_2000"]]
