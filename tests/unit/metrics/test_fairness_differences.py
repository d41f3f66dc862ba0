"""Several runs side by side: paired tests against scipy, from the library and the command."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from command_line import call, refused
from data_errors import refused as data_error
from scipy import stats

from everycell.metrics.fairness_differences import compare_fairness, stack_means
from everycell.metrics.term_fairness import MEASURES, fairness_report
from everycell.trec.runs import write_run

COUNTS = pd.DataFrame(
    {"document_id": [f"d{n}" for n in range(40)], "length": 30}
    | dict(zip("fm", np.random.default_rng(7).integers(0, 5, (2, 40)), strict=True))
)


def drawn(seed: int, queries: int = 12) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [(f"q{q}", f"d{d}") for q in range(queries) for d in rng.permutation(40)[:6]]
    run = pd.DataFrame(rows, columns=["query", "document"])
    return run.assign(score=rng.normal(size=len(run)))


@pytest.fixture(scope="module")
def reports():
    counts = COUNTS.set_index("document_id")
    return {name: fairness_report(drawn(seed), counts, [3, 6]) for seed, name in enumerate("abc")}


@pytest.mark.compares("fairness_report")
def test_compare_fairness_equals_scipy(reports):
    result = compare_fairness(reports, "b")
    assert len(result) == 2 * len(MEASURES) * 2
    assert set(result["run"]) == {"a", "c"}
    for row in result.itertuples():
        first, second = (
            reports[name].by_query.query("k == @row.k").set_index("query")[row.measure]
            for name in (row.run, "b")
        )
        both = (first.notna() & second.notna()).to_numpy()
        expected = stats.ttest_rel(first[both], second[both])
        interval = expected.confidence_interval(0.95)
        assert row.queries == both.sum() >= 10
        assert row.difference == pytest.approx((first - second).mean())
        assert (row.t, row.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert (row.low, row.high) == pytest.approx(tuple(interval))
        assert row.d == pytest.approx(row.t / np.sqrt(row.queries))


def test_compare_fairness_holm(reports):
    result = compare_fairness(reports, "b").sort_values("p", ignore_index=True)
    steps = result["p"] * (len(result) - np.arange(len(result)))
    assert result["p_holm"].tolist() == pytest.approx(np.minimum(steps.cummax(), 1).tolist())
    assert (result["p_holm"] > result["p"]).any()


def test_compare_fairness_equal_runs(reports):
    result = compare_fairness({"a": reports["a"], "again": reports["a"]}, "a")
    assert (result["difference"] == 0).all() and (result["p_holm"] == 1).all()
    assert result["d"].isna().all()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"run": drawn(3, queries=11)}, {"path": "run 'z'", "row": "query 'q11', cut-off 3"}),
        ({"run": drawn(3, queries=13)}, {"path": "run 'a'", "row": "query 'q12', cut-off 3"}),
        ({"run": drawn(3), "cutoffs": [3]}, {"path": "run 'z'", "row": "query 'q0', cut-off 6"}),
        (
            {"run": drawn(3), "target": [0.4, 0.6]},
            {"path": "run 'z'", "column": "target", "value": {"f": 0.4, "m": 0.6}},
        ),
    ],
)
def test_compare_fairness_unpaired_runs(reports, changed, expected):
    options = {"counts": COUNTS.set_index("document_id"), "cutoffs": [3, 6]} | changed
    with data_error(**expected):
        compare_fairness({"a": reports["a"], "z": fairness_report(**options)}, "a")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    COUNTS.to_parquet("c.parquet")
    for seed, name in enumerate("abc"):
        write_run(drawn(seed), f"{name}.run", tag=name)
    return tmp_path


def test_command_tests_runs(files, reports):
    command = [
        "measure",
        "fairness",
        "a.run",
        "b.run",
        "c.run",
        "--counts",
        "c.parquet",
        "--k",
        3,
        "--k",
        6,
    ]
    code, out, err = call(*command, "--baseline", "b.run", "--format", "json")
    assert (code, err) == (0, "")
    message = json.loads(out)
    assert message["settings"]["baseline"] == "b.run"
    assert [(row["k"], row["run"]) for row in message["means"]] == [
        (k, f"{name}.run") for k in (3, 6) for name in "abc"
    ]
    assert message["means"][1]["TExFAIR"] == pytest.approx(reports["b"].means["TExFAIR"][0])
    expected = compare_fairness(reports, "b")
    result = pd.DataFrame(message["tests"])
    assert result["p_holm"].tolist() == pytest.approx(expected["p_holm"].tolist())
    assert (result["run"] == expected["run"] + ".run").all()
    code, out, _ = call(*command, "--format", "csv", "--per-query")
    by_query = pd.read_csv(io.StringIO(out))
    assert by_query.groupby("run").size().tolist() == [24] * 3
    code, out, _ = call(*command, "--format", "tex")
    assert code == 0 and out.count(r"\begin{tabular}") == 2


def test_command_invalid_runs(files):
    of = ("--counts", "c.parquet", "--k", 3)
    assert "give each run only once" in refused("measure", "fairness", "a.run", "a.run", *of)
    assert "--baseline: x.run does not exist" in refused(
        "measure", "fairness", "a.run", "b.run", "--baseline", "x.run", *of
    )
    assert "there must be at least two" in refused(
        "measure", "fairness", "a.run", "--baseline", "a.run", *of
    )


def test_stack_means_order():
    report = fairness_report(drawn(0), COUNTS.set_index("document_id"), [1, 2])
    means = stack_means({"a": report, "b": report})
    assert means[["run", "k"]].values.tolist() == [["a", 1], ["b", 1], ["a", 2], ["b", 2]]
