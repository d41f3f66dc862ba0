"""Chapter 4 of heuss2025, full tier, on tiny folds in the form of LETOR: the path, not results."""

from __future__ import annotations

import json

import pytest
from rehearsal.material import list_explanations
from rehearsal.stage import Stage
from workflow.project import Project

FIGURE = "results/full/heuss2025/figure_4_4"
FOLDS = ("mq2008", "mslr_web10k")


@pytest.fixture
def configured_project(clean: Project, stage: Stage) -> Project:
    """Return a project whose configuration names two folds."""
    clean.configure(list_explanations(stage))
    return clean


@pytest.mark.parametrize("key", FOLDS)
def test_full_heuss2025_ch4_one_fold(clean, key):
    (clean.folder / "folds" / key).mkdir(parents=True)
    for part in ("train", "test"):
        (clean.folder / f"folds/{key}/{part}.txt").touch()
    clean.edit("config.yaml", f"{key}: null", f"{key}: folds/{key}")
    done = clean.snakemake("-n", "full_heuss2025_ch4")
    assert done.returncode == 0, done.stdout
    assert f"Features of {key}\n" in done.stdout and done.stdout.count("Features of ") == 1
    (other,) = set(FOLDS) - {key}
    assert f"since `list_explanations.folders.{other}` is not set" in done.stdout


@pytest.mark.slow
def test_fold_of_other_features(configured_project):
    file = configured_project.folder / "data/mq2008/train.txt"
    file.write_text(file.read_text().replace(" 46:", " 47:"))
    done = configured_project.snakemake("work/heuss2025/ch4/mq2008/train.parquet")
    assert done.returncode != 0
    assert "line 1: feature is 47; expected features from 1 to 46" in done.stdout


@pytest.mark.slow
def test_identity_foreign_folds(configured_project):
    path = "work/identity/mslr_web10k.json"
    done = configured_project.snakemake(path)
    assert done.returncode == 0, done.stdout[-3000:]
    message = json.loads((configured_project.folder / path).read_text())["difference"]
    assert "MSLR-WEB10K" in message and "train.txt" in message and "723412" in message
    # The verdict waits for it, and for that of the other fold.
    assert "identity" in configured_project.snakemake("-n", f"{FIGURE}.verdicts.json").stdout
