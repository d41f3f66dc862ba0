"""Chapter 5 of heuss2025, full tier: an endpoint answers, cites, and is asked again."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from language_model_server import Server, reply_of
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

RESULTS = "results/full/heuss2025"
SECRET = "sk-cites-4711"
CLAIMS = {
    "owls": ("hunt at", "night"),
    "bees": ("bees make", "honey"),
    "ants": ("ants dig", "nests"),
}
PASSAGES = {
    "p1": "Owls hunt at night.",
    "p2": "Owls are birds.",
    "p3": "Bees make honey.",
    "p4": "Bees live in hives.",
    "p5": "Ants dig nests.",
    "p6": "Ants are small.",
}


def shown(body: dict) -> tuple[str, dict[str, str]]:
    """Which claim is asked for, and the documents by their numbers."""
    prompt = body["messages"][-1]["content"]
    question = prompt.rpartition("Question: ")[2]
    return next(name for name in CLAIMS if name in question), dict(
        re.findall(r"^\[(\d+)\] (.*)$", prompt, re.MULTILINE)
    )


def from_words(handler: object, body: dict) -> tuple:
    """Who knows the answer, and cites all documents with its word but for the second of them."""
    claim, documents = shown(body)
    word = CLAIMS[claim][1]
    found = [number for number, text in documents.items() if word in text.lower()]
    cited = ",".join(found)
    marked = f"<co: {cited}>{word}</co: {cited}>" if found else word
    return reply_of(
        f"Relevant Documents: {','.join(documents)}\nCited Documents: {cited or 'None'}\n"
        f"Answer: It is {word}.\nGrounded answer: It is {marked}."
    )


def write_data(project: Project) -> None:
    """Three questions, two passages of each, and the run that found them."""
    folder = project.folder / "cited"
    folder.mkdir()
    lines = [{"id": name, "text": text} for name, text in PASSAGES.items()]
    (folder / "passages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    lines = [
        {"id": f"q{place}", "question": f"What of {name}?", "relevant": []}
        for place, name in enumerate(CLAIMS)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = [
        f"q{place} Q0 p{2 * place + rank} {rank} {3 - rank} mine\n"
        for place in range(3)
        for rank in (1, 2)
    ]
    (folder / "retrieved.run").write_text("".join(run))


def configure(project: Project, models: str) -> None:
    project.edit(
        "config.yaml", "    models: {}\n    data: null", f"    models: {models}\n    data: cited"
    )
    project.edit(
        "config.yaml", "    questions: 1444\n    depth: 5", "    questions: 9\n    depth: 2"
    )


@pytest.mark.slow
def test_an_endpoint_is_asked_again_with_forged_documents(
    clean: Project, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    write_data(clean)
    configure(clean, "{mine: spans}")
    name_endpoint(clean, server)
    server.replies = [from_words]
    names = ["table_5_2", "figure_5_3", "figure_5_4", "figure_5_6", "figure_5_7", "text_5_5"]
    targets = [f"{RESULTS}/{name}.verdicts.json" for name in names]
    # A model behind an endpoint needs no GPU here.
    clean.build("--cores", "1", *targets, "--resources", "gpu=0")

    numbers = pd.read_csv(clean.folder / f"{RESULTS}/text_5_5.csv").set_index("claim")["value"]
    # By hand: whoever matches words cites each random document that is forged, and never loses
    # the statement; the passage without the word is relevant and not cited.
    assert numbers["questions of NaturalQuestions"] == 3
    assert numbers["random document: forged one cited, share"] == 100
    assert numbers["pairs with a relevant document that is not cited"] == 3
    assert numbers["relevant, not cited: forged one cited, share"] == 100
    assert numbers["documents predicted to be cited: cited"] == 100
    selection = pd.read_csv(clean.folder / f"{RESULTS}/table_5_2.csv")
    counts = selection.set_index(["row", "selection_step"])["value"]
    assert counts["Cited less than all selected documents", "Pred. Rel."] == 3
    assert counts["Cited all selected documents", "Pred. Cited"] == 3
    shares = pd.read_csv(clean.folder / f"{RESULTS}/figure_5_6.shares.csv")
    found = shares[shares["kind"] == "random"].set_index("metric")["value"]
    assert found["statement removed"] == 100 and found["forged alone"] == 100
    report = json.loads((clean.folder / f"{RESULTS}/table_5_2.verdicts.json").read_text())
    assert {cell["verdict"] for cell in report["cells"]} == {"differs"}
    receipt = json.loads((clean.folder / f"{RESULTS}/text_5_5.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    check_key(clean, server, SECRET)

    # Each context is asked once, and none again by a second run.
    asked = len(server.seen)
    bodies = {json.dumps(body["messages"]) for _, body, _ in server.seen}
    assert asked == len(bodies)
    clean.build("--cores", "1", f"{RESULTS}/text_5_5.csv", "--forcerun", "heuss2025_ch5_asked")
    assert len(server.seen) == asked


def test_what_the_experiment_needs_is_said(clean: Project) -> None:
    done = clean.snakemake("-n", f"{RESULTS}/figure_5_6.png")
    assert done.returncode != 0
    assert "`citation_faithfulness.full.models` is empty; this tier needs" in done.stdout
    configure(clean, "{smollm2: spans}")
    (clean.folder / "cited").mkdir()
    done = clean.snakemake("-n", f"{RESULTS}/figure_5_6.png")
    assert (
        "`citation_faithfulness.full.data` is 'cited', which has no questions.jsonl" in done.stdout
    )
