"""Chapter 6 of lajewska2025, full tier: an endpoint judges the released responses again."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from language_model_server import Server, reply_of
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

TABLE = "results/full/lajewska2025/table_6_7"
SECRET = "sk-judge-4711"


def configure(project: Project, **settings: object) -> None:
    project.configure({"ginger": {"full": settings}})


def label_all(handler: object, body: dict) -> tuple:
    """Support for the odd facts, and no label for the tenth of a prompt."""
    facts = re.findall(r"^(\d+)\. ", body["messages"][-1]["content"].rpartition("Facts:")[2], re.M)
    labels = [
        f"{number}: {'support' if int(number) % 2 else 'not_support'}"
        for number in facts
        if number != "10"
    ]
    return 200, {}, reply_of("\n".join(labels))


@pytest.mark.slow
def test_table_6_7_judged_by_endpoint(
    clean: Project, mirror: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Project(clean.folder, mirror)
    monkeypatch.setenv(KEY, SECRET)
    configure(clean, judges={"mine": "GPT4o"}, topics=2)
    name_endpoint(clean, server)
    server.replies = [label_all]
    clean.build("--cores", "1", f"{TABLE}.verdicts.json")

    table = pd.read_csv(clean.folder / f"{TABLE}.csv")
    assert set(table["metric"]) == {"V_strict GPT4o"}
    assert len(table) == 5 and table["value"].between(0, 1).all()
    labels = pd.read_parquet(clean.folder / "work/ginger/full/judged/mine.parquet")
    assert labels["run"].nunique() == 8
    # By hand: of a run and topic, vital facts with an odd place in their prompt.
    own = labels[(labels["run"] == "baseline_top_5")]
    shares = [
        ((rows["nugget"] - 1) % 10 % 2 == 0)[rows["importance"] == "vital"].mean()
        for _, rows in own.groupby("topic")
    ]
    row = table.set_index("row").at["baseline-top5", "value"]
    assert row == pytest.approx(sum(shares) / 2)

    verdicts = json.loads((clean.folder / f"{TABLE}.verdicts.json").read_text())
    states = pd.DataFrame(verdicts["cells"]).groupby("verdict").size()
    assert states["not run"] > 0
    receipt = json.loads((clean.folder / f"{TABLE}.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    assert receipt["parameters"]["without_a_label"] == {"GPT4o": (labels["support"] == "").sum()}
    check_key(clean, server, SECRET)


TOPICS = ("2024-145979", "2024-36935")


def do_all(handler: object, body: dict) -> dict | tuple:
    """Mark a passage's first sentence, write some words, make facts, and label them."""
    system, prompt = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "Passage:" in prompt:
        passage = prompt.rpartition("Passage: ")[2]
        first = passage.partition(".")[0]
        return reply_of(f"<IN>{first}.</IN>{passage[len(first) + 1 :]}")
    if "List so far:" in prompt:
        return reply_of("- Mice are eaten by owls\n- Ships sail")
    if '"vital"' in system:
        return reply_of("1: vital\n2: okay")
    if "Facts:" in prompt:
        return label_all(handler, body)
    if '"Answer:"' in system:
        return reply_of("Facts: many.\nAnswer: Owls eat them.")
    return reply_of(" ".join(re.findall(r"\w+", prompt)[-6:]).capitalize() + ".")


