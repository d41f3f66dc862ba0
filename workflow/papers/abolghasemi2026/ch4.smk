# abolghasemi2026, chapter 4: group bias in ranked lists. The experiment is in term_fairness.smk.
FAIRNESS_RESULTS["example"]["abolghasemi2026/figure_4_1"] = "abolghasemi2026/figure_4_1"
FAIRNESS_RESULTS["depth"]["abolghasemi2026/figure_4_2"] = {}
FAIRNESS_RESULTS["means"]["abolghasemi2026/table_4_1"] = {"r": "Pearson r (TExFAIR,NFaiRR)"}
FAIRNESS_RESULTS["overlap"]["abolghasemi2026/table_4_2"] = {}


# Figure 4.2 on planted rankings, whose values are known.
use rule figure as abolghasemi2026_ch4_depth_planted with:
    input:
        unpack(depth_inputs),
        truth="work/planted/truth.parquet",
    output:
        **figure_files(tables=["sensitivity", "recovered"], figures=["balance"]),
    pathvars:
        result="{tier}/abolghasemi2026/figure_4_2",
    wildcard_constraints:
        tier="embedded",
    resources:
        **needs(1000),
    params:
        **runs("shared/term_fairness:depth"),
        **DEPTH,
    message:
        "Fairness over the depth of synthetic rankings (Figure 4.2)"
