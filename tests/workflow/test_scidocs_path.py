"""The full tier of chapter 2 on a few invented papers and a random BERT: the path, not results."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from tiny_bert import tiny_bert, write_bert
from workflow.identified import pass_for_the_papers
from workflow.project import Project

from everycell.records.cells import read_spreads
from everycell.trec.runs import write_run
from papers.abolghasemi2026.ch2_scidocs import FOLDERS, METADATA

WORDS = ["bee", "river", "bridge", "model", "graph", "protein", "star", "verb"]
VOCABULARY = [
    *("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s"),
    *WORDS,
]
#: Queries of each file of a task; a list has two relevant documents and three others.
QUERIES = {"test": 3, "val": 4}
CHAPTER = "results/full/abolghasemi2026"
#: That of config.yaml, and the next one.
FIRST, SECOND = "seed-20261121", "seed-20261122"
#: The committed settings with a length and batches that a random BERT of one layer can have.
LENGTHS = (
    "{training: 512, text: 512, query: null, expanded: 512, zero_shot: 512, pair: 512}",
    "{training: 16, text: 16, query: null, expanded: 16, zero_shot: 16, pair: 16}",
)


def write_scidocs(folder: Path) -> None:
    """Papers of one subject each; what shares the subject is relevant."""
    papers = {
        f"p{number:02}": {
            "title": f"The {WORDS[number % 8]}",
            "abstract": f"{WORDS[number % 8]} {WORDS[number % 5]} {WORDS[number % 3]}",
        }
        for number in range(40)
    }
    for position, name in enumerate(FOLDERS.values()):
        (folder / name).mkdir(parents=True)
        for file, size in QUERIES.items():
            lines = []
            for query in range(size):
                number = position * 7 + query + (3 if file == "val" else 0)
                for step in (1, 3, 8, 10, 16):
                    relevance = int(step % 8 == 0)
                    lines.append(f"p{number:02} 0 p{(number + step) % 40:02} {relevance}\n")
            (folder / name / f"{file}.qrel").write_text("".join(lines), encoding="utf-8")
    (folder / METADATA).write_text(json.dumps(papers), encoding="utf-8")


@pytest.fixture
def configured_project(clean: Project) -> Project:
    """Return a project whose configuration names both folders."""
    write_scidocs(clean.folder / "scidocs")
    model = tiny_bert(words=len(VOCABULARY), positions=32, size=16)
    write_bert(clean.folder / "encoder", model, VOCABULARY)
    clean.edit("config.yaml", "{folder: null, ", "{folder: scidocs, ")
    clean.edit(
        "config.yaml",
        "encoders: {bert: null, scibert: null, ",
        "encoders: {bert: encoder, scibert: encoder, ",
    )
    clean.edit("config.yaml", *LENGTHS)
    clean.edit(
        "config.yaml", "full:\n    seeds: 3\n    lengths", "full:\n    seeds: 2\n    lengths"
    )
    for rate in ("{epochs: 5, batch: 8, ", "{epochs: 5, batch: 2, "):
        clean.edit("config.yaml", rate, "{epochs: 1, batch: 4, ")
    clean.edit("config.yaml", "{epochs: 30, batch: 32, ", "{epochs: 3, batch: 4, ")
    pass_for_the_papers(clean.folder, "config.yaml")
    clean.edit("config.yaml", "patience: 10, dropout", "patience: 1, dropout")
    return clean


#: Trained rankers of Table 2.1.
TRAININGS = [
    (kind, encoder, seed)
    for kind, encoder in (
        *product(("tilde", "tildev2"), ("bert", "scibert")),
        *product(("tildev2-expanded-200", "tildev2-expanded-300"), ["scibert"]),
        *product(("cross-encoder", "mtft"), ["scibert"]),
    )
    for seed in (FIRST, SECOND)
]


def write_other_runs(folder: Path) -> None:
    """Runs that no model was trained for, with scores out of the ids."""
    lists = pd.read_parquet(folder / "candidates.parquet")

    def invent(name: str, rows: pd.DataFrame, factor: int) -> None:
        pairs = rows[["query", "document_id"]].drop_duplicates()
        pairs = pairs.set_axis(["query", "document"], axis="columns")
        scores = pairs["document"].str.removeprefix("p").astype(int) * factor % 31
        run = folder / f"runs/{name}.run"
        if not run.exists():
            write_run(pairs.assign(score=scores.astype(float)), run, tag="invented")

    # SciBERT's word pieces would have to be fetched.
    invent("bm25.SciBERT-Token", lists, 3)
    for task in FOLDERS:
        for factor, (kind, encoder, seed) in enumerate(TRAININGS, start=5):
            name = f"{kind}.{encoder}.{task}.{seed}"
            invent(name, lists[lists["task"] == task], factor)


def check_that_the_best_is_kept(model: Path) -> None:
    """A cross-encoder is kept as it was when it ranked the validation lists best."""
    record = json.loads((model / "training.json").read_text())
    values = [item["value"] for item in record["validations"]]
    best = [item["step"] for item in record["validations"]][values.index(max(values))]
    assert 2 <= len(values) <= 3 and record["best_step"] == best
    assert record["inputs"]["settings"]["dropout"] == 0.05


@pytest.mark.slow
def test_chapter_2_full(configured_project):
    folder = configured_project.folder / "work/scidocs"
    kinds = ("tilde", "tildev2", "mtft")
    created = [f"work/scidocs/runs/{kind}.scibert.cite.{FIRST}.run" for kind in kinds]
    again = f"models/tildev2.scibert.cite.{SECOND}"
    configured_project.build(*created, f"work/scidocs/{again}")
    models = [folder / f"models/tildev2.scibert.cite.{FIRST}", folder / again]
    assert len({(model / "model.safetensors").read_bytes() for model in models}) == 2
    record = json.loads((folder / f"models/tilde.scibert.cite.{FIRST}/training.json").read_text())
    assert record["inputs"]["options"]["optimiser"] == "adam"
    assert record["inputs"]["options"]["learning_rate"] == 2e-5
    check_that_the_best_is_kept(folder / f"models/mtft.scibert.cite.{FIRST}")
    # A model scores the lists of its task and no others.
    lists = pd.read_parquet(folder / "candidates.parquet")
    ranked = lists[(lists["task"] == "cite") & (lists["split"] != "train")]
    scored = (configured_project.folder / created[1]).read_text().splitlines()
    assert {tuple(line.split()[:3:2]) for line in scored} == set(
        ranked[["query", "document_id"]].itertuples(index=False, name=None)
    )

    # Trainings of the other tasks would only take time: their runs are invented.
    write_other_runs(folder)
    lacking = {"table_2_1": 16, "table_2_3": 0, "table_2_4": 0, "figure_2_3": 1}
    configured_project.build(*(f"{CHAPTER}/{name}.verdicts.json" for name in lacking))
    assert sorted(path.name for path in (folder / "models").iterdir()) == [
        f"mtft.scibert.cite.{FIRST}",
        f"tilde.scibert.cite.{FIRST}",
        f"tildev2.scibert.cite.{FIRST}",
        f"tildev2.scibert.cite.{SECOND}",
    ]
    for name, number in lacking.items():
        report = configured_project.verdicts(f"abolghasemi2026/{name}", "full")
        assert report["state"] == "reproduced"
        verdicts = [cell["verdict"] for cell in report["cells"]]
        assert verdicts.count("not run") == number, name
        assert set(verdicts) <= {"equal", "within tolerance", "different", "not run", "quoted"}
        outcomes = {claim["on_reproduced"] for claim in report["claims"]}
        assert outcomes - {"inconclusive", "not run"}
    table, seeds = (
        pd.read_csv(configured_project.folder / f"{CHAPTER}/table_2_1{part}.csv", dtype=str)
        for part in ("", ".seeds")
    )
    keys = ["row", "model", "detail", "task", "metric"]
    spread = read_spreads(seeds, keys, where="table_2_1")
    # Eight trained rows, four tasks, two measures.
    assert len(spread) == 64 and {result.seeds for result in spread.values()} == {2}
    for *key, value in table[[*keys, "value"]].itertuples(index=False, name=None):
        if tuple(key) in spread:
            assert float(value) == pytest.approx(spread[tuple(key)].mean)
    # The invented runs have no job, and nothing else is wrong.
    checked = configured_project.everycell("verify")
    files = {line.partition(",")[0] for line in checked.stdout.splitlines()}
    runs = {f"work/scidocs/runs/{path.name}" for path in (folder / "runs").iterdir()}
    assert checked.returncode == 1 and files and files <= runs - {*created}


@pytest.mark.released
@pytest.mark.slow
def test_text_2_full(configured_project, mirror):
    configured_project = Project(configured_project.folder, mirror)
    encoded = configured_project.folder / "work/scidocs/encoded"
    encoded.mkdir(parents=True)
    # Only the expansions of 24 models are invented.
    for position, task in enumerate(FOLDERS):
        for size, added in ((100, 2), (200, 49), (300, 128)):
            frame = pd.DataFrame({"document_id": ["p00", "p01"], "found": 200, "added": added})
            frame["added"] += [position, -position]
            frame.to_csv(
                encoded / f"tildev2-expanded-{size}.scibert.{task}.{FIRST}.csv", index=False
            )
    rules = ("collection_scidocs", "fetch_wordpiece-vocab", "tokenise", "index", "tune_bm25")
    rules += ("abolghasemi2026_ch2_stated_sizes", "identity", "verdicts")
    created = f"{CHAPTER}/text_2.verdicts.json"
    done = configured_project.snakemake("--cores", "2", "--allowed-rules", *rules, "--", created)
    assert done.returncode == 0, done.stdout
    report = configured_project.verdicts("abolghasemi2026/text_2", "full")
    verdicts = {cell["key"]["claim"]: cell["verdict"] for cell in report["cells"]}
    assert len(verdicts) == 22 and "not run" not in verdicts.values()
    assert verdicts["new tokens appended on average with m=200"] == "equal"
    assert verdicts["new tokens appended on average with m=100"] == "different"
    assert verdicts["alpha step"] == "quoted"
    result = pd.read_csv(
        configured_project.folder / f"{CHAPTER}/text_2.csv", dtype="str"
    ).set_index("claim")
    # As `write_scidocs` makes them.
    assert result.loc["query papers per task", "value"] == str(QUERIES["test"])
    assert result.loc["candidates per query: positives up to", "value"] == "2"
    assert result.loc["candidates per query: negatives", "value"] == "3"
    mean = float(result.loc["mean tokens of abstract+title, BERT tokenizer", "value"])
    assert 5 <= mean <= 7


@pytest.mark.slow
def test_chapter_2_full_planned(configured_project):
    tables = [f"{CHAPTER}/table_2_{number}.csv" for number in range(1, 5)]
    plan = configured_project.planned(*tables)
    # Two kinds for BERT and for SciBERT, and two cross-encoders; one model a task and seed.
    assert plan["train_scidocs"] == 32 and plan["train_pairs_scidocs"] == 16
    assert plan["encode_scidocs"] == 32 and plan["encode_expanded_scidocs"] == 16
    assert not {"train", "encode", "collection_pydocs", "collection_cacm"} & plan.keys()
    configured_project.edit("config.yaml", "tilde_msmarco: null", "tilde_msmarco: encoder")
    assert configured_project.planned(*tables)["encode_scidocs"] == 33
