"""Time of the term-based fairness measures, and of counting terms in a collection.

Run: ``python bench/term_fairness.py [--queries 1000] [--ranks 1000] [--documents 50000]``.

- measures: NFaiRR, TExFAIR with and without RBDF, and AWRF of every query at every cut-off, by the
  array functions and by a loop over the documents of each query that keeps running sums. The
  script checks that both find the same, prints both times and their ratio;
- front end: the same measures from a run's frame and a counts file, at the cut-offs 10 and 100;
- counting: documents a second into the counts file, and the time that 8.8 million passages (MS
  MARCO) would take at that pace.

All times are CPU seconds of this one process, which uses one core.
In November 2026, on a shared Xeon: CRBO .15 s against 17 s one by one; lists .55 s for a first run
and .21 s for a later one, of which the look-up of a million ids in a hash table takes most.
"""

import argparse
import math
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.metrics.fairness_frames import MEASURES, fairness_by_query, fairness_curves
from everycell.metrics.rank_overlap import crbo, rbo
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.term_counts import count_terms

PASSAGES = 8_841_823


def lists(queries, ranks, rng):
    """Counts of two groups, of which two documents in three have none, and lengths."""
    counts = rng.poisson(1.5, (queries, ranks, 2)) * (rng.random((queries, ranks, 1)) < 1 / 3)
    return counts, rng.integers(30, 90, (queries, ranks)) + counts.sum(axis=2)


def by_loop(counts, lengths):
    """Values of shape (queries, ranks) of each measure, one document after the other."""
    values = [[], [], [], []]
    for documents, tokens in zip(counts.tolist(), lengths.tolist(), strict=True):
        fair = ideal = seen = 0.0
        terms, exposed, rows = [0.0, 0.0], [0.0, 0.0], [[], [], [], []]
        for rank, (magnitudes, length) in enumerate(zip(documents, tokens, strict=True), 1):
            bias = 1 / math.log2(rank + 1)
            total = sum(magnitudes)
            share = [m / total if total else 0.5 for m in magnitudes]
            omega = 1.0 if total <= 1 else 1 - sum(abs(s - 0.5) for s in share)
            fair += bias * omega
            ideal += bias
            seen += bias * (total > 0)
            for group in range(2):
                terms[group] += bias * magnitudes[group] / length
                exposed[group] += bias * share[group]
            both = sum(terms)
            apart = sum(abs(t / both - 0.5) for t in terms) if both else math.nan
            rows[0].append(fair / ideal)
            rows[1].append(1 - apart * seen / ideal if both else 1.0)
            rows[2].append(1 - apart)
            rows[3].append(sum(abs(e / sum(exposed) - 0.5) for e in exposed))
        for value, row in zip(values, rows, strict=True):
            value.append(row)
    return values


def seconds(function, *args, **kwargs):
    """Result and CPU time of one call: what else the machine does plays no part."""
    start = time.process_time()
    result = function(*args, **kwargs)
    return result, time.process_time() - start


def fastest(function, *args, **kwargs):
    """The same of the fastest of three calls: the first also pays for memory of the system."""
    return min((seconds(function, *args, **kwargs) for _ in range(3)), key=lambda found: found[1])


def passages(number, seed=0):
    """Texts of 40 to 80 words, one by one; about one in three has a group term."""
    rng = random.Random(seed)
    vocabulary = [f"word{place}" for place in range(20_000)] + ["she", "He", "her", "his"] * 40
    for place in range(number):
        yield f"d{place}", " ".join(rng.choices(vocabulary, k=rng.randint(40, 80)))


def frame_of(counts, lengths):
    """A run and the counts of its documents, every one of which occurs once."""
    queries, ranks = lengths.shape
    documents = [f"d{place}" for place in range(lengths.size)]
    table = pd.DataFrame({"length": lengths.ravel()}, index=pd.Index(documents, name="document_id"))
    table[["f", "m"]] = counts.reshape(-1, 2)
    run = pd.DataFrame(
        {
            "query": np.repeat([f"q{place}" for place in range(queries)], ranks),
            "document": documents,
            "score": np.tile(-np.arange(ranks, dtype=float), queries),
        }
    )
    return run, table


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=50_000, help="passages to count")
    args = parser.parse_args()
    counts, lengths = lists(args.queries, args.ranks, np.random.default_rng(1))
    size = f"{args.queries:,} x {args.ranks:,}"

    ours, our_time = fastest(fairness_curves, counts, lengths)
    loop, loop_time = seconds(by_loop, counts, lengths)
    for name, values in zip(MEASURES, loop, strict=True):
        np.testing.assert_allclose(ours[name], values, atol=1e-9, err_msg=name)
    print(
        f"measures {size}, every cut-off: arrays {our_time:.2f} s, loop {loop_time:.2f} s, "
        f"{loop_time / our_time:.0f}x"
    )

    run, table = frame_of(counts, lengths)
    _, first_time = seconds(ranked_counts, run, table)
    _, lists_time = fastest(ranked_counts, run, table)
    ranked = ranked_counts(run, table, depth=min(100, args.ranks))
    _, measures_time = seconds(
        fairness_by_query, ranked, [min(10, args.ranks), min(100, args.ranks)]
    )
    print(
        f"front end: lists of {size} {first_time:.2f} s for a first run, {lists_time:.2f} s for a "
        f"later one of the same counts, measures {measures_time:.2f} s"
    )

    order = run[["query", "document"]].assign(rank=np.tile(np.arange(args.ranks) + 1, args.queries))
    swapped = order.assign(rank=np.tile(np.arange(args.ranks)[::-1] + 1, args.queries))
    found, crbo_time = fastest(crbo, order, swapped, depth=args.ranks)
    few = order["query"].unique()[:20]
    start = time.process_time()
    for query in few:
        documents = order.loc[order["query"] == query, "document"].tolist()
        np.testing.assert_allclose(rbo(documents, documents[::-1]), found[query])
    one = (time.process_time() - start) / len(few)
    print(
        f"CRBO {size}: all queries at once {crbo_time:.2f} s, one by one "
        f"{one * args.queries:.1f} s (from {len(few)}), {one * args.queries / crbo_time:.0f}x"
    )

    texts = list(passages(args.documents))
    words = {"f": ["she", "her"], "m": ["he", "his"]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.parquet"
        _, count_time = seconds(count_terms, iter(texts), words, path)
        kilobytes = path.stat().st_size / 1024
    pace = args.documents / count_time
    print(
        f"counting {args.documents:,} passages: {pace:,.0f} documents/s, {kilobytes:,.0f} KiB; "
        f"{PASSAGES:,} would take {PASSAGES / pace / 60:.1f} min"
    )


if __name__ == "__main__":
    main()
