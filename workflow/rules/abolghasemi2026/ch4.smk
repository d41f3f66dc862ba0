# abolghasemi2026, chapter 4: group bias in ranked lists. The experiment is that of term_fairness.smk.


# Figure 4.1: both measures on the two printed lists.
use rule term_fairness_example as abolghasemi2026_ch4_example with:
    input:
        documents="published/abolghasemi2026/figure_4_1.csv",
    pathvars:
        result="embedded/abolghasemi2026/figure_4_1",
    params:
        declared=declared_inputs("embedded", "abolghasemi2026", "figure_4_1"),
    message:
        "Two lists of four documents (Figure 4.1)"


# Figure 4.2: the measures at every cut-off.
use rule term_fairness_depth as abolghasemi2026_ch4_depth with:
    pathvars:
        result="{tier}/abolghasemi2026/figure_4_2",
    wildcard_constraints:
        tier="released",
    message:
        "Fairness over the depth of rankings (Figure 4.2)"


# For planted rankings also compared with the planted values.
use rule term_fairness_depth as abolghasemi2026_ch4_depth_planted with:
    input:
        unpack(depth_inputs),
        truth="work/planted/truth.parquet",
    output:
        **figure_files(tables=["sensitivity", "recovered"], figures=["balance"]),
    pathvars:
        result="{tier}/abolghasemi2026/figure_4_2",
    wildcard_constraints:
        tier="embedded",
    message:
        "Fairness over the depth of planted rankings (Figure 4.2)"


use rule term_fairness_depth_full as abolghasemi2026_ch4_depth_full with:
    pathvars:
        result="{tier}/abolghasemi2026/figure_4_2",
    wildcard_constraints:
        tier="full",
    message:
        "Fairness over the depth of rankings on MS MARCO (Figure 4.2)"


# Table 4.1: effectiveness and group fairness.
use rule term_fairness_means as abolghasemi2026_ch4_fairness with:
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="full",
    params:
        names={"r": "Pearson r (TExFAIR,NFaiRR)"},
    message:
        "Effectiveness and group fairness (Table 4.1, {wildcards.tier})"


use rule term_fairness_planted as abolghasemi2026_ch4_fairness_planted with:
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="embedded",
    params:
        names={"r": "Pearson r (TExFAIR,NFaiRR)"},
    message:
        "Group fairness of planted rankers (Table 4.1)"


# The markers show what is fairer than BM25; the tests beside also show what is less fair.
use rule abolghasemi2026_ch4_fairness as abolghasemi2026_ch4_fairness_released with:
    output:
        **table_files(tables=["tests"]),
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="released",


# Table 4.2: overlap of rankings before and after a gender swap.
use rule term_fairness_overlap as abolghasemi2026_ch4_overlap with:
    pathvars:
        result="{tier}/abolghasemi2026/table_4_2",
    wildcard_constraints:
        tier="released|full",
    message:
        "Overlap under an exchange of gender (Table 4.2, {wildcards.tier})"
