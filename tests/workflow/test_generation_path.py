"""Counterfactuals of chapter 3 of abolghasemi2026 from a server: the path, not results."""

from __future__ import annotations

import json
import threading

import pytest
from language_model_server import Server, reply_of
from workflow.endpoint_runs import KEY, check_key, go_on, kill_at, name_endpoint
from workflow.project import Project

TABLE = "results/embedded/abolghasemi2026/table_3_4"
RECORD = "records/abolghasemi2026-ch3-embedded.jsonl"
SECRET = "sk-very-secret-9"
#: The server's text for each request; two of them are of no use.
SAID = [
    "SYSTEM: I do not know.",
    "Done, for you.",
    "Nothing at all.",
    "",
    "Je ne sais pas.",
    "Yes.",
]


@pytest.fixture
def configured_project(clean: Project, server: Server) -> Project:
    """Return a project whose counterfactuals come from the server, three of each label."""
    clean.edit("config.yaml", "  model: smollm2\n  template", "  model: mine\n  template")
    clean.edit("config.yaml", "noise: 0.05, samples: 20}", "noise: 0.05, samples: 3}")
    name_endpoint(clean, server)
    return clean


@pytest.mark.slow
def test_table_3_4_resumed(
    configured_project: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    stuck = threading.Event()

    def hang(handler: object, body: object) -> None:
        stuck.set()
        server.closing.wait(120)

    server.replies = [*map(reply_of, SAID[:2]), hang]
    kill_at(stuck, configured_project, f"{TABLE}.csv")
    first = [body for _, body, _ in server.seen]
    assert len(first) == 3
    assert len((configured_project.folder / RECORD).read_text().splitlines()) == 2
    server.seen.clear()
    server.replies = [reply_of(text) for text in SAID[2:]]
    go_on(configured_project, f"{TABLE}.csv")
    again = [body for _, body, _ in server.seen]
    # The one that was under way has no answer yet; those before it are not asked again.
    assert len(again) == 4 and again[0] == first[2]
    assert not [body for body in again if body in first[:2]]
    answers = (configured_project.folder / f"{TABLE}.answers.csv").read_text()
    assert sum(int(line.rpartition(",")[2]) for line in answers.splitlines()[1:]) == 6
    assert "empty,count,1" in answers and "another language,count,1" in answers
    receipt = json.loads((configured_project.folder / f"{TABLE}.receipt.json").read_text())
    (model,) = receipt["parameters"]["language_models"]
    assert (model["model"]["name"], model["model"]["host"]) == ("gpt-9", "127.0.0.1")
    assert (model["answers"], model["served_by"]) == (6, ["gpt-9-2026 fp_1"])
    assert model["decoding"][0]["max_tokens"] == 64
    log = (configured_project.folder / "logs/abolghasemi2026/generate_embedded.log").read_text()
    assert "gpt-9: 4 requests were sent, " in log and "answers per minute, " in log
    assert "prompt tokens and 256 answer tokens, no `prices` configured." in log
    assert "HTTP Request" not in log
    check_key(configured_project, server, SECRET)
