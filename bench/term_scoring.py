"""Speed of scoring a query's candidates from flat arrays, compared with dictionaries.

Run ``python bench/term_scoring.py [--documents 1000]``. Both sides score the same pairs in one
process on one thread, and the script checks that they agree to 1e-6 before it prints the medians
and the ratio of the times. Queries and documents have 200 distinct terms of 30,000, with Zipf's
frequencies:

- TILDE: a dense array of log P with all 30,000 columns, in float32 and in float16, by column and
  by row. The dictionaries have only the 200 terms of the query, since with all 30,000 they would
  need gigabytes, and the loop would be slower;
- TILDEv2: weights as CSR; the dictionaries have the 200 terms of the document.

The times do not include reading, encoding, or building the arrays and dictionaries. numba's first
call is printed separately.
"""

import argparse
import time

import numpy as np
from scipy import sparse

from everycell.retrieval.encoded import likelihood_scores, term_weight_scores

VOCABULARY, TERMS, ROUNDS = 30_000, 200, 15


def draw_terms(rng):
    """Distinct terms of a text; lower numbers are more frequent."""
    share = 1 / np.arange(1, VOCABULARY + 1)
    return rng.choice(VOCABULARY, TERMS, replace=False, p=share / share.sum())


def by_dictionaries(query, documents):
    """Score of each document: a loop over the query's terms."""
    scores = []
    for document in documents:
        score = 0.0
        for term, count in query.items():
            if term in document:
                score += count * document[term]
        scores.append(score)
    return scores


def measure(call):
    """Median seconds, seconds of the first call, and the result."""
    times = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:])), times[0], result


def report(name, query, dictionaries, call):
    """Measure both sides, check that they agree and print one line."""
    slow, _, expected = measure(lambda: by_dictionaries(query, dictionaries))
    fast, first, scores = measure(call)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-6)
    print(
        f"  {name:28} {1e3 * slow:8.2f} ms  {1e3 * fast:7.3f} ms  {slow / fast:6.1f} times faster"
        f"  (first call {first:.2f} s)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1000, help="candidates of the query")
    n = parser.parse_args().documents
    rng = np.random.default_rng(0)
    counts = dict(zip(draw_terms(rng).tolist(), rng.integers(1, 5, TERMS).tolist(), strict=True))
    query = sparse.csr_array(
        (list(counts.values()), list(counts), [0, TERMS]), shape=(1, VOCABULARY)
    )
    candidates, query_rows = rng.permutation(n), np.zeros(n, dtype=np.int64)
    print(f"1 query of {TERMS} terms, {n} documents: dictionaries, flat arrays")
    values = np.log10(rng.random((n, VOCABULARY), dtype=np.float32) + 1e-6)
    for dtype in (np.float32, np.float16):
        for layout, name in ((np.asfortranarray, "by column"), (np.ascontiguousarray, "by row")):
            array = layout(values.astype(dtype))
            query_values = array[:, list(counts)].astype(np.float64)[candidates].tolist()
            report(
                f"TILDE {dtype.__name__} {name}",
                counts,
                [dict(zip(counts, row, strict=True)) for row in query_values],
                lambda array=array: likelihood_scores(array, query, query_rows, candidates),
            )
    rows = [np.sort(draw_terms(rng)) for _ in range(n)]
    weights = sparse.csr_array(
        (
            rng.random(n * TERMS, dtype=np.float32),
            np.concatenate(rows),
            np.arange(n + 1) * TERMS,
        ),
        shape=(n, VOCABULARY),
    )
    lines = weights.data.reshape(n, TERMS).astype(np.float64)
    report(
        "TILDEv2 float32",
        counts,
        [dict(zip(rows[d].tolist(), lines[d].tolist(), strict=True)) for d in candidates],
        lambda: term_weight_scores(weights, query, query_rows, candidates),
    )


if __name__ == "__main__":
    main()
