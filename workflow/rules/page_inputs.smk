# What the page and the site show: verdict files that were asked for, results that lie on disk.
import hashlib


def requested_verdicts(wildcards):
    """Verdict files of the targets of this run: what the page must wait for.

    Results of other tiers that lie on disk are shown too, but are not made for it.
    """
    known = TARGETS.keys() | IN_FULL.keys()
    asked = [target for target in workflow.dag_settings.targets if target in known]
    return sorted(
        {
            file
            for target in asked or ["embedded"]
            for file in (
                TARGETS[target] if target in TARGETS else named_in_full(target)
            )
        }
    )


def hash_of_shown_results(wildcards):
    """Hash of what the site shows of the results that lie on disk."""
    found = hashlib.sha256()
    for tier in TIERS:
        for path in files_below(f"results/{tier}", ".verdicts.json", ".md", ".svg"):
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found.update(f"{content} {path}\n".encode())
    return found.hexdigest()
