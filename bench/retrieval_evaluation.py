"""Time of an interpolation grid and of reading runs, against pytrec_eval.

Run: ``python bench/retrieval_evaluation.py [--queries 1000] [--lines 1000000]``. Both sides do the
same work in the same process, and the script checks that they find the same before it prints the
ratio of the times:

- grid: MAP and nDCG of every topic at eleven weights; ``sweep`` once, and one call of pytrec_eval
  a weight, whose dictionaries are made from the same scores. The times of these calls alone are
  printed as well: no way of feeding pytrec_eval is faster than that;
- parsing: a run in TREC format as a checked data frame, and as pytrec_eval's dictionaries;
- evaluation: per-topic values of a run of 1,000 documents a topic from its frame, and from
  pytrec_eval's dictionaries. ``evaluate`` calls pytrec_eval itself, so here it can only be slower:
  the ratio says what the frame, its checks and its choices cost.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytrec_eval

from everycell.retrieval.evaluation import evaluate, judge
from everycell.retrieval.interpolation import ALPHAS, interpolate, noise_oracle, sweep, z_scores
from everycell.retrieval.runs import read_run, write_run

TREC = {"MAP": "map", "nDCG": "ndcg"}


def judged_lists(queries, candidates, rng):
    """Lists with up to five relevant documents each, as in SciDocs."""
    frame = pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(queries)], candidates),
            "document": np.concatenate(
                [
                    [f"d{j}" for j in rng.choice(30_000, candidates, replace=False)]
                    for _ in range(queries)
                ]
            ),
            "relevance": np.tile(np.arange(candidates) < 5, queries).astype(int),
        }
    )
    return judge(frame, frame)


def grid_by_pytrec_eval(lists, first, second):
    """Values of shape (alphas, topics) of each measure, and the seconds inside pytrec_eval."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        {
            query: dict(zip(documents, relevance, strict=True))
            for query, documents, relevance in zip(
                lists.queries, lists.documents.tolist(), lists.relevance.tolist(), strict=True
            )
        },
        set(TREC.values()),
    )
    documents = lists.documents.tolist()
    scaled = [z_scores(scores, lists.listed) for scores in (first, second)]
    values, inside = {measure: [] for measure in TREC}, 0.0
    for scores in interpolate(*scaled):
        run = {
            query: dict(zip(ids, row, strict=True))
            for query, ids, row in zip(lists.queries, documents, scores.tolist(), strict=True)
        }
        start = time.perf_counter()
        found = evaluator.evaluate(run)
        inside += time.perf_counter() - start
        for ours, theirs in TREC.items():
            values[ours].append([found[query][theirs] for query in lists.queries])
    return values, inside


def seconds(function, *args, **kwargs):
    """Result and time of one call."""
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return result, time.perf_counter() - start


def line(name, ours, peer, note=""):
    """Print one comparison."""
    print(f"{name:34} ours {ours:6.3f} s   pytrec_eval {peer:6.3f} s   {peer / ours:5.1f}x{note}")


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000, help="topics of the grid")
    parser.add_argument("--candidates", type=int, default=30, help="documents of each of them")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the run")
    args = parser.parse_args()
    rng = np.random.default_rng(1)

    lists = judged_lists(args.queries, args.candidates, rng)
    # Few distinct values, so that many documents tie.
    first, second = (rng.integers(9, size=lists.listed.shape) / 4.0 for _ in range(2))
    (peer, inside), peer_time = seconds(grid_by_pytrec_eval, lists, first, second)
    ours, our_time = seconds(sweep, lists, first, second, list(TREC))
    for measure in TREC:
        np.testing.assert_allclose(ours.of(measure), peer[measure], atol=1e-12)
    size = f"{len(ALPHAS)} x {args.queries:,} x {args.candidates}"
    line(f"grid {size}", our_time, peer_time, f"  (calls alone {inside:.3f} s)")
    _, noise_time = seconds(noise_oracle, lists, first, list(TREC))
    print(f"noise oracle, 20 seeds             ours {noise_time:6.3f} s")

    topics = max(args.lines // 1000, 1)
    run = pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(topics)], 1000),
            "document": np.concatenate(
                [[f"d{j}" for j in rng.choice(500_000, 1000, replace=False)] for _ in range(topics)]
            ),
            "score": rng.normal(size=topics * 1000).round(4),
        }
    )
    qrels = run.groupby("query", sort=False).head(20)[["query", "document"]].assign(relevance=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        write_run(run, path, tag="bench")
        frame, our_time = seconds(read_run, path)
        with path.open(encoding="utf-8") as stream:
            nested, peer_time = seconds(pytrec_eval.parse_run, stream)
    assert len(frame) == sum(map(len, nested.values()))
    line(f"parsing {len(run):,} lines", our_time, peer_time)

    values, our_time = seconds(evaluate, frame, qrels, list(TREC))
    judged = {query: dict.fromkeys(group["document"], 1) for query, group in qrels.groupby("query")}
    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(TREC.values()))
    found, peer_time = seconds(evaluator.evaluate, nested)
    for ours, theirs in TREC.items():
        expected = [found[query][theirs] for query in values.index]
        np.testing.assert_array_equal(values[ours], expected)
    line(f"evaluation of {len(run):,} lines", our_time, peer_time)


if __name__ == "__main__":
    main()
