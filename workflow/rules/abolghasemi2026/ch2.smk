# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its collection; embedded and released are stand-ins for SciDocs. The embedded one,
# `concepts`, is made up, so that it is known what each method has to find; what needs real text
# (ways to cut it, queries of two lengths) is on pydocs.


include: "ch2_inputs.smk"


use rule step as collection_pydocs with:
    output:
        documents="work/pydocs/documents.parquet",
        queries="work/pydocs/queries.parquet",
        candidates="work/pydocs/candidates.parquet",
    pathvars:
        job="retrieval/pydocs/collection",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/collection_pydocs"),
        seed=SETTINGS.seed,
        sizes=CH2.pydocs.model_dump(),
        versions=package_versions(CH2.pydocs.packages),
    message:
        "Collection pydocs, from the installed packages"


use rule step as collection_concepts with:
    output:
        documents="work/concepts/documents.parquet",
        queries="work/concepts/queries.parquet",
        candidates="work/concepts/candidates.parquet",
        mentions="work/concepts/mentions.parquet",
        scores=[f"work/concepts/runs/planted.{name}.run" for name in PLANTED_SCORES],
        encoder=directory(f"work/concepts/{NEW_ENCODER}"),
    pathvars:
        job="retrieval/concepts/collection",
    conda:
        environment("torch")
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/collection_concepts"),
        seed=SETTINGS.seed,
        sizes=CH2.concepts.sizes,
        positions=CH2.concepts.lengths.expanded,
    message:
        "Collection concepts, with planted relevance, and an encoder to train on it"


use rule step as collection_cacm with:
    input:
        **smart_files("cacm"),
    output:
        documents="work/cacm/documents.parquet",
        queries="work/cacm/queries.parquet",
        candidates="work/cacm/candidates.parquet",
    pathvars:
        job="retrieval/cacm/collection",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch2/collection_cacm"),
        seed=SETTINGS.seed,
        sizes=CH2.cacm.model_dump(),
        # Smallest number of words in a query's abstract: shorter ones are not long queries.
        min_words=50,
    message:
        "Collection CACM, from its links"


# Classic collections with topics of their own, for the comparison of tokenisations.
use rule step as collection_ad_hoc with:
    input:
        unpack(ad_hoc_files),
    output:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        qrels="work/{collection}/qrels.parquet",
    pathvars:
        job="retrieval/{collection}/collection",
    wildcard_constraints:
        collection="cisi|cranfield",
    params:
        **runs("abolghasemi2026/ch2/collection_ad_hoc"),
    message:
        "Collection {wildcards.collection}"


# The systems of each tier by row of Table 2.1. A letter is the thesis' where the system stands in
# for that row: a small encoder for SciBERT, and the weights that the one of CACM starts from, which
# are those of a SPLADE, for the zero-shot TILDEv2. Rows from m on are ours.
ENCODERS = {"embedded": NEW_ENCODER, "released": "splade-tiny"}
ENCODER_NAMES = {NEW_ENCODER: "small BERT", "tilde": "BERT of TILDE"}
EXPANSION = {"embedded": CH2.concepts.expansion, "released": CH2.expansion}
SYSTEMS = {
    tier: [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("e", "TILDE", name, f"tilde.{encoder}.all"),
        ("h", "TILDEv2", name, f"tildev2.{encoder}.all"),
        *[
            (
                row,
                "TILDEv2",
                f"{name} expansion m={m}",
                f"tildev2-expanded-{m}.{encoder}.all",
            )
            for row, m in zip("ij", EXPANSION[tier])
        ],
        (
            "k",
            "Cross-Encoder",
            ENCODER_NAMES.get(start, start),
            f"cross-encoder.{start}.all",
        ),
        (
            "l",
            "Cross-Encoder",
            f"MTFT-{ENCODER_NAMES.get(start, start)}",
            f"mtft.{start}.all",
        ),
    ]
    for tier, encoder in ENCODERS.items()
    for name in [ENCODER_NAMES.get(encoder, encoder)]
    for start in ["tilde" if tier == "embedded" else encoder]
}
SYSTEMS["embedded"] += [
    (row, "Planted", detail, f"planted.{name}")
    for row, (name, detail) in zip("pqr", PLANTED_SCORES.items())
]
SYSTEMS["released"] += [
    ("b", "BM25", "SciBERT-Token", "bm25.SciBERT-Token"),
    ("g", "SPLADE", "splade-tiny zero-shot", "splade.splade-tiny.zero-shot"),
    ("m", "BM25", "STM2, tuned on validation", "bm25-tuned.STM2"),
    ("n", "BM25", "BERT-Token, cut as for the encoders", "bm25.BERT-Token-cut"),
    ("o", "Dense", "MiniLM zero-shot", "dense.minilm.zero-shot"),
]
SYSTEMS["released"].sort()
# On pydocs: short and long queries for the same documents, BM25 first.
SHORT_AND_LONG = {
    "BM25": "bm25.STM2",
    "SPLADE, zero-shot": "splade.splade-tiny.zero-shot",
}
# The thesis' own rows; two of them only where the user has the models.
SYSTEMS["full"] = [
    ("a", "BM25", "STM2", "bm25.STM2"),
    ("b", "BM25", "SciBERT-Token", "bm25.SciBERT-Token"),
    ("c", "TILDE", "BERT", "tilde.bert.{task}.seed-{seed}"),
    ("d", "TILDE", "MSMARCO", "tilde.msmarco.zero-shot"),
    ("e", "TILDE", "SciBERT", "tilde.scibert.{task}.seed-{seed}"),
    ("f", "TILDEv2", "BERT", "tildev2.bert.{task}.seed-{seed}"),
    ("g", "TILDEv2", "MSMARCO", "tildev2.msmarco.zero-shot"),
    ("h", "TILDEv2", "SciBERT", "tildev2.scibert.{task}.seed-{seed}"),
    *[
        (
            row,
            "TILDEv2",
            f"SciBERT expansion m={m}",
            f"tildev2-expanded-{m}.scibert.{{task}}.seed-{{seed}}",
        )
        for row, m in zip("ij", FULL_EXPANSION)
    ],
    ("k", "Cross-Encoder", "SciBERT", "cross-encoder.scibert.{task}.seed-{seed}"),
    ("l", "Cross-Encoder", "MTFT-SciBERT", "mtft.scibert.{task}.seed-{seed}"),
]
for row, model in (("d", "tilde_msmarco"), ("g", "tildev2_msmarco")):
    if getattr(CH2.encoders, model) is None:
        SYSTEMS["full"] = [system for system in SYSTEMS["full"] if system[0] != row]
