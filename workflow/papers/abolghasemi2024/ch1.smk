# abolghasemi2024: group bias in ranked lists. The experiment is in term_fairness.smk.
# Figure 1 uses the published lists of Figure 4.1 of the thesis.
FAIRNESS_RESULTS["example"]["abolghasemi2024/figure_1"] = "abolghasemi2026/figure_4_1"
FAIRNESS_RESULTS["depth"]["abolghasemi2024/figure_2"] = {}
FAIRNESS_RESULTS["means"]["abolghasemi2024/table_1"] = {"r": "r"}
FAIRNESS_RESULTS["overlap"]["abolghasemi2024/table_2"] = {}
