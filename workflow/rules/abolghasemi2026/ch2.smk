# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its collection; embedded and released are stand-ins for SciDocs.


include: "ch2_inputs.smk"


CH2 = SETTINGS.query_by_example
# Documents a relevant pair that are not: two for TILDEv2 as in the thesis (TILDE reads none).
# With one the tiny cross-encoder learned nothing in so few steps.
NEGATIVES = {"tilde": 1, "tildev2": 2, "cross-encoder": 3, "mtft": 3}


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
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        seed=SETTINGS.seed,
        sizes=CH2.pydocs.model_dump(),
        versions=package_versions(CH2.pydocs.packages),
        code=code_of("abolghasemi2026/ch2/collection_pydocs"),
    message:
        "Collection pydocs, from the installed packages"
    script:
        script_file("abolghasemi2026/ch2/collection_pydocs")


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
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        seed=SETTINGS.seed,
        sizes=CH2.cacm.model_dump(),
        # Words of a query's abstract: shorter ones are no long queries.
        min_words=50,
        code=code_of("abolghasemi2026/ch2/collection_cacm"),
    message:
        "Collection CACM, from its links"
    script:
        script_file("abolghasemi2026/ch2/collection_cacm")


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
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        code=code_of("abolghasemi2026/ch2/collection_ad_hoc"),
    message:
        "Collection {wildcards.collection}"
    script:
        script_file("abolghasemi2026/ch2/collection_ad_hoc")


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
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=120,
    params:
        pairs=CH2.models.pairs,
        negatives=lambda wildcards: NEGATIVES[wildcards.kind],
        reading=reading_of,
        seed=SETTINGS.seed,
        tasks=training_tasks_of,
        options=training_options_of,
        code=code_of("abolghasemi2026/ch2/train"),
    message:
        "Training {wildcards.kind} on {wildcards.collection} ({wildcards.trained_on})"
    script:
        script_file("abolghasemi2026/ch2/train")


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
FULL_EXPANSION = (200, 300)
# The thesis' own rows; two of them only where the user has the models.
SYSTEMS["full"] = [
    ("a", "BM25", "STM2", "bm25.STM2"),
    ("b", "BM25", "SciBERT-Token", "bm25.SciBERT-Token"),
    ("c", "TILDE", "BERT", "tilde.bert.{task}"),
    ("d", "TILDE", "MSMARCO", "tilde.msmarco.zero-shot"),
    ("e", "TILDE", "SciBERT", "tilde.scibert.{task}"),
    ("f", "TILDEv2", "BERT", "tildev2.bert.{task}"),
    ("g", "TILDEv2", "MSMARCO", "tildev2.msmarco.zero-shot"),
    ("h", "TILDEv2", "SciBERT", "tildev2.scibert.{task}"),
    *[
        (
            row,
            "TILDEv2",
            f"SciBERT expansion m={m}",
            f"tildev2-expanded-{m}.scibert.{{task}}",
        )
        for row, m in zip("ij", FULL_EXPANSION)
    ],
    ("k", "Cross-Encoder", "SciBERT", "cross-encoder.scibert.{task}"),
    ("l", "Cross-Encoder", "MTFT-SciBERT", "mtft.scibert.{task}"),
]
for row, model in (("d", "tilde_msmarco"), ("g", "tildev2_msmarco")):
    if getattr(CH2.encoders, model) is None:
        SYSTEMS["full"] = [system for system in SYSTEMS["full"] if system[0] != row]
COLLECTION = {"embedded": "pydocs", "released": "cacm", "full": "scidocs"}


