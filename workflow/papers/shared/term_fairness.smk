# Group bias in ranked lists by group-specific terms, on any collection with documents.parquet,
# counts.parquet and runs below work/{collection}. Included after the chapters, which register their
# results in FAIRNESS_RESULTS.


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
        **runs("shared/term_fairness_collections:count_terms"),
    message:
        "Group terms in the documents of {wildcards.collection}"


# Both measures on published example lists.
use rule figure as term_fairness_example with:
    input:
        documents=lambda wildcards: f"published/{lists_of_example(wildcards)}.csv",
    output:
        **figure_files(tables=["measures", "association"]),
    pathvars:
        result="embedded/{artefact_id}",
    wildcard_constraints:
        artefact_id=artefact_pattern("example"),
    params:
        **runs("shared/term_fairness:example"),
        declared=lambda wildcards: declared_inputs(
            "embedded", *lists_of_example(wildcards).split("/")
        ),
        # The threshold of the NFaiRR authors' code, and 0, with which every document with a gendered
        # word is biased, as in the text of the example. The paper states no threshold.
        taus=[TAU, 0],
        read_with=0,
        # Terms in the second document of two, whose first has one term of the other group.
        frequencies=[1, 8],
    message:
        "Two lists of four documents ({wildcards.artefact_id})"


# The measures at every cut-off. Chapters have their own rules for planted rankings.
use rule figure as term_fairness_depth with:
    input:
        unpack(depth_inputs),
    output:
        **figure_files(tables=["sensitivity"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released",
        artefact_id=artefact_pattern("depth"),
    resources:
        **needs(1000),
    params:
        **runs("shared/term_fairness:depth"),
        **DEPTH,
    message:
        "Fairness by depth of rankings ({wildcards.artefact_id}, released)"


# The same with more and longer lists: a file with all points, and a table with published points.
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
        artefact_id=artefact_pattern("depth"),
    resources:
        **needs(8000, 30),
    params:
        **runs("shared/term_fairness:depth"),
        **DEPTH,
    message:
        "Fairness by depth of rankings on MS MARCO ({wildcards.artefact_id})"


# Effectiveness and fairness of rankers.
use rule table as term_fairness_means_full with:
    input:
        unpack(means_inputs),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="full",
        artefact_id=artefact_pattern("means"),
    resources:
        **needs(4000, 20),
    params:
        **runs("shared/term_fairness:means"),
        **MEANS,
    message:
        "Effectiveness and group fairness on MS MARCO ({wildcards.artefact_id})"


# Markers show rankers that are fairer than BM25; a supplement also tests whether they are less fair.
use rule table as term_fairness_means with:
    input:
        unpack(means_inputs),
    output:
        **table_files(tables=["tests"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released",
        artefact_id=artefact_pattern("means"),
    resources:
        **needs(4000, 20),
    params:
        **runs("shared/term_fairness:means"),
        **MEANS,
    message:
        "Effectiveness and group fairness ({wildcards.artefact_id}, released)"


# The same for rankers with planted effects, and for a negative control without effects.
use rule table as term_fairness_means_planted with:
    input:
        unpack(means_inputs),
    output:
        **table_files(tables=["tests", "control"]),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="embedded",
        artefact_id=artefact_pattern("means"),
    params:
        **runs("shared/term_fairness:means"),
        **MEANS,
        control={"control": ("work/planted", CONTROL, 1)},
    message:
        "Group fairness of synthetic rankers ({wildcards.artefact_id})"


# Overlap of rankings before and after swapping genders, together with fairness.
use rule table as term_fairness_overlap with:
    input:
        unpack(overlap_inputs),
    pathvars:
        result="{tier}/{artefact_id}",
    wildcard_constraints:
        tier="released|full",
        artefact_id=artefact_pattern("overlap"),
    resources:
        **needs(4000, 20),
    params:
        **runs("shared/term_fairness:overlap"),
        systems=of_tier(OVERLAP_ROWS),
        query_sets=of_tier(COUNTERFACTUALS),
        k=FAIRNESS.k,
        persistence=FAIRNESS.persistence,
    message:
        "Overlap after swapping gender ({wildcards.artefact_id}, {wildcards.tier})"
