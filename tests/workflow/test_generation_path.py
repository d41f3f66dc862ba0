"""Counterfactuals of chapter 3 of abolghasemi2026 from a server: the path, not results."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator

import pytest
from language_model_server import Server, reply_of
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
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def named(clean: Project, server: Server) -> Project:
    """Return a project whose counterfactuals come from the server, three of each label."""
    clean.edit("config.yaml", "  model: smollm2\n  template", "  model: mine\n  template")
    clean.edit("config.yaml", "noise: 0.05, samples: 20}", "noise: 0.05, samples: 3}")
    settings = server.settings(workers=1, key="EVERYCELL_TEST_KEY").model_dump(mode="json")
    clean.edit("config.yaml", "  endpoints: {}", f"  endpoints: {json.dumps({'mine': settings})}")
    return clean


@pytest.mark.slow
def test_a_killed_run_goes_on_and_pays_for_no_answer_twice(
    named: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERYCELL_TEST_KEY", SECRET)
    stuck = threading.Event()

    def hang(handler: object, body: object) -> None:
        stuck.set()
        server.closing.wait(120)

    server.replies = [*map(reply_of, SAID[:2]), hang]
    process = named.start("snakemake", "--cores", "1", f"{TABLE}.csv")
    try:
        assert stuck.wait(120)
    finally:
        # Snakemake and its job: they are of one group.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    first = [body for _, body, _ in server.seen]
    assert len(first) == 3
    assert len((named.folder / RECORD).read_text().splitlines()) == 2
    assert not (named.folder / f"{TABLE}.csv").exists()
    server.seen.clear()
    server.replies = [reply_of(text) for text in SAID[2:]]
    assert named.snakemake("--unlock").returncode == 0
    named.build("--cores", "1", f"{TABLE}.csv")
    again = [body for _, body, _ in server.seen]
    # The one that was under way has no answer yet; those before it are not asked again.
    assert len(again) == 4 and again[0] == first[2]
    assert not [body for body in again if body in first[:2]]
    answers = (named.folder / f"{TABLE}.answers.csv").read_text()
    assert sum(int(line.rpartition(",")[2]) for line in answers.splitlines()[1:]) == 6
    assert "empty,count,1" in answers and "another language,count,1" in answers
    receipt = json.loads((named.folder / f"{TABLE}.receipt.json").read_text())
    (model,) = receipt["parameters"]["language_models"]
    assert (model["model"]["name"], model["model"]["host"]) == ("gpt-9", "127.0.0.1")
    assert (model["answers"], model["served_by"]) == (6, ["gpt-9-2026 fp_1"])
    assert model["decoding"][0]["max_tokens"] == 64
    log = (named.folder / "logs/abolghasemi2026/generate_embedded.log").read_text()
    assert "gpt-9: 6 requests, 4 of them not recorded." in log
    assert "tokens of prompts and 256 of answers, no `prices` are named." in log
    assert "HTTP Request" not in log
    # The key was sent, and no file has it.
    assert all(headers["Authorization"] == f"Bearer {SECRET}" for *_, headers in server.seen)
    for path in named.folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
