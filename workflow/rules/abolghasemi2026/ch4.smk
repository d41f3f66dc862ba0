# abolghasemi2026, chapter 4 (and abolghasemi2024, the same content): group bias in ranked lists.
# Any collection with work/{collection}/documents.parquet and runs can be measured.


include: "ch4_inputs.smk"


from everycell.collections.cast_passages import FILES as CAST_FILES
from everycell.collections.grepbias import DOCUMENTS as GREPBIAS_DOCUMENTS
from everycell.collections.grepbias import QUERIES as GREPBIAS_QUERIES

# TAU is that of the measures, whose module brings scipy.stats: a second more for each start.
from everycell.collections.planted_bias import SYSTEMS as PLANTED, TAU

FAIRNESS = SETTINGS.term_fairness
#: Terms of the groups that the NFaiRR authors released.
WORD_LIST = "gender-bias-ir/fairr/wordlist_gender_representative.txt"


# Documents and rankings with a known bias: the embedded stand-in for MS MARCO.
use rule step as collection_planted with:
    output:
        documents="work/planted/documents.parquet",
        words="work/planted/words.txt",
        truth="work/planted/truth.parquet",
        runs=[f"work/planted/runs/{system}.run" for system in PLANTED],
    pathvars:
        job="retrieval/planted/collection",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch4/collection_planted"),
        sizes=FAIRNESS.planted.model_dump(),
        seed=SETTINGS.seed,
    message:
        "Collection planted: {params.sizes[queries]} lists of each kind of ranking"


use rule step as count_terms with:
    input:
        documents="work/{collection}/documents.parquet",
        words=lambda wildcards: (
            "work/planted/words.txt"
            if wildcards.collection == "planted"
            else resource(WORD_LIST)
        ),
    output:
        counts="work/{collection}/counts.parquet",
    pathvars:
        job="retrieval/{collection}/count_terms",
    resources:
        **needs(600, 10),
    params:
        **runs("abolghasemi2026/ch4/count_terms"),
    message:
        "Group terms in the documents of {wildcards.collection}"


# Figure 4.1: both measures on the two printed lists.
use rule figure as abolghasemi2026_ch4_example with:
    input:
        documents="published/abolghasemi2026/figure_4_1.csv",
        card="published/abolghasemi2026/ch4.yaml",
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "measures"),
    pathvars:
        result="embedded/abolghasemi2026/figure_4_1",
    params:
        **runs("abolghasemi2026/ch4/example"),
        # That of the NFaiRR authors' code, and the one with which both lists get the printed 0.
        taus=[TAU, 0],
    message:
        "Two lists of four documents (Figure 4.1)"


use rule abolghasemi2026_ch4_example as abolghasemi2024_example with:
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "measures"),
    pathvars:
        result="embedded/abolghasemi2024/figure_1",
    message:
        "Two lists of four documents (Figure 1)"


# Figure 4.2: the measures at every cut-off; on planted rankings also against what was planted.
use rule figure as abolghasemi2026_ch4_depth with:
    input:
        runs=[f"work/planted/runs/{system}.run" for system in PLANTED],
        counts="work/planted/counts.parquet",
        truth="work/planted/truth.parquet",
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
        **companion(table_files, "<result>", "recovered"),
        **companion(figure_files, "<result>", "balance"),
    pathvars:
        result="embedded/abolghasemi2026/figure_4_2",
    resources:
        **needs(1000),
    params:
        **runs("abolghasemi2026/ch4/depth"),
        # Query set, collection, run, and name in the figure.
        systems=[("planted", "planted", system, system) for system in PLANTED],
        # From 1 on; the print does not say how far it goes.
        cutoffs=FAIRNESS.planted.depth,
        tau=TAU,
    message:
        "Fairness over the depth of planted rankings (Figure 4.2)"


use rule abolghasemi2026_ch4_depth as abolghasemi2024_depth with:
    input:
        runs=[f"work/planted/runs/{system}.run" for system in PLANTED],
        counts="work/planted/counts.parquet",
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
    pathvars:
        result="embedded/abolghasemi2024/figure_2",
    message:
        "Fairness over the depth of planted rankings (Figure 2)"


# Released tier: two collections with rankers of all three families, in place of MS MARCO.
FOLDS = range(FAIRNESS.cross_encoder.folds)


