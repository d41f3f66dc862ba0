"""Chapter 5 of abolghasemi2026 in the full tier, from files and a server: the path, not results."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pandas as pd
import pytest
import toy_corpora
from corpus_server import CorpusServer
from language_model_server import Server, reply_of
from toy_corpora import YEARS
from workflow.endpoint_runs import KEY, check_key, go_on, kill_at, name_endpoint
from workflow.project import Project

TABLE = "results/full/abolghasemi2026/table_5_1"
SECRET = "sk-very-secret-5"
PLACES = toy_corpora.PLACES[:5]


def passage(place: str, monks: str = "a small monastery") -> str:
    return f"The old town of {place} by the sea was founded in {YEARS[place]} by {monks}"


def answer(body: dict) -> dict:
    """What the server says: a sentence in other words, or the first document with a probability."""
    said = body["messages"][-1]["content"]
    if "Question:" not in said:
        place = next(place for place in PLACES if place in said)
        return reply_of(f"A little monastery set up {place}, a seaside town, in {YEARS[place]}.")
    text = "It was then [1]."
    pieces = [("It was then [", -0.1), ("1", -0.5), ("].", -0.1)]
    tokens = [{"token": token, "logprob": value} for token, value in pieces]
    return reply_of(text, logprobs={"content": tokens} if body.get("logprobs") else None)


def write_lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def named(clean: Project, server: Server, tmp_path: Path) -> Project:
    """Return a project whose full tier has five questions, two of which are asked."""
    folder = tmp_path / "nq"
    folder.mkdir()
    write_lines(
        folder / "passages.jsonl", [{"id": each, "text": passage(each) + "."} for each in PLACES]
    )
    questions = [
        {
            "id": f"q{number}",
            "question": f"when was {place} founded",
            "answers": [YEARS[place]],
            "relevant": [place],
        }
        for number, place in enumerate(PLACES)
    ]
    write_lines(folder / "questions.jsonl", questions)
    for run in ("bm25", "unicoil", "tct-colbert"):
        rows = []
        for number, place in enumerate(PLACES):
            others = [each for each in PLACES if each != place]
            for rank, document in enumerate([place, *others], start=1):
                rows.append(f"q{number} Q0 {document} {rank} {-rank} {run}\n")
        (folder / f"{run}.run").write_text("".join(rows))
    listed = {
        str(number): [
            {"is_selected": int(each == place), "passage_text": passage(each, "some monks") + "."}
            for each in PLACES
        ]
        for number, place in enumerate(PLACES)
    }
    msmarco = {
        "query": {str(n): f"how old is {place}" for n, place in enumerate(PLACES)},
        "query_id": {str(n): n for n in range(len(PLACES))},
        "answers": {str(n): [YEARS[place]] for n, place in enumerate(PLACES)},
        "passages": listed,
    }
    (tmp_path / "dev_v2.1.json").write_text(json.dumps(msmarco))
    clean.edit("config.yaml", "    nq: null\n", f"    nq: {folder}\n")
    clean.edit(
        "config.yaml", "    msmarco_qa: null\n", f"    msmarco_qa: {tmp_path}/dev_v2.1.json\n"
    )
    clean.edit(
        "config.yaml", "    models: {}\n    without", "    models: {mine: Mistral}\n    without"
    )
    text = (clean.folder / "config.yaml").read_text()
    block = text[text.index("  full:\n    nq:") :]
    small = re.sub(r"500", "2", block[: block.index("max_tokens")])
    small = small.replace("k: 10", "k: 2").replace("[2, 5, 8, 10]", "[2, 3]")
    text = text.replace(block[: block.index("max_tokens")], small)
    text = text.replace("full: {model: null, candidates", "full: {model: mine, candidates")
    (clean.folder / "config.yaml").write_text(text)
    name_endpoint(clean, server)
    return clean


@pytest.mark.slow
def test_a_killed_study_goes_on_and_asks_nothing_twice(
    named: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    stuck = threading.Event()
    cited = 0

    def hang_at_the_tenth(handler: object, body: dict) -> tuple | None:
        nonlocal cited
        cited += "Question:" in body["messages"][-1]["content"]
        if cited < 10:
            return 200, {}, answer(body)
        stuck.set()
        server.closing.wait(120)
        return None

    server.replies = [hang_at_the_tenth]
    kill_at(stuck, named, f"{TABLE}.csv")
    first = [json.dumps(body) for _, body, _ in server.seen]
    server.seen.clear()
    server.replies = [lambda handler, body: (200, {}, answer(body))]
    go_on(named, f"{TABLE}.csv")
    again = [json.dumps(body) for _, body, _ in server.seen]
    # The one that was under way has no answer yet.
    assert set(first) & set(again) == {first[-1]}
    assert len(set(again)) == len(again)

    table = pd.read_csv(named.folder / f"{TABLE}.csv")
    cells = table[table["metric"] == "attribution recall"]
    # It cites the first document, which is the relevant one.
    assert set(cells["value"]) == {100.0}
    sure = pd.read_csv(named.folder / "results/full/abolghasemi2026/table_5_6.csv")
    relevant = sure[sure["metric"] == "AC relevant"]["value"].astype(float)
    assert relevant.round(2).unique().tolist() == [0.61]
    receipt = json.loads((named.folder / f"{TABLE}.receipt.json").read_text())
    models = receipt["parameters"]["language_models"]
    assert {model["model"]["name"] for model in models} == {"gpt-9"}
    check_key(named, server, SECRET)
    log = (named.folder / "logs/attribution/full/nq_full/paraphrases.log").read_text()
    assert log.startswith("5 questions can be asked")
    assert "5 of 5 questions tried, 5 have all 2 passages: 5 of 5 relevant ones and 5 of 5" in log


@pytest.mark.slow
def test_one_data_set_is_enough_and_comes_by_itself(
    named: Project,
    mirror: Path,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    server.replies = [lambda handler, body: (200, {}, answer(body))]
    config = named.folder / "config.yaml"
    text = re.sub(r"    nq: /.*", "    nq: fetch", config.read_text())
    config.write_text(re.sub(r"    msmarco_qa: /.*", "    msmarco_qa: null", text))
    with CorpusServer() as hosts:
        hosts.add_toy_corpora(places=PLACES)
        named.edit("config.yaml", "downloads: null", f"downloads: {tmp_path}/downloads.json")
        hosts.write_downloads(tmp_path / "downloads.json")
        for name, value in hosts.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        # Answers to the questions of BEIR are released data.
        Project(named.folder, mirror).build(f"{TABLE}.csv")
    folder = named.folder / "results/full/abolghasemi2026"
    cells = pd.read_csv(folder / "table_5_1.csv")
    # It cites the first document, which is BM25's.
    assert set(cells[cells["metric"] == "attribution recall"]["value"]) == {100.0}
    assert set(pd.read_csv(folder / "table_5_2.csv")["dataset"]) == {"NQ"}
    # MS MARCO's tables, and that of retrievers of which there is no run, have no row.
    for empty in ("table_5_9", "table_5_11"):
        assert pd.read_csv(folder / f"{empty}.csv").empty
    assert (folder / "figure_5_9.svg").exists()


@pytest.mark.slow
def test_what_the_full_tier_needs_is_said(clean: Project) -> None:
    done = clean.snakemake("-n", f"{TABLE}.csv")
    assert done.returncode != 0
    assert "`attribution.full.models` is empty; this tier needs language models" in done.stdout
    clean.edit(
        "config.yaml", "    models: {}\n    without", "    models: {smollm2: Mistral}\n    without"
    )
    done = clean.snakemake("-n", f"{TABLE}.csv")
    assert "`attribution.full.nq` is null; this tier needs questions, passages" in done.stdout
    assert "or the other data set below `attribution.full`" in done.stdout
    clean.edit("config.yaml", "    nq: null\n", "    nq: no/such/folder\n")
    done = clean.snakemake("-n", f"{TABLE}.csv")
    assert "'no/such/folder', which is not a folder" in done.stdout
