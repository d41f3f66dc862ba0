# Inputs of the page: verdict files of the requested targets, and those on disk.
from everycell.records.sensitivity import NAME as SENSITIVITY


def pages_of_chapters():
    """Pages of the chapters, named after their targets, and their lists of differences."""
    return [
        f"results/pages/{paper.key}_ch{chapter}.{form}"
        for paper in PAPERS.values()
        for chapter in paper.chapters
        for form in ("html", "md", "tex")
    ]


def sensitivity_of_cells():
    """The data with which each reproduced value moves, if measured."""
    file = f"published/{SENSITIVITY}"
    return [file] if Path(file).exists() else []


def shown_verdicts(wildcards):
    """Verdict files of the requested targets, and those on disk.

    With `before_update`, Snakemake does not remake files that were not requested. They are inputs
    so that the list of inputs, and thus the page, does not depend on the requested target.
    """
    known = TARGETS.keys() | IN_FULL.keys()
    all_files = {file for files in TARGETS.values() for file in files}
    targets = [target for target in requested_targets() if target in known]
    requested = {
        file
        for target in targets
        for file in (TARGETS[target] if target in TARGETS else configured_in_full(target))
    }
    requested |= all_files.intersection(requested_targets())
    # Only the default target asks which data can be fetched: a file such as the page itself, and
    # a job in its own process, take what is on disk.
    if is_default_target():
        requested |= all_files & default_files()
    on_disk = {file for file in all_files - requested if Path(file).exists()}
    return [
        file if file in requested else before_update(file) for file in sorted(requested | on_disk)
    ]


def default_files():
    """Inputs of the default target, whose input functions have no wildcards."""
    return {
        file
        for item in rules.default.input
        for file in (item(None) if callable(item) else [str(item)])
    }
