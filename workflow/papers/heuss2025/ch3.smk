# heuss2025, chapter 3: bias mitigation within the uncertainty of scores (PUFR).
# Rankers by folds of CAsT's conversations -> scores with standard deviations -> methods by strength ->
# table and figures. Released: surrogate data from CAsT; full: MS MARCO with the user's ranker or
# scores.


include: "ch3_inputs.smk"
include: "ch3_training.smk"


# The cross-encoders of the chapters on group bias; the uncertainty is that of their last layer.
use rule torch_step as heuss2025_ch3_cross_encoder with:
    input:
        documents="work/cast/documents.parquet",
        queries="work/cast/queries.parquet",
        candidates="work/cast/candidates.parquet",
        models=expand("work/cast/models/cross-encoder.splade-tiny.fold-{fold}", fold=FOLDS),
        folds=expand("work/cast/folds/{fold}/queries.parquet", fold=FOLDS),
    output:
        scores="work/heuss2025/ch3/cross-encoder.scores.parquet",
    pathvars:
        job="heuss2025/ch3/cross-encoder.scores",
    resources:
        **needs(2000, 20),
    params:
        **runs("heuss2025/ch3_scores:cross_encoder"),
        gpu_precision=SETTINGS.gpu_precision,
        pair_length={"total": SETTINGS.term_fairness.cross_encoder.length},
        fisher_pairs=UNCERTAIN.fisher_pairs,
        prior=UNCERTAIN.prior,
        samples=UNCERTAIN.samples,
        seed=SETTINGS.seed,
    message:
        "Cross-encoder on CAsT with the uncertainty of its scores"


# The second ranker: a logistic head on the products of MiniLM's vectors.
use rule torch_step as heuss2025_ch3_minilm with:
    input:
        vectors="work/cast/encoded/dense.minilm.zero-shot.npz",
        candidates="work/cast/candidates.parquet",
        folds=expand("work/cast/folds/{fold}/queries.parquet", fold=FOLDS),
    output:
        scores="work/heuss2025/ch3/minilm.scores.parquet",
    pathvars:
        job="heuss2025/ch3/minilm.scores",
    resources:
        **needs(1200, 10),
    params:
        **runs("heuss2025/ch3_scores:minilm"),
        # The default of scikit-learn, without tuning.
        strength=1.0,
        samples=UNCERTAIN.samples,
        seed=SETTINGS.seed,
    message:
        "Logistic head on MiniLM with the uncertainty of its scores"


# MS MARCO with the user's cross-encoder.
use rule torch_step as heuss2025_ch3_msmarco with:
    input:
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        training_queries=lambda wildcards: msmarco_file("queries.train.tsv"),
        training_judgements=lambda wildcards: msmarco_file("qrels.train.tsv"),
        candidates=UNCERTAIN.msmarco.candidates or "work/msmarco/runs/bm25.qs2.run",
        model=uncertain_model_files,
    output:
        scores="work/heuss2025/ch3/cross-encoded.scores.parquet",
    pathvars:
        job="heuss2025/ch3/cross-encoded.scores",
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_scores:msmarco"),
        gpu_precision=SETTINGS.gpu_precision,
        query_set="qs2",
        depth=UNCERTAIN.msmarco.depth,
        pair=MSMARCO.pair,
        fisher_pairs=UNCERTAIN.fisher_pairs,
        prior=UNCERTAIN.prior,
        samples=UNCERTAIN.samples,
        seed=SETTINGS.seed,
    message:
        "Cross-encoder on MS MARCO with the uncertainty of its scores"


# MS MARCO with scores from the authors' file.
use rule step as heuss2025_ch3_given with:
    input:
        scores=UNCERTAIN.msmarco.scores or [],
    output:
        scores="work/heuss2025/ch3/given.scores.parquet",
    pathvars:
        job="heuss2025/ch3/given.scores",
    params:
        **runs("heuss2025/ch3_scores:given_scores"),
    message:
        "Scores on MS MARCO with standard deviations"


