"""Time of re-ranking against bias: PUFR, FA*IR, and the best ranking that is fair enough.

Run: ``python bench/fair_reranking.py``. One thread, lists of 50 documents, made up. The best
ranking by prices and assignments is compared with that of the integer program (HiGHS; the thesis
used GLPK): the script checks that it is fair enough and prints how much utility it lacks.
"""

import time

import numpy as np

from everycell.fair_ranking.constrained import (
    best_by_assignment,
    best_by_integer_program,
    scale_scores,
)
from everycell.fair_ranking.fa_ir import fa_ir, minimum_protected
from everycell.fair_ranking.neutral_exposure import reciprocal_nfairr
from everycell.fair_ranking.uncertainty import pufr

DOCUMENTS, LISTS, SHARE = 50, 6, 0.9


def seconds(call):
    """Seconds of a call, and what it returns."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main():
    """Print the times of a list and their ratios."""
    rng = np.random.default_rng(1)
    needed = minimum_protected(DOCUMENTS, SHARE)
    times = {name: [] for name in ("PUFR", "FA*IR", "assignment", "integer program")}
    losses = []
    for _ in range(LISTS):
        means, deviations = rng.normal(size=DOCUMENTS), rng.uniform(0.2, 0.6, DOCUMENTS)
        # The documents of the highest scores are seldom neutral, as in the thesis.
        neutral = (rng.random(DOCUMENTS) < 0.8 - 0.15 * means).astype(float)
        scores = scale_scores(means)
        for name, call in {
            "PUFR": lambda m=means, d=deviations, n=neutral: pufr(m, d, n == 1, 2.0),
            "FA*IR": lambda m=means, n=neutral: fa_ir(m, n == 1, needed),
            "assignment": lambda s=scores, n=neutral: best_by_assignment(s, n, SHARE),
            "integer program": lambda s=scores, n=neutral: best_by_integer_program(s, n, SHARE),
        }.items():
            took, found = seconds(call)
            times[name].append(took)
            if name == "assignment":
                fast = found
        assert reciprocal_nfairr(neutral[fast.ranking], DOCUMENTS) >= SHARE
        losses.append(1 - fast.utility / found.utility)
    medians = {name: float(np.median(each)) for name, each in times.items()}
    print(f"{DOCUMENTS} documents, median of {LISTS} lists")
    for name, each in medians.items():
        print(f"{name:16} {1000 * each:10.3f} ms")
    ratio = medians["integer program"] / medians["assignment"]
    print(f"integer program / assignment: {ratio:.0f}; utility lost: at most {max(losses):.2%}")
    print(f"assignment / PUFR: {medians['assignment'] / medians['PUFR']:.0f}")


if __name__ == "__main__":
    main()
