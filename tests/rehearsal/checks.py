"""Expected results of a rehearsal, by hand from its material."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest
import toy_corpora
from rehearsal.stage import Stage
from workflow.project import Project

from everycell.receipts.provenance import read_lineage
from everycell.trec.runs import read_qrels, read_run


def list_explanations(project: Project, stage: Stage) -> None:
    points = pd.read_csv(project.folder / "results/full/heuss2025/figure_4_4.csv")
    assert set(points["data"]) == {"MQ2008", "MSLR-WEB10K"}
    assert len(points) == 2 * 2 * 3 * 8 * 5
    features = pd.read_csv(project.folder / "results/full/heuss2025/figure_4_4.features.csv")
    # The one that decides the labels of each fold.
    first = features.groupby("data", sort=False).first()
    assert first["feature"].tolist() == ["feature_7", "feature_100"]
    report = project.verdicts("heuss2025/figure_4_4", "full")
    assert len(report["claims"]) == 9


def labels_of_annotators(project: Project, stage: Stage) -> None:
    results = project.folder / "results/full/abolghasemi2026"
    agreement = pd.read_csv(results / "table_3_3.csv").set_index(["row", "dataset"])["value"]
    assert agreement["Dialogue Coherence"].tolist() == [100, 100]
    # Two satisfied and two dissatisfied originals each; the annotators disagree on one of four.
    assert agreement["Satisfaction Label"].tolist() == [0.5, 0.5]
    shares = pd.read_csv(results / "table_3_4.csv").set_index(["row", "dataset"])["value"]
    assert shares["Overall"].tolist() == [75, 75]
    sizes = pd.read_csv(results / "table_3_5.csv").set_index(["row", "dataset", "collection"])
    # All test samples, and the dialogues of this rehearsal whose label is flipped.
    totals = sizes["value"].loc["Total"].unstack()
    assert totals["Main"].to_dict() == {"MultiWOZ": 851, "SGD": 924}
    assert totals["CF"].to_dict() == {"MultiWOZ": 3, "SGD": 3}
    form = pd.read_csv(project.folder / "work/satisfaction/full/annotation/form.csv")
    assert len(form) == 2 * (4 + 1)


def citations(project: Project, stage: Stage) -> None:
    results = project.folder / "results/full/heuss2025"
    numbers = pd.read_csv(results / "text_5_5.csv").set_index("claim")["value"]
    # Whoever matches words cites each random document that is forged, and never loses the
    # statement; the passage without the word is relevant and not cited.
    assert numbers["questions of NaturalQuestions"] == 3
    assert numbers["random document: forged one cited, share"] == 100
    assert numbers["pairs with a relevant document that is not cited"] == 3
    assert numbers["relevant, not cited: forged one cited, share"] == 100
    assert numbers["documents predicted to be cited: cited"] == 100
    counts = pd.read_csv(results / "table_5_2.csv").set_index(["row", "selection_step"])["value"]
    assert counts["Cited less than all selected documents", "Pred. Rel."] == 3
    assert counts["Cited all selected documents", "Pred. Cited"] == 3
    shares = pd.read_csv(results / "figure_5_6.shares.csv")
    result = shares[shares["kind"] == "random"].set_index("metric")["value"]
    assert result["statement removed"] == 100 and result["forged alone"] == 100
    report = project.verdicts("heuss2025/table_5_2", "full")
    assert {cell["verdict"] for cell in report["cells"]} == {"different"}
    receipt = json.loads((results / "text_5_5.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    # Each context is asked once.
    bodies = [
        json.dumps([body["messages"], body["documents"]]) for _, body, _ in stage.endpoint.seen
    ]
    assert bodies and len(bodies) == len(set(bodies))


def runs_of_two_years(project: Project, stage: Stage) -> None:
    results = project.folder / "results/full/lajewska2025"
    read = {
        name: pd.read_csv(results / f"{name}.csv", dtype={"cast_year": "str"})
        for name in ("table_3_3", "text_3_4", "text_3_4_1", "text_3_5")
    }
    recall = read["table_3_3"].query("metric == 'R@1000' and cast_year == '2020'")["value"]
    # Run by run a share of the judged documents, in the order of the folder: of the relevant ones
    # about as many.
    assert recall.tolist() == pytest.approx([0.2, 0.25, 0.3, 0.35, 0.4, 0.45], abs=0.05)
    assert set(read["text_3_4"]["cast_year"]) == {"2020", "2021"}
    changes = read["text_3_4_1"].set_index(["comparison", "metric", "end"])["value"]
    first, third = recall.iloc[[0, 2]]
    assert changes["rankers", "recall change", "highest"] == pytest.approx(
        100 * (third / first - 1)
    )
    # The released runs of 2021 give the published values, regardless of those of 2020.
    verdicts: dict[str, set[str]] = {}
    for cell in project.verdicts("lajewska2025/table_3_4", "full")["cells"]:
        verdicts.setdefault(cell["key"]["cast_year"], set()).add(cell["verdict"])
    assert verdicts["2021"] == {"equal"} and "different" in verdicts["2020"]
    # Nothing identifies the runs, which the verdict and the page say.
    message = "TREC CAsT 2020: no known facts"
    assert message in project.verdicts("lajewska2025/table_3_3", "full")["notes"][0]
    pages = (stage.folder / "results/pages").glob("*.html")
    assert any(message in page.read_text(encoding="utf-8") for page in pages)
    # The organisers' run has each relevant document once; those with a hyphen in their ids are lost
    # in the file of documents.
    qrels = read_qrels(stage.mirror / "cast-reproducibility/qrels/2021.txt.gz")
    relevant = qrels[qrels["relevance"] >= 2]
    recalls = ~relevant["document"].str.contains("-")
    turns = qrels["query"].nunique()
    readings = pd.read_csv(results / "text_3_5.readings.csv").set_index(["row", "metric"])["value"]
    assert readings["file of passages", "R@500"] == relevant["query"].nunique() / turns
    lost = recalls.groupby(relevant["query"]).mean().sum() / turns
    assert readings["file of documents", "R@500"] == pytest.approx(lost)
    assert readings["file of passages, ids cut"].to_dict() == pytest.approx(
        readings["file of documents"].to_dict()
    )
    cells = read["text_3_5"].set_index("metric")["value"]
    assert cells["R@500"] == readings["file of documents", "R@500"]
    report = project.verdicts("lajewska2025/text_3_5", "full")
    assert {cell["key"]["row"]: cell["verdict"] for cell in report["cells"]} == {
        "organisers’ run file": "different",
        "BaselineOrganizers@TREC’21": "quoted",
    }


def systems_on_collections(project: Project, stage: Stage) -> None:
    work = project.folder / "work/castfull"
    for year, relevant in (("2020", "CAR"), ("2021", "MARCO")):
        ids = pd.read_parquet(work / year / "passages.parquet")["document_id"]
        assert not ids.duplicated().any() and ids.str.startswith(f"{relevant}_").any()
        # Turns by hand find the passages that repeat them, whatever the parameters.
        qrels = read_qrels(stage.mirror / f"cast-reproducibility/qrels/{year}.txt.gz")
        qrels = qrels[qrels["relevance"] >= 2]
        documents = ids.str.replace(r"-\d$", "", regex=True) if year == "2021" else ids
        reachable = qrels["document"].isin(documents).groupby(qrels["query"]).mean().mean()
        grid = pd.read_csv(work / year / "bm25.csv")
        assert grid["recall"].tolist() == pytest.approx([reachable] * 2, rel=0.1)
        # Runs are in units of the judgements; with vectors, they have results for each turn.
        for path in (work / year / "reranked").iterdir():
            run = read_run(path)
            assert not run["document"].str.contains(r"^(?:MARCO|KILT)_.*-").any()
            assert "fused" not in path.stem or set(qrels["query"]) <= set(run["query"])
    results = project.folder / "results/full/lajewska2025"
    table = pd.read_csv(results / "table_3_2.csv")
    assert len(table) == 4 * 5
    years = pd.read_csv(results / "table_3_3.csv")["cast_year"]
    assert years.value_counts().to_dict() == {2020: 30, 2021: 30}
    # The trained rewriter wrote the queries of its runs.
    assert (project.folder / "work/castturns/models/t5-qrecc/training.json").exists()
    report = project.verdicts("lajewska2025/table_3_2", "full")
    assert {cell["verdict"] for cell in report["cells"]} == {"different", "quoted", "not run"}


def answers_of_passages(project: Project, stage: Stage) -> None:
    table = pd.read_csv(project.folder / "results/full/lajewska2025/text_5_7.csv")
    cells = table.fillna("").set_index(["setup", "aggregation", "metric"])["value"]
    assert set(table["model"]) == {"Toy"}
    passages, *rankings = dict.fromkeys(table["setup"])
    # Ten passages of a question; no to all of them is right for those without an answer.
    assert cells[passages, "", "cases"] == 10
    wrong = cells[passages, "", "always an answer"]
    assert cells[passages, "", "accuracy"] == pytest.approx(1 - wrong)
    for setup in rankings:
        assert cells[setup, "", "cases"] == 120
        assert cells[setup, "", "accuracy"] == cells[setup, "", "always an answer"]
    no_ranking = cells[passages, "mean, T=0.33", "accuracy"]
    assert no_ranking == pytest.approx(1 - cells[rankings[0], "", "always an answer"])
    # Each of the two prompts of a ranking, and those of the passages.
    assert len(stage.endpoint.seen) == 10 + 2 * 120


def papers_as_queries(project: Project, stage: Stage) -> None:
    table = pd.read_csv(project.folder / "results/full/abolghasemi2026/table_2_1.csv")
    # All rows of the thesis, the two that need models of MS MARCO among them.
    assert set("abcdefghijkl") <= set(table["row"])
    # The model that was asked for at a commit is of that commit.
    [log] = (project.folder / "logs/fetch/hub-models").glob("toy--scibert@*.log")
    commit = log.stem.partition("@")[2]
    message = json.loads(log.read_text().splitlines()[-1])
    assert message["parameters"]["commits"] == repr({f"toy/scibert@{commit}": commit})
    [collection] = [
        job for job in read_lineage(project.folder / "results") if job.rule == "collection_scidocs"
    ]
    assert collection.parameters["lines_left_out"] == repr({"cite / no metadata": 1})


def group_fairness(project: Project, stage: Stage) -> None:
    report = project.verdicts("abolghasemi2024/table_1", "full")
    # Every published cell of eleven rankers on both query sets is reproduced.
    assert len(report["cells"]) == 110 and report["verdicts"]["not run"] == 0
    # Each index is fetched once, by a job of its own, and its archive is not kept.
    requests = [path for kind, path, _ in stage.hub.asked if kind == "GET" and "/indexes/" in path]
    assert len(requests) == len(set(requests)) == 8
    remaining = (project.folder / "home/pyserini/indexes").iterdir()
    assert not [path for path in remaining if path.name.endswith(".tar.gz")]


def trained_rankers(project: Project, stage: Stage) -> None:
    table = pd.read_csv(
        project.folder / "results/full/heuss2025/table_3_1.csv", keep_default_na=False
    )
    assert set(table.loc[table["allowed_loss"] == "none", "row"]) == {"UNFAIR", "ADV"}
    measures = pd.read_parquet(project.folder / "work/heuss2025/ch3/msmarco.measures.parquet")
    strengths = measures.groupby("method")["alpha"].unique().map(sorted)
    assert strengths["ADV"] == [1, 2] and strengths["CODER"] == [3, 4]
    work = project.folder / "work/heuss2025/ch3"
    records = {
        name: json.loads((work / "models" / name / "training.json").read_text())
        for name in ("bert-mini", "adv-1", "adv-2", "coder-3", "coder-4")
    }
    # Two epochs of ten triples, and of three queries, in batches of four.
    steps = {name: record["steps"] for name, record in records.items()}
    assert steps == {"bert-mini": 6, "adv-1": 6, "adv-2": 6, "coder-3": 2, "coder-4": 2}
    assert records["adv-2"]["inputs"]["settings"]["scale"] == 2
    lists = pd.read_parquet(work / "coder.lists.parquet").set_index("query")
    # The judged passage comes first, and no passage twice.
    first = lists["documents"].map(lambda documents: documents[0])
    assert first.to_dict() == {"where is the bee": 1, "who is he": 0, "a river": 4}
    assert lists["documents"].map(lambda documents: len(set(documents))).tolist() == [15] * 3


def retrievers(project: Project, stage: Stage) -> None:
    table = pd.read_csv(project.folder / "results/full/abolghasemi2026/table_5_9.csv")
    assert set(table["retriever"]) == {"uniCOIL", "TCT-ColBERT"}
    runs = {
        name: read_run(project.folder / f"work/attribution/nq_encoded/{name}.run")
        for name in ("unicoil", "tct-colbert")
    }
    # All passages, for each question.
    assert {len(run) for run in runs.values()} == {25}
    # The passage that has the word of the question.
    best = runs["unicoil"].sort_values("score").groupby("query")["document"].last()
    assert best.tolist() == toy_corpora.TOWNS[:5]


#: First target of a rehearsal -> checks besides those of verdicts and page.
CHECKS: dict[str, Callable[[Project, Stage], None]] = {
    "full_abolghasemi2026_ch2": papers_as_queries,
    "full_abolghasemi2026_ch4": group_fairness,
    "full_abolghasemi2026_ch5": retrievers,
    "full_heuss2025_ch3": trained_rankers,
    "full_heuss2025_ch4": list_explanations,
    "full_heuss2025_ch5": citations,
    "full_abolghasemi2026_ch3": labels_of_annotators,
    "full_lajewska2025_table_3_3": runs_of_two_years,
    "full_lajewska2025_ch3": systems_on_collections,
    "full_lajewska2025_ch5": answers_of_passages,
}
