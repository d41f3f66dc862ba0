"""lajewska2025, chapter 3: trec_eval's options, and a printed row from its run."""

import json

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from typer.testing import CliRunner

from everycell.cli import app
from everycell.records.cells import read_cells
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.reproducibility import compare_runs, ranking_agreement
from everycell.trec.runs import read_qrels, read_run, trec_order
from papers.lajewska2025.ch3 import metric_names, row_keys

#: Printed measure -> ours, as the rules of the chapter have it.
MEASURES = {"R@500": "R@500", "MAP": "MAP@500", "MRR": "RR@500", "NDCG": "nDCG@500"}
FOLDER = "cast-reproducibility"


def nested(frame: pd.DataFrame, column: str) -> dict:
    return {
        query: dict(zip(part["document"], part[column], strict=True))
        for query, part in frame.groupby("query")
    }


def test_evaluate_cutoff_500():
    """`-c -l2 -M500`, as long as no topic has more than 500 relevant documents."""
    dice = np.random.default_rng(3)
    topics, documents = 4, 700
    run = pd.DataFrame(
        {
            "query": np.repeat([f"106_{turn}" for turn in range(topics)], documents),
            "document": [f"D{n}" for n in range(documents)] * topics,
            # With ties, also at the cut.
            "score": dice.integers(0, 40, topics * documents).astype(float),
        }
    )
    judged = run.sample(600, random_state=3)
    qrels = judged[["query", "document"]].assign(relevance=dice.integers(0, 5, len(judged)))
    # One topic has its first relevant document below the cut; another one is not answered.
    late = trec_order(run).query("query == '106_0'")["document"].tolist()[600]
    qrels = pd.concat(
        [
            qrels[qrels["query"] != "106_0"],
            pd.DataFrame(
                {"query": ["106_0", "200_1"], "document": [late, "D1"], "relevance": [3, 2]}
            ),
        ]
    )
    ours = evaluate(run, qrels, list(MEASURES.values()), relevance_level=2)
    cut = trec_order(run).groupby("query").head(500)
    peer = pytrec_eval.RelevanceEvaluator(
        nested(qrels, "relevance"),
        {"recall_500", "map", "recip_rank", "ndcg"},
        relevance_level=2,
    ).evaluate(nested(cut, "score"))
    names = ["recall_500", "map", "recip_rank", "ndcg"]
    for topic, row in ours.iterrows():
        expected = [peer[topic][name] for name in names] if topic in peer else [0.0] * 4
        assert row.tolist() == pytest.approx(expected), topic
    assert ours.loc["106_0", "RR@500"] == 0 and "200_1" not in peer


@pytest.mark.released
def test_evaluate_published_baseline(mirror, repository):
    qrels = read_qrels(mirror / FOLDER / "qrels" / "2021.txt.gz")
    run = read_run(
        mirror / FOLDER / "runs-2021" / "t5-canard_bm25_mono-t5_2021.trec.gz",
        queries=qrels["query"].unique(),
    )
    assert qrels["query"].nunique() == run["query"].nunique() == 158
    # The cut-off of nDCG also cuts its ideal ranking.
    assert qrels[qrels["relevance"] > 0].groupby("query").size().max() < 500
    result = evaluate(
        run, qrels, [*MEASURES.values(), "nDCG@3"], relevance_level=2, missing_topics="error"
    ).mean()
    cells = read_cells(repository / "published" / "lajewska2025" / "table_3_2.csv")
    published = cells[cells["row"] == "BaselineOrganizers"].set_index("metric")["value"]
    assert [f"{value:.4f}" for value in result] == published[[*MEASURES, "NDCG@3"]].tolist()


@pytest.mark.released
def test_evaluate_judgements_of_another_year(mirror):
    run = read_run(mirror / FOLDER / "runs-2021" / "t5-canard_bm25_mono-t5_2021.trec.gz")
    with pytest.raises(
        ValueError, match="None of the 208 topics in the qrels has ranked documents"
    ):
        evaluate(run, read_qrels(mirror / FOLDER / "qrels" / "2020.txt.gz"), ["MAP"])


