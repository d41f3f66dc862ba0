"""Two runs interpolated: folds, oracle and control by hand and against the library's parts."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from command_line import call, refused

from everycell.retrieval.evaluation import evaluate, parse_measure
from everycell.retrieval.interpolated_runs import interpolate_runs
from everycell.retrieval.interpolation import ALPHAS, sweep
from everycell.retrieval.judged_lists import judge
from everycell.trec.qrels import write_qrels
from everycell.trec.runs import read_run, write_run

RANKINGS = ["first", "second", "tuned", "oracle", "noise oracle"]


def runs_and_qrels(seed: int, known: tuple[float, float], topics: int = 20):
    """Two runs that know something of the relevance, each something else, and the qrels."""
    rng = np.random.default_rng(seed)
    rows = [(f"q{q}", f"d{d}") for q in range(topics) for d in range(15)]
    frame = pd.DataFrame(rows, columns=["query", "document"])
    relevance = (rng.random(len(frame)) < 0.2).astype(int)
    runs = [frame.assign(score=share * relevance + rng.normal(size=len(frame))) for share in known]
    return *runs, frame.assign(relevance=relevance)


@pytest.fixture(scope="module")
def both():
    return runs_and_qrels(1, (1.0, 1.0))


@pytest.fixture(scope="module")
def interpolated(both):
    return interpolate_runs(*both, ["AP", "P@3"], noise_seeds=3)


def test_the_ends_are_the_runs_themselves(both, interpolated):
    first, second, qrels = both
    table = interpolated.means.set_index(["measure", "ranking"])["value"]
    for name, run in (("first", first), ("second", second)):
        expected = evaluate(run, qrels, ["MAP", "P@3"])
        assert table["AP", name] == pytest.approx(expected["MAP"].mean())
        assert interpolated.by_topic[f"P@3 {name}"].tolist() == expected["P@3"].tolist()


def test_a_topic_has_the_weight_that_is_best_for_the_other_folds(both, interpolated):
    first, second, qrels = both
    lists = judge(qrels, qrels, without_relevant="zero")
    values = sweep(lists, lists.scores(first), lists.scores(second), ["MAP"]).measure_values("MAP")
    alphas = interpolated.by_topic["tuned alpha"].to_numpy()
    parts = np.random.default_rng(0).permutation(np.arange(20) % 5)
    for part in range(5):
        best = ALPHAS[int(np.argmax(values[:, parts != part].mean(axis=1).round(12)))]
        assert (alphas[parts == part] == best).all()
    positions = [ALPHAS.index(alpha) for alpha in alphas]
    assert interpolated.by_topic["AP tuned"].tolist() == values[positions, np.arange(20)].tolist()


def test_the_written_run_has_the_values_that_are_said(both, interpolated):
    expected = evaluate(interpolated.run, both[2], ["MAP", "P@3"])
    assert expected["MAP"].to_numpy() == pytest.approx(interpolated.by_topic["AP tuned"].to_numpy())
    assert expected["P@3"].to_numpy() == pytest.approx(
        interpolated.by_topic["P@3 tuned"].to_numpy()
    )


def test_two_runs_that_know_different_things_gain_and_noise_does_not_as_much(interpolated):
    table = interpolated.means.set_index(["measure", "ranking"])
    assert interpolated.means["ranking"].tolist() == RANKINGS * 2
    assert table.loc[("AP", "tuned"), "gain"] > 0.02
    gain = table.loc[("AP", "oracle"), "gain"]
    assert gain > table.loc[("AP", "noise oracle"), "gain"] + 0.05
    assert table.loc[("AP", "noise oracle"), "gain"] > 0
    assert table.loc[("AP", "oracle"), "p"] < 0.01
    assert (interpolated.by_topic["AP oracle"] >= interpolated.by_topic["AP tuned"]).all()


def test_a_run_with_noise_gains_no_more_than_the_control():
    first, second, qrels = runs_and_qrels(4, (2.0, 0.0))
    table = interpolate_runs(first, second, qrels, ["AP"]).means.set_index("ranking")
    control = table.loc["noise oracle"]
    assert abs(table.loc["oracle", "gain"] - control["gain"]) < 4 * control["sd"]


def test_documents_that_a_run_lacks_stand_last_in_it(both):
    first, second, qrels = both
    short = second[second["document"] != "d0"]
    either = interpolate_runs(first, short, qrels, ["AP"], noise_seeds=1)
    lowest = second.merge(short.groupby("query")["score"].min().rename("low"), on="query")
    filled = lowest.assign(score=lowest["score"].where(lowest["document"] != "d0", lowest["low"]))
    expected = interpolate_runs(first, filled, qrels, ["AP"], noise_seeds=1)
    pd.testing.assert_frame_equal(either.means, expected.means)
    common = interpolate_runs(first, short, qrels, ["AP"], noise_seeds=1, candidates="both")
    assert set(common.run["document"]) == set(short["document"])


@pytest.mark.parametrize("measure", ["Bpref", "nDCG(dcg='exp-log2')@5", "P(rel=2)@5", "P", "RR@0"])
def test_measures_that_arrays_do_not_have(measure):
    with pytest.raises(ValueError, match=re.escape(measure)):
        parse_measure(measure)


@pytest.mark.parametrize(
    ("options", "expected_message"),
    [
        ({"folds": 1}, "folds is 1 for 20 topics"),
        ({"folds": 21}, "folds is 21 for 20 topics"),
        ({"measures": ["AP", "MAP"]}, "give each measure only once"),
        ({"noise_seeds": 0}, "noise_seeds is 0"),
        ({"candidates": "all"}, "candidates is 'all'"),
        ({"missing_topics": "zero"}, "missing_topics is 'zero'"),
    ],
)
def test_options_that_are_refused(both, options, expected_message):
    with pytest.raises(ValueError, match=expected_message):
        interpolate_runs(*both, **options)


def test_topics_that_one_run_does_not_answer(both):
    first, second, qrels = both
    fewer = second[second["query"] != "q7"]
    with pytest.raises(ValueError, match="Topic 'q7' of the qrels has no ranked documents"):
        interpolate_runs(first, fewer, qrels)
    interpolated = interpolate_runs(
        first, fewer, qrels, ["RR"], noise_seeds=1, missing_topics="drop"
    )
    assert len(interpolated.by_topic) == 19
    with pytest.raises(ValueError, match="no topic, or no document of a topic, in common"):
        interpolate_runs(first, second.assign(query="x" + second["query"]), qrels)


def test_the_command(both, interpolated, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, run in zip(("a.run", "b.run"), both, strict=False):
        write_run(run, name, tag="t")
    write_qrels(both[2], "qrels.txt")
    command = [
        "measure",
        "interpolate",
        "a.run",
        "b.run",
        "qrels.txt",
        "--measure",
        "AP",
        "--measure",
        "P@3",
    ]
    code, out, err = call(*command, "--noise", 3, "--out", "tuned.run", "--format", "json")
    assert (code, err) == (0, "")
    message = json.loads(out)
    assert message["settings"]["topics"] == 20
    values = [row["value"] for row in message["rows"]]
    assert values == pytest.approx(interpolated.means["value"].tolist())
    again = evaluate(read_run("tuned.run"), both[2], ["MAP"])["MAP"].mean()
    assert again == pytest.approx(values[2])
    assert "tuned.run already exists" in refused(*command, "--out", "tuned.run")
    folds = ["--folds", 50]
    assert "folds is 50 for 20 topics" in refused(
        "measure", "interpolate", "a.run", "b.run", "qrels.txt", *folds
    )
    by_query = pd.read_csv(io.StringIO(call(*command, "--per-query", "--format", "csv")[1]))
    assert len(by_query) == 20 and by_query["tuned alpha"].isin(ALPHAS).all()
