"""Corpora and models that the rules download, from a local server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus_server import CorpusServer
from workflow.project import Project


@pytest.mark.slow
def test_fetch_corpus_and_hub_model(
    clean: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        name: name.encode() for name in ("config.json", "model.safetensors", "vocab.txt", "x.bin")
    }
    with CorpusServer() as server:
        server.add_toy_corpora()
        commit = server.add_repository("org/toy", files)
        server.write_downloads(tmp_path / "downloads.json")
        clean.edit("config.yaml", "downloads: null", f"downloads: {tmp_path}/downloads.json")
        for name, value in server.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        server.fault("/squad/train-v2.0.json", "cut", times=1)
        corpus, model = "work/corpora/squad/train-v2.0.json", f"work/hub-models/org--toy@{commit}"
        clean.build(corpus, model)
        # A missing model is reported.
        done = clean.snakemake("--cores", "1", "work/hub-models/org--none")
        assert done.returncode != 0 and "has no model org/none" in done.stdout
    assert (clean.folder / corpus).read_bytes() == server.files["/squad/train-v2.0.json"]
    folder = clean.folder / model
    result = {path.name: path for path in folder.iterdir() if not path.name.startswith(".")}
    assert set(result) == set(files) - {"x.bin"}
    assert not any(path.is_symlink() for path in result.values())
    log = (clean.folder / f"logs/fetch/hub-models/org--toy@{commit}.log").read_text()
    message = json.loads(log.splitlines()[-1])["parameters"]
    assert f": '{commit}'" in message["commits"]
    log = (clean.folder / "logs/fetch/corpora/squad.log").read_text()
    assert "Licence: CC BY-SA 4.0" in log
