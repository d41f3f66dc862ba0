"""Tables and figures of the experiment on group fairness, by hand and from planted rankings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from harness import published
from scipy import stats

from everycell.config import read_config
from everycell.records.papers import find_artefact
from everycell.verdicts.verdicts import report
from papers.shared.term_fairness import (
    GROUPS,
    RECOVERED,
    association_measures,
    balance_marks,
    curve_points,
    example_cells,
    example_marks,
    example_measures,
    fairness_tables,
    label_systems,
    measure_name,
    overlap_table,
    published_points,
    recovered_table,
    sensitivity_points,
)
from papers.shared.term_fairness_planted import CONTROL, RANKERS, plant_rankers
from papers.shared.term_fairness_rankers import (
    counterfactual_overlap,
    measure_rankers,
    overlap_by_query,
)

QUERIES = pd.Index([f"q{number}" for number in range(8)], name="query")


def measured(seed):
    """BM25 and a ranker that is better by MRR on each of the 6 judged queries."""
    random, measures = np.random.default_rng(seed), ["MRR", "NFaiRR", "TExFAIR"]
    base = pd.DataFrame(random.random((8, 3)) / 2, QUERIES, measures)
    better = base + random.random((8, 3)) / 10 + [0.4, 0, 0]
    for item in (base, better):
        item.loc[["q6", "q7"], "MRR"] = np.nan
    return {"BM25": base, "SBERT": better}


def tables():
    return fairness_tables(
        {"QS1": measured(1), "QS2": measured(2)},
        families={"BM25": "sparse", "SBERT": "dense"},
        baseline="BM25",
        level=0.05,
        names={"r": "Pearson r"},
    )


def test_fairness_tables_markers_per_query_set():
    result = tables()
    cells = result.means.set_index(["query_set", "row", "metric"])
    assert set(result.means["metric"]) == {"MRR", "NFaiRR", "TExFAIR", "Pearson r"}
    for query_set, seed in (("QS1", 1), ("QS2", 2)):
        values = measured(seed)["SBERT"]
        assert cells.loc[(query_set, "SBERT", "MRR"), "value"] == values["MRR"].mean()
        assert cells.loc[(query_set, "SBERT", "MRR"), "marker"] == "‡"
        r = stats.pearsonr(values["TExFAIR"], values["NFaiRR"]).statistic
        assert cells.loc[(query_set, "SBERT", "Pearson r"), "value"] == pytest.approx(r)
    assert cells.loc[(slice(None), "SBERT"), "family"].unique() == ["dense"]
    assert result.note == "QS1: 8 queries (6 judged), QS2: 8 queries (6 judged)"


@pytest.mark.parametrize("name", ["abolghasemi2026/table_4_1", "abolghasemi2024/table_1"])
@pytest.mark.parametrize("effects", [True, False])
def test_fairness_tables_claims_on_planted_rankers(name, effects, repository):
    settings = read_config(repository / "config.yaml")
    sizes = settings.term_fairness.planted
    planted = plant_rankers(
        queries=sizes.ranker_queries, length=sizes.length, seed=settings.seed, effects=effects
    )
    counts = planted.plan.set_index("document")[["length", *planted.words]]
    # A collection has documents without a term too, by which NFaiRR is normalised.
    neutral = pd.DataFrame(0, [f"n{number}" for number in range(10)], counts.columns)
    runs = {run.removesuffix(CONTROL): frame for run, frame in planted.runs.items()}
    result = measure_rankers(runs.items(), pd.concat([counts, neutral.assign(length=40)]), k=10)
    artefact = find_artefact(published(), name)
    created = fairness_tables(
        {"planted": result},
        families=dict.fromkeys(RANKERS, "planted"),
        baseline=next(iter(RANKERS)),
        level=0.05,
        names={"r": list(artefact.record.decimals)[-1]},
    )
    artefact = artefact.model_copy(
        update={"record": artefact.record.model_copy(update={"errata": []})}
    )
    message = report(artefact, "embedded", created.means, find_table={"tests": created.tests}.get)
    outcomes = {claim.id: claim.on_reproduced for claim in message.claims}
    tested = [outcome for outcome in outcomes.values() if outcome != "not testable"]
    if effects:
        assert tested == ["supported"] * 3
    else:
        assert tested == ["contradicted", "contradicted", "inconclusive"]
        assert set(created.means["marker"]) == {""}


def run_of(order, query="q"):
    scores = np.arange(len(order), 0, -1.0)
    return pd.DataFrame({"query": query, "document": list(order), "score": scores})


def test_overlap_table_by_hand():
    counts = pd.DataFrame({"f": [3, 0, 0], "m": [0, 3, 0], "length": 9}, index=list("abc"))
    # Queries in another order than that of the table.
    before = pd.concat([run_of("abc", "q2"), run_of("acb", "q1")])
    after = pd.concat([run_of("abc", "q2"), run_of("bca", "q1")])
    result = overlap_by_query(before, after, counts, k=2, p=0.8)
    assert result.index.tolist() == ["q1", "q2"]
    overlap = counterfactual_overlap(before, after, p=0.8, depth=2)
    assert result["CRBO"].to_dict() == overlap.to_dict()
    assert result.loc["q2", "CRBO"] == 1 and result.loc["q1", "CRBO"] < 1
    # Both genders among the first two, or one alone.
    assert result.loc["q2", "TExFAIR"] > result.loc["q1", "TExFAIR"]
    table = overlap_table({"QS1": {"BM25": result}, "QS2": {"BM25": result.iloc[:1]}})
    value = table.set_index(["row", "query_set", "metric"])["value"]
    assert value["BM25", "QS1", "CRBO"] == overlap.mean()
    assert value["BM25", "QS2", "CRBO"] == overlap["q1"]
    assert set(table["marker"]) == {""}


CURVES = pd.DataFrame(
    [
        ("QS1", "BM25", measure, k, value)
        for measure, values in (("NFaiRR", (0.5, 0.6)), ("TExFAIR (without RBDF)", (0.1, 0.9)))
        for k, value in zip((9, 10), values, strict=True)
    ],
    columns=["query_set", "system", "measure", "k", "value"],
)


def test_published_points_two_measures():
    points = curve_points(CURVES)
    assert points["x"].tolist() == [9, 10, 9, 10] and set(points["x_name"]) == {"k"}
    (published_point,) = published_points(points).values.tolist()
    assert published_point == ["QS1", "BM25", "NFaiRR", "k", 10, 0.6]


def test_sensitivity_points_per_query_set():
    changes = CURVES[CURVES["k"] == 10].drop(columns="k")
    result = sensitivity_points(changes).set_index("x")
    assert result["value"].to_dict() == {"NFaiRR": "lower", "TExFAIR (without RBDF)": "highest"}
    assert list(result.columns) == ["row", "series", "metric", "x_name", "value"]


def test_recovered_table_one_row_per_number():
    result = pd.DataFrame(
        [("even", "NFaiRR", 0.5, 0.6, 0.1), ("even", "TExFAIR (without RBDF)", 0.1, 0.1, 0.0)],
        columns=["system", "measure", "value", "value_planted", "difference"],
    )
    table = recovered_table(result, {"even": "in turns"})
    assert set(table["ranking"]) == {"in turns"} and len(table) == 6
    of_one = table[table["measure"] == "NFaiRR"].set_index("metric")["value"]
    assert of_one[list(RECOVERED)].tolist() == [0.6, 0.5, 0.1]
    marks = balance_marks(result)
    assert marks.values.tolist() == [["even", "NFaiRR", 0.5, 0.6]]
    (label,) = label_systems(marks, {"even": "in turns " * 12})["system"]
    assert label.startswith("even: in turns") and max(map(len, label.split("\n"))) <= 58


PRINTED = pd.DataFrame(
    [
        (row, rank, group)
        for row, groups in (("Left", "FM"), ("Right", "MM"))
        for rank, group in zip("12", groups, strict=True)
    ],
    columns=["row", "x", "value"],
).assign(series="document", metric="group", x_name="rank")


def test_example_measures_thresholds():
    values = example_measures(PRINTED, [1, 0]).set_index(["measure", "list"])["value"]
    # With a threshold of one term no document is about a group, so each is neutral.
    assert values[measure_name(1)].to_dict() == {"Left": 1, "Right": 1}
    assert values[measure_name(0)].to_dict() == {"Left": 0, "Right": 0}
    # The list is fair, not its documents.
    assert values["TExFAIR", "Left"] > values["TExFAIR", "Right"] == 0


def test_association_measures_frequency():
    values = association_measures([1, 8]).set_index(["metric", "list"])["value"]
    weights = 1 / np.log2([2, 3])
    balance = np.array([[weights[0], weights[1]], [weights[0], 8 * weights[1]]])
    ted = abs(np.diff(balance)).ravel() / balance.sum(axis=1)
    assert values["AWRF"].tolist() == pytest.approx([ted[0]] * 2)
    assert values["TExFAIR"].tolist() == pytest.approx(1 - ted)


def test_example_cells_and_marks():
    values = example_measures(PRINTED, [0, 1])
    cells = example_cells(PRINTED, values, 1)
    assert cells["value"].tolist() == ["F", "M", "M", "M", 1.0, 1.0]
    assert cells["x"].tolist() == ["1", "2", "1", "2", "1-2", "1-2"]
    documents, bars = example_marks(PRINTED, values)
    assert set(documents["group"]) == set(GROUPS)
    assert set(documents["list"]) == set(bars["list"]) == {"Left list", "Right list"}
    assert "NFaiRR, τ = 0:\none term counts" in set(bars["measure"])
