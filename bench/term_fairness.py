"""Speed of the term-based fairness measures, and of counting terms in a collection.

Run ``python bench/term_fairness.py [--queries 1000] [--ranks 1000] [--documents 50000]``.

- measures: NFaiRR, TExFAIR with and without RBDF, and AWRF of every query at every cut-off, by the
  array functions and by a loop over the documents of each query with running sums. The script
  checks that both agree, and prints both times and their ratio;
- front end: the same measures from a run's frame and a counts file, at the cut-offs 10 and 100;
- counting: documents per second, and the time for 8.8 million passages (MS MARCO) at that rate.

All times are CPU seconds of this process, which uses one core. In November 2026, on a shared Xeon:
CRBO .15 s, compared with 17 s query by query; lists .55 s for a first run and .21 s for a later
one, most of it for looking up a million ids in a hash table.
"""

import argparse
import math
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.metrics.crbo import crbo
from everycell.metrics.ranked_groups import ranked_counts
from everycell.metrics.rbo import rbo
from everycell.metrics.term_counts import count_terms
from everycell.metrics.term_fairness import MEASURES, fairness_by_query, fairness_curves

PASSAGES = 8_841_823


def lists(queries, ranks, rng):
    """Counts of the terms of two groups, zero in two of three documents, and lengths."""
    counts = rng.poisson(1.5, (queries, ranks, 2)) * (rng.random((queries, ranks, 1)) < 1 / 3)
    return counts, rng.integers(30, 90, (queries, ranks)) + counts.sum(axis=2)


def by_loop(counts, lengths):
    """Values of each measure with shape (queries, ranks), computed document by document."""
    values = [[], [], [], []]
    for documents, tokens in zip(counts.tolist(), lengths.tolist(), strict=True):
        fair = ideal = with_terms = 0.0
        terms, exposed, rows = [0.0, 0.0], [0.0, 0.0], [[], [], [], []]
        for rank, (magnitudes, length) in enumerate(zip(documents, tokens, strict=True), 1):
            bias = 1 / math.log2(rank + 1)
            total = sum(magnitudes)
            share = [m / total if total else 0.5 for m in magnitudes]
            omega = 1.0 if total <= 1 else 1 - sum(abs(s - 0.5) for s in share)
            fair += bias * omega
            ideal += bias
            with_terms += bias * (total > 0)
            for group in range(2):
                terms[group] += bias * magnitudes[group] / length
                exposed[group] += bias * share[group]
            all_terms = sum(terms)
            distance = sum(abs(t / all_terms - 0.5) for t in terms) if all_terms else math.nan
            rows[0].append(fair / ideal)
            rows[1].append(1 - distance * with_terms / ideal if all_terms else 1.0)
            rows[2].append(1 - distance)
            rows[3].append(sum(abs(e / sum(exposed) - 0.5) for e in exposed))
        for value, row in zip(values, rows, strict=True):
            value.append(row)
    return values


def seconds(function, *args, **kwargs):
    """Result and CPU time of one call, which does not depend on other load."""
    start = time.process_time()
    result = function(*args, **kwargs)
    return result, time.process_time() - start


def fastest(function, *args, **kwargs):
    """Result and CPU time of the fastest of three calls; the first also allocates memory."""
    return min((seconds(function, *args, **kwargs) for _ in range(3)), key=lambda pair: pair[1])


def passages(number, seed=0):
    """Generate texts of 40 to 80 words; about one in three has a group term."""
    rng = random.Random(seed)
    vocabulary = [f"word{index}" for index in range(20_000)] + ["she", "He", "her", "his"] * 40
    for index in range(number):
        yield f"d{index}", " ".join(rng.choices(vocabulary, k=rng.randint(40, 80)))


def frames_of(counts, lengths):
    """A run of distinct documents, and the counts of these documents."""
    queries, ranks = lengths.shape
    documents = [f"d{index}" for index in range(lengths.size)]
    table = pd.DataFrame({"length": lengths.ravel()}, index=pd.Index(documents, name="document_id"))
    table[["f", "m"]] = counts.reshape(-1, 2)
    run = pd.DataFrame(
        {
            "query": np.repeat([f"q{index}" for index in range(queries)], ranks),
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

    run, table = frames_of(counts, lengths)
    _, first_time = seconds(ranked_counts, run, table)
    _, lists_time = fastest(ranked_counts, run, table)
    ranked = ranked_counts(run, table, depth=min(100, args.ranks))
    _, measures_time = seconds(
        fairness_by_query, ranked, [min(10, args.ranks), min(100, args.ranks)]
    )
    print(
        f"front end: lists of {size} {first_time:.2f} s for a first run, {lists_time:.2f} s for a "
        f"later one with the same counts, measures {measures_time:.2f} s"
    )

    order = run[["query", "document"]].assign(rank=np.tile(np.arange(args.ranks) + 1, args.queries))
    swapped = order.assign(rank=np.tile(np.arange(args.ranks)[::-1] + 1, args.queries))
    overlaps, crbo_time = fastest(crbo, order, swapped, depth=args.ranks)
    sample = order["query"].unique()[:20]
    start = time.process_time()
    for query in sample:
        documents = order.loc[order["query"] == query, "document"].tolist()
        np.testing.assert_allclose(rbo(documents, documents[::-1]), overlaps[query])
    loop_time = (time.process_time() - start) / len(sample) * args.queries
    print(
        f"CRBO {size}: all queries at once {crbo_time:.2f} s, query by query {loop_time:.1f} s "
        f"(extrapolated from {len(sample)}), {loop_time / crbo_time:.0f}x"
    )

    texts = list(passages(args.documents))
    words = {"f": ["she", "her"], "m": ["he", "his"]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.parquet"
        _, count_time = seconds(count_terms, iter(texts), words, path)
        kilobytes = path.stat().st_size / 1024
    rate = args.documents / count_time
    print(
        f"counting {args.documents:,} passages: {rate:,.0f} documents/s, {kilobytes:,.0f} KiB; "
        f"{PASSAGES:,} would take {PASSAGES / rate / 60:.1f} min"
    )


if __name__ == "__main__":
    main()
