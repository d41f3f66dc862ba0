# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its collection; embedded and released are stand-ins for SciDocs.

CH2 = SETTINGS.query_by_example
TRAINING = {
    "pairs": CH2.models.pairs,
    # Documents a relevant pair that are not: two for TILDEv2 as in the thesis (TILDE reads none).
    # With one the tiny cross-encoder learned nothing in so few steps.
    "negatives": {"tilde": 1, "tildev2": 2, "cross-encoder": 4, "mtft": 4},
    "length": CH2.lengths.training,
    "pair_length": {"total": CH2.lengths.pair},
    # A tiny encoder in few steps: all ReLUs alive at the start, scores over the root of the
    # query's length. The thesis has neither.
    "bias": 1.0,
    "scale": True,
}


rule collection_pydocs:
    output:
        documents="work/pydocs/documents.parquet",
        queries="work/pydocs/queries.parquet",
        candidates="work/pydocs/candidates.parquet",
    log:
        "logs/retrieval/pydocs/collection.log",
    benchmark:
        "benchmarks/retrieval/pydocs/collection.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        seed=SETTINGS.seed,
        sizes=CH2.pydocs.model_dump(),
        versions=package_versions(CH2.pydocs.packages),
        code=code_of("collection_pydocs.py"),
    message:
        "Collection pydocs, from the installed packages"
    script:
        "../scripts/collection_pydocs.py"


rule collection_cacm:
    input:
        **smart_files("cacm"),
    output:
        documents="work/cacm/documents.parquet",
        queries="work/cacm/queries.parquet",
        candidates="work/cacm/candidates.parquet",
    log:
        "logs/retrieval/cacm/collection.log",
    benchmark:
        "benchmarks/retrieval/cacm/collection.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=800,
        runtime=10,
    params:
        seed=SETTINGS.seed,
        sizes=CH2.cacm.model_dump(),
        # Words of a query's abstract: shorter ones are no long queries.
        min_words=50,
        code=code_of("collection_cacm.py"),
    message:
        "Collection CACM, from its links"
    script:
        "../scripts/collection_cacm.py"


# Classic collections with topics of their own, for the comparison of tokenisations.
rule collection_ad_hoc:
    input:
        unpack(ad_hoc_files),
    output:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        qrels="work/{collection}/qrels.parquet",
    log:
        "logs/retrieval/{collection}/collection.log",
    benchmark:
        "benchmarks/retrieval/{collection}/collection.tsv"
    wildcard_constraints:
        collection="cisi|cranfield",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=400,
        runtime=5,
    params:
        code=code_of("collection_ad_hoc.py"),
    message:
        "Collection {wildcards.collection}"
    script:
        "../scripts/collection_ad_hoc.py"


# One model of a kind for all tasks of a collection ("all"), or for one task.
rule train:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.{trained_on}"),
    log:
        "logs/retrieval/{collection}/train_{kind}.{encoder}.{trained_on}.log",
    wildcard_constraints:
        kind="tilde|tildev2|cross-encoder|mtft",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    cache: True
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        **TRAINING,
        seed=SETTINGS.seed,
        tasks=training_tasks_of,
        options=training_options_of,
        code=code_of("train.py"),
    message:
        "Training {wildcards.kind} on {wildcards.collection} ({wildcards.trained_on})"
    script:
        "../scripts/train.py"


