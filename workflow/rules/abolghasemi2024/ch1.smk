# abolghasemi2024: group bias in ranked lists. The experiment is that of term_fairness.smk.


# Figure 1: both measures on the two printed lists. Our copy of the print has them in the thesis.
use rule term_fairness_example as abolghasemi2024_example with:
    input:
        documents="published/abolghasemi2026/figure_4_1.csv",
    pathvars:
        result="embedded/abolghasemi2024/figure_1",
    params:
        declared=declared_inputs("embedded", "abolghasemi2026", "figure_4_1"),
    message:
        "Two lists of four documents (Figure 1)"


# Figure 2: the measures at every cut-off.
use rule term_fairness_depth as abolghasemi2024_depth with:
    pathvars:
        result="{tier}/abolghasemi2024/figure_2",
    wildcard_constraints:
        tier="embedded|released",
    message:
        "Fairness over the depth of rankings (Figure 2, {wildcards.tier})"


use rule term_fairness_depth_full as abolghasemi2024_depth_full with:
    pathvars:
        result="{tier}/abolghasemi2024/figure_2",
    wildcard_constraints:
        tier="full",
    message:
        "Fairness over the depth of rankings on MS MARCO (Figure 2)"


# Table 1: effectiveness and group fairness.
use rule term_fairness_means as abolghasemi2024_fairness with:
    pathvars:
        result="{tier}/abolghasemi2024/table_1",
    wildcard_constraints:
        tier="full",
    params:
        names={"r": "r"},
    message:
        "Effectiveness and group fairness (Table 1, {wildcards.tier})"


use rule term_fairness_planted as abolghasemi2024_fairness_planted with:
    pathvars:
        result="{tier}/abolghasemi2024/table_1",
    wildcard_constraints:
        tier="embedded",
    params:
        names={"r": "r"},
    message:
        "Group fairness of planted rankers (Table 1)"


# The markers show what is fairer than BM25; the tests beside also show what is less fair.
use rule abolghasemi2024_fairness as abolghasemi2024_fairness_released with:
    output:
        **table_files(tables=["tests"]),
    pathvars:
        result="{tier}/abolghasemi2024/table_1",
    wildcard_constraints:
        tier="released",


# Table 2: overlap of rankings before and after a gender swap.
use rule term_fairness_overlap as abolghasemi2024_overlap with:
    pathvars:
        result="{tier}/abolghasemi2024/table_2",
    wildcard_constraints:
        tier="released|full",
    message:
        "Overlap under an exchange of gender (Table 2, {wildcards.tier})"
