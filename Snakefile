"""Reproduces the tables and figures of five information-retrieval papers, cell by cell.

Default target: all artefacts whose published values are computed again, without surrogate data,
from this repository and from released data of a few megabytes; and the page results/index.html.
Other targets: a tier (embedded, released, full, all), a paper (lajewska2025), a chapter
(lajewska2025_ch4), an artefact (lajewska2025_table_4_8), or any file below results/.
"""

from everycell.workflow import FINISH, START


include: START
include: "workflow/rules/named_by_user.smk"
include: "workflow/papers/shared/retrieval.smk"
include: "workflow/papers/shared/term_fairness_collections.smk"
include: "workflow/papers/shared/msmarco.smk"
include: "workflow/papers/abolghasemi2024/ch1.smk"
include: "workflow/papers/abolghasemi2026/ch2.smk"
include: "workflow/papers/abolghasemi2026/ch2_scidocs.smk"
include: "workflow/papers/abolghasemi2026/ch3.smk"
include: "workflow/papers/abolghasemi2026/ch3_annotation.smk"
include: "workflow/papers/abolghasemi2026/ch3_sampling.smk"
include: "workflow/papers/abolghasemi2026/ch4.smk"
include: "workflow/papers/abolghasemi2026/ch5.smk"
include: "workflow/papers/abolghasemi2026/ch5_nq.smk"
include: "workflow/papers/abolghasemi2026/ch5_ask.smk"
include: "workflow/papers/lajewska2025/released.smk"
include: "workflow/papers/lajewska2025/ch1.smk"
include: "workflow/papers/lajewska2025/ch2.smk"
include: "workflow/papers/lajewska2025/ch3.smk"
include: "workflow/papers/lajewska2025/ch3_pipeline.smk"
include: "workflow/papers/lajewska2025/ch3_full.smk"
include: "workflow/papers/lajewska2025/ch4.smk"
include: "workflow/papers/lajewska2025/ch5.smk"
include: "workflow/papers/lajewska2025/ch5_asking.smk"
include: "workflow/papers/lajewska2025/ch5_passages.smk"
include: "workflow/papers/lajewska2025/ch6.smk"
include: "workflow/papers/lajewska2025/ch6_full.smk"
include: "workflow/papers/lajewska2025/ch6_crowd.smk"
include: "workflow/papers/lajewska2025/ch6_rag24.smk"
include: "workflow/papers/lajewska2025/ch7.smk"
include: "workflow/papers/lajewska2025/chA.smk"
include: "workflow/papers/lajewska2025/chB.smk"
include: "workflow/papers/lajewska2025/chC.smk"
include: "workflow/papers/heuss2025/ch2.smk"
include: "workflow/papers/heuss2025/ch3.smk"
include: "workflow/papers/heuss2025/ch4.smk"
include: "workflow/papers/heuss2025/ch5.smk"
include: "workflow/papers/sakai2023/ch1.smk"
include: "workflow/rules/fetching.smk"
include: "workflow/papers/shared/term_fairness.smk"
include: "workflow/rules/documentation.smk"


#: Explanations of 156 rankings take a quarter of an hour.
SLOW = ("heuss2025/figure_4_4",)


# The target of `snakemake` without arguments. An included file cannot set it.
rule default:
    default_target: True
    input:
        reproduced_except(SLOW),
        "results/embedded/errata.csv",
        "results/index.html",
    localrule: True


onsuccess:
    # Said again at the end, since the first time is minutes ago.
    if is_default_target():
        print(describe_left_out(reproduced_in_minutes(SLOW)[1]))


include: FINISH
