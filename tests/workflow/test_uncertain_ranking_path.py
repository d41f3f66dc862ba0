"""Chapter 3 of heuss2025, full tier, on invented passages of MS MARCO: the path, not results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertForSequenceClassification
from workflow.project import Project

from everycell.collections.msmarco import COLLECTION, QUERY_SETS, read_query_set
from everycell.sources import fetch
from everycell.trec.runs import write_run

RESULTS = "results/full/heuss2025"
NAMES = ("table_3_1", *(f"figure_3_{number}" for number in range(2, 8)))
PASSAGES, LENGTH = 60, 30
UNNAMED = "{scores: null, model: null, candidates: null, depth: 200, runs: {}}"


@pytest.fixture
def queries(mirror: Path, tmp_path: Path) -> list[str]:
    """Ids of the 215 queries."""
    key = QUERY_SETS["qs2"]
    return list(read_query_set("qs2", fetch(key, tmp_path, mirror=mirror, network=False)))


@pytest.fixture
def named(clean: Project, mirror: Path, queries: list[str]) -> Project:
    """Return a project with the published files of MS MARCO, made up, and runs."""
    data = clean.folder / "marco"
    data.mkdir()
    rng = np.random.default_rng(3)
    # A third of the passages has gendered words.
    texts = [
        "he told his father and his brother" if number % 3 == 0 else "the bee told the river"
        for number in range(PASSAGES)
    ]
    lines = "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    (data / COLLECTION).write_text(lines)
    judged = "".join(f"{query}\t0\t{rng.integers(PASSAGES)}\t1\n" for query in queries)
    (data / "qrels.dev.tsv").write_text(judged)
    (data / "queries.train.tsv").write_text("7\twhere is the bee\n8\twho is he\n9\ta river\n")
    (data / "qrels.train.tsv").write_text("7\t0\t1\t1\n8\t0\t0\t1\n9\t0\t4\t1\n")
    run = pd.DataFrame(
        [
            (query, str(document))
            for query in queries
            for document in rng.choice(PASSAGES, LENGTH, replace=False)
        ],
        columns=["query", "document"],
    )
    for name in ("means", "coder-1", "coder-2", "adv"):
        scored = run.assign(score=rng.normal(size=len(run)))
        write_run(scored, data / f"{name}.run", tag=name)
    # As the authors' file is written.
    scores = run.rename(columns={"query": "qid", "document": "docid"})
    scores = scores.assign(
        mean_score=rng.normal(size=len(run)), std_score=rng.uniform(0.1, 0.9, len(run))
    )
    scores.to_csv(data / "scores.csv", index=False)
    clean.edit("config.yaml", "    folder: null\n    qrels", "    folder: marco\n    qrels")
    clean.edit("config.yaml", "passages: 8841823", f"passages: {PASSAGES}")
    return Project(clean.folder, mirror)


def name_runs(project: Project, trained: str = "{}") -> None:
    """Name the authors' scores, and runs of trained methods."""
    project.edit(
        "config.yaml",
        UNNAMED,
        f"{{scores: marco/scores.csv, model: null, candidates: null, depth: 200, runs: {trained}}}",
    )


@pytest.mark.slow
def test_scores_of_the_users_give_the_table_and_all_figures(named):
    coder = '{"2": marco/coder-2.run, "1": marco/coder-1.run}'
    name_runs(named, f'{{CODER: {coder}, ADV: {{"2.0": marco/adv.run}}}}')
    named.build(*(f"{RESULTS}/{name}.verdicts.json" for name in NAMES))
    table = pd.read_csv(named.folder / f"{RESULTS}/table_3_1.csv", dtype="str")
    assert {"UNFAIR", "PUFR"} <= set(table["row"])
    # Random rankings of one relevant passage: a trained method loses nothing, or is beside UNFAIR.
    assert {"CODER", "ADV"} <= set(table["row"])
    report = json.loads((named.folder / f"{RESULTS}/table_3_1.verdicts.json").read_text())
    # The passages are made up.
    assert report["state"] == "stand_in"
    curves = pd.read_csv(named.folder / f"{RESULTS}/figure_3_6.csv")
    strengths = curves[curves["method"] == "CODER"].groupby("metric")["alpha"].agg(list)
    assert strengths["nDCG@10"] == [0, 1, 2]
    crossings = pd.read_csv(named.folder / f"{RESULTS}/figure_3_2.csv")
    assert set(crossings["ranker"]) == {"BERT-Mini"}


@pytest.mark.slow
def test_a_model_of_the_users_gives_scores_with_deviations(named, queries):
    words = sorted("where is the bee who he a river told his father and brother".split())
    vocabulary = [*SPECIAL, *dict.fromkeys(words)]
    (named.folder / "marco/mini").mkdir()
    model = tiny_bert(BertForSequenceClassification, words=len(vocabulary), positions=64)
    write_bert(named.folder / "marco/mini", model, vocabulary)
    named.edit(
        "config.yaml",
        UNNAMED,
        "{scores: null, model: marco/mini, candidates: marco/means.run, depth: 5, runs: {}}",
    )
    named.edit("config.yaml", "    pair: 512", "    pair: 48")
    named.build("work/heuss2025/ch3/cross-encoded.scores.parquet")
    scores = pd.read_parquet(named.folder / "work/heuss2025/ch3/cross-encoded.scores.parquet")
    assert scores.groupby("query").size().to_dict() == dict.fromkeys(queries, 5)
    assert (scores["deviation"] > 0).all() and np.isfinite(scores["mean"]).all()
    # Passages of one text have one score.
    kind = scores["document"].astype(int) % 3 == 0
    assert (scores.groupby(["query", kind])["mean"].std().fillna(0) < 1e-5).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("configured", "said"),
    [
        (UNNAMED, "`uncertain_ranking.msmarco.model` is null"),
        (
            UNNAMED.replace("scores: null", "scores: a.csv"),
            "`uncertain_ranking.msmarco.scores` is 'a.csv', which is not a file",
        ),
        (UNNAMED.replace("runs: {}", "runs: {BIAS: {}}"), "allowed are ADV, CODER"),
        (UNNAMED.replace("runs: {}", "runs: {ADV: {high: a.run}}"), "strength 'high'"),
        (
            UNNAMED.replace("null, depth", "null, depth")
            .replace("scores: null", "scores: marco/scores.csv")
            .replace("runs: {}", 'runs: {ADV: {"1": a.run}}'),
            "has 'a.run' for 1, which is not a file",
        ),
    ],
)
def test_what_is_not_named_is_said_before_a_job_starts(named, configured, said):
    if configured != UNNAMED:
        named.edit("config.yaml", UNNAMED, configured)
    done = named.snakemake("-n", f"{RESULTS}/figure_3_2.csv")
    assert done.returncode != 0
    assert said in done.stdout


@pytest.mark.slow
def test_a_run_without_all_queries_is_refused(named, queries):
    short = named.folder / "marco/adv.run"
    kept = [line for line in short.read_text().splitlines(True) if not line.startswith(queries[3])]
    short.write_text("".join(kept))
    name_runs(named, '{ADV: {"2": marco/adv.run}}')
    done = named.snakemake("--cores", "2", "work/heuss2025/ch3/msmarco.measures.parquet")
    assert done.returncode != 0
    assert f"ADV with strength 2 has no list of query {queries[3]}" in done.stdout
