# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its own collection; those of the embedded and released tiers are surrogates for
# SciDocs. `concepts` (embedded) is synthetic, with known effects of the methods. Experiments that
# need real text (tokenisation, short and long queries) use pydocs.


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
        **runs("abolghasemi2026/ch2_collections:collection_pydocs"),
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
        **runs("abolghasemi2026/ch2_planted:collection_concepts"),
        seed=SETTINGS.seed,
        sizes=CH2.concepts.sizes,
        positions=CH2.concepts.lengths.expanded,
    message:
        "Collection concepts, with planted relevance, and an untrained encoder"


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
        **runs("abolghasemi2026/ch2_collections:collection_cacm"),
        seed=SETTINGS.seed,
        sizes=CH2.cacm.model_dump(),
        # Minimum number of words in a query's abstract, so that queries are long.
        min_words=50,
    message:
        "Collection CACM, from its links"


# Classic ad-hoc collections, for the comparison of tokenisers.
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
        **runs("abolghasemi2026/ch2_collections:collection_ad_hoc"),
    message:
        "Collection {wildcards.collection}"


# Table 2.1 of each tier, with supplements that differ between tiers.
use rule table as abolghasemi2026_ch2_quality with:
    input:
        candidates="work/concepts/candidates.parquet",
        runs=[f"work/concepts/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
        new_terms=expansion_files("embedded"),
        mentions="work/concepts/mentions.parquet",
        tilde=f"work/concepts/encoded/tilde.{NEW_ENCODER}.all.npz",
        tildev2=f"work/concepts/encoded/tildev2.{NEW_ENCODER}.all.npz",
        pydocs_candidates="work/pydocs/candidates.parquet",
        pydocs_runs=[f"work/pydocs/runs/{run}.run" for run in SHORT_AND_LONG.values()],
    output:
        **table_files(tables=["checks", "expansion"], figures=["lengths"]),
        **RANX_FILES,
    pathvars:
        result="embedded/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("embedded"),
        expansion=EXPANSION["embedded"],
        seed=SETTINGS.seed,
        scaling=CH2.scaling,
        short_and_long=SHORT_AND_LONG,
        pydocs_setting=COLLECTIONS["pydocs"].setting,
        query_kinds={task: "long: a document" for task in COLLECTIONS["pydocs"].tasks}
        | {"known-item": "short: one line"},
    message:
        "Effectiveness of all rankers on planted concepts (Table 2.1)"


use rule table as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
        new_terms=expansion_files("released"),
    output:
        **table_files(tables=["expansion", "validation"]),
        **RANX_FILES,
    pathvars:
        result="released/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("released"),
        expansion=EXPANSION["released"],
        # Baselines on the validation queries: the first stage for TILDE, and the initial weights
        # for TILDEv2.
        baselines={"e": "a", "h": "g"},
    message:
        "Effectiveness of all rankers on CACM (Table 2.1)"


use rule table as abolghasemi2026_ch2_quality_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", SYSTEMS["full"]),
    output:
        **table_files(tables=["seeds"]),
        **RANX_FILES,
    pathvars:
        result="full/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("full"),
    message:
        "Effectiveness of all rankers on SciDocs (Table 2.1)"


# Table 2.2: two rankers with five tokenisers.
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
        **runs("abolghasemi2026/ch2:quality"),
        systems=of_tier(TOKENISED),
        seeds=[],
        lists=of_tier(TOKENISED_LISTS),
        alpha=CH2.alpha,
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"


# Tables 2.3 and 2.4 and Figure 2.3: BM25 with TILDE and with TILDEv2.
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
        **runs("abolghasemi2026/ch2:interpolation"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"


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
        **runs("abolghasemi2026/ch2:oracle"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        noise_seeds=CH2.noise_seeds,
        # Letters of the rows in Table 2.1.
        letters={"BM25": "a", "TILDE": "e", "TILDEv2": "h"},
        # The control is a row only on surrogate data; the supplementary figure always has it.
        control=lambda wildcards: wildcards.tier != "full",
        seed=SETTINGS.seed,
    message:
        "Oracle interpolation and its control (Table 2.4, {wildcards.tier})"


use rule figure as abolghasemi2026_ch2_curves with:
    input:
        candidates="work/concepts/candidates.parquet",
        runs=run_files("concepts", COMBINED["embedded"]),
    output:
        **figure_files(tables=["ranges"]),
    pathvars:
        result="embedded/abolghasemi2026/figure_2_3",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:curves"),
        systems=COMBINED["embedded"],
        lists=LISTS["embedded"],
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
    message:
        "Effectiveness by the weight of BM25 on planted concepts (Figure 2.3)"


# The table has only numbers that are published; a supplementary file has all points.
use rule figure as abolghasemi2026_ch2_curves_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **figure_files(tables=["ranges"]),
        points="results/<result>.points.csv",
    pathvars:
        result="full/abolghasemi2026/figure_2_3",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:curves"),
        systems=COMBINED["full"],
        lists=LISTS["full"],
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
    message:
        "Effectiveness by the weight of BM25 on SciDocs (Figure 2.3)"


# Figure 2.2: query by example, as the rules from documents to the effectiveness of rankers.
use rule figure as abolghasemi2026_ch2_setting with:
    pathvars:
        result="embedded/abolghasemi2026/figure_2_2",
    params:
        **runs("shared/pipelines:pipeline"),
        rules=rules_before({"": "results/released/abolghasemi2026/table_2_1.csv"}),
    message:
        "The setting of query by example (Figure 2.2)"


# Figure 2.1: scores of a toy document by TILDE and TILDEv2.
use rule figure as abolghasemi2026_ch2_scores_example with:
    pathvars:
        result="embedded/abolghasemi2026/figure_2_1",
    params:
        **runs("abolghasemi2026/ch2_examples:scores_example"),
    message:
        "Scores by TILDE and TILDEv2 (Figure 2.1)"