use rule step as collection_cast with:
    input:
        **{part: resource(key) for part, key in CAST_FILES.items()},
    output:
        documents="work/cast/documents.parquet",
        queries="work/cast/queries.parquet",
        candidates="work/cast/candidates.parquet",
        qrels="work/cast/qrels.parquet",
        fold_queries=[f"work/cast/folds/{fold}/queries.parquet" for fold in FOLDS],
        fold_candidates=[f"work/cast/folds/{fold}/candidates.parquet" for fold in FOLDS],
    pathvars:
        job="retrieval/cast/collection",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch4/collection_cast"),
        setting=FAIRNESS.cast_setting,
        relevant_from=FAIRNESS.cast_relevant_from,
        folds=FAIRNESS.cross_encoder.folds,
        seed=SETTINGS.seed,
    message:
        "Collection CAsT: judged passages, and folds of conversations"


use rule step as collection_grepbias with:
    input:
        queries=resource(GREPBIAS_QUERIES),
        documents=[resource(key) for key in GREPBIAS_DOCUMENTS],
    output:
        documents="work/grepbias{wording}/documents.parquet",
        queries="work/grepbias{wording}/queries.parquet",
        candidates="work/grepbias{wording}/candidates.parquet",
        qrels="work/grepbias{wording}/qrels.parquet",
    pathvars:
        job="retrieval/grepbias{wording}/collection",
    wildcard_constraints:
        wording="|male|female",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch4/collection_grepbias"),
        wording=lambda wildcards: wildcards.wording or None,
        seed=SETTINGS.seed,
    message:
        "Collection GrepBiasIR {wildcards.wording}"


# The counterfactual: what the documents would be, were the genders exchanged.
use rule step as collection_swapped with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        qrels="work/{collection}/qrels.parquet",
        words=resource(WORD_LIST),
        pairs=GENDER_PAIRS,
    output:
        documents="work/{collection}swapped/documents.parquet",
        queries="work/{collection}swapped/queries.parquet",
        candidates="work/{collection}swapped/candidates.parquet",
        qrels="work/{collection}swapped/qrels.parquet",
        coverage="work/{collection}swapped/coverage.csv",
    pathvars:
        job="retrieval/{collection}swapped/collection",
    wildcard_constraints:
        collection="cast|grepbiasmale",
    resources:
        **needs(600, 10),
    params:
        **runs("abolghasemi2026/ch4/collection_swapped"),
    message:
        "Exchanging gender in {wildcards.collection}"


# Feedback reads the terms of a document from the index, which a search alone does not need.
use rule index as index_with_vectors with:
    output:
        index=directory("work/{collection}/index/{tokens}.vectors"),
    pathvars:
        job="retrieval/{collection}/index_{tokens}.vectors",
    params:
        **runs("retrieval/lucene_index"),
        term_vectors=True,


use rule step as score_with_feedback with:
    input:
        index="work/{collection}/index/STM2.vectors",
        queries="work/{collection}/tokens/STM2/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        bm25="work/{collection}/runs/bm25.run",
        rm3="work/{collection}/runs/bm25+rm3.run",
    pathvars:
        job="retrieval/{collection}/score_with_feedback",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("retrieval/lucene_feedback"),
        bm25=FAIRNESS.bm25.model_dump(),
        rm3=FAIRNESS.rm3.model_dump(),
    message:
        "BM25 and RM3 on {wildcards.collection}"


# A cross-encoder for each fold of CAsT's conversations.
use rule train as train_fold with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/folds/{fold}/queries.parquet",
        candidates="work/{collection}/folds/{fold}/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.fold-{fold}"),
    pathvars:
        job="retrieval/{collection}/train_{kind}.{encoder}.fold-{fold}",
    wildcard_constraints:
        collection="cast",
        kind="cross-encoder",
        encoder="[a-z-]+",
        fold=r"\d+",
    params:
        pairs=FAIRNESS.cross_encoder.pairs,
        negatives=NEGATIVES["cross-encoder"],
        reading={"pair_length": {"total": FAIRNESS.cross_encoder.length}},
        tasks=None,
        options={
            "epochs": FAIRNESS.cross_encoder.epochs,
            "batch_size": FAIRNESS.cross_encoder.batch,
            "learning_rate": FAIRNESS.cross_encoder.learning_rate,
            "optimiser": "adamw",
            "warmup_ratio": 0.1,
            "checkpoint_steps": 50,
        },
    message:
        "Training a cross-encoder without the conversations of fold {wildcards.fold}"