rule abolghasemi2026_ch2_quality:
    input:
        candidates="work/pydocs/candidates.parquet",
        runs=[f"work/pydocs/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
        new_terms=expansion_files("pydocs"),
    output:
        **table_files("embedded", "abolghasemi2026/table_2_1"),
        **beside("embedded", "abolghasemi2026/table_2_1", "lengths", figure=True),
        **beside("embedded", "abolghasemi2026/table_2_1", "expansion"),
        comparison_md="results/embedded/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/embedded/abolghasemi2026/table_2_1.ranx.tex",
    log:
        "logs/abolghasemi2026/embedded_table_2_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/embedded_table_2_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        systems=SYSTEMS["embedded"],
        expansion=CH2.expansion,
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
        code=code_of("abolghasemi2026/ch2/quality"),
    message:
        "Quality of all rankers on pydocs (Table 2.1)"
    script:
        script_file("abolghasemi2026/ch2/quality")


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
        new_terms=expansion_files("cacm"),
    output:
        **table_files("released", "abolghasemi2026/table_2_1"),
        **beside("released", "abolghasemi2026/table_2_1", "expansion"),
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
        code=code_of("abolghasemi2026/ch2/quality"),
    message:
        "Quality of all rankers on CACM (Table 2.1)"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", SYSTEMS["full"]),
    output:
        **table_files("full", "abolghasemi2026/table_2_1"),
        comparison_md="results/full/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/full/abolghasemi2026/table_2_1.ranx.tex",
    log:
        "logs/abolghasemi2026/full_table_2_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/full_table_2_1.tsv"
    params:
        systems=SYSTEMS["full"],
        lists={"scidocs": COLLECTIONS["scidocs"]},
        face=face_of("full", "abolghasemi2026/table_2_1"),
    message:
        "Quality of all rankers on SciDocs (Table 2.1)"


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
        # Nothing that can be installed brings SciBERT's vocabulary; what is compared cell by cell
        # has the printed rows.
        if not (tier == "embedded" and tokens == "SciBERT-Token")
        and not (tier == "full" and row == "k")
    ]
    for tier in COLLECTION
}
AD_HOC = {"embedded": [], "released": ["cisi", "cranfield"], "full": []}
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
        tier="embedded|released|full",
    conda:
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        systems=of_tier(TOKENISED),
        lists=of_tier(LISTS),
        alpha=CH2.alpha,
        face=face_of("{tier}", "abolghasemi2026/table_2_2"),
        code=code_of("abolghasemi2026/ch2/quality"),
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch2/quality")


# Tables 2.3 and 2.4 and Figure 2.3: BM25 with TILDE and with TILDEv2.
COMBINED = {
    tier: [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("b", "TILDE", ENCODER, f"tilde.{ENCODER}.all"),
        ("c", "TILDEv2", ENCODER, f"tildev2.{ENCODER}.all"),
    ]
    for tier in PIECES
}
COMBINED["full"] = [
    ("a", "BM25", "STM2", "bm25.STM2"),
    ("b", "TILDE", "SciBERT", "tilde.scibert.{task}"),
    ("c", "TILDEv2", "SciBERT", "tildev2.scibert.{task}"),
]
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
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        other_setting=of_tier(OTHER_SETTING),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        face=face_of("{tier}", "abolghasemi2026/table_2_3"),
        code=code_of("abolghasemi2026/ch2/interpolation"),
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch2/interpolation")


# SciDocs has its published negatives alone.
use rule abolghasemi2026_ch2_interpolation as abolghasemi2026_ch2_interpolation_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **table_files("full", "abolghasemi2026/table_2_3"),
        **beside("full", "abolghasemi2026/table_2_3", "weights"),
    log:
        "logs/abolghasemi2026/full_table_2_3.log",
    benchmark:
        "benchmarks/abolghasemi2026/full_table_2_3.tsv"
    params:
        systems=COMBINED["full"],
        lists=LISTS["full"],
        other_setting=None,
        face=face_of("full", "abolghasemi2026/table_2_3"),
    message:
        "Tuned interpolation on SciDocs (Table 2.3)"


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
        tier="embedded|released|full",
    conda:
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        noise_seeds=CH2.noise_seeds,
        # The control is a row of stand-ins alone; in the figure beside the table it always is.
        # Of Table 2.1.
        letters={"BM25": "a", "TILDE": "e", "TILDEv2": "h"},
        control=lambda wildcards: wildcards.tier != "full",
        seed=SETTINGS.seed,
        face=face_of("{tier}", "abolghasemi2026/table_2_4"),
        code=code_of("abolghasemi2026/ch2/oracle"),
    message:
        "Oracle interpolation and its control (Table 2.4, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch2/oracle")


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
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=10,
    params:
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
        code=code_of("abolghasemi2026/ch2/curves"),
    message:
        "Quality over the weight of BM25 (Figure 2.3, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch2/curves")


