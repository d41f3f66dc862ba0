"""Results without torch and Java have the same bytes under a newer Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workflow.other_python import find_python, one_of_each_rule, receipts_from_base_alone
from workflow.project import REPOSITORY, Project


@pytest.mark.slow
def test_newer_python_same_bytes(built, clean, tmp_path):
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
    other = Project(clean.folder, python=venv / "bin" / "python")
    # Of results by one rule, one.
    rules = receipts_from_base_alone(built)
    receipts = one_of_each_rule(rules)
    # Each work but one has such results; torch and Lucene are needed for the others.
    assert len(receipts) >= 15
    assert len(receipts) < len(list(built.folder.glob("results/**/*.receipt.json")))
    assert {Path(receipt).parts[2] for receipt in receipts} >= {
        "abolghasemi2026",
        "lajewska2025",
        "sakai2023",
    }
    # Another folder, another core count: neither may leave a trace.
    other.build("--cores", "1", *receipts)
    first, second = built.hashes(), other.hashes()
    assert len(second) > 100
    different = {f"results/{name}" for name in second if first[name] != second[name]}
    # A receipt says which Python it was. Some rules make several results.
    result = {receipt for receipt in rules if (other.folder / receipt).exists()}
    assert different == result >= set(receipts)
    # Verdicts of the other Python are compared by one process, which takes a fifth of the time.
    for receipt in result:
        verdicts = receipt.replace(".receipt.json", ".verdicts.json")
        if (built.folder / verdicts).exists():
            shutil.copy(built.folder / verdicts, other.folder / verdicts)
    call = "from everycell.cli import app; app()"
    checked = other.run("python", "-c", call, "verify")
    assert checked.returncode == 0, checked.stdout
    version = other.run("python", "-c", "import sys; print(sys.version_info[:2] > (3, 11))")
    assert version.stdout == "True\n"
