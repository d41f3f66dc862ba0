# heuss2025, section 2.7: simulated lists of items with outliers (FELIX).


# Figure 2.2, with supplements on the choice of matrix and matching, and on the distance from the
# optimum.
use rule figure as heuss2025_ch2_simulation with:
    output:
        **figure_files(tables=["changes", "choices", "bounds"]),
    pathvars:
        result="embedded/heuss2025/figure_2_2",
    resources:
        **needs(600, 10),
    params:
        **runs("heuss2025/ch2/simulation"),
        seed=SETTINGS.seed,
        # From the text (L790-798); the numbers of items and of iterations are from the code.
        analysis=dict(
            candidates=[10, 15, 20, 40, 60, 80, 100, 140, 200],
            iterations=[1, 2, 3, 5, 9, 17, 33],
            at_candidates=100,
            at_iterations=20,
            lists=FAIR_EXPOSURE.simulated_lists,
            ranks=10,
            steps={
                "candidates": [(10, 40), (40, 100), (100, 200)],
                "iterations": [(1, 5), (5, 17), (17, 33)],
            },
        ),
        choices=dict(
            items=40,
            lists=FAIR_EXPOSURE.compared_lists,
            ranks=10,
            iterations=[1, 5, 20],
            rules=["row_first", "column_first", "assignment"],
        ),
        # Numbers of items and ranks; the first is small enough to enumerate all sets of items.
        bounds=dict(
            sizes=[(11, 8), (15, 10), (20, 10), (40, 10), (100, 10)],
            lists=FAIR_EXPOSURE.compared_lists,
            iterations=20,
        ),
        bootstrap=2000,
    message:
        "Outliers by number of items and of iterations (Figure 2.2)"
