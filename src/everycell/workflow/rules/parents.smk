# What rules of one kind share. A rule that inherits (`use rule table as ... with`) names its
# result or its job, what it reads, its script and its own parameters.


# An intermediate step: `job` names its log and its benchmark.
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


# A step that needs torch, on one thread.
use rule step as torch_step with:
    conda:
        environment("torch")
    threads: 1


# A step that asks the language model of its wildcard.
use rule torch_step as asking_step with:
    wildcard_constraints:
        model="[^/.]+",
    resources:
        **asking(),
    params:
        **runs("none"),
        model="{model}",
        answered_by=lambda wildcards: answered_by(wildcards.model),


# What takes long and is worth keeping between clones (`--cache`): models, encodings, indexes.
# Snakemake measures nothing of what it may have from the cache, and a rule does not inherit
# `cache`: each states it, but for those with two outputs, which Snakemake cannot cache.
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


# A result is TIER/PAPER/ARTEFACT: its files lie below results/ under that name.
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


# Means of measures over the queries of `qrels`, one row of the table per run and measure: `systems`
# has the published name of each of `runs`, `measures` the name in `ir_measures` of each published
# one, and `columns` the column of the systems and that of the measures.
use rule table as evaluation with:
    params:
        **runs("evaluate_runs"),
        relevant_from=1,
        in_percent=[],


# Values that were computed elsewhere: `values`, a CSV with the columns of the published table.
use rule table as given_values with:
    params:
        **runs("read_values"),
