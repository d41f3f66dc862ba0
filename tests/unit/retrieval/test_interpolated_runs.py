"""Two runs interpolated: folds, oracle and control by hand and against the library's parts."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from command_line import call, refused
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import evaluate, parse_measure
from everycell.retrieval.interpolated_runs import interpolate_runs
from everycell.retrieval.interpolation import ALPHAS, sweep
from everycell.retrieval.judged_lists import judge
from everycell.trec.runs import read_run, write_qrels, write_run

#: All measures of the grid of weights, with and without a cut-off.
MEASURES = ["AP", "AP@2", "nDCG", "nDCG@3", "RR", "RR@2", "P@1", "P@10", "R@2", "R@10"]
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


def test_interpolate_runs_end_weights(both, interpolated):
    first, second, qrels = both
    table = interpolated.means.set_index(["measure", "ranking"])["value"]
    for name, run in (("first", first), ("second", second)):
        expected = evaluate(run, qrels, ["MAP", "P@3"])
        assert table["AP", name] == pytest.approx(expected["MAP"].mean())
        assert interpolated.by_topic[f"P@3 {name}"].tolist() == expected["P@3"].tolist()


def test_interpolate_runs_cross_validation(both, interpolated):
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


def test_interpolate_runs_tuned_run(both, interpolated):
    expected = evaluate(interpolated.run, both[2], ["MAP", "P@3"])
    assert expected["MAP"].to_numpy() == pytest.approx(interpolated.by_topic["AP tuned"].to_numpy())
    assert expected["P@3"].to_numpy() == pytest.approx(
        interpolated.by_topic["P@3 tuned"].to_numpy()
    )


def test_interpolate_runs_complementary(interpolated):
    table = interpolated.means.set_index(["measure", "ranking"])
    assert interpolated.means["ranking"].tolist() == RANKINGS * 2
    assert table.loc[("AP", "tuned"), "gain"] > 0.02
    gain = table.loc[("AP", "oracle"), "gain"]
    assert gain > table.loc[("AP", "noise oracle"), "gain"] + 0.05
    assert table.loc[("AP", "noise oracle"), "gain"] > 0
    assert table.loc[("AP", "oracle"), "p"] < 0.01
    assert (interpolated.by_topic["AP oracle"] >= interpolated.by_topic["AP tuned"]).all()


def test_interpolate_runs_noise():
    first, second, qrels = runs_and_qrels(4, (2.0, 0.0))
    table = interpolate_runs(first, second, qrels, ["AP"]).means.set_index("ranking")
    control = table.loc["noise oracle"]
    assert abs(table.loc["oracle", "gain"] - control["gain"]) < 4 * control["sd"]


def frame(column: str, **topics: dict[str, float]) -> pd.DataFrame:
    """Frame with one row per document of each topic."""
    rows = [(q, d, value) for q, documents in topics.items() for d, value in documents.items()]
    return pd.DataFrame(rows, columns=["query", "document", column])


@pytest.mark.parametrize("candidates", ["either", "both"])
def test_interpolate_runs_documents_of_one_run_only(candidates):
    """Documents of the other run must not enter `first` and `second`, where they would tie."""
    first = frame("score", q1={"a": 2, "b": 1}, q2={"a": 2, "b": 1})
    second = frame("score", q1={"0": 2, "c": 1}, q2={"d": 2, "c": 1})
    qrels = frame("relevance", q1={"a": 1, "c": 1}, q2={"a": 1})
    if candidates == "both":
        # One common document, so that there is something to rank.
        first, second = (
            pd.concat([run, frame("score", q1={"-": -1})], ignore_index=True)
            for run in (first, second)
        )
    options = {"folds": 2, "noise_seeds": 2, "candidates": candidates}
    result = interpolate_runs(first, second, qrels, ["AP"], **options)
    rows = result.means.set_index("ranking")
    assert rows.loc[["first", "second"], "value"].tolist() == [0.75, 0.125]
    assert rows.loc["second", "gain"] == -0.625
    expected = stats.ttest_rel([0.25, 0], [0.5, 1]).pvalue
    assert rows.loc["second", "p"] == pytest.approx(expected)
    # The relevant documents of the better run are already at its top.
    assert rows.loc["noise oracle", "gain"] == 0
    ends_only = interpolate_runs(first, second, qrels, ["AP"], alphas=[0.0, 1.0], **options)
    assert ends_only.by_topic["AP oracle"].tolist() == [0.5, 1.0]
    assert evaluate(ends_only.run, qrels, ["AP"])["AP"].tolist() == [0.5, 1.0]


ids = st.sampled_from("abcdefgh")
documents = st.dictionaries(ids, st.sampled_from([-1.0, 0.0, 1.0, 1.5]), min_size=1, max_size=6)
grades = st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=8)
topics = st.tuples(documents, documents, grades)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(topics, min_size=2, max_size=4),
    st.sampled_from(["either", "both"]),
    st.sampled_from(["query", "run"]),
    st.integers(1, 2),
)
def test_interpolate_runs_ends_are_the_runs_alone(data, candidates, over, level):
    """For every measure, any overlap and any ties; gains and tests follow from the ends."""
    data = {f"q{number}": item for number, item in enumerate(data)}
    first, second = (
        frame("score", **{query: item[position] for query, item in data.items()})
        for position in (0, 1)
    )
    qrels = frame("relevance", **{query: item[2] for query, item in data.items()})
    assume(candidates == "either" or not first.merge(second, on=["query", "document"]).empty)
    result = interpolate_runs(
        first, second, qrels, MEASURES, folds=2, noise_seeds=2, candidates=candidates, over=over,
        relevance_level=level,
    )  # fmt: skip
    alone = {
        name: evaluate(run, qrels, MEASURES, relevance_level=level)
        for name, run in (("first", first), ("second", second))
    }
    table = result.means.set_index(["measure", "ranking"])
    for measure in MEASURES:
        values = {name: alone[name][measure] for name in alone}
        for name in values:
            assert result.by_topic[f"{measure} {name}"].tolist() == values[name].tolist()
            assert table.loc[(measure, name), "value"] == values[name].mean()
        best = max(item.mean() for item in values.values())
        for name in ("first", "second", "tuned", "oracle"):
            row = table.loc[(measure, name)]
            assert row["gain"] == pytest.approx(row["value"] - best)
        assert table.loc[(measure, "noise oracle"), "gain"] >= -1e-12
        assert (result.by_topic[f"{measure} oracle"] >= np.maximum(*values.values()) - 1e-12).all()
    # The tuned run has the values that are reported for it. A topic may have no documents.
    tuned = evaluate(result.run, qrels, MEASURES, relevance_level=level)
    for measure in MEASURES:
        expected = result.by_topic[f"{measure} tuned"].tolist()
        assert tuned[measure].tolist() == pytest.approx(expected)


def test_interpolate_runs_candidates_do_not_change_the_ends(both):
    first, second, qrels = both
    first, second = first[first["document"] != "d1"], second[second["document"] != "d0"]
    results = [
        interpolate_runs(first, second, qrels, ["AP", "P@3"], noise_seeds=1, candidates=candidates)
        for candidates in ("either", "both")
    ]
    ends = [result.means["ranking"].isin(["first", "second"]) for result in results]
    columns = ["measure", "ranking", "value", "gain", "p"]
    pd.testing.assert_frame_equal(
        *(result.means.loc[rows, columns] for result, rows in zip(results, ends, strict=True))
    )
    assert set(results[1].run["document"]) <= set(first["document"]) | set(second["document"])


def test_interpolate_runs_missing_score(both):
    """At weights between 0 and 1, a run lists missing documents with the given score."""
    first, second, qrels = both
    short = second[second["document"] != "d0"]
    lowest = short.groupby("query")["score"].min()
    result = interpolate_runs(first, short, qrels, ["AP"], noise_seeds=1)
    for missing_score, scores in (("lowest", lowest), (-9.0, lowest * 0 - 9)):
        filled = second.assign(
            score=second["score"].where(second["document"] != "d0", second["query"].map(scores))
        )
        lists = judge(qrels, qrels, without_relevant="zero")
        expected = sweep(lists, lists.scores(first), lists.scores(filled), ["AP"])
        result = interpolate_runs(
            first, short, qrels, ["AP"], noise_seeds=1, missing_score=missing_score
        )
        # The weights tuned are not 0 or 1 here.
        alphas = result.by_topic["tuned alpha"]
        assert alphas.between(0.1, 0.9).all()
        values = expected.measure_values("AP")
        positions = [ALPHAS.index(alpha) for alpha in alphas]
        assert result.by_topic["AP tuned"].tolist() == pytest.approx(
            values[positions, np.arange(20)].tolist()
        )


@pytest.mark.parametrize("missing_score", [0.0, float("nan"), float("-inf"), "highest", None, True])
def test_interpolate_runs_missing_score_invalid(both, missing_score):
    first, second, qrels = both
    short = second[second["document"] != "d0"]
    with pytest.raises(DataError) as error:
        interpolate_runs(first, short, qrels, missing_score=missing_score)
    assert (error.value.column, error.value.value) == ("missing_score", missing_score)
    if missing_score == 0:
        assert (error.value.path, error.value.row) == ("The second run", "topic 'q0'")


@pytest.mark.parametrize("measure", ["Bpref", "nDCG(dcg='exp-log2')@5", "P(rel=2)@5", "P", "RR@0"])
def test_interpolate_runs_other_measures(measure):
    with pytest.raises(ValueError, match=re.escape(measure)):
        parse_measure(measure)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("folds", 1),
        ("folds", 21),
        ("measures", ["AP", "MAP"]),
        ("noise_seeds", 0),
        ("candidates", "all"),
        ("missing_topics", "zero"),
        ("over", "topic"),
        *(
            ("alphas", alphas)
            for alphas in ([], [0.5, 0.5], [1.0, 0.0], [-0.1, 1], [0, 1.1], [[0, 1]])
        ),
    ],
)
def test_interpolate_runs_invalid_options(both, option, value):
    with pytest.raises(DataError) as error:
        interpolate_runs(*both, **{option: value})
    assert (error.value.column, error.value.value) == (option, value)


def test_interpolate_runs_missing_topics(both):
    first, second, qrels = both
    fewer = second[second["query"] != "q7"]
    with pytest.raises(DataError) as error:
        interpolate_runs(first, fewer, qrels)
    assert error.value.path == "The second run" and "topic 'q7'" in error.value.fault
    interpolated = interpolate_runs(
        first, fewer, qrels, ["RR"], noise_seeds=1, missing_topics="drop"
    )
    assert len(interpolated.by_topic) == 19
    with pytest.raises(ValueError, match="No topic of the qrels is in both runs"):
        interpolate_runs(first, second.assign(query="x" + second["query"]), qrels)
    with pytest.raises(ValueError, match="no document of a topic in common"):
        unrelated = second.assign(document="x" + second["document"])
        interpolate_runs(first, unrelated, qrels, candidates="both")


def test_interpolate_runs_command(both, interpolated, tmp_path, monkeypatch):
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
    code, out, err = call(*command, "--noise", 3, "--missing-score", "-9", "--format", "json")
    assert (code, json.loads(out)["settings"]["missing score"]) == (0, "-9")
    assert "'low'" in refused(*command, "--missing-score", "low")
    assert "'1,2'" in refused(*command, "--missing-score", "1,2")
    again = evaluate(read_run("tuned.run"), both[2], ["MAP"])["MAP"].mean()
    assert again == pytest.approx(values[2])
    assert "tuned.run already exists" in refused(*command, "--out", "tuned.run")
    folds = ["--folds", 50]
    assert "folds is 50; expected a number from 2 to 20" in refused(
        "measure", "interpolate", "a.run", "b.run", "qrels.txt", *folds
    )
    by_query = pd.read_csv(io.StringIO(call(*command, "--per-query", "--format", "csv")[1]))
    assert len(by_query) == 20 and by_query["tuned alpha"].isin(ALPHAS).all()


def test_interpolate_runs_track_receives_the_seeds_of_each_measure(both):
    received_seeds = []

    def track(seeds):
        received_seeds.append(list(seeds))
        return received_seeds[-1]

    result = interpolate_runs(*both, ["AP", "P@3"], noise_seeds=3, track=track)
    assert received_seeds == [[0, 1, 2]] * 2
    expected = interpolate_runs(*both, ["AP", "P@3"], noise_seeds=3)
    pd.testing.assert_frame_equal(result.means, expected.means)
