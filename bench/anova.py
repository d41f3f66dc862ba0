"""Speed of ANOVA on 500 simulated studies: statsmodels one by one, FastAnova at once.

Run ``python bench/anova.py [--studies 500]``. Both compute the same type II ANOVA of the same
simulated ratings in one process. The script checks that the F values agree to 1e-9 (1e-12
absolute, for effects of zero), and prints the ratio of the times. FastAnova's time includes the
preparation of the design.
"""

import argparse
import time
import warnings

import numpy as np
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from everycell.records.folders import import_papers
from everycell.statistics.fast_anova import FastAnova
from everycell.statistics.simulation import simulate_ratings


def f_by_statsmodels(design, factors, ratings):
    """F values with shape (terms, studies), one fit per study."""
    formula = "rating ~ " + " * ".join(f"C({factor})" for factor in factors)
    return np.column_stack(
        [
            anova_lm(smf.ols(formula, design.assign(rating=column)).fit(), typ=2)["F"].iloc[:-1]
            for column in ratings.T
        ]
    )


def main():
    import_papers()
    from papers.lajewska2025.designs import (
        answerability_study,
        transparency_study,
        viewpoints_study,
    )

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=500, help="simulated studies per design")
    studies = parser.parse_args().studies
    # Both warn about the empty cell of the viewpoints design, statsmodels at every fit.
    warnings.simplefilter("ignore")
    cases = [
        (answerability_study(), "two-way"),
        (viewpoints_study(), "two-way"),
        (transparency_study(), "explanation quality"),
    ]
    print(f"{studies} simulated studies, type II ANOVA")
    for study, analysis in cases:
        factors = study.analyses[analysis]
        ratings = simulate_ratings(
            study, {next(iter(study.contrasts)): 0.2}, studies, np.random.default_rng(1)
        )
        start = time.perf_counter()
        slow = f_by_statsmodels(study.design, factors, ratings)
        middle = time.perf_counter()
        fast = FastAnova(study.design, factors).fit(ratings).f
        end = time.perf_counter()
        # A term of 0/0 (balance, due to the empty cell) is rounding noise in statsmodels.
        tested = (fast > 0).any(axis=1)
        np.testing.assert_allclose(fast[tested], slow[tested], rtol=1e-9, atol=1e-12)
        print(
            f"{study.name:14} {' x '.join(factors):30} {len(ratings):5} rows   "
            f"statsmodels {middle - start:7.3f} s   FastAnova {end - middle:7.4f} s   "
            f"ratio {(middle - start) / (end - middle):6.0f}"
        )


if __name__ == "__main__":
    main()
