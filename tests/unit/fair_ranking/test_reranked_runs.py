"""`everycell measure rerank`: whole runs, their measures, and what cannot be taken."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from everycell.cli import app
from everycell.fair_ranking.reranked_runs import (
    METHODS,
    read_neutralities,
    rerank_run,
    trade_off,
    trade_off_plot,
)
from everycell.trec.runs import read_run, trec_order, write_run

RNG = np.random.default_rng(3)
RUN = pd.DataFrame(
    [(f"q{q}", f"d{d}") for q in range(5) for d in range(12)], columns=["query", "document"]
).assign(score=RNG.normal(size=60).round(3))
SPREAD = RUN.assign(score=0.4)
NEUTRAL = {f"d{d}": float(d % 3 > 0) for d in range(12)}
QRELS = RUN[["query", "document"]].assign(relevance=(RUN["score"] > 0.5).astype(int))


@pytest.mark.parametrize("method", METHODS)
def test_rerank_run_methods(method):
    options = {"deviations": SPREAD} if method == "pufr" else {}
    runs = {0.0: RUN} | {
        alpha: rerank_run(RUN, NEUTRAL, method, alpha, **options) for alpha in (0.5, 0.9)
    }
    for run in runs.values():
        pairs = run[["query", "document"]].sort_values(["query", "document"]).to_numpy().tolist()
        assert (
            pairs
            == RUN[["query", "document"]].sort_values(["query", "document"]).to_numpy().tolist()
        )
    table = trade_off(runs, NEUTRAL, QRELS, cutoffs=[5, 12]).set_index("alpha")
    assert list(table.columns) == ["nFaiRR@5", "nFaiRR@12", "nDCG@5", "nDCG@12"]
    assert table["nFaiRR@12"].is_monotonic_increasing and table["nDCG@12"].iloc[0] == 1
    if method in ("assignment", "milp"):
        assert table.loc[0.9, "nFaiRR@12"] >= 0.9
    assert len(trade_off_plot(table.reset_index()).axes[0].lines) == 4


def test_rerank_run_written_order(tmp_path):
    result = rerank_run(RUN, NEUTRAL, "pufr", 1.0, deviations=SPREAD)
    write_run(result, tmp_path / "a.run", tag="pufr")
    again = trec_order(read_run(tmp_path / "a.run"))
    assert again["document"].tolist() == result["document"].tolist()


def test_rerank_run_depth():
    result = rerank_run(RUN, NEUTRAL, "assignment", 1.0, depth=4)
    before = trec_order(RUN)
    for query, part in result.groupby("query"):
        old = before.loc[before["query"] == query, "document"].tolist()
        assert part["document"].tolist()[4:] == old[4:]
        assert sorted(part["document"][:4]) == sorted(old[:4])


def test_rerank_run_adjusted_significance():
    strict, loose = (
        trade_off({0.8: rerank_run(RUN, NEUTRAL, "fair", 0.8, adjusted=adjusted)}, NEUTRAL)
        for adjusted in (False, True)
    )
    assert strict["nFaiRR@10"].iloc[0] >= loose["nFaiRR@10"].iloc[0]


def test_trade_off_no_neutral_document():
    table = trade_off({0.0: RUN}, dict.fromkeys(NEUTRAL, 0.0))
    assert table["nFaiRR@10"].isna().all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "cvxopt"}, "method is 'cvxopt'; expected one of pufr, fair, assignment, milp"),
        ({"deviations": None}, "needs the standard deviation of each score"),
        ({"deviations": SPREAD[1:]}, "document is 'd0', which has no standard deviation"),
        ({"deviations": SPREAD.assign(score=-1.0)}, "Query 'q0': document 0: standard dev"),
        (
            {"neutralities": {"d0": 1.0}},
            "document of the run is 'd[0-9]+', which has no neutrality",
        ),
        ({"alpha": -1}, "Query 'q0': alpha is -1"),
        ({"method": "fair", "alpha": 1.0}, "Query 'q0': share is 1.0"),
        ({"method": "assignment", "alpha": 2.0}, "Query 'q0': share is 2.0"),
        ({"method": "milp", "depth": 0}, "depth is 0"),
    ],
)
def test_rerank_run_invalid_values(change, message):
    usual = {"run": RUN, "neutralities": NEUTRAL, "method": "pufr", "alpha": 1.0}
    with pytest.raises(ValueError, match=message):
        rerank_run(**usual | {"deviations": SPREAD} | change)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,neutrality\nd1,2\n", "row 2: neutrality is '2'"),
        ("document,neutrality\nd1,\n", "row 2: neutrality is ''"),
        ("document,neutrality\nd1,1\nd1,0\n", "row 3: document is 'd1'"),
        ("document\nd1\n", "neutrality is missing"),
        ("", "is empty"),
    ],
)
def test_read_neutralities_invalid_files(tmp_path, text, message):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_neutralities(path)


@pytest.fixture
def files(tmp_path):
    write_run(RUN, tmp_path / "a.run", tag="a")
    write_run(SPREAD, tmp_path / "deviations.run", tag="a")
    frame = pd.DataFrame({"document": NEUTRAL.keys(), "neutrality": NEUTRAL.values()})
    frame.to_csv(tmp_path / "groups.csv", index=False)
    lines = [f"{q} 0 {d} {r}" for q, d, r in QRELS.itertuples(index=False)]
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def call(folder, *arguments):
    inputs = ["measure", "rerank", "a.run", "--groups", "groups.csv", *map(str, arguments)]
    paths = {"a.run", "groups.csv", "deviations.run", "qrels.txt", "out"}
    return CliRunner().invoke(app, [str(folder / a) if a in paths else a for a in inputs])


def test_command_outputs(files):
    done = call(files, "--deviations", "deviations.run", "--qrels", "qrels.txt", "--alpha", 0.5,
                "--alpha", 2, "--k", 5, "--out", "out")  # fmt: skip
    assert done.exit_code == 0, done.output
    result = {path.name for path in (files / "out").iterdir()}
    assert {
        "pufr-0.5.run",
        "pufr-2.run",
        "trade-off.csv",
        "trade-off.png",
        "trade-off.svg",
    } <= result
    table = pd.read_csv(files / "out" / "trade-off.csv")
    assert list(table.columns) == ["alpha", "nFaiRR@5", "nDCG@5"] and len(table) == 2
    assert "original" in done.stdout and "2 runs" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected_message"),
    [
        (["--alpha", 1], "pufr needs --deviations"),
        (["--deviations", "deviations.run"], "--alpha is missing"),
        (["--method", "fair", "--alpha", 0.5, "--alpha", 0.5], "--alpha has the same value twice"),
        (["--method", "fair", "--alpha", 1.5], "share is 1.5"),
    ],
)
def test_command_invalid_values(files, arguments, expected_message):
    before = {path.name for path in files.iterdir()}
    done = call(files, *arguments, "--out", "out")
    assert done.exit_code == 2 and expected_message in done.output.replace("\n", " ")
    assert {path.name for path in files.iterdir()} == before


def test_command_existing_folder(files):
    (files / "out").mkdir()
    done = call(files, "--method", "fair", "--alpha", 0.5, "--out", "out")
    assert done.exit_code == 2 and "out is a folder" in done.output
    assert not list((files / "out").iterdir())
