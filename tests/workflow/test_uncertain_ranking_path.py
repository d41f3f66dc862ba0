"""Chapter 3 of heuss2025, full tier, on invented passages of MS MARCO: the path, not results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rehearsal.material import fair_reranking
from rehearsal.stage import Stage
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertForSequenceClassification
from workflow.project import Project

from everycell.trec.runs import write_run

RESULTS = "results/full/heuss2025"
NAMES = ("table_3_1", *(f"figure_3_{number}" for number in range(2, 8)))
DATA = "data/msmarco"
SCORES = "data/msmarco_fair_data/msmarco_pointwise_uncertainty.csv"


@pytest.fixture
def configured_project(clean: Project, mirror: Path, stage: Stage) -> Project:
    """Return a project with the published files of MS MARCO, made up, and runs."""
    settings = fair_reranking(stage)
    del settings["uncertain_ranking"]
    clean.configure(settings)
    data = clean.folder / DATA
    (data / "queries.train.tsv").write_text("7\twhere is the bee\n8\twho is he\n9\ta river\n")
    (data / "qrels.train.tsv").write_text("7\t0\t1\t1\n8\t0\t0\t1\n9\t0\t4\t1\n")
    rng = np.random.default_rng(4)
    run = pd.read_csv(clean.folder / SCORES, dtype="str")[["qid", "docid"]]
    run.columns = ["query", "document"]
    for name in ("means", "coder-1", "coder-2", "adv"):
        scored = run.assign(score=rng.normal(size=len(run)))
        write_run(scored, data / f"{name}.run", tag=name)
    return Project(clean.folder, mirror)


def change(project: Project, **settings: object) -> None:
    """Name scores, models and runs."""
    project.configure({"uncertain_ranking": {"msmarco": settings}})


def queries_of(project: Project) -> list[str]:
    """Ids of the 215 queries."""
    return [line.split()[0] for line in (project.folder / DATA / "qrels.dev.tsv").open()]


@pytest.mark.slow
def test_chapter_3_from_scores(configured_project):
    coder = {"2": f"{DATA}/coder-2.run", "1": f"{DATA}/coder-1.run"}
    change(
        configured_project, scores=SCORES, runs={"CODER": coder, "ADV": {"2.0": f"{DATA}/adv.run"}}
    )
    configured_project.build(*(f"{RESULTS}/{name}.verdicts.json" for name in NAMES))
    table = pd.read_csv(configured_project.folder / f"{RESULTS}/table_3_1.csv", dtype="str")
    assert {"UNFAIR", "PUFR"} <= set(table["row"])
    # On random rankings with one relevant passage, trained methods may lose nothing.
    assert {"CODER", "ADV"} <= set(table["row"])
    # Scores from a file are over sampled heads already.
    pd.testing.assert_frame_equal(
        pd.read_csv(configured_project.folder / f"{RESULTS}/table_3_1.sampled.csv", dtype="str"),
        table,
    )
    report = json.loads(
        (configured_project.folder / f"{RESULTS}/table_3_1.verdicts.json").read_text()
    )
    # The passages are made up.
    assert report["state"] == "surrogate"
    curves = pd.read_csv(configured_project.folder / f"{RESULTS}/figure_3_6.csv")
    strengths = curves[curves["method"] == "CODER"].groupby("metric")["alpha"].agg(list)
    assert strengths["nDCG@10"] == [0, 1, 2]
    crossings = pd.read_csv(configured_project.folder / f"{RESULTS}/figure_3_2.csv")
    assert set(crossings["ranker"]) == {"BERT-Mini"}


@pytest.mark.slow
def test_scores_from_model(configured_project):
    words = sorted("where is the bee who he a river told his father and brother".split())
    vocabulary = [*SPECIAL, *dict.fromkeys(words)]
    folder = configured_project.folder / DATA / "mini"
    folder.mkdir()
    model = tiny_bert(BertForSequenceClassification, words=len(vocabulary), positions=64)
    write_bert(folder, model, vocabulary)
    change(configured_project, model=f"{DATA}/mini", candidates=f"{DATA}/means.run", depth=5)
    configured_project.configure({"term_fairness": {"msmarco": {"pair": 48}}})
    configured_project.build("work/heuss2025/ch3/cross-encoded.scores.parquet")
    scores = pd.read_parquet(
        configured_project.folder / "work/heuss2025/ch3/cross-encoded.scores.parquet"
    )
    assert scores.groupby("query").size().to_dict() == dict.fromkeys(
        queries_of(configured_project), 5
    )
    assert (scores["deviation"] > 0).all() and np.isfinite(scores["mean"]).all()
    # Passages of one text have one score.
    kind = scores["document"].astype(int) % 3 == 0
    assert (scores.groupby(["query", kind])["mean"].std().fillna(0) < 1e-5).all()


@pytest.mark.slow
def test_measures_missing_query(configured_project):
    query, short = queries_of(configured_project)[3], configured_project.folder / DATA / "adv.run"
    remaining = [line for line in short.read_text().splitlines(True) if not line.startswith(query)]
    short.write_text("".join(remaining))
    change(configured_project, scores=SCORES, runs={"ADV": {"2": f"{DATA}/adv.run"}})
    done = configured_project.snakemake(
        "--cores", "2", "work/heuss2025/ch3/msmarco.measures.parquet"
    )
    assert done.returncode != 0
    assert f"ADV with strength 2 has no list for query {query}" in done.stdout