@pytest.mark.released
@pytest.mark.parametrize("year", ["2020", "2021"])
def test_read_qrels_released_scale(mirror, year):
    qrels = read_qrels(mirror / FOLDER / "qrels" / f"{year}.txt.gz", scale=(0, 4))
    assert qrels["relevance"].nunique() == 5


@pytest.mark.released
def test_read_run_released_runs(mirror):
    turns = set(read_qrels(mirror / FOLDER / "qrels" / "2021.txt.gz")["query"])
    paths = sorted((mirror / FOLDER / "runs-2021").glob("*.trec.gz"))
    assert len(paths) == 12
    for path in paths:
        assert set(read_run(path, queries=turns, ranks="error")["query"]) == turns, path.name


@pytest.mark.released
def test_compare_command_tests_of_the_text(mirror):
    """The change of rewriter (rows 1 and 2 of Table 3.3): recall by either test."""
    runs = [
        mirror / FOLDER / "runs-2021" / f"t5-{rewriter}_bm25_mono-t5_2021.trec.gz"
        for rewriter in ("canard", "qrecc")
    ]
    qrels = mirror / FOLDER / "qrels" / "2021.txt.gz"
    options = [
        "--level",
        "2",
        "--measure",
        "R@500",
        "--k",
        "10",
        "--scale",
        "0,4",
        "--format",
        "json",
    ]
    done = CliRunner().invoke(app, ["measure", "compare", *map(str, [*runs, qrels]), *options])
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    (score,) = result["scores"]
    # docs/papers/lajewska2025.md; the means are those of the printed rows.
    assert [round(score[name], 3) for name in ("p_paired", "p_unpaired")] == [0.026, 0.231]
    assert [f"{score[name]:.4f}" for name in ("original", "reproduced")] == ["0.6472", "0.6018"]


@pytest.mark.slow
@pytest.mark.released
@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("T5-CANARD against T5-QReCC", "t5-canard_bm25_mono-t5", "t5-qrecc_bm25_mono-t5"),
        ("BM25 k1 4.46", "t5-canard_bm25-b-446-k-82_mono-t5", "t5-canard_bm25_mono-t5"),
        (
            "ANCE/BM25 without and with",
            "t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
            "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        ),
    ],
)
def test_compare_runs_values_of_the_page(mirror, repository, words, first, second):
    runs = [
        read_run(mirror / FOLDER / "runs-2021" / f"{name}_2021.trec.gz") for name in (first, second)
    ]
    qrels = read_qrels(mirror / FOLDER / "qrels" / "2021.txt.gz")
    result = compare_runs(*runs, qrels, ["nDCG@3", "R@500"], relevance_level=2, depths=[10, 500])
    by_id = ranking_agreement(*runs, depth=500, union="ids")["kendall_tau_union"].mean()
    order, scores = result.order.loc[500], result.scores

    def p(measure):
        output = (
            "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
            for value in scores.loc[measure, ["p_paired", "p_unpaired"]]
        )
        return ", ".join(output)

    cells = [
        *(f"{x:.3f}" for x in (order["kendall_tau_union"], by_id, order["rbo"])),
        f"{scores.loc['nDCG@3', 'rmse']:.3f}",
        p("nDCG@3"),
        p("R@500"),
    ]
    page = (repository / "docs" / "comparing-runs.md").read_text("utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {words}"))
    assert line.split(" | ", 1)[1] == " | ".join(cells) + " |"
    if words.startswith("T5-CANARD"):
        # Lists without a common document, which tau of the union takes for equal.
        topics = result.by_topic
        blind = (topics["kendall_tau_union@10"] > 1 - 1e-9) & (topics["rbo@10"] == 0)
        assert f"{blind.sum()} are such cases at depth 10" in " ".join(page.split())


def test_row_keys_and_metric_names_of_a_table():
    expected = {"r1_rewriter": "T5_CANARD", "r2_rewriter": "T5_QReCC", "cast_year": "2021"}
    assert row_keys("4", "T5_CANARD, T5_QReCC", "2021") == expected
    names = metric_names("4", ["R@500", "MAP", "NDCG@3"])
    assert names == {"R@500": "Recall", "NDCG@3": "NDCG@3"}
