"""Speed of reading runs, evaluation and interpolation, compared with pytrec_eval.

Run ``python bench/retrieval_evaluation.py [--queries 1000] [--lines 1000000]``. Both sides do the
same work in one process, and the script checks that they agree before it prints the ratio of the
times:

- grid: MAP and nDCG of every topic at eleven weights, by one call of ``sweep``, and by one call of
  pytrec_eval per weight with dictionaries of the same scores. The time inside these calls is also
  printed, as a lower bound for any use of pytrec_eval;
- parsing: a run in TREC format, read into a typed data frame in the order of its lines, with
  checks (six fields, UTF-8, finite scores, complete ids, no duplicate documents), and into
  pytrec_eval's dictionaries, without checks;
- evaluation: per-topic values of a run with 1,000 documents per topic, from its frame, and from
  existing dictionaries of pytrec_eval. The values must be identical;
- process: a new interpreter that imports, reads run and qrels and prints the means, for one run
  and for several runs, as in the job of a table. For a run of a million lines, fast reading
  compensates for the checks and for importing pandas; a single small run is dominated by start-up.

Times of parsing, evaluation and processes are the best of several rounds in which both sides take
turns: CPU seconds, with wall seconds in brackets. Compare CPU seconds on a busy machine.
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
from everycell.retrieval.interpolation import ALPHAS, interpolate, noise_oracle, sweep, z_scores
from everycell.retrieval.judged_lists import judge
from everycell.trec.runs import read_run, write_qrels, write_run

TREC = {"MAP": "map", "nDCG": "ndcg"}
#: Means of MAP and nDCG over the topics, for each run; argv has the qrels and the runs.
OURS = """
import json, sys
from everycell.retrieval.evaluation import evaluate
from everycell.trec.runs import read_qrels, read_run
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
        topics = evaluator.evaluate(pytrec_eval.parse_run(stream)).values()
    means.append([sum(topic[name] for topic in topics) / len(qrels) for name in ("map", "ndcg")])
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
    """Values of each measure with shape (alphas, topics), and the seconds inside pytrec_eval."""
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
        by_topic = evaluator.evaluate(run)
        inside += time.perf_counter() - start
        for measure, trec_name in TREC.items():
            values[measure].append([by_topic[query][trec_name] for query in lists.queries])
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


def run_process(code, *arguments):
    """Run code in a new interpreter, and parse the means that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def race(name, ours, peer, times):
    """Print the shortest times of two functions that take turns; return their last results."""
    results, best = [None, None], [(np.inf, np.inf)] * 2
    for _ in range(times):
        for side, function in enumerate((ours, peer)):
            results[side] = None
            before = os.times()
            results[side] = function()
            elapsed = np.subtract(os.times(), before)
            # CPU time of this process and its children, and wall time.
            best[side] = tuple(np.minimum(best[side], (elapsed[:4].sum(), elapsed[4])))
    texts = [f"{cpu:6.2f} s ({wall:.2f})" for cpu, wall in best]
    ratio = best[0][0] / best[1][0]
    print(f"{name:34} ours {texts[0]}   pytrec_eval {texts[1]}   ours/pytrec_eval {ratio:.2f}")
    return results


def print_line(name, ours, peer, note=""):
    """Print one comparison."""
    print(f"{name:34} ours {ours:6.3f} s   pytrec_eval {peer:6.3f} s   {peer / ours:5.1f}x{note}")


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000, help="topics of the grid")
    parser.add_argument("--candidates", type=int, default=30, help="candidates per topic")
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the run")
    parser.add_argument("--times", type=int, default=5, help="rounds; the best one counts")
    args = parser.parse_args()
    rng = np.random.default_rng(1)

    lists = judged_lists(args.queries, args.candidates, rng)
    # Few distinct values, so that many documents tie.
    first, second = (rng.integers(9, size=lists.listed.shape) / 4.0 for _ in range(2))
    (peer, inside), peer_time = seconds(grid_by_pytrec_eval, lists, first, second)
    ours, our_time = seconds(sweep, lists, first, second, list(TREC))
    for measure in TREC:
        np.testing.assert_allclose(ours.measure_values(measure), peer[measure], atol=1e-12)
    size = f"{len(ALPHAS)} x {args.queries:,} x {args.candidates}"
    print_line(f"grid {size}", our_time, peer_time, f"  (calls alone {inside:.3f} s)")
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
        frame, nested = race(
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
        values, by_topic = race(
            f"evaluation of {len(run):,} lines",
            lambda: evaluate(frame, qrels, list(TREC)),
            lambda: evaluator.evaluate(nested),
            args.times,
        )
        for ours, theirs in TREC.items():
            expected = [by_topic[query][theirs] for query in values.index]
            np.testing.assert_array_equal(values[ours], expected)
        for words, runs in (
            (f"process, {len(run):,} lines", paths[1:2]),
            ("process, 80,000 lines", paths[2:]),
            ("process, 6 times 80,000 lines", paths[2:] * 6),
        ):
            ours, theirs = race(
                words,
                lambda runs=runs: run_process(OURS, paths[0], *runs),
                lambda runs=runs: run_process(PEER, paths[0], *runs),
                args.times,
            )
            np.testing.assert_allclose(ours, theirs)


if __name__ == "__main__":
    main()
