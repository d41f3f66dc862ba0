# abolghasemi2026, chapter 4: group bias in ranked lists. The experiment is that of term_fairness.smk.


include: "ch4_inputs.smk"


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
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
        **companion(table_files, "<result>", "recovered"),
        **companion(figure_files, "<result>", "balance"),
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


# Beside the released stand-in stand the NFaiRR authors' runs on TREC DL 2019, whose passages (and
# so fairness) nobody released.
use rule abolghasemi2026_ch4_fairness as abolghasemi2026_ch4_fairness_released with:
    input:
        unpack(means_inputs),
        dl19_runs=[resource(key) for key in DL19_RUNS.values()],
        dl19_qrels=resource(DL19_QRELS),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "measures"),
        **companion(table_files, "<result>", "coverage"),
        **companion(table_files, "<result>", "tests"),
        **companion(table_files, "<result>", "dl19"),
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="released",
    params:
        dl19=list(DL19_RUNS),


# Table 4.2: overlap of rankings before and after a gender swap.
use rule term_fairness_overlap as abolghasemi2026_ch4_overlap with:
    pathvars:
        result="{tier}/abolghasemi2026/table_4_2",
    wildcard_constraints:
        tier="released|full",
    message:
        "Overlap under an exchange of gender (Table 4.2, {wildcards.tier})"