def write_trec_rag(folder: Path) -> None:
    """Seven invented segments a topic, in two files of the published form."""
    (folder / "segments").mkdir(parents=True)
    subjects = ["Owls", "Mice", "Ships", "Rains", "Trees", "Barns", "Foxes"]
    run = []
    for part, topic in enumerate(TOPICS):
        lines, position = [], 0
        for number, subject in enumerate(subjects):
            docid = f"msmarco_v2.1_doc_{part:02}_0#{number}_{position}"
            text = f"{subject} are in part {part}. They number {number} and more."
            lines.append(json.dumps({"docid": docid, "segment": text}).encode() + b"\n")
            position += len(lines[-1])
            run.append(f"{topic} Q0 {docid} {number + 1} {10 - number} organisers")
        content = b"".join(lines)
        path = folder / f"segments/msmarco_v2.1_doc_segmented_{part:02}.json"
        if part:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))
        else:
            path.write_bytes(content)
    (folder / "run.txt").write_text("\n".join(run))
    topics = [f"{topic}\twhat is in part {part}?\n" for part, topic in enumerate(TOPICS)]
    (folder / "topics.rag24.test.txt").write_text("".join(topics))


@pytest.mark.slow
def test_table_6_7_trec_rag(
    clean: Project, mirror: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Project(clean.folder, mirror)
    monkeypatch.setenv(KEY, SECRET)
    write_trec_rag(clean.folder / "rag")
    configure(clean, judges={"mine": "GPT4o"}, model="mine", trec_rag="rag", duo=None)
    name_endpoint(clean, server)
    server.replies = [do_all]
    page = "work/ginger/rag24/mine/responses.html"
    clean.build("--cores", "2", f"{TABLE}.verdicts.json", page)

    work = clean.folder / "work/ginger/rag24"
    nuggets = pd.read_parquet(work / "mine/nuggets.parquet")
    # A nugget of each passage; the smallest input has five of the seven.
    assert nuggets.groupby("input").size().to_dict() == {"top5": 10, "top10": 14, "top20": 14}
    table = pd.read_csv(clean.folder / f"{TABLE}.csv")
    published = pd.read_csv(clean.folder / "published/lajewska2025/table_6_7.csv")
    own = published[(published["metric"] == "V_strict GPT4o") & (published["value"] != "-")]
    assert set(table["row"]) == set(own["row"]) and set(table["metric"]) == {"V_strict GPT4o"}
    responses = pd.read_parquet(work / "mine/responses.parquet").set_index(["run", "topic"])["text"]
    assert len(responses) == 9 * 2
    assert set(responses["baseline_top_5_cot"]) == {"Owls eat them."}

    # Each sentence leads to nuggets of its own, and these to their passages.
    output = json.loads((clean.folder / page).with_suffix(".json").read_text())
    assert [item["topic"] for item in output] == list(TOPICS)
    for item in output:
        known = {span["nugget"]: span for span in item["spans"]}
        assert len(known) == 7 and all(sentence["nuggets"] for sentence in item["sentences"])
        for span in known.values():
            passage = item["passages"][span["passage"]]
            assert passage[span["start"] : span["end"]] == span["text"]
    assert "what is in part 1?" in (clean.folder / page).read_text()

    created = pd.read_csv(clean.folder / f"{TABLE}.created.csv")
    assert set(created["metric"]) == {"V_strict", "V", "A_strict", "A", "W_strict", "W"}
    # The first of two facts is supported everywhere, and it is the vital one.
    means = created.groupby("metric")["value"].unique()
    assert means["V_strict"].tolist() == [1.0] and means["A_strict"].tolist() == [0.5]
    agreed = pd.read_csv(clean.folder / f"{TABLE}.created_agreement.csv").set_index("metric")
    assert agreed.at["created", "value"] == 2 and agreed.at["topics", "value"] == 2
    assert agreed.at["found", "value"] == agreed.at["found by chance", "value"] == 0
    verdicts = json.loads((clean.folder / f"{TABLE}.verdicts.json").read_text())
    # Two invented topics are not the track's, so no published cell is compared.
    assert (verdicts["state"], verdicts["cells"]) == ("surrogate", [])
    assert "topics.rag24.test.txt" in verdicts["foreign"]
    receipt = json.loads((clean.folder / f"{TABLE}.receipt.json").read_text())
    assert len(receipt["parameters"]["language_models"]) == 5
    check_key(clean, server, SECRET)