use rule step as rerank_cross_fitted with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        run="work/{collection}/runs/bm25.run",
        models=fold_models,
        folds=fold_queries,
    output:
        run="work/{collection}/runs/cross-fitted.{encoder}.run",
    pathvars:
        job="retrieval/{collection}/rerank_cross-fitted.{encoder}",
    wildcard_constraints:
        encoder="[a-z-]+",
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(3000, 60),
    params:
        **runs("abolghasemi2026/ch4/cross_fitted"),
        cross_fitted=is_cast,
        depth=FAIRNESS.cross_encoder.depth,
        pair_length={"total": FAIRNESS.cross_encoder.length},
    message:
        "Re-ranking {wildcards.collection} (cross-encoders by fold)"


# Tables 4.1 and 4.2, which are Tables 1 and 2 of the conference paper: the same rows under the
# names of each print.
RANKERS = {
    "embedded": [("planted", system, system) for system in PLANTED],
    "released": [
        ("Sparse retrieval", "BM25", "bm25"),
        ("Sparse retrieval", "BM25+RM3", "bm25+rm3"),
        ("Sparse retrieval", "SPLADE-tiny", "splade.splade-tiny.zero-shot"),
        ("Dense retrieval", "all-MiniLM-L6", "dense.minilm.zero-shot"),
        ("Re-rankers", "Cross-encoder", "cross-fitted.splade-tiny"),
    ],
    "full": [
        ("Sparse retrieval", "BM25", "bm25"),
        ("Sparse retrieval", "UniCOIL", "unicoil"),
        ("Sparse retrieval", "DeepImpact", "deepimpact"),
        ("Dense retrieval", "ANCE", "ance"),
        ("Dense retrieval", "DistillBERT_KD", "distilbert_kd"),
        ("Dense retrieval", "DistillBERT_TASB", "distilbert_tasb"),
        ("Dense retrieval", "TCT-ColBERTv1", "tct_colbert"),
        ("Dense retrieval", "SBERT", "sbert"),
        ("Re-rankers", "BERT", "bert"),
        ("Re-rankers", "MiniLM_KD", "minilm"),
        ("Re-rankers", "TinyBERT_KD", "tinybert"),
    ],
}
# Rankers of the NFaiRR authors -> registry keys of their runs.
DL19_RUNS = {
    name: f"gender-bias-ir/fairr/runs-dl19-top100/{file}.run"
    for name, file in {
        "BM25": "BM25",
        "BM25+RM3": "RM3",
        "KNRM": "knrm",
        "Conv-KNRM": "conv_knrm",
        "MatchPyramid": "match_pyramid",
        "TK": "tk",
        "BERT L2": "bert_L2",
        "BERT L4": "bert_L4",
        "AdvBert L2": "advbert_L2",
        "AdvBert L4": "advbert_L4",
    }.items()
}


# Query set -> folder, what its files have before their ending, and the level that is relevant.
MEASURED_SETS = {
    "embedded": {"planted": ("work/planted", "", 1)},
    "released": {
        "CAsT": ("work/cast", "", FAIRNESS.cast_relevant_from),
        "GrepBiasIR": ("work/grepbias", "", 1),
    },
    "full": {
        "QS1": ("work/msmarco", ".qs1", 1),
        "QS2": ("work/msmarco", ".qs2", 1),
    },
}
# Query set -> folder, that of the counterfactual, and what the files have before their ending.
COUNTERFACTUALS = {
    "released": {
        "CAsT, exchanged": ("work/cast", "work/castswapped", ""),
        "GrepBiasIR, exchanged": (
            "work/grepbiasmale",
            "work/grepbiasmaleswapped",
            "",
        ),
        "GrepBiasIR, as written": ("work/grepbiasmale", "work/grepbiasfemale", ""),
    },
    "full": {
        "QS1": ("work/msmarco", "work/msmarcoswapped", ".qs1"),
        "QS2": ("work/msmarco", "work/msmarcoswapped", ".qs2"),
    },
}
OVERLAP_ROWS = {
    "released": [
        ("BM25", "bm25"),
        ("SPLADE-tiny", "splade.splade-tiny.zero-shot"),
        ("Cross-encoder", "cross-fitted.splade-tiny"),
    ],
    "full": [
        ("BM25", "bm25"),
        ("BERT", "bert"),
        ("MiniLM", "minilm"),
        ("TinyBERT", "tinybert"),
    ],
}