# The systems of each tier by row of Table 2.1. A letter is the thesis' where the system stands in
# for that row: the tiny encoder for SciBERT, and the weights that it starts from, which are those
# of a SPLADE, for the zero-shot TILDEv2. Rows from m on are ours.
ENCODER = "splade-tiny"
PIECES = {"embedded": "BERT-Token", "released": "SciBERT-Token"}
SYSTEMS = {
    tier: [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("b", "BM25", pieces, f"bm25.{pieces}"),
        ("e", "TILDE", ENCODER, f"tilde.{ENCODER}.all"),
        ("g", "SPLADE", f"{ENCODER} zero-shot", f"splade.{ENCODER}.zero-shot"),
        ("h", "TILDEv2", ENCODER, f"tildev2.{ENCODER}.all"),
        *[
            (
                row,
                "TILDEv2",
                f"{ENCODER} expansion m={m}",
                f"tildev2-expanded-{m}.{ENCODER}.all",
            )
            for row, m in zip("ij", CH2.expansion)
        ],
        ("k", "Cross-Encoder", ENCODER, f"cross-encoder.{ENCODER}.all"),
        ("l", "Cross-Encoder", f"MTFT-{ENCODER}", f"mtft.{ENCODER}.all"),
        ("m", "BM25", "STM2, tuned on validation", "bm25-tuned.STM2"),
        ("n", "BM25", "BERT-Token, cut as for the encoders", "bm25.BERT-Token-cut"),
    ]
    for tier, pieces in PIECES.items()
}
SYSTEMS["released"].append(("o", "Dense", "MiniLM zero-shot", "dense.minilm.zero-shot"))
COLLECTION = {"embedded": "pydocs", "released": "cacm"}


