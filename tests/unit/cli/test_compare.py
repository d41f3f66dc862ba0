"""The command compare on users' files: values, options, errors."""

import gzip
import json
import re
import shutil
from functools import partial
from pathlib import Path

import command_line
import pandas as pd
import pytest

from everycell.retrieval.reproducibility import compare_runs
from everycell.trec.runs import read_qrels, read_run

RUNS = {
    "a.run": ["q1 d1 d2 d3", "q2 d4 d5", "q3 d6 d7"],
    "b.run": ["q1 d2 d1 d3", "q2 d4 d5", "q3 d7 d8"],
    "base.run": ["q1 d3 d2", "q2 d5 d4", "q3 d8 d7"],
    "base2.run": ["q1 d3 d1", "q2 d9 d4", "q3 d7 d8"],
}
QRELS = "q1 0 d1 2\nq1 0 d2 1\nq2 0 d4 1\nq3 0 d7 2\nq3 0 d6 0\n"


def trec(lists: list[str]) -> str:
    """Text of a run from lines of a query and its documents, best first."""
    return "".join(
        f"{query} Q0 {document} {rank} {10 - rank} t\n"
        for query, *documents in map(str.split, lists)
        for rank, document in enumerate(documents, 1)
    )


call, refused = (
    partial(run, "measure", "compare") for run in (command_line.call, command_line.refused)
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Folder, which is the working one, with runs and qrels."""
    monkeypatch.chdir(tmp_path)
    for name, lists in RUNS.items():
        Path(name).write_text(trec(lists))
    Path("qrels").write_text(QRELS)
    return tmp_path


def records(frame: pd.DataFrame) -> list[dict]:
    return frame.reset_index().to_dict("records")


def test_json_equals_the_result_of_the_library(files):
    code, out, err = call(
        "a.run", "b.run", "qrels", "--format", "json", "--measure", "nDCG@2", "--measure", "MAP",
        "--level", "2", "--k", 2, "--k", 3, "--p", "0.9", "--variant", "truncated",
        "--union", "ids", "--baseline", "base.run", "--reproduced-baseline", "base2.run",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    runs = [read_run(name) for name in RUNS]
    expected = compare_runs(
        *runs[:2], read_qrels("qrels"), ["nDCG@2", "MAP"], baselines=(runs[2], runs[3]),
        relevance_level=2, depths=[2, 3], p=0.9, variant="truncated", union="ids",
    )  # fmt: skip
    for name in ("order", "scores", "effects"):
        assert result[name] == [pytest.approx(row) for row in records(getattr(expected, name))]
    assert result["settings"] == {
        "original": "a.run",
        "reproduced": "b.run",
        "baseline": "base.run",
        "reproduced baseline": "base2.run",
        "qrels": "qrels",
        "topics": 3,
        "topics of the qrels": 3,
        "level": 2,
        "missing": "error",
        "ranks": "error",
        "p": 0.9,
        "variant": "truncated",
        "union": "ids",
    }


def test_rows_of_queries(files):
    _, out, _ = call(
        "a.run", "b.run", "qrels", "--format", "json", "--per-query", "--k", 1, "--k", 2
    )
    result = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert list(result) == ["settings", "queries"]
    assert [row["query"] for row in result["queries"]] == ["q1", "q2", "q3"]
    first = result["queries"][0]
    # At depth 1 there is no pair, and d1 is not d2; RR is not asked for.
    assert first["kendall_tau_union@1"] is None and first["rbo@1"] == 0
    assert first["kendall_tau_union@2"] == -1
    assert {"MAP original", "nDCG reproduced"} < set(first)


def test_compare_terminal_table(files):
    code, out, _ = call("a.run", "b.run", "qrels", "--measure", "RR")
    assert code == 0
    rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    # Effects have a table only if baselines are given.
    baselines = ["--baseline", "base.run", "--reproduced-baseline", "base2.run"]
    assert "effect_ratio" in call("a.run", "b.run", "qrels", *baselines)[1]
    assert "effect_ratio" not in out
    assert ["original: a.run"] in rows and ["missing: error"] in rows
    head = rows.index(["depth", "topics", "kendall_tau_union", "rbo"])
    # Taus of 1/3, 1 and 1: a document that only one list has does not lower it.
    assert rows[head + 1][:3] == ["1000", "3", "0.7778"]
    head = rows.index(
        ["measure", "topics", "original", "reproduced", "rmse", "p_paired", "p_unpaired"]
    )
    assert rows[head + 1][:5] == ["RR", "3", "0.8333", "1.0000", "0.2887"]


def test_compare_same_run(files):
    _, out, err = call("a.run", "a.run", "qrels", "--format", "json")
    result = json.loads(out)
    assert err == ""
    (order,) = result["order"]
    assert (order["kendall_tau_union"], order["rbo"]) == (1, pytest.approx(1))
    for row in result["scores"]:
        assert (row["rmse"], row["p_paired"], row["p_unpaired"]) == (0, 1, 1)


def test_topics_without_an_answer(files):
    Path("few.run").write_text(trec(RUNS["b.run"][:2]))
    message = refused("a.run", "few.run", "qrels")
    assert "The reproduced run has no documents for topic 'q3' of the qrels (1 of 3" in message
    for missing, topics in (("zero", 3), ("drop", 2)):
        _, out, _ = call("a.run", "few.run", "qrels", "--format", "json", "--missing", missing)
        result = json.loads(out)
        assert result["settings"]["topics"] == result["scores"][0]["topics"] == topics
        assert result["order"][0]["topics"] == 2


def test_compare_ranks_disagree(files):
    # Distances: the best document has the lowest.
    turned = re.sub(r"(\d) (\d+) t\n", r"\1 -\2 t\n", trec(RUNS["b.run"]))
    Path("turned.run").write_text(turned)
    message = refused("a.run", "turned.run", "qrels")
    assert "turned.run, line 2: rank is 2, with the score -8.0, higher than" in message
    _, out, _ = call(
        "a.run", "turned.run", "qrels", "--ranks", "ignore", "--format", "json", "--k", 2
    )
    # As trec_eval takes it: d3 before d1 before d2.
    assert json.loads(out)["order"][0]["kendall_tau_union"] < 0.5


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("", "bad.run is empty"),
        (trec(["81_1 d1 d2"]), "The reproduced run has no topic of the qrels: it begins with"),
        (trec(["q1 MARCO_1-3 MARCO_2-0"]), "The reproduced run has no document that is judged"),
        ("q1 Q0 d1 1 nan t\n", "bad.run, line 1: score is nan, for document 'd1' of query 'q1'"),
        (trec(["q1 d1 d2 d1"]), "bad.run, line 3: document is 'd1', which occurs twice"),
        (trec(["q1 d1"])[:-3], "bad.run, line 1 has 5 fields"),
    ],
)
def test_compare_invalid_run(files, run, says):
    Path("bad.run").write_text(run)
    assert says in refused("a.run", "bad.run", "qrels")


@pytest.mark.parametrize(
    ("qrels", "options", "says"),
    [
        (QRELS.replace("q", "81_"), [], "The original run has no topic of the qrels"),
        (
            QRELS,
            ["--level", "3"],
            "have no document of relevance 3 or more: the highest is 2",
        ),
        (QRELS, ["--scale", "0,1"], "bad, line 1: relevance is"),
        (QRELS + "q1 0 d1 0\n", [], "bad, line 6: document is 'd1'"),
        ("q1 0 d1 high\n", [], "bad, line 1: relevance is 'high'"),
        ("q1 0 d1 1\n", [], "1 of 1 topics can be compared"),
    ],
)
def test_compare_invalid_judgements(files, qrels, options, says):
    Path("bad").write_text(qrels)
    assert says in refused("a.run", "b.run", "bad", *options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--measure", "MRRR"], "measure is 'MRRR', which cannot be parsed"),
        (["--scale", "4"], "--scale is '4'; expected the lowest and the highest grade"),
        (["--scale", "4,0"], "scale is (4, 0)"),
        (["--level", "0"], "relevance_level is 0"),
        (["--k", "0"], "depth is 0"),
        (["--k", "5", "--k", "5"], "depths is [5, 5]"),
        (["--p", "1"], "p is 1"),
        (["--baseline", "base.run"], "needs both --baseline and --reproduced-baseline"),
        (["--reproduced-baseline", "base.run"], "needs both --baseline and"),
    ],
)
def test_compare_invalid_option(files, options, says):
    assert says in refused("a.run", "b.run", "qrels", *options)


def test_missing_and_damaged_files(files):
    assert "REPRODUCED: no.run does not exist" in refused("a.run", "no.run", "qrels")
    assert "QRELS: no.txt does not exist" in refused("a.run", "b.run", "no.txt")
    Path("cut.gz").write_bytes(gzip.compress(QRELS.encode())[:30])
    assert "cut.gz cannot be read or is damaged" in refused("a.run", "b.run", "cut.gz")
    shutil.copy("a.run", "b.gz")
    assert "b.gz cannot be read or is damaged" in refused("a.run", "b.gz", "qrels")