use rule table as abolghasemi2026_ch4_fairness with:
    input:
        unpack(fairness_inputs),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "measures"),
        **companion(table_files, "<result>", "coverage"),
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="embedded|full",
    resources:
        **needs(4000, 20),
    params:
        **runs("abolghasemi2026/ch4/fairness"),
        systems=of_tier(RANKERS),
        query_sets=of_tier(MEASURED_SETS),
        k=FAIRNESS.k,
        alpha=FAIRNESS.alpha,
        # Planted rankings have no baseline, and r of made-up rankings says nothing.
        baseline=baseline_of,
        names={"r": "Pearson r (TExFAIR,NFaiRR)"},
    message:
        "Effectiveness and group fairness (Table 4.1, {wildcards.tier})"


# Beside the released stand-in stand the NFaiRR authors' runs on TREC DL 2019, whose passages (and
# so fairness) nobody released.
use rule abolghasemi2026_ch4_fairness as abolghasemi2026_ch4_fairness_released with:
    input:
        unpack(fairness_inputs),
        dl19_runs=[resource(key) for key in DL19_RUNS.values()],
        dl19_qrels=resource("gender-bias-ir/fairr/qrels.dl19-passage.txt"),
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "measures"),
        **companion(table_files, "<result>", "coverage"),
        **companion(table_files, "<result>", "dl19"),
    pathvars:
        result="{tier}/abolghasemi2026/table_4_1",
    wildcard_constraints:
        tier="released",
    params:
        dl19=list(DL19_RUNS),


use rule abolghasemi2026_ch4_fairness as abolghasemi2024_fairness with:
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "measures"),
        **companion(table_files, "<result>", "coverage"),
    pathvars:
        result="{tier}/abolghasemi2024/table_1",
    wildcard_constraints:
        tier="embedded|released|full",
    params:
        names={"r": "r"},
    message:
        "Effectiveness and group fairness (Table 1, {wildcards.tier})"


use rule table as abolghasemi2026_ch4_overlap with:
    input:
        unpack(overlap_inputs),
    pathvars:
        result="{tier}/abolghasemi2026/table_4_2",
    wildcard_constraints:
        tier="released|full",
    resources:
        **needs(4000, 20),
    params:
        **runs("abolghasemi2026/ch4/overlap"),
        systems=of_tier(OVERLAP_ROWS),
        query_sets=of_tier(COUNTERFACTUALS),
        k=FAIRNESS.k,
        persistence=FAIRNESS.persistence,
    message:
        "Overlap under an exchange of gender (Table 4.2, {wildcards.tier})"


use rule abolghasemi2026_ch4_overlap as abolghasemi2024_overlap with:
    pathvars:
        result="{tier}/abolghasemi2024/table_2",
    message:
        "Overlap under an exchange of gender (Table 2, {wildcards.tier})"


# The same on what the rankers of the other tiers found.
use rule abolghasemi2026_ch4_depth as abolghasemi2026_ch4_depth_released with:
    input:
        unpack(depth_inputs("released")),
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
    pathvars:
        result="released/abolghasemi2026/figure_4_2",
    params:
        systems=depth_systems("released"),
        # As many as a re-ranker has.
        cutoffs=FAIRNESS.cross_encoder.depth,
    message:
        "Fairness over the depth of rankings (Figure 4.2)"


use rule abolghasemi2026_ch4_depth_released as abolghasemi2024_depth_released with:
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
    pathvars:
        result="released/abolghasemi2024/figure_2",
    message:
        "Fairness over the depth of rankings (Figure 2)"


use rule abolghasemi2026_ch4_depth as abolghasemi2026_ch4_depth_full with:
    input:
        unpack(depth_inputs("full")),
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
        points="results/full/abolghasemi2026/figure_4_2.points.csv",
    pathvars:
        result="full/abolghasemi2026/figure_4_2",
    resources:
        **needs(8000, 30),
    params:
        systems=depth_systems("full"),
        cutoffs=FAIRNESS.cutoffs,
    message:
        "Fairness over the depth of rankings on MS MARCO (Figure 4.2)"


use rule abolghasemi2026_ch4_depth_full as abolghasemi2024_depth_full with:
    output:
        **figure_files("<result>"),
        **companion(table_files, "<result>", "sensitivity"),
        points="results/full/abolghasemi2024/figure_2.points.csv",
    pathvars:
        result="full/abolghasemi2024/figure_2",
    message:
        "Fairness over the depth of rankings on MS MARCO (Figure 2)"
