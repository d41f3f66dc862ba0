# heuss2025, chapter 3: less bias within the uncertainty of scores (PUFR).
# Rankers by folds of CAsT's conversations -> scores with deviations -> methods by strength -> table,
# figures. A stand-in: the authors' scores of MS MARCO could not be had.


include: "ch3_inputs.smk"


# The cross-encoders of the chapters on group bias, with the vector before their last layer.
use rule step as heuss2025_ch3_cross_encoder with:
    input:
        documents="work/cast/documents.parquet",
        queries="work/cast/queries.parquet",
        candidates="work/cast/candidates.parquet",
        models=expand(
            "work/cast/models/cross-encoder.splade-tiny.fold-{fold}", fold=FOLDS
        ),
        folds=expand("work/cast/folds/{fold}/queries.parquet", fold=FOLDS),
    output:
        scores="work/heuss2025/ch3/cross-encoder.scores.parquet",
    pathvars:
        job="heuss2025/ch3/cross-encoder.scores",
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(2000, 20),
    params:
        **runs("heuss2025/ch3/cross_encoder_scores"),
        pair_length={"total": SETTINGS.term_fairness.cross_encoder.length},
        fisher_pairs=UNCERTAIN.fisher_pairs,
        prior=UNCERTAIN.prior,
        samples=UNCERTAIN.samples,
        seed=SETTINGS.seed,
    message:
        "Cross-encoder on CAsT with the uncertainty of its scores"


# The second ranker: a head of one logit over the products of MiniLM's vectors.
use rule step as heuss2025_ch3_minilm with:
    input:
        vectors="work/cast/encoded/dense.minilm.zero-shot.npz",
        candidates="work/cast/candidates.parquet",
        folds=expand("work/cast/folds/{fold}/queries.parquet", fold=FOLDS),
    output:
        scores="work/heuss2025/ch3/minilm.scores.parquet",
    pathvars:
        job="heuss2025/ch3/minilm.scores",
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(1200, 10),
    params:
        **runs("heuss2025/ch3/minilm_scores"),
        # The default of scikit-learn; nothing was tuned.
        strength=1.0,
        samples=UNCERTAIN.samples,
        seed=SETTINGS.seed,
    message:
        "Logistic head on MiniLM with the uncertainty of its scores"


use rule step as heuss2025_ch3_trade_offs with:
    input:
        scores="work/heuss2025/ch3/{ranker}.scores.parquet",
        counts="work/cast/counts.parquet",
        qrels="work/cast/qrels.parquet",
    output:
        measures="work/heuss2025/ch3/{ranker}.measures.parquet",
    pathvars:
        job="heuss2025/ch3/{ranker}.measures",
    wildcard_constraints:
        ranker="|".join(UNCERTAIN_RANKERS),
    params:
        **runs("heuss2025/ch3/trade_offs"),
        methods=UNCERTAIN_METHODS,
        neutral_from=None,
    message:
        "Methods against bias by strength ({wildcards.ranker})"


# The same as the released code counts: a document is neutral or not, from 0.5 on.
use rule heuss2025_ch3_trade_offs as heuss2025_ch3_trade_offs_binary with:
    output:
        measures="work/heuss2025/ch3/{ranker}.measures-binary.parquet",
    pathvars:
        job="heuss2025/ch3/{ranker}.measures-binary",
    params:
        **runs("heuss2025/ch3/trade_offs"),
        methods=UNCERTAIN_METHODS,
        neutral_from=0.5,
    message:
        "Methods against bias by strength, passages neutral or not ({wildcards.ranker})"


# Table 3.1: the best fairness within a loss of utility.
use rule table as heuss2025_ch3_operating_points with:
    input:
        measures=of_rankers("measures"),
        binary="work/heuss2025/ch3/minilm.measures-binary.parquet",
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "tests"),
        **companion(table_files, "<result>", "cross_encoder"),
        **companion(table_files, "<result>", "binary"),
    pathvars:
        result="released/heuss2025/table_3_1",
    params:
        **runs("heuss2025/ch3/operating_points"),
        losses=UNCERTAIN.losses,
        significance=0.05,
    message:
        "Best fairness within a loss of utility (Table 3.1)"


# Figure 3.2: documents that could be swapped.
use rule figure as heuss2025_ch3_crossings with:
    input:
        scores=of_rankers("scores"),
        counts="work/cast/counts.parquet",
        qrels="work/cast/qrels.parquet",
    pathvars:
        result="released/heuss2025/figure_3_2",
    params:
        **runs("heuss2025/ch3/crossings"),
        alphas=[1.0, 2.0],
        # The lists of this stand-in are no longer.
        ranks=90,
    message:
        "Score intervals that meet (Figure 3.2)"


# Figures 3.3 and 3.4: utility against fairness.
use rule figure as heuss2025_ch3_curves with:
    input:
        of_rankers("measures"),
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "advantages"),
    pathvars:
        result="released/heuss2025/figure_3_3",
    params:
        **runs("heuss2025/ch3/trade_off_curves"),
        panel="first 10",
        others=["CVXOPT", "FA*IR"],
        levels=[0.90, 0.92, 0.94, 0.96],
        last=[0.92, 0.96],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Utility against fairness, first 10 (Figure 3.3)"


use rule heuss2025_ch3_curves as heuss2025_ch3_curves_deep with:
    pathvars:
        result="released/heuss2025/figure_3_4",
    params:
        panel="first 100",
    message:
        "Utility against fairness, first 100 (Figure 3.4)"


# Figure 3.5: the ablation.
use rule figure as heuss2025_ch3_ablation with:
    input:
        measures=of_rankers("measures"),
        scores=of_rankers("scores"),
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "advantages"),
        **companion(table_files, "<result>", "spread"),
    pathvars:
        result="released/heuss2025/figure_3_5",
    params:
        **runs("heuss2025/ch3/ablation"),
        levels=[0.92, 0.94, 0.96, 0.98],
        last=[0.92, 0.96],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Uncertainty of each document against one for all (Figure 3.5)"


# Figure 3.6: how well each method is controlled.
use rule figure as heuss2025_ch3_control with:
    input:
        measures="work/heuss2025/ch3/minilm.measures.parquet",
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "against"),
        **companion(table_files, "<result>", "changes"),
    pathvars:
        result="released/heuss2025/figure_3_6",
    params:
        **runs("heuss2025/ch3/control"),
        methods=["PUFR", "FA*IR", "CVXOPT"],
        spans=[[0, 4], [4, 18]],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Utility and fairness by strength (Figure 3.6)"


# Figure 3.7: lists of certain and of uncertain scores.
use rule figure as heuss2025_ch3_examples with:
    input:
        scores="work/heuss2025/ch3/minilm.scores.parquet",
        measures="work/heuss2025/ch3/minilm.measures.parquet",
        counts="work/cast/counts.parquet",
        qrels="work/cast/qrels.parquet",
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "changed"),
    pathvars:
        result="released/heuss2025/figure_3_7",
    params:
        **runs("heuss2025/ch3/examples"),
        methods=UNCERTAIN_METHODS,
        loss=UNCERTAIN.losses[-1],
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Scores before and after PUFR (Figure 3.7)"