rule abolghasemi2026_ch2_quality:
    input:
        candidates="work/pydocs/candidates.parquet",
        runs=[f"work/pydocs/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
    output:
        **table_files("embedded", "abolghasemi2026/table_2_1"),
        **beside("embedded", "abolghasemi2026/table_2_1", "lengths", figure=True),
        comparison_md="results/embedded/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/embedded/abolghasemi2026/table_2_1.ranx.tex",
    log:
        "logs/abolghasemi2026/embedded_table_2_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/embedded_table_2_1.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        systems=SYSTEMS["embedded"],
        lists={"pydocs": COLLECTIONS["pydocs"]},
        alpha=CH2.alpha,
        seed=SETTINGS.seed,
        # Rows whose quality on short and on long queries is compared, BM25 first.
        length_rows={
            "a": "BM25",
            "e": "TILDE",
            "g": "SPLADE, zero-shot",
            "h": "TILDEv2",
        },
        query_kinds={
            task: "long: a document" for task in COLLECTIONS["pydocs"]["tasks"]
        }
        | {"known-item": "short: one line"},
        face=face_of("embedded", "abolghasemi2026/table_2_1"),
        code=code_of("abolghasemi2026_ch2_quality.py"),
    message:
        "Quality of all rankers on pydocs (Table 2.1)"
    script:
        "../scripts/abolghasemi2026_ch2_quality.py"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
    output:
        **table_files("released", "abolghasemi2026/table_2_1"),
        comparison_md="results/released/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/released/abolghasemi2026/table_2_1.ranx.tex",
    log:
        "logs/abolghasemi2026/released_table_2_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/released_table_2_1.tsv"
    params:
        systems=SYSTEMS["released"],
        lists={"cacm": COLLECTIONS["cacm"]},
        alpha=CH2.alpha,
        face=face_of("released", "abolghasemi2026/table_2_1"),
        code=code_of("abolghasemi2026_ch2_quality.py"),
    message:
        "Quality of all rankers on CACM (Table 2.1)"


# Table 2.2: the same two rankers on five ways of cutting text into terms; row k, with the other
# smoothing, is ours. Classic collections with topics of their own stand beside CACM, their whole collection searched.
TOKENISED = {
    tier: [
        (row, model, tokens, f"{ranker}.{tokens}")
        for row, (model, ranker, tokens) in zip(
            "abcdefghijk",
            [
                (model, ranker, tokens)
                for model, ranker in (("LM", "lm"), ("BM25", "bm25"))
                for tokens in ("SA", "STM1", "STM2", "BERT-Token", "SciBERT-Token")
            ]
            + [("LM, Dirichlet", "lm-dirichlet", "STM2")],
        )
        # Nothing that can be installed brings SciBERT's vocabulary.
        if not (tier == "embedded" and tokens == "SciBERT-Token")
    ]
    for tier in COLLECTION
}
AD_HOC = {"embedded": [], "released": ["cisi", "cranfield"]}
LISTS = {
    tier: {collection: COLLECTIONS[collection]}
    | {collection: None for collection in AD_HOC[tier]}
    for tier, collection in COLLECTION.items()
}


rule abolghasemi2026_ch2_tokenisation:
    input:
        candidates=candidates_of,
        runs=runs_of(TOKENISED),
        ad_hoc=ad_hoc_runs,
    output:
        **table_files("{tier}", "abolghasemi2026/table_2_2"),
    log:
        "logs/abolghasemi2026/{tier}_table_2_2.log",
    benchmark:
        "benchmarks/abolghasemi2026/{tier}_table_2_2.tsv"
    wildcard_constraints:
        tier="embedded|released",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        systems=of_tier(TOKENISED),
        lists=of_tier(LISTS),
        alpha=CH2.alpha,
        face=face_of("{tier}", "abolghasemi2026/table_2_2"),
        code=code_of("abolghasemi2026_ch2_quality.py"),
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"
    script:
        "../scripts/abolghasemi2026_ch2_quality.py"


# Tables 2.3 and 2.4 and Figure 2.3: BM25 with TILDE and with TILDEv2.
COMBINED = {
    tier: [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("b", "TILDE", ENCODER, f"tilde.{ENCODER}.all"),
        ("c", "TILDEv2", ENCODER, f"tildev2.{ENCODER}.all"),
    ]
    for tier in COLLECTION
}
OTHER_SETTING = {"embedded": "mixed", "released": "random"}


rule abolghasemi2026_ch2_interpolation:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files("{tier}", "abolghasemi2026/table_2_3"),
        **beside("{tier}", "abolghasemi2026/table_2_3", "weights"),
        **beside("{tier}", "abolghasemi2026/table_2_3", "other_negatives"),
    log:
        "logs/abolghasemi2026/{tier}_table_2_3.log",
    benchmark:
        "benchmarks/abolghasemi2026/{tier}_table_2_3.tsv"
    wildcard_constraints:
        tier="embedded|released",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        other_setting=of_tier(OTHER_SETTING),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        face=face_of("{tier}", "abolghasemi2026/table_2_3"),
        code=code_of("abolghasemi2026_ch2_interpolation.py"),
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"
    script:
        "../scripts/abolghasemi2026_ch2_interpolation.py"


rule abolghasemi2026_ch2_oracle:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files("{tier}", "abolghasemi2026/table_2_4"),
        **beside("{tier}", "abolghasemi2026/table_2_4", "gains", figure=True),
    log:
        "logs/abolghasemi2026/{tier}_table_2_4.log",
    benchmark:
        "benchmarks/abolghasemi2026/{tier}_table_2_4.tsv"
    wildcard_constraints:
        tier="embedded|released",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        noise_seeds=CH2.noise_seeds,
        seed=SETTINGS.seed,
        face=face_of("{tier}", "abolghasemi2026/table_2_4"),
        code=code_of("abolghasemi2026_ch2_oracle.py"),
    message:
        "Oracle interpolation and its control (Table 2.4, {wildcards.tier})"
    script:
        "../scripts/abolghasemi2026_ch2_oracle.py"


rule abolghasemi2026_ch2_curves:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **figure_files("{tier}", "abolghasemi2026/figure_2_3"),
    log:
        "logs/abolghasemi2026/{tier}_figure_2_3.log",
    benchmark:
        "benchmarks/abolghasemi2026/{tier}_figure_2_3.tsv"
    wildcard_constraints:
        tier="embedded|released",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
        code=code_of("abolghasemi2026_ch2_curves.py"),
    message:
        "Quality over the weight of BM25 (Figure 2.3, {wildcards.tier})"
    script:
        "../scripts/abolghasemi2026_ch2_curves.py"