use rule step as heuss2025_ch3_trade_offs with:
    input:
        unpack(trade_off_inputs),
    output:
        measures="work/heuss2025/ch3/{ranker}.measures{variant}.parquet",
    pathvars:
        job="heuss2025/ch3/{ranker}.measures{variant}",
    wildcard_constraints:
        ranker="|".join(RANKED_BY),
        variant="|-binary|-sampled",
    params:
        **runs("heuss2025/ch3_trade_offs:trade_offs"),
        methods=UNCERTAIN_METHODS,
        # As in the released code: a document is neutral if its neutrality is at least 0.5.
        neutral_from=lambda wildcards: 0.5 if wildcards.variant == "-binary" else None,
        sampled=lambda wildcards: wildcards.variant == "-sampled",
        trained=lambda wildcards: list(trained_runs(RANKED_BY[wildcards.ranker])),
    message:
        "Bias mitigation by strength ({wildcards.ranker}{wildcards.variant})"


# Table 3.1: the best fairness within a maximum loss of utility.
use rule table as heuss2025_ch3_operating_points with:
    input:
        unpack(operating_point_inputs),
    output:
        **table_files(tables=["binary", "sampled"]),
    pathvars:
        result="{tier}/heuss2025/table_3_1",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch3:operating_points"),
        losses=UNCERTAIN.losses,
        significance=0.05,
    message:
        "Best fairness within a maximum loss of utility (Table 3.1, {wildcards.tier})"


# Figure 3.2: documents that could be swapped.
use rule figure as heuss2025_ch3_crossings with:
    input:
        unpack(ranker_files("scores", collection=True)),
    pathvars:
        result="{tier}/heuss2025/figure_3_2",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch3:crossings"),
        names=ranker_names,
        alphas=[1.0, 2.0],
        # Lists of the surrogate data have fewer documents.
        ranks=of_tier({"released": 90, "full": 100}),
    message:
        "Overlapping score intervals (Figure 3.2, {wildcards.tier})"


# Figures 3.3 and 3.4: utility against fairness.
use rule figure as heuss2025_ch3_curves with:
    input:
        unpack(ranker_files("measures")),
    output:
        **figure_files(tables=["advantages"]),
    pathvars:
        result="{tier}/heuss2025/figure_3_{number}",
    wildcard_constraints:
        tier="released|full",
        number="3|4",
    params:
        **runs("heuss2025/ch3:curves"),
        names=ranker_names,
        panel=lambda wildcards: {"3": "first 10", "4": "first 100"}[wildcards.number],
        others=compared_methods,
        levels=[0.90, 0.92, 0.94, 0.96],
        last=[0.92, 0.96],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Utility against fairness, {params.panel} (Figure 3.{wildcards.number}, {wildcards.tier})"


# Figure 3.5: the ablation.
use rule figure as heuss2025_ch3_ablation with:
    input:
        unpack(ranker_files("measures", "scores")),
    output:
        **figure_files(tables=["advantages", "spread"]),
    pathvars:
        result="{tier}/heuss2025/figure_3_5",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch3:ablation"),
        names=ranker_names,
        levels=[0.92, 0.94, 0.96, 0.98],
        last=[0.92, 0.96],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Individual and common uncertainty (Figure 3.5, {wildcards.tier})"


# Figure 3.6: controllability of each method.
use rule figure as heuss2025_ch3_control with:
    input:
        unpack(ranker_files("measures", first=True)),
    output:
        **figure_files(tables=["against", "changes"]),
    pathvars:
        result="{tier}/heuss2025/figure_3_6",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch3:control"),
        methods=lambda wildcards: ["PUFR", *compared_methods(wildcards)],
        spans=[[0, 4], [4, 18]],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Utility and fairness by strength (Figure 3.6, {wildcards.tier})"


# Figure 3.7: lists with certain and with uncertain scores.
use rule figure as heuss2025_ch3_examples with:
    input:
        unpack(ranker_files("scores", "measures", collection=True, first=True)),
    output:
        **figure_files(tables=["changed"]),
    pathvars:
        result="{tier}/heuss2025/figure_3_7",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch3:examples"),
        methods=UNCERTAIN_METHODS,
        loss=UNCERTAIN.losses[-1],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Scores before and after PUFR (Figure 3.7, {wildcards.tier})"


# Figure 3.1: PUFR on a toy list.
use rule figure as heuss2025_ch3_interval_example with:
    pathvars:
        result="embedded/heuss2025/figure_3_1",
    params:
        **runs("heuss2025/ch3_examples:interval_example"),
        # Mean and standard deviation of the score, and whether the document is protected.
        documents=[(4.0, 0.25, True), (3.0, 0.3, False), (2.6, 0.4, True), (1.0, 0.2, False)],
        alpha=1.0,
    message:
        "Order that intervals of scores allow (Figure 3.1)"
