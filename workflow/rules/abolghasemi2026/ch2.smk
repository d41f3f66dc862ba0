# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its collection; embedded and released are stand-ins for SciDocs.


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
COLLECTION = {"embedded": "pydocs", "released": "cacm", "full": "scidocs"}


use rule table as abolghasemi2026_ch2_quality with:
    input:
        candidates="work/pydocs/candidates.parquet",
        runs=[f"work/pydocs/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
        new_terms=expansion_files("pydocs"),
    output:
        **table_files("<result>"),
        **companion(figure_files, "<result>", "lengths"),
        **companion(table_files, "<result>", "expansion"),
        **companion(table_files, "<result>", "validation"),
        comparison_md="results/embedded/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/embedded/abolghasemi2026/table_2_1.ranx.tex",
    pathvars:
        result="embedded/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/quality"),
        systems=SYSTEMS["embedded"],
        expansion=CH2.expansion,
        seeds=[],
        lists={"pydocs": COLLECTIONS["pydocs"].lists},
        alpha=CH2.alpha,
        # What a ranker trained here must beat on validation queries before it counts: the first
        # stage for the cross-encoders and TILDE, its initial weights for TILDEv2.
        must_beat={"e": "a", "h": "g", "k": "a", "l": "a"},
        seed=SETTINGS.seed,
        # Rows whose quality on short and on long queries is compared, BM25 first.
        length_rows={
            "a": "BM25",
            "e": "TILDE",
            "g": "SPLADE, zero-shot",
            "h": "TILDEv2",
        },
        query_kinds={task: "long: a document" for task in COLLECTIONS["pydocs"].tasks}
        | {"known-item": "short: one line"},
    message:
        "Quality of all rankers on pydocs (Table 2.1)"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
        new_terms=expansion_files("cacm"),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "expansion"),
        **companion(table_files, "<result>", "validation"),
        comparison_md="results/released/abolghasemi2026/table_2_1.ranx.md",
        comparison_tex="results/released/abolghasemi2026/table_2_1.ranx.tex",
    pathvars:
        result="released/abolghasemi2026/table_2_1",
    params:
        **runs("abolghasemi2026/ch2/quality"),
        systems=SYSTEMS["released"],
        seeds=[],
        lists={"cacm": COLLECTIONS["cacm"].lists},
        alpha=CH2.alpha,
    message:
        "Quality of all rankers on CACM (Table 2.1)"


use rule abolghasemi2026_ch2_quality as abolghasemi2026_ch2_quality_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", SYSTEMS["full"]),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "seeds"),
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
    tier: {collection: COLLECTIONS[collection].lists}
    | {collection: None for collection in AD_HOC[tier]}
    for tier, collection in COLLECTION.items()
}


use rule table as abolghasemi2026_ch2_tokenisation with:
    input:
        candidates=candidates_of,
        runs=runs_of(TOKENISED),
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
        lists=of_tier(LISTS),
        alpha=CH2.alpha,
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"


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
    ("b", "TILDE", "SciBERT", f"tilde.scibert.{{task}}.{FIRST}"),
    ("c", "TILDEv2", "SciBERT", f"tildev2.scibert.{{task}}.{FIRST}"),
]
OTHER_SETTING = {"embedded": "mixed", "released": "random"}


use rule table as abolghasemi2026_ch2_interpolation with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "weights"),
        **companion(table_files, "<result>", "other_negatives"),
    pathvars:
        result="{tier}/abolghasemi2026/table_2_3",
    wildcard_constraints:
        tier="embedded|released",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2/interpolation"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        other_setting=of_tier(OTHER_SETTING),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"


# SciDocs has only its published negatives.
use rule abolghasemi2026_ch2_interpolation as abolghasemi2026_ch2_interpolation_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "weights"),
    pathvars:
        result="full/abolghasemi2026/table_2_3",
    params:
        systems=COMBINED["full"],
        lists=LISTS["full"],
        other_setting=None,
    message:
        "Tuned interpolation on SciDocs (Table 2.3)"


use rule table as abolghasemi2026_ch2_oracle with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files("<result>"),
        **companion(figure_files, "<result>", "gains"),
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
        **figure_files("<result>"),
        **companion(table_files, "<result>", "ranges"),
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
        **figure_files("<result>"),
        **companion(table_files, "<result>", "ranges"),
        points="results/full/abolghasemi2026/figure_2_3.points.csv",
    pathvars:
        result="full/abolghasemi2026/figure_2_3",
    params:
        systems=COMBINED["full"],
        lists=LISTS["full"],
    message:
        "Quality over the weight of BM25 on SciDocs (Figure 2.3)"


include: "ch2_scidocs.smk"
