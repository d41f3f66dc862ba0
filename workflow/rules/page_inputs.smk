# What the page and the site show: verdict files that were asked for, results that lie on disk.
import hashlib


def pages_of_chapters():
    """Page of each chapter, named as its target, and its values that are not equal."""
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
    asked = [target for target in requested_targets() if target in known]
    requested = {
        file
        for target in asked or ["embedded"]
        for file in (TARGETS[target] if target in TARGETS else named_in_full(target))
    }
    others = {file for files in TARGETS.values() for file in files} - requested
    on_disk = [before_update(file) for file in sorted(others) if Path(file).exists()]
    return [*sorted(requested), *on_disk]


def hash_of_shown_results(wildcards):
    """Hash of what the site shows of the results that lie on disk."""
    found = hashlib.sha256()
    for tier in TIERS:
        for path in files_below(f"results/{tier}", ".verdicts.json", ".md", ".svg"):
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found.update(f"{content} {path}\n".encode())
    return found.hexdigest()
