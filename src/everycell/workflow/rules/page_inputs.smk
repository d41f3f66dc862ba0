# What the page and the site show: verdict files that were asked for, results that lie on disk.


def pages_of_chapters():
    """Page of each chapter, named after its target, and its list of differences."""
    return [
        f"results/pages/{paper.key}_ch{chapter}.{form}"
        for paper in PAPERS.values()
        for chapter in paper.chapters
        for form in ("html", "md", "tex")
    ]


def shown_verdicts(wildcards):
    """Verdict files of the targets of this run, which the page waits for, and those on disk.

    What lies on disk and was not asked for is shown as it is: `before_update` keeps Snakemake from
    making it again. That it is among the inputs keeps them the same, whichever target is asked for
    next, so that the page is not drawn again.
    """
    known = TARGETS.keys() | IN_FULL.keys()
    all_files = {file for files in TARGETS.values() for file in files}
    asked = [target for target in requested_targets() if target in known]
    requested = {
        file
        for target in asked
        for file in (TARGETS[target] if target in TARGETS else named_in_full(target))
    }
    requested = requested or all_files & set(rules.default.input)
    others = all_files - requested
    on_disk = [before_update(file) for file in sorted(others) if Path(file).exists()]
    return [*sorted(requested), *on_disk]
