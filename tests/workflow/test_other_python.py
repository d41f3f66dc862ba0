"""What needs neither torch nor Java gives the same bytes under a newer Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workflow.project import REPOSITORY, Project

#: Scores, a test of significance and pictures: a job of each kind that numbers come from.
RESULTS = ("sakai2023/table_2", "lajewska2025/table_C_2", "abolghasemi2026/figure_4_1")
VERSIONS = ("3.12", "3.13")


def find_python() -> Path | None:
    """A newer Python: on the path (Ubuntu 24.04 has one), else one of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}") for version in VERSIONS]
    places = [Path(path) for path in found if path]
    for version in VERSIONS:
        places += sorted(pyenv.glob(f"{version}.*/bin/python{version}"))
    for place in places:
        # What pyenv puts on the path may stand for a version that is not chosen.
        asked = subprocess.run([place, "-c", "import venv, ensurepip"], capture_output=True)
        if asked.returncode == 0:
            return place
    return None


@pytest.mark.slow
def test_a_newer_python_rebuilds_the_same_bytes(built, clean, tmp_path):
    python = find_python()
    if python is None:
        pytest.skip("needs Python 3.12 or 3.13 beside 3.11")
    venv = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", "--without-pip", venv], check=True)
    links = os.environ.get("PIP_FIND_LINKS")
    index = os.environ.get("PIP_INDEX_URL")
    done = subprocess.run(
        [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--no-deps"]
        + ["--python", venv / "bin" / "python", "--require-hashes"]
        + ["-r", REPOSITORY / "envs" / "base.lock"]
        + (["--find-links", links] if links else []),
        env=os.environ | ({"UV_DEFAULT_INDEX": index} if index else {}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    other = Project(clean.folder, prefix=["env", f"PATH={venv / 'bin'}:{os.environ['PATH']}"])
    other.build("--cores", "2", *(f"results/embedded/{name}.verdicts.json" for name in RESULTS))
    first, second = built.hashes(), other.hashes()
    assert len(second) > 20
    different = {name for name in second if first[name] != second[name]}
    # A receipt says which Python it was.
    assert different == {f"embedded/{name}.receipt.json" for name in RESULTS}
