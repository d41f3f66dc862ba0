"""Speed of fair re-ranking: PUFR, FA*IR, and the best ranking under a fairness constraint.

Run ``python bench/fair_reranking.py``; it uses one thread and synthetic lists of 50 documents. The
best ranking by prices and assignments is compared with that of the integer program (HiGHS; the
thesis used GLPK). The script checks that it meets the constraint, and prints its loss of utility.
"""

import time

import numpy as np

from everycell.fair_ranking.constrained import (
    best_by_assignment,
    best_by_integer_program,
    reciprocal_nfairr,
    scale_scores,
)
from everycell.fair_ranking.fa_ir import fa_ir, minimum_protected
from everycell.fair_ranking.pufr import pufr

DOCUMENTS, LISTS, SHARE = 50, 6, 0.9


def seconds(call):
    """Seconds and result of a call."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def main():
    """Print the times per list and their ratios."""
    rng = np.random.default_rng(1)
    needed = minimum_protected(DOCUMENTS, SHARE)
    times = {name: [] for name in ("PUFR", "FA*IR", "assignment", "integer program")}
    losses = []
    for _ in range(LISTS):
        means, deviations = rng.normal(size=DOCUMENTS), rng.uniform(0.2, 0.6, DOCUMENTS)
        # Documents with high scores are rarely neutral, as in the thesis.
        neutral = (rng.random(DOCUMENTS) < 0.8 - 0.15 * means).astype(float)
        scores = scale_scores(means)
        for name, call in {
            "PUFR": lambda m=means, d=deviations, n=neutral: pufr(m, d, n == 1, 2.0),
            "FA*IR": lambda m=means, n=neutral: fa_ir(m, n == 1, needed),
            "assignment": lambda s=scores, n=neutral: best_by_assignment(s, n, SHARE),
            "integer program": lambda s=scores, n=neutral: best_by_integer_program(s, n, SHARE),
        }.items():
            elapsed, result = seconds(call)
            times[name].append(elapsed)
            if name == "assignment":
                fast = result
        assert reciprocal_nfairr(neutral[fast.ranking], DOCUMENTS) >= SHARE
        losses.append(1 - fast.utility / result.utility)
    medians = {name: float(np.median(values)) for name, values in times.items()}
    print(f"{DOCUMENTS} documents, median of {LISTS} lists")
    for name, median in medians.items():
        print(f"{name:16} {1000 * median:10.3f} ms")
    ratio = medians["integer program"] / medians["assignment"]
    print(f"integer program / assignment: {ratio:.0f}; loss of utility: at most {max(losses):.2%}")
    print(f"assignment / PUFR: {medians['assignment'] / medians['PUFR']:.0f}")


if __name__ == "__main__":
    main()