COLLECTION = {"embedded": "concepts", "released": "cacm", "full": "scidocs"}


use rule table as abolghasemi2026_ch2_quality with:
    input:
        candidates="work/concepts/candidates.parquet",
        runs=[f"work/concepts/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
        new_terms=expansion_files("embedded"),
        mentions="work/concepts/mentions.parquet",
        tilde=f"work/concepts/encoded/tilde.{ENCODERS['embedded']}.all.npz",
        tildev2=f"work/concepts/encoded/tildev2.{ENCODERS['embedded']}.all.npz",
        pydocs_candidates="work/pydocs/candidates.parquet",
        pydocs_runs=[f"work/pydocs/runs/{run}.run" for run in SHORT_AND_LONG.values()],
    output:
        **table_files(tables=["checks", "expansion"], figures=["lengths"]),
        comparison_md="results/embedded/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/embedded/abolghasemi2026/table_2_1.ranx.tex",
    pathvars:
        result="embedded/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/quality"),
        systems=SYSTEMS["embedded"],
        expansion=EXPANSION["embedded"],
        seeds=[],
        lists={"concepts": COLLECTIONS["concepts"].lists},
        alpha=CH2.alpha,
        seed=SETTINGS.seed,
        scaling=CH2.scaling,
        short_and_long=SHORT_AND_LONG,
        pydocs_setting=COLLECTIONS["pydocs"].setting,
        query_kinds={task: "long: a document" for task in COLLECTIONS["pydocs"].tasks}
        | {"known-item": "short: one line"},
    message:
        "Quality of all rankers on planted concepts (Table 2.1)"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
        new_terms=expansion_files("released"),
    output:
        **table_files(tables=["expansion", "validation"]),
        comparison_md="results/released/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/released/abolghasemi2026/table_2_1.ranx.tex",
    pathvars:
        result="released/abolghasemi2026/table_2_1",
    params:
        **runs("abolghasemi2026/ch2/quality"),
        systems=SYSTEMS["released"],
        expansion=EXPANSION["released"],
        seeds=[],
        lists={"cacm": COLLECTIONS["cacm"].lists},
        alpha=CH2.alpha,
        # What a ranker trained here must beat on validation queries before it counts: the first
        # stage for TILDE, its initial weights for TILDEv2.
        must_beat={"e": "a", "h": "g"},
    message:
        "Quality of all rankers on CACM (Table 2.1)"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", SYSTEMS["full"]),
    output:
        **table_files(tables=["seeds"]),
        comparison_md="results/full/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/full/abolghasemi2026/table_2_1.ranx.tex",
    pathvars:
        result="full/abolghasemi2026/table_2_1",
    params:
        systems=SYSTEMS["full"],
        seeds=FULL_SEEDS,
        lists={"scidocs": COLLECTIONS["scidocs"].lists},
    message:
        "Quality of all rankers on SciDocs (Table 2.1)"


