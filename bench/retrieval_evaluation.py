"""Time of an interpolation grid and of reading runs, against pytrec_eval.

Run: ``python bench/retrieval_evaluation.py [--queries 1000] [--lines 1000000]``. Both sides do the
same work in the same process, and the script checks that they find the same before it prints the
ratio of the times:

- grid: MAP and nDCG of every topic at eleven weights; ``sweep`` once, and one call of pytrec_eval
  a weight, whose dictionaries are made from the same scores. The times of these calls alone are
  printed as well: no way of feeding pytrec_eval is faster than that;
- parsing: a run in TREC format, from the open file to a typed data frame that was checked (six
  fields, UTF-8, finite scores, ids that are whole, no document twice in a query) and stands in the
  order of its lines, not sorted; and to pytrec_eval's dictionaries, which are not checked;
- evaluation: per-topic values of a run of 1,000 documents a topic from its frame, and from
  pytrec_eval's dictionaries, which are made before. The values must be the same to the last bit;
- whole process: a fresh interpreter that imports, reads run and qrels and prints the means, for
  one run and for several in a row, as the job of a table has them. For the run of a million lines
  reading makes up for the checks and for the import of pandas; a small run alone is all start-up.

Parsing, evaluation and whole processes are the best of several, taken in turn: processor time, and
seconds on the clock in brackets. The first is what to compare on a machine that is busy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytrec_eval

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.interpolation import ALPHAS, interpolate, sweep, z_scores
from everycell.retrieval.judged_lists import judge
from everycell.retrieval.oracle import noise_oracle
from everycell.trec.qrels import write_qrels
from everycell.trec.runs import read_run, write_run

TREC = {"MAP": "map", "nDCG": "ndcg"}
#: Means of MAP and nDCG over the topics of the qrels, for each run: argv is the qrels, the runs.
OURS = """
import json, sys
from everycell.retrieval.evaluation import evaluate
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run
qrels = read_qrels(sys.argv[1])
print(json.dumps([evaluate(read_run(run), qrels).mean().tolist() for run in sys.argv[2:]]))
"""
PEER = """
import json, sys
import pytrec_eval
with open(sys.argv[1]) as stream:
    qrels = pytrec_eval.parse_qrel(stream)
evaluator, means = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}), []
for run in sys.argv[2:]:
    with open(run) as stream:
        found = evaluator.evaluate(pytrec_eval.parse_run(stream)).values()
    means.append([sum(topic[name] for topic in found) / len(qrels) for name in ("map", "ndcg")])
print(json.dumps(means))
"""


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


def parse_by_pytrec_eval(path):
    """Read a run as dictionaries."""
    with path.open(encoding="utf-8") as stream:
        return pytrec_eval.parse_run(stream)


def process(code, *arguments):
    """Means that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def in_turn(name, ours, peer, times):
    """Print the least times of two functions that are called in turn; return their last results."""
    results, least = [None, None], [(np.inf, np.inf)] * 2
    for _ in range(times):
        for side, function in enumerate((ours, peer)):
            results[side] = None
            before = os.times()
            results[side] = function()
            taken = np.subtract(os.times(), before)
            # Own and children's time of the processor, and the clock.
            least[side] = tuple(np.minimum(least[side], (taken[:4].sum(), taken[4])))
    shown = [f"{work:6.2f} s ({clock:.2f})" for work, clock in least]
    ratio = least[0][0] / least[1][0]
    print(f"{name:34} ours {shown[0]}   pytrec_eval {shown[1]}   ours/pytrec_eval {ratio:.2f}")
    return results


def line(name, ours, peer, note=""):
    """Print one comparison."""
    print(f"{name:34} ours {ours:6.3f} s   pytrec_eval {peer:6.3f} s   {peer / ours:5.1f}x{note}")


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000, help="topics of the grid")
    parser.add_argument("--candidates", type=int, default=30, help="documents of each of them")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the run")
    parser.add_argument("--times", type=int, default=5, help="calls, of which the best counts")
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
    judged = run.groupby("query", sort=False).head(20)[["query", "document"]]
    qrels = judged.assign(relevance=rng.integers(3, size=len(judged)))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("qrels", "run", "small")]
        write_qrels(qrels, paths[0])
        write_run(run, paths[1], tag="bench")
        # As large as the released runs of CAsT.
        write_run(run[run["query"].isin(qrels["query"].unique()[:80])], paths[2], tag="bench")
        frame, nested = in_turn(
            f"parsing {len(run):,} lines",
            lambda: read_run(paths[1]),
            lambda: parse_by_pytrec_eval(paths[1]),
            args.times,
        )
        assert len(frame) == sum(map(len, nested.values()))
        levels = {
            query: dict(zip(group["document"], group["relevance"].tolist(), strict=True))
            for query, group in qrels.groupby("query")
        }
        evaluator = pytrec_eval.RelevanceEvaluator(levels, set(TREC.values()))
        values, found = in_turn(
            f"evaluation of {len(run):,} lines",
            lambda: evaluate(frame, qrels, list(TREC)),
            lambda: evaluator.evaluate(nested),
            args.times,
        )
        for ours, theirs in TREC.items():
            expected = [found[query][theirs] for query in values.index]
            np.testing.assert_array_equal(values[ours], expected)
        for words, runs in (
            (f"process, {len(run):,} lines", paths[1:2]),
            ("process, 80,000 lines", paths[2:]),
            ("process, 6 times 80,000 lines", paths[2:] * 6),
        ):
            ours, theirs = in_turn(
                words,
                lambda runs=runs: process(OURS, paths[0], *runs),
                lambda runs=runs: process(PEER, paths[0], *runs),
                args.times,
            )
            np.testing.assert_allclose(ours, theirs)


if __name__ == "__main__":
    main()