# What the print gives in numbers is compared with it; all that is plotted is in a file beside.
use rule abolghasemi2026_ch2_curves as abolghasemi2026_ch2_curves_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **figure_files("full", "abolghasemi2026/figure_2_3"),
        points="results/full/abolghasemi2026/figure_2_3.points.csv",
    log:
        "logs/abolghasemi2026/full_figure_2_3.log",
    benchmark:
        "benchmarks/abolghasemi2026/full_figure_2_3.tsv"
    params:
        systems=COMBINED["full"],
        lists=LISTS["full"],
    message:
        "Quality over the weight of BM25 on SciDocs (Figure 2.3)"


# SciDocs, with the thesis' settings and a model for each task. The stages are those of
# retrieval.smk, but a model encodes only what its task ranks: whole, TILDE's scores of 142,009
# papers would take some 10 GB a model.
ruleorder: train_scidocs > train
ruleorder: train_cross_encoder_scidocs > train
ruleorder: encode_scidocs > encode
ruleorder: encode_expanded_scidocs > encode_expanded
ruleorder: rerank_scidocs > rerank
ruleorder: rerank_pairs_scidocs > rerank_pairs


FULL = CH2.full
#: More than any task has.
ALL_PAIRS = 1_000_000


rule collection_scidocs:
    input:
        unpack(scidocs_files),
    output:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
    log:
        "logs/retrieval/scidocs/collection.log",
    benchmark:
        "benchmarks/retrieval/scidocs/collection.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(3000),
        runtime=10,
    params:
        seed=SETTINGS.seed,
        choices=CH2.scidocs.model_dump(exclude={"folder"}),
        code=code_of("abolghasemi2026/ch2/collection_scidocs"),
    message:
        "Collection SciDocs, from its published files"
    script:
        script_file("abolghasemi2026/ch2/collection_scidocs")


rule ranked_scidocs:
    input:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
    output:
        documents="work/scidocs/ranked/{trained_on}/documents.parquet",
        queries="work/scidocs/ranked/{trained_on}/queries.parquet",
        candidates="work/scidocs/ranked/{trained_on}/candidates.parquet",
    log:
        "logs/retrieval/scidocs/ranked_{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/ranked_{trained_on}.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(2000),
        runtime=10,
    params:
        # A model that was trained on no task ranks all.
        tasks=lambda wildcards: (
            COLLECTIONS["scidocs"]["tasks"]
            if wildcards.trained_on == "zero-shot"
            else [wildcards.trained_on]
        ),
        code=code_of("abolghasemi2026/ch2/ranked"),
    message:
        "What is ranked on SciDocs ({wildcards.trained_on})"
    script:
        script_file("abolghasemi2026/ch2/ranked")


use rule train as train_scidocs with:
    input:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/scidocs/models/{kind}.{encoder}.{trained_on}"),
    log:
        "logs/retrieval/scidocs/train_{kind}.{encoder}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/train_{kind}.{encoder}.{trained_on}.tsv"
    wildcard_constraints:
        kind="tilde|tildev2",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    resources:
        **ON_GPU,
    params:
        pairs=ALL_PAIRS,
        negatives=lambda wildcards: getattr(FULL, wildcards.kind).negatives,
        reading=full_reading_of,
        options=full_options_of,
    message:
        "Training {wildcards.kind} with {wildcards.encoder} on SciDocs ({wildcards.trained_on})"


rule train_cross_encoder_scidocs:
    input:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/scidocs/models/{kind}.{encoder}.{trained_on}"),
    log:
        "logs/retrieval/scidocs/train_cross_{kind}.{encoder}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/train_cross_{kind}.{encoder}.{trained_on}.tsv"
    wildcard_constraints:
        kind="cross-encoder|mtft",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    conda:
        environment("torch")
    threads: 1
    resources:
        **ON_GPU,
    params:
        pairs=ALL_PAIRS,
        negatives=FULL.cross_encoder.negatives,
        pair_length={"total": FULL.lengths.pair},
        dropout=FULL.cross_encoder.dropout,
        setting=COLLECTIONS["scidocs"]["setting"],
        seed=SETTINGS.seed,
        options=full_options_of,
        code=code_of("abolghasemi2026/ch2/cross_encoder"),
    message:
        "Training {wildcards.kind} with {wildcards.encoder} on SciDocs ({wildcards.trained_on})"
    script:
        script_file("abolghasemi2026/ch2/cross_encoder")


