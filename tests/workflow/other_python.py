"""Another Python, if the machine has one, and what it rebuilds: what needs no torch and no Java."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from workflow.project import Project

from everycell.receipts.provenance import snakemake_jobs, upstream_jobs

VERSIONS = ("3.12", "3.13")


def find_python() -> Path | None:
    """A newer Python: on the path (Ubuntu 24.04 has one), else one of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    result = [shutil.which(f"python{version}") for version in VERSIONS]
    positions = [Path(path) for path in result if path]
    for version in VERSIONS:
        positions += sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for position in positions:
        # A shim of pyenv may be of a version that is not selected.
        requests = subprocess.run([position, "-c", "import venv"], capture_output=True)
        if requests.returncode == 0:
            return position
    return None


def one_of_each_rule(rules: dict[str, str]) -> list[str]:
    """Of receipts with the rules that make them, one of each rule."""
    return sorted({rule: receipt for receipt, rule in rules.items()}.values())


def receipts_from_base_alone(project: Project) -> dict[str, str]:
    """Receipts of the results whose jobs, down to fetched files, all run in `envs/base.yaml`.

    Each with the rule that makes it.
    """
    environment = {rule.name: Path(rule.conda_env).stem for rule in project.rules()}
    jobs = snakemake_jobs(project.folder)
    maker = {output: job.rule for job in jobs for output in job.outputs}
    receipts = [
        path.relative_to(project.folder).as_posix()
        for path in (project.folder / "results").rglob("*.receipt.json")
    ]
    return {
        receipt: maker[receipt]
        for receipt in sorted(receipts)
        if {environment[job.rule] for job in upstream_jobs(jobs, [receipt])} == {"base"}
    }
