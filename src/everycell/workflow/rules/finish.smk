# Included after the chapters; see `everycell.workflow`.


include: "data.smk"
include: "language_models.smk"
include: "verdicts.smk"
include: "page.smk"


finish_rules()