# Table 2.2: the same two rankers on five ways of cutting text into terms; row k, with the other
# smoothing, is ours. Classic collections with topics of their own stand beside CACM, their whole collection searched.
TOKENISED_COLLECTION = COLLECTION | {"embedded": "pydocs"}
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
    for tier in TOKENISED_COLLECTION
}
AD_HOC = {"embedded": [], "released": ["cisi", "cranfield"], "full": []}
TOKENISED_LISTS = {
    tier: {collection: COLLECTIONS[collection].lists}
    | {collection: None for collection in AD_HOC[tier]}
    for tier, collection in TOKENISED_COLLECTION.items()
}


use rule table as abolghasemi2026_ch2_tokenisation with:
    input:
        candidates=lambda wildcards: candidates_in(TOKENISED_COLLECTION[wildcards.tier]),
        runs=lambda wildcards: run_files(
            TOKENISED_COLLECTION[wildcards.tier], TOKENISED[wildcards.tier]
        ),
        ad_hoc=ad_hoc_runs,
    pathvars:
        result="{tier}/abolghasemi2026/table_2_2",
    wildcard_constraints:
        tier="embedded|released|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/quality"),
        systems=of_tier(TOKENISED),
        seeds=[],
        lists=of_tier(TOKENISED_LISTS),
        alpha=CH2.alpha,
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"


# Tables 2.3 and 2.4 and Figure 2.3: BM25 with TILDE and with TILDEv2.
LISTS = {
    tier: {collection: COLLECTIONS[collection].lists} for tier, collection in COLLECTION.items()
}
# The tasks that serve the checks of Table 2.1 are not in these.
LISTS["embedded"]["concepts"]["tasks"] = list(TASKS)
COMBINED = {
    tier: [
        ("a", "BM25", "STM2", "bm25.STM2"),
        ("b", "TILDE", name, f"tilde.{encoder}.all"),
        ("c", "TILDEv2", name, f"tildev2.{encoder}.all"),
    ]
    for tier, encoder in ENCODERS.items()
    for name in [ENCODER_NAMES.get(encoder, encoder)]
}
COMBINED["full"] = [
    ("a", "BM25", "STM2", "bm25.STM2"),
    ("b", "TILDE", "SciBERT", f"tilde.scibert.{{task}}.{FIRST}"),
    ("c", "TILDEv2", "SciBERT", f"tildev2.scibert.{{task}}.{FIRST}"),
]


use rule table as abolghasemi2026_ch2_interpolation with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files(tables=["weights"]),
    pathvars:
        result="{tier}/abolghasemi2026/table_2_3",
    wildcard_constraints:
        tier="embedded|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/interpolation"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"


# Lists with other negatives can be drawn from CACM alone.
use rule abolghasemi2026_ch2_interpolation as abolghasemi2026_ch2_interpolation_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=run_files("cacm", COMBINED["released"]),
    output:
        **table_files(tables=["weights", "other_negatives"]),
    pathvars:
        result="released/abolghasemi2026/table_2_3",
    params:
        systems=COMBINED["released"],
        lists=LISTS["released"],
        other_setting="random",
    message:
        "Tuned interpolation on CACM (Table 2.3)"


use rule table as abolghasemi2026_ch2_oracle with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files(figures=["gains"]),
    pathvars:
        result="{tier}/abolghasemi2026/table_2_4",
    wildcard_constraints:
        tier="embedded|released|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/oracle"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        noise_seeds=CH2.noise_seeds,
        # The control is a row only in stand-ins; the figure beside the table always has it.
        # Of Table 2.1.
        letters={"BM25": "a", "TILDE": "e", "TILDEv2": "h"},
        control=lambda wildcards: wildcards.tier != "full",
        seed=SETTINGS.seed,
    message:
        "Oracle interpolation and its control (Table 2.4, {wildcards.tier})"


use rule figure as abolghasemi2026_ch2_curves with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **figure_files(tables=["ranges"]),
    pathvars:
        result="{tier}/abolghasemi2026/figure_2_3",
    wildcard_constraints:
        tier="embedded|released",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/curves"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
    message:
        "Quality over the weight of BM25 (Figure 2.3, {wildcards.tier})"


# Numbers in the print are compared; everything plotted is in a file beside.
use rule abolghasemi2026_ch2_curves as abolghasemi2026_ch2_curves_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **figure_files(tables=["ranges"]),
        points="results/full/abolghasemi2026/figure_2_3.points.csv",
    pathvars:
        result="full/abolghasemi2026/figure_2_3",
    params:
        systems=COMBINED["full"],
        lists=LISTS["full"],
    message:
        "Quality over the weight of BM25 on SciDocs (Figure 2.3)"


include: "ch2_scidocs.smk"
