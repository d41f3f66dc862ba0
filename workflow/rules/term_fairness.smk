# Group bias in ranked lists by the terms of groups, on any collection with documents.parquet,
# counts.parquet and runs below work/{collection}. Included after the chapters, which say in
# FAIRNESS_RESULTS what of it they show.


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


# Both measures on lists that are published.
use rule figure as term_fairness_example with:
    input:
        documents=lambda wildcards: f"published/{lists_of_example(wildcards)}.csv",
    output:
        **figure_files(tables=["measures"]),
    pathvars:
        result="embedded/{artefact_id}",
    wildcard_constraints:
        artefact_id=shown_of("example"),
    params:
        **runs("term_fairness/example"),
        declared=lambda wildcards: declared_inputs(
            "embedded", *lists_of_example(wildcards).split("/")
        ),
        # That of the NFaiRR authors' code, and that with which a document that has a gendered word
        # is biased, as the text says of the example; it names no threshold.
        taus=[TAU, 0],
        read_with=0,
    message:
        "Two lists of four documents ({wildcards.artefact_id})"


# The measures at every cut-off. A chapter has a rule of its own for planted rankings.
use rule figure as term_fairness_depth with:
    input:
        unpack(depth_inputs),
    output:
        **figure_files(tables=["sensitivity"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released",
        artefact_id=shown_of("depth"),
    resources:
        **needs(1000),
    params:
        **runs("term_fairness/depth"),
        **DEPTH,
    message:
        "Fairness over the depth of rankings ({wildcards.artefact_id}, released)"


# The same where lists are long and many: a file of all points, and what is published as figure.
use rule figure as term_fairness_depth_full with:
    input:
        unpack(depth_inputs),
    output:
        **figure_files(tables=["sensitivity"]),
        points="results/<result>.points.csv",
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="full",
        artefact_id=shown_of("depth"),
    resources:
        **needs(8000, 30),
    params:
        **runs("term_fairness/depth"),
        **DEPTH,
    message:
        "Fairness over the depth of rankings on MS MARCO ({wildcards.artefact_id})"


# Effectiveness and fairness of rankers.
use rule table as term_fairness_means_full with:
    input:
        unpack(means_inputs),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="full",
        artefact_id=shown_of("means"),
    resources:
        **needs(4000, 20),
    params:
        **runs("term_fairness/means"),
        **MEANS,
    message:
        "Effectiveness and group fairness on MS MARCO ({wildcards.artefact_id})"


# The markers show what is fairer than BM25; the tests beside also show what is less fair.
use rule table as term_fairness_means with:
    input:
        unpack(means_inputs),
    output:
        **table_files(tables=["tests"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released",
        artefact_id=shown_of("means"),
    resources:
        **needs(4000, 20),
    params:
        **runs("term_fairness/means"),
        **MEANS,
    message:
        "Effectiveness and group fairness ({wildcards.artefact_id}, released)"


# The same for rankers with planted effects, next to rankers without any: the negative control.
use rule table as term_fairness_means_planted with:
    input:
        unpack(means_inputs),
    output:
        **table_files(tables=["tests", "control"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="embedded",
        artefact_id=shown_of("means"),
    params:
        **runs("term_fairness/means"),
        **MEANS,
        control={"control": ("work/planted", CONTROL, 1)},
    message:
        "Group fairness of synthetic rankers ({wildcards.artefact_id})"


# Overlap of rankings before and after a gender swap, beside fairness.
use rule table as term_fairness_overlap with:
    input:
        unpack(overlap_inputs),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released|full",
        artefact_id=shown_of("overlap"),
    resources:
        **needs(4000, 20),
    params:
        **runs("term_fairness/overlap"),
        systems=of_tier(OVERLAP_ROWS),
        query_sets=of_tier(COUNTERFACTUALS),
        k=FAIRNESS.k,
        persistence=FAIRNESS.persistence,
    message:
        "Overlap after swapping gender ({wildcards.artefact_id}, {wildcards.tier})"