use rule encode as encode_scidocs with:
    input:
        documents="work/scidocs/ranked/{trained_on}/documents.parquet",
        queries="work/scidocs/ranked/{trained_on}/queries.parquet",
        model=full_model_files,
    output:
        vectors="work/scidocs/encoded/{kind}.{encoder}.{trained_on}.npz",
    log:
        "logs/retrieval/scidocs/encode_{kind}.{encoder}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/encode_{kind}.{encoder}.{trained_on}.tsv"
    wildcard_constraints:
        kind="tilde|tildev2",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    resources:
        **ON_GPU,
    params:
        length=lambda wildcards: (
            FULL.lengths.zero_shot
            if wildcards.trained_on == "zero-shot"
            else FULL.lengths.text
        ),
        query_length=FULL.lengths.query,
        proposals=lambda wildcards: (
            max(FULL_EXPANSION) if wildcards.kind == "tilde" else 0
        ),
    message:
        "Encoding SciDocs ({wildcards.kind}, {wildcards.encoder}, {wildcards.trained_on})"


use rule encode_expanded as encode_expanded_scidocs with:
    input:
        documents="work/scidocs/ranked/{trained_on}/documents.parquet",
        queries="work/scidocs/ranked/{trained_on}/queries.parquet",
        tilde="work/scidocs/encoded/tilde.{encoder}.{trained_on}.npz",
        model="work/scidocs/models/tildev2.{encoder}.{trained_on}",
    output:
        vectors="work/scidocs/encoded/tildev2-expanded-{m}.{encoder}.{trained_on}.npz",
        new_terms="work/scidocs/encoded/tildev2-expanded-{m}.{encoder}.{trained_on}.csv",
    log:
        "logs/retrieval/scidocs/encode_tildev2-expanded-{m}.{encoder}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/encode_tildev2-expanded-{m}.{encoder}.{trained_on}.tsv"
    wildcard_constraints:
        m=r"\d+",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    resources:
        **ON_GPU,
    params:
        own=FULL.lengths.text,
        length=FULL.lengths.expanded,
        query_length=FULL.lengths.query,
    message:
        "Encoding SciDocs with {wildcards.m} new terms ({wildcards.trained_on})"


use rule rerank as rerank_scidocs with:
    input:
        vectors="work/scidocs/encoded/{system}.{trained_on}.npz",
        candidates="work/scidocs/ranked/{trained_on}/candidates.parquet",
    output:
        run="work/scidocs/runs/{system}.{trained_on}.run",
    log:
        "logs/retrieval/scidocs/rerank_{system}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/rerank_{system}.{trained_on}.tsv"
    wildcard_constraints:
        system=r"(tilde|tildev2|tildev2-expanded-\d+)\.[a-z-]+",
        trained_on="[a-z-]+",
    resources:
        mem_mb=memory(6000),
        runtime=20,
    message:
        "Re-ranking SciDocs ({wildcards.system}, {wildcards.trained_on})"


use rule rerank_pairs as rerank_pairs_scidocs with:
    input:
        documents="work/scidocs/ranked/{trained_on}/documents.parquet",
        queries="work/scidocs/ranked/{trained_on}/queries.parquet",
        candidates="work/scidocs/ranked/{trained_on}/candidates.parquet",
        model="work/scidocs/models/{kind}.{encoder}.{trained_on}",
    output:
        run="work/scidocs/runs/{kind}.{encoder}.{trained_on}.run",
    log:
        "logs/retrieval/scidocs/rerank_{kind}.{encoder}.{trained_on}.log",
    benchmark:
        "benchmarks/retrieval/scidocs/rerank_pairs_{kind}.{encoder}.{trained_on}.tsv"
    wildcard_constraints:
        kind="cross-encoder|mtft",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    resources:
        **ON_GPU,
    params:
        setting=COLLECTIONS["scidocs"]["setting"],
        tasks=COLLECTIONS["scidocs"]["tasks"],
        pair_length={"total": FULL.lengths.pair},
    message:
        "Re-ranking SciDocs ({wildcards.kind}, {wildcards.trained_on})"
