"""`snakemake` and `everycell verify` refuse an own paper whose records or data are at fault."""

import shutil
from pathlib import Path

import pytest
from workflow.project import Project

OWN = Path("data/smith2026-data/first.run")
RECORD = "published/smith2026/ch1.yaml"


def stops(project: Project, *names: str) -> None:
    """Snakemake and `verify` must fail with some names, before any job."""
    before = project.hashes()
    done = project.snakemake("--forceall")
    assert done.returncode != 0 and project.hashes() == before, done.stdout
    for name in names:
        assert name in done.stdout, done.stdout
    assert "rule " not in done.stdout and "Finished" not in done.stdout


def is_refused_by_verify(project: Project, *names: str) -> None:
    done = project.everycell("verify")
    assert done.returncode == 1 and all(name in done.stdout for name in names), done.stdout


@pytest.mark.slow
@pytest.mark.fault("users_file")
def test_own_data_changed(own):
    assert own.everycell("verify").returncode == 0
    path = own.folder / OWN
    content = path.read_text()
    path.write_text(content + "\n")
    stops(own, f"{OWN} has sha256", "add-data")
    made_from = f"results/released/smith2026/table_1.receipt.json was made from {OWN}"
    is_refused_by_verify(own, f"{OWN} has sha256", made_from)
    path.unlink()
    stops(own, f"{OWN} is missing")
    is_refused_by_verify(own, f"{OWN} is missing", made_from)
    shutil.move(own.folder / "data", own.folder / "elsewhere")
    stops(own, f"{OWN} is missing", "data/smith2026-data/qrels.txt is missing")
    is_refused_by_verify(own, f"{OWN} is missing")
    shutil.move(own.folder / "elsewhere", own.folder / "data")
    # A registered new version makes the results stale, for `verify` and for snakemake.
    path.write_text(content.replace(" 1 ", " 2 ", 1))
    registered = own.everycell(
        "paper", "add-data", "smith2026", str(OWN), "--as", OWN.name, "--replace"
    )
    assert registered.returncode == 0, registered.stderr
    is_refused_by_verify(own, "results/released/smith2026/table_1.receipt.json was made from")
    assert "table_1" in own.snakemake("--dry-run").stdout
    path.write_text(content)
    own.everycell("paper", "add-data", "smith2026", str(OWN), "--as", OWN.name, "--replace")
    assert own.everycell("verify").returncode == 0
    # A fault of `check` stops a run too.
    (own.folder / "published/smith2026/table_1.csv").unlink()
    assert "table_1" in own.everycell("check").stdout
    stops(own, "published/smith2026/table_1.csv")
