"""A run that downloads its corpus: a wrong hash, a full disk, a kill, and then the table."""

from __future__ import annotations

import json
import os
import signal
import time

import pandas as pd
import pytest
from rehearsal.stage import Stage
from workflow.project import Project

TARGET = "full_lajewska2025_chB"
DOWNLOAD = "/squad/train-v2.0.json"


def ask(stage: Stage, **changed: dict) -> tuple[Project, list[str]]:
    """Project and command of a run that has SQuAD 2.0 fetched from the server."""
    downloads = stage.hub.write_downloads(stage.folder / "downloads.json", **changed)
    settings = {
        "answerability": {"full": {"squad": "fetch", "squad_dev": "fetch"}},
        "corpora": {"downloads": str(downloads)},
    }
    (stage.folder / "mine.yaml").write_text(json.dumps(settings))
    command = ["snakemake", "--cores", "1", "--configfile", "mine.yaml", "--", TARGET]
    return Project(stage.folder, stage.mirror), command


@pytest.mark.slow
@pytest.mark.released
def test_downloads_with_faults(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in stage.hub.environment(stage.folder / "home").items():
        monkeypatch.setenv(name, value)
    stage.hub.add_toy_corpora()
    corpus = stage.folder / "work/corpora/squad"

    # Another hash than the dictionary of downloads says.
    project, command = ask(stage, squad2={"train": {"expected_md5": "0" * 32}})
    done = project.run(*command)
    assert done.returncode != 0 and "0" * 32 in done.stdout, done.stdout
    assert not (corpus / "train-v2.0.json").exists() and not (corpus / "SOURCE.json").exists()

    # A disk that takes no file of more than some bytes.
    project, command = ask(stage)
    limited = Project(stage.folder, stage.mirror, prefix=["prlimit", "--fsize=1000000"])
    stage.hub.add_file(DOWNLOAD, b" " * 2_000_000 + stage.hub.files[DOWNLOAD], ("squad2", "train"))
    project, command = ask(stage)
    done = limited.run(*command)
    assert done.returncode != 0 and "free some space" in done.stdout, done.stdout
    assert not (corpus / "SOURCE.json").exists()

    # Killed after half of the file.
    stage.hub.fault(DOWNLOAD, "stall", times=1)
    before = len(stage.hub.asked)
    process = project.start(*command)
    end = time.monotonic() + 300
    while not any(path == DOWNLOAD for _, path, _ in stage.hub.asked[before:]):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (corpus / "SOURCE.json").exists()

    assert project.snakemake("--unlock").returncode == 0
    done = project.run(*command)
    assert done.returncode == 0, done.stdout
    assert (corpus / "SOURCE.json").exists()
    table = pd.read_csv(stage.folder / "results/full/lajewska2025/table_B_1.csv")
    assert "SQuAD 2.0" in set(table["dataset"])
    # Complete files are not requested again.
    before = len(stage.hub.asked)
    assert "Nothing to be done" in project.run(*command).stdout
    assert len(stage.hub.asked) == before
