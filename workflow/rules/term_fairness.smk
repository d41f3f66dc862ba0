# Group bias in ranked lists by the terms of groups, on any collection with documents.parquet,
# counts.parquet and runs below work/{collection}. A paper's tables and figures inherit from the
# rules here, and say where they go.


include: "term_fairness_inputs.smk"


use rule step as count_terms with:
    input:
        documents="work/{collection}/documents.parquet",
        words=lambda wildcards: (
            "work/planted/words.txt" if wildcards.collection == "planted" else resource(WORD_LIST)
        ),
    output:
        counts="work/{collection}/counts.parquet",
    pathvars:
        job="retrieval/{collection}/count_terms",
    resources:
        **needs(600, 10),
    params:
        **runs("term_fairness/count_terms"),
    message:
        "Group terms in the documents of {wildcards.collection}"


# Both measures on lists that are printed.
use rule figure as term_fairness_example with:
    output:
        **figure_files(tables=["measures"]),
    pathvars:
        result="none/example",
    params:
        **runs("term_fairness/example"),
        # That of the NFaiRR authors' code, and that with which a document that has a gendered word
        # is biased, as the text says of the example; it names no threshold.
        taus=[TAU, 0],
        read_with=0,


# The measures at every cut-off.
use rule figure as term_fairness_depth with:
    input:
        unpack(depth_inputs),
    output:
        **figure_files(tables=["sensitivity"]),
    pathvars:
        result="none/depth",
    resources:
        **needs(1000),
    params:
        **runs("term_fairness/depth"),
        systems=depth_systems,
        cutoffs=depth_cutoffs,
        tau=TAU,


# The same where lists are long and many: a file of all points, and what is printed as figure.
use rule term_fairness_depth as term_fairness_depth_full with:
    output:
        **figure_files(tables=["sensitivity"]),
        points="results/<result>.points.csv",
    pathvars:
        result="none/depth_full",
    resources:
        **needs(8000, 30),


# Effectiveness and fairness of rankers.
use rule table as term_fairness_means with:
    input:
        unpack(means_inputs),
    pathvars:
        result="none/means",
    resources:
        **needs(4000, 20),
    params:
        **runs("term_fairness/means"),
        systems=of_tier(RANKERS),
        query_sets=of_tier(MEASURED_SETS),
        k=FAIRNESS.k,
        alpha=FAIRNESS.alpha,
        baseline=baseline_of,


# The same for rankers with planted effects, next to rankers without any: the negative control.
use rule term_fairness_means as term_fairness_planted with:
    output:
        **table_files(tables=["tests", "control"]),
    pathvars:
        result="none/planted",
    resources:
        **needs(600),
    params:
        control={"control": ("work/planted", CONTROL, 1)},


# Overlap of rankings before and after a gender swap, beside fairness.
use rule table as term_fairness_overlap with:
    input:
        unpack(overlap_inputs),
    pathvars:
        result="none/overlap",
    resources:
        **needs(4000, 20),
    params:
        **runs("term_fairness/overlap"),
        systems=of_tier(OVERLAP_ROWS),
        query_sets=of_tier(COUNTERFACTUALS),
        k=FAIRNESS.k,
        persistence=FAIRNESS.persistence,
