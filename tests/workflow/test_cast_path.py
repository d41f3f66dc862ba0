"""Chapter 3 of lajewska2025, full tier, on invented runs of 2020: the path, not results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from workflow.project import Project

from everycell.trec.qrels import read_qrels
from everycell.trec.runs import write_run

TABLES = "results/full/lajewska2025"
#: First lines of the run files that Tables 3.3 and 3.4 name.
SYSTEMS = [
    "t5-canard_bm25_mono-t5",
    "t5-qrecc_bm25_mono-t5",
    "t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
    "t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
    "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    "prf-17-26_t5-canard_ance_bm25-b-45-k-95_t5-qrecc_mono-duo-t5",
    "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_t5-canard_mono-duo-t5",
]


@pytest.fixture
def named(clean: Project, mirror: Path) -> Project:
    """Return a project whose configuration names a folder for the runs."""
    (clean.folder / "runs").mkdir()
    clean.edit("config.yaml", "  runs_2020: null", "  runs_2020: runs")
    return Project(clean.folder, mirror)


def write_runs(folder: Path, qrels: pd.DataFrame) -> None:
    """Each system finds one judged document in ten more than the one before, in any order."""
    dice = np.random.default_rng(7)
    found = dice.random(len(qrels))
    for place, system in enumerate(SYSTEMS):
        run = qrels[found < 0.2 + place / 10][["query", "document"]]
        write_run(
            run.assign(score=dice.random(len(run))), folder / f"{system}_2020.trec", tag=system
        )


@pytest.mark.released
@pytest.mark.slow
def test_runs_of_a_folder_give_the_cells_of_2020(named, mirror):
    qrels = read_qrels(mirror / "cast-reproducibility/qrels/2020.txt.gz")
    write_runs(named.folder / "runs", qrels)
    reports = [f"{TABLES}/{name}.verdicts.json" for name in ("text_3_4", "text_3_4_1")]
    named.build(*reports, f"{TABLES}/table_3_4.verdicts.json")
    read = {
        name: pd.read_csv(named.folder / TABLES / f"{name}.csv", dtype={"cast_year": "str"})
        for name in ("table_3_3", "table_3_4", "text_3_4", "text_3_4_1")
    }
    recall = read["table_3_3"].query("metric == 'R@1000' and cast_year == '2020'")["value"]
    # Of the relevant ones about as many as of all.
    assert recall.tolist() == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 0.7], abs=0.05)
    assert set(read["text_3_4"]["cast_year"]) == {"2020", "2021"}
    changes = read["text_3_4_1"].set_index(["comparison", "metric", "end"])["value"]
    first, third = recall.iloc[[0, 2]]
    assert changes["rankers", "recall change", "highest"] == pytest.approx(
        100 * (third / first - 1)
    )
    # What the released runs of 2021 give is the print, whatever those of 2020 are.
    report = json.loads((named.folder / f"{TABLES}/table_3_4.verdicts.json").read_text())
    verdicts = {cell["key"]["cast_year"]: set() for cell in report["cells"]}
    for cell in report["cells"]:
        verdicts[cell["key"]["cast_year"]].add(cell["verdict"])
    assert verdicts["2021"] == {"equal"} and "differs" in verdicts["2020"]


@pytest.mark.released
@pytest.mark.slow
def test_a_run_of_passages_is_measured_as_one_of_documents(clean, mirror):
    qrels = read_qrels(mirror / "cast-reproducibility/qrels/2021.txt.gz")
    relevant = qrels[qrels["relevance"] >= 2][["query", "document"]]
    # Each relevant document twice, by its passages.
    run = pd.concat(
        [
            relevant.assign(document=relevant["document"] + f"-{passage}", score=float(passage))
            for passage in (1, 2)
        ]
    )
    write_run(run, clean.folder / "organisers.run", tag="org")
    clean.edit("config.yaml", "  organisers_run: null", "  organisers_run: organisers.run")
    named = Project(clean.folder, mirror)
    named.build(f"{TABLES}/text_3_5.verdicts.json")
    cells = pd.read_csv(named.folder / TABLES / "text_3_5.csv").set_index("metric")["value"]
    turns = qrels["query"].nunique()
    answered = relevant["query"].nunique() / turns
    assert cells["R@500"] == pytest.approx(answered) == cells["MAP"]
    report = named.verdicts("lajewska2025/text_3_5", "full")
    verdicts = {cell["key"]["row"]: cell["verdict"] for cell in report["cells"]}
    assert verdicts == {"organisers’ run file": "differs", "BaselineOrganizers@TREC’21": "quoted"}


def test_a_run_file_that_is_not_there_is_named(clean):
    done = clean.snakemake("-n", f"{TABLES}/text_3_5.csv")
    assert done.returncode != 0 and "`cast_systems.organisers_run` is null" in done.stdout


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (None, "`cast_systems.runs_2020` is null"),
        ("runs", "'runs', which is no folder"),
        ("src", "'src', which has no t5-canard_bm25_mono-t5_2020.trec(.gz)"),
    ],
)
def test_runs_that_are_not_there_are_named(clean, folder, message):
    if folder:
        clean.edit("config.yaml", "  runs_2020: null", f"  runs_2020: {folder}")
    done = clean.snakemake("-n", f"{TABLES}/table_3_3.csv")
    assert done.returncode != 0 and message in done.stdout


def test_a_rewriter_that_nobody_named_is_an_error(clean):
    done = clean.snakemake("-n", "work/castturns/rewrites/2021.qrecc.csv")
    assert done.returncode != 0 and "`cast_systems.rewriters.qrecc` is null" in done.stdout
