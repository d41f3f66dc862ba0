# Included before the chapters; see `everycell.workflow`.


report: "../report/workflow.rst"


include: "snakemake_internals.smk"
include: "common.smk"
include: "result_files.smk"
include: "language_models_inputs.smk"


if SETTINGS.container is not None:

    containerized: SETTINGS.container


include: "parents.smk"
include: "targets.smk"
