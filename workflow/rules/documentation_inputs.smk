# Input functions of the rules of the documentation.
import hashlib


def hash_of_shown_results(wildcards):
    """Hash of the results displayed on the site."""
    digest = hashlib.sha256()
    for tier in TIERS:
        for path in files_below(f"results/{tier}", ".verdicts.json", ".md", ".svg"):
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            digest.update(f"{content} {path}\n".encode())
    return digest.hexdigest()
