"""Chapter 5 of abolghasemi2026 in the full tier, from files and a server: the path, not results."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pandas as pd
import pytest
from corpus_server import CorpusServer
from language_model_server import Server
from rehearsal.material import TOWNS, attribution, write_town_run
from rehearsal.stage import Stage
from workflow.endpoint_runs import KEY, check_key, go_on, kill_at, name_endpoint
from workflow.project import Project

TABLE = "results/full/abolghasemi2026/table_5_1"
SECRET = "sk-very-secret-5"


@pytest.fixture
def configured_project(clean: Project, stage: Stage) -> Project:
    """Return a project whose full tier has five questions and uses two."""
    settings = attribution(stage)
    settings["attribution"]["full"]["models"] = {"mine": "Mistral"}
    del settings["attribution"]["full"]["retrievers"]
    del settings["language_models"]
    clean.configure(settings)
    name_endpoint(clean, stage.endpoint)
    return clean


@pytest.mark.slow
def test_table_5_1_resumed(
    configured_project: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    stuck = threading.Event()
    cited, [answer] = 0, server.replies

    def hang_at_the_tenth(handler: object, body: dict) -> dict | None:
        nonlocal cited
        cited += "Question:" in body["messages"][-1]["content"]
        if cited < 10:
            return answer(handler, body)
        stuck.set()
        server.closing.wait(120)
        return None

    server.replies = [hang_at_the_tenth]
    kill_at(stuck, configured_project, f"{TABLE}.csv")
    first = [json.dumps(body) for _, body, _ in server.seen]
    server.seen.clear()
    server.replies = [answer]
    go_on(configured_project, f"{TABLE}.csv")
    again = [json.dumps(body) for _, body, _ in server.seen]
    # The one that was under way has no answer yet.
    assert set(first) & set(again) == {first[-1]}
    assert len(set(again)) == len(again)

    table = pd.read_csv(configured_project.folder / f"{TABLE}.csv")
    cells = table[table["metric"] == "attribution recall"]
    # It cites the first document, which is the relevant one.
    assert set(cells["value"]) == {100.0}
    confidences = pd.read_csv(
        configured_project.folder / "results/full/abolghasemi2026/table_5_6.csv"
    )
    relevant = confidences[confidences["metric"] == "AC relevant"]["value"].astype(float)
    assert relevant.round(2).unique().tolist() == [0.61]
    receipt = json.loads((configured_project.folder / f"{TABLE}.receipt.json").read_text())
    models = receipt["parameters"]["language_models"]
    assert {model["model"]["name"] for model in models} == {"gpt-9"}
    check_key(configured_project, server, SECRET)
    log = (configured_project.folder / "logs/attribution/full/nq_full/paraphrases.log").read_text()
    assert log.startswith("5 questions can be used")
    assert (
        "5 of 5 questions tried, 5 have usable paraphrases of all passages: 5 of 5 relevant" in log
    )


@pytest.mark.slow
def test_table_5_1_downloaded_data(
    configured_project: Project,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    with CorpusServer() as hosts:
        hosts.add_toy_corpora(towns=TOWNS)
        downloads = str(hosts.write_downloads(tmp_path / "downloads.json"))
        run = configured_project.folder / "own.run"
        ids = range(len(TOWNS))
        write_town_run(run, [f"test{n}" for n in ids], [f"doc{n}" for n in ids])
        full = {"nq": "fetch", "msmarco_qa": None, "retrievers": {"tct_colbert": str(run)}}
        configured_project.configure(
            {"attribution": {"full": full}, "corpora": {"downloads": downloads}}
        )
        for name, value in hosts.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        # Answers to the questions of BEIR are released data.
        Project(configured_project.folder, mirror).build(f"{TABLE}.csv")
    folder = configured_project.folder / "results/full/abolghasemi2026"
    cells = pd.read_csv(folder / "table_5_1.csv")
    # It cites the first document, which is BM25's.
    assert set(cells[cells["metric"] == "attribution recall"]["value"]) == {100.0}
    assert set(pd.read_csv(folder / "table_5_2.csv")["dataset"]) == {"NQ"}
    # The table of MS MARCO and the retriever without a run are left out.
    assert pd.read_csv(folder / "table_5_11.csv").empty
    assert set(pd.read_csv(folder / "table_5_9.csv")["retriever"]) == {"TCT-ColBERT"}
    assert (folder / "figure_5_9.svg").exists()
