# abolghasemi2026, chapter 4 (and abolghasemi2024, the same content): group bias in ranked lists.
# Any collection with work/{collection}/documents.parquet and runs can be measured.

from everycell.collections.planted_bias import SYSTEMS as PLANTED
from everycell.metrics.term_fairness import TAU

PLANT = {"queries": 20, "depth": 50, "length": 40}
# Cut-offs of Figure 4.2, from 1 on; the print does not say how far it goes.
CUTOFFS = 50
# What each tier measures: rows of (query set, collection, run, name in the figure).
SYSTEMS_CH4 = {
    "embedded": [("planted", "planted", system, system) for system in PLANTED],
}


def word_list_of(wildcards):
    """Terms of the groups: those that were planted, or those that the NFaiRR authors released."""
    if wildcards.collection == "planted":
        return "work/planted/words.txt"
    return resource("gender-bias-ir/fairr/wordlist_gender_representative.txt")


def fairness_files(tier):
    """Runs that a tier measures, and the counts of their documents, as inputs of a rule."""
    systems = SYSTEMS_CH4[tier]
    return {
        "runs": [f"work/{where}/runs/{run}.run" for _, where, run, _ in systems],
        "counts": list(
            dict.fromkeys(f"work/{where}/counts.parquet" for _, where, *_ in systems)
        ),
    }


# Documents and rankings with a known bias: the embedded stand-in for MS MARCO.
rule collection_planted:
    output:
        documents="work/planted/documents.parquet",
        words="work/planted/words.txt",
        truth="work/planted/truth.parquet",
        runs=[f"work/planted/runs/{system}.run" for system in PLANTED],
    log:
        "logs/retrieval/planted/collection.log",
    benchmark:
        "benchmarks/retrieval/planted/collection.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    params:
        sizes=PLANT,
        seed=SETTINGS.seed,
        code=code_of("collection_planted.py"),
    message:
        "Collection planted: {params.sizes[queries]} lists of each kind of ranking"
    script:
        "../scripts/collection_planted.py"


rule count_terms:
    input:
        documents="work/{collection}/documents.parquet",
        words=word_list_of,
    output:
        counts="work/{collection}/counts.parquet",
    log:
        "logs/retrieval/{collection}/count_terms.log",
    benchmark:
        "benchmarks/retrieval/{collection}/count_terms.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=10,
    params:
        code=code_of("count_terms.py"),
    message:
        "Group terms in the documents of {wildcards.collection}"
    script:
        "../scripts/count_terms.py"


# Figure 4.1: both measures on the two printed lists.
rule abolghasemi2026_ch4_example:
    input:
        documents="published/abolghasemi2026/figure_4_1.csv",
        card="published/abolghasemi2026/ch4.yaml",
    output:
        **figure_files("embedded", "abolghasemi2026/figure_4_1"),
        **beside("embedded", "abolghasemi2026/figure_4_1", "measures"),
    log:
        "logs/abolghasemi2026/figure_4_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/figure_4_1.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    params:
        # That of the NFaiRR authors' code, and the one with which both lists get the printed 0.
        taus=[TAU, 0],
        face=face_of("embedded", "abolghasemi2026/figure_4_1"),
        code=code_of("abolghasemi2026_ch4_example.py"),
    message:
        "Two lists of four documents (Figure 4.1)"
    script:
        "../scripts/abolghasemi2026_ch4_example.py"


use rule abolghasemi2026_ch4_example as abolghasemi2024_example with:
    output:
        **figure_files("embedded", "abolghasemi2024/figure_1"),
        **beside("embedded", "abolghasemi2024/figure_1", "measures"),
    log:
        "logs/abolghasemi2024/figure_1.log",
    benchmark:
        "benchmarks/abolghasemi2024/figure_1.tsv"
    params:
        face=face_of("embedded", "abolghasemi2024/figure_1"),
    message:
        "Two lists of four documents (Figure 1)"


# Figure 4.2: the measures at every cut-off; on planted rankings also against what was planted.
rule abolghasemi2026_ch4_depth:
    input:
        **fairness_files("embedded"),
        truth="work/planted/truth.parquet",
    output:
        **figure_files("embedded", "abolghasemi2026/figure_4_2"),
        **beside("embedded", "abolghasemi2026/figure_4_2", "sensitivity"),
        **beside("embedded", "abolghasemi2026/figure_4_2", "recovered"),
        **beside("embedded", "abolghasemi2026/figure_4_2", "balance", figure=True),
    log:
        "logs/abolghasemi2026/embedded_figure_4_2.log",
    benchmark:
        "benchmarks/abolghasemi2026/embedded_figure_4_2.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        systems=SYSTEMS_CH4["embedded"],
        cutoffs=CUTOFFS,
        tau=TAU,
        face=face_of("embedded", "abolghasemi2026/figure_4_2"),
        code=code_of("abolghasemi2026_ch4_depth.py"),
    message:
        "Fairness over the depth of planted rankings (Figure 4.2)"
    script:
        "../scripts/abolghasemi2026_ch4_depth.py"


use rule abolghasemi2026_ch4_depth as abolghasemi2024_depth with:
    input:
        **fairness_files("embedded"),
    output:
        **figure_files("embedded", "abolghasemi2024/figure_2"),
        **beside("embedded", "abolghasemi2024/figure_2", "sensitivity"),
    log:
        "logs/abolghasemi2024/embedded_figure_2.log",
    benchmark:
        "benchmarks/abolghasemi2024/embedded_figure_2.tsv"
    params:
        face=face_of("embedded", "abolghasemi2024/figure_2"),
    message:
        "Fairness over the depth of planted rankings (Figure 2)"
