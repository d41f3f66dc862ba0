"""lajewska2025, chapter 3: trec_eval's options, and a printed row from its run."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from everycell.artefacts import read_cells
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.runs import read_qrels, read_run, trec_order

#: Printed measure -> ours, as the rules of the chapter have it.
MEASURES = {"R@500": "R@500", "MAP": "MAP@500", "MRR": "RR@500", "NDCG": "nDCG@500"}
FOLDER = "cast-reproducibility"


def nested(frame: pd.DataFrame, column: str) -> dict:
    return {
        query: dict(zip(part["document"], part[column], strict=True))
        for query, part in frame.groupby("query")
    }


def test_measures_cut_at_500_are_those_of_a_run_cut_at_500():
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
def test_the_printed_row_of_the_baseline(mirror, repository):
    qrels = read_qrels(mirror / FOLDER / "qrels" / "2021.txt.gz")
    run = read_run(
        mirror / FOLDER / "runs-2021" / "t5-canard_bm25_mono-t5_2021.trec.gz",
        queries=qrels["query"].unique(),
    )
    assert qrels["query"].nunique() == run["query"].nunique() == 158
    # What makes a cut-off of nDCG one of its ideal ranking's too.
    assert qrels[qrels["relevance"] > 0].groupby("query").size().max() < 500
    found = evaluate(
        run, qrels, [*MEASURES.values(), "nDCG@3"], relevance_level=2, missing_topics="error"
    ).mean()
    cells = read_cells(repository / "published" / "lajewska2025" / "table_3_2.csv")
    printed = cells[cells["row"] == "BaselineOrganizers"].set_index("metric")["value"]
    assert [f"{value:.4f}" for value in found] == printed[[*MEASURES, "NDCG@3"]].tolist()


@pytest.mark.released
def test_judgements_of_another_year_are_refused(mirror):
    run = read_run(mirror / FOLDER / "runs-2021" / "t5-canard_bm25_mono-t5_2021.trec.gz")
    with pytest.raises(ValueError, match="None of the 208 topics of the qrels is answered"):
        evaluate(run, read_qrels(mirror / FOLDER / "qrels" / "2020.txt.gz"), ["MAP"])
