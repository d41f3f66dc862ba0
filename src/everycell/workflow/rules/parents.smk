# Base rules. A rule that inherits from one (`use rule table as ... with`) sets its result or job,
# its inputs, its script and its own parameters.


# An intermediate step; `job` is the path of its log and benchmark.
rule step:
    log:
        "logs/<job>.log",
    benchmark:
        "benchmarks/<job>.tsv"
    pathvars:
        job="none",
    conda:
        environment("base")
    resources:
        **needs(400),
    params:
        **runs("none"),
    message:
        "{rule}"
    script:
        SCRIPT


# A single-threaded step that needs torch.
use rule step as torch_step with:
    conda:
        environment("torch")
    threads: 1


# A step with requests to the language model of its wildcard.
use rule torch_step as asking_step with:
    wildcard_constraints:
        model="[^/.]+",
    resources:
        **asking(),
    params:
        **runs("none"),
        model="{model}",
        answered_by=lambda wildcards: answered_by(wildcards.model),


# A long step whose output clones can share (`--cache`), such as a model, encodings or an index.
# It has no benchmark, since Snakemake does not allow one with `cache`. Rules do not inherit
# `cache`, so each sets it, except for rules with two outputs, which Snakemake cannot cache.
rule cached_step:
    output:
        "work/<job>",
    log:
        "logs/<job>.log",
    pathvars:
        job="none",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(3000, 60),
    params:
        **runs("none"),
    message:
        "{rule}"
    script:
        SCRIPT


# A result, TIER/PAPER/ARTEFACT, is also the path of its files below results/.
rule table:
    output:
        **table_files(),
    log:
        "logs/<result>.log",
    benchmark:
        "benchmarks/<result>.tsv"
    pathvars:
        result="none",
    conda:
        environment("base")
    resources:
        **needs(600),
    params:
        **runs("none"),
    message:
        "{rule}"
    script:
        SCRIPT


use rule table as figure with:
    output:
        **figure_files(),


# Measures of runs, aggregated over the queries of `qrels`, one row per run and measure. `systems`
# has the published names of the runs, `measures` maps published names to names in `ir_measures`,
# and `columns` has the names of the columns of systems and measures. If several columns name a
# system, `systems` has a list of names for each run. For several collections,
# `collections` has the name of each run's collection and `judged` those of the files of `qrels`;
# `columns` then has that of collections in between. Cells in `left_out` are not written.
use rule table as evaluation with:
    params:
        **runs("evaluate_runs"),
        relevant_from=1,
        in_percent=[],
        collections=[],
        judged=[],
        left_out=[],


# Values that were computed elsewhere; `values` is a CSV file with the columns of the published
# table. If it has one more, such as `seed`, `mean_over` names that column: the table then has means
# over it, the supplementary table `seeds` their spread, and measures in `deviations` a second cell,
# such as "MAP ±", with the sample standard deviation (divisor n - 1), unless it is in `left_out`.
use rule table as given_values with:
    params:
        **runs("read_values"),
        mean_over="",
        deviations=[],
        left_out=[],
