# What Snakemake 9.27 leaves undone for rules that inherit from `parents.smk`. Included last.
for each in workflow.rules:
    # It puts the constraints of wildcards into file names before it puts path variables there.
    each.update_wildcard_constraints()
    # The report shows the code of a rule only where its script is named without a parameter.
    if each.script == SCRIPT:
        each.script = SCRIPT.format(params=each.params)
    # `snakemake --list` tells what a target makes, and what a rule is for.
    if each.docstring is None:
        told = about_target(each.name) or str(each.message or "")
        each.docstring = told.replace("{wildcards.", "{").replace("{rule}", "")
    # What the cards say of a rule's results, whose names only the finished rule has.
    if "receipt" in each.output.keys():
        each.set_params(faces=faces_of(list(each.output)))
