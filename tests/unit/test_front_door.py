"""Names of `everycell`, and measures of runs in the notation of ir_measures."""

import subprocess
import sys
from importlib import import_module

import ir_measures
import numpy as np
import pandas as pd
import pytest

import everycell
from everycell.front_door import NAMES
from everycell.metrics.fairness_report import fairness_report
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.measures import evaluate_measures, parse_measure
from everycell.retrieval.reproduction import compare_runs


@pytest.fixture(scope="module")
def judged() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A run with many ties, whose documents are partly judged, and judgements 0 to 3."""
    rng = np.random.default_rng(3)
    rows = [(f"q{q}", f"d{d}") for q in range(6) for d in range(30)]
    run = pd.DataFrame(rows, columns=["query", "document"])
    run["score"] = rng.integers(0, 9, len(run)) / 4
    qrels = run[["query", "document"]].sample(120, random_state=1)
    qrels = qrels.assign(relevance=rng.choice([0, 0, 1, 2, 3], len(qrels)))
    # One topic that the run does not answer, one that the qrels do not have.
    return run[run["query"] != "q0"], qrels[qrels["query"] != "q1"]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_documented(name):
    found = getattr(everycell, name)
    module, own = NAMES[name]
    assert found is getattr(import_module(module), own)
    assert name in dir(everycell)
    assert found.__doc__


def test_no_name_hides_a_package_of_ours():
    for name in NAMES:
        with pytest.raises(ModuleNotFoundError):
            import_module(f"everycell.{name}")


def test_the_package_alone_loads_nothing():
    program = (
        "import sys, everycell; seen = [m for m in sys.modules if m.startswith('everycell.')"
        " or m in ('numpy', 'pandas')]; print(seen)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_an_unknown_name_is_no_import_error_of_ours():
    with pytest.raises(AttributeError, match="^everycell has no 'nfair'; it has nfairr, "):
        everycell.nfair  # noqa: B018
    assert not hasattr(everycell, "__path_of_no_package__")


@pytest.mark.parametrize(
    ("theirs", "ours", "level"),
    [
        ("AP", "MAP", 1), ("MAP(rel=2)@5", "MAP@5", 2), ("nDCG", "nDCG", 1), ("MRR", "RR", 1),
        ("NDCG@7", "nDCG@7", 1), ("RR(rel=3)", "RR", 3), ("P(rel=2)@5", "P@5", 2),
        ("RR@3", "RR@3", 1), ("R@10", "R@10", 1), ("Recall(rel=2)@4", "R@4", 2),
    ],
)  # fmt: skip
def test_values_are_those_of_trec_eval(judged, theirs, ours, level):
    found = evaluate_measures(*judged, [theirs])[theirs]
    expected = evaluate(*judged, [ours], relevance_level=level)[ours]
    assert found.index.tolist() == expected.index.tolist()
    assert found.tolist() == expected.tolist()


def test_measures_that_only_ir_measures_has(judged):
    run, qrels = judged
    # Without ties the library gives the same by itself, aggregate included.
    run = run.assign(score=np.random.default_rng(1).permutation(len(run)).astype(float))
    wanted = ["Success@3", "Judged@5", "SetF", "infAP", "Bpref"]
    found = everycell.evaluate(run, qrels, wanted)
    names = {"query": "query_id", "document": "doc_id"}
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(each) for each in wanted],
        qrels.rename(columns=names),
        run.rename(columns=names),
    )
    for measure, value in theirs.items():
        assert found[str(measure)].mean() == pytest.approx(value, abs=1e-12)
    assert (found.mean() > 0).all()


def test_the_level_is_that_of_measures_which_name_none():
    def read(text):
        return str(parse_measure(text, relevance_level=2))

    assert [read(text) for text in ("AP", "P(rel=3)@5", "nDCG@3")] == [
        "AP(rel=2)",
        "P(rel=3)@5",
        "nDCG@3",
    ]


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ("nDGC@10", "'nDGC@10' cannot be read .measure not found: nDGC.: write it as ir_measures"),
        ("P", "'P' cannot be read .*cutoff"),
        ("P(depth=3)@5", "cannot be read .*depth"),
        ("nDCG@", "cannot be read"),
        ("__import__('os')", "cannot be read"),
        (7, "The measure 7 cannot be read"),
        ([], "The measures are .*give a list"),
        (["AP", "AP"], "give each only once"),
        (["AP", "MAP"], "give each only once"),
        ("alpha_nDCG@10", "ir_measures cannot compute|cannot be read"),
    ],
)
def test_measures_that_are_refused(judged, measures, said):
    with pytest.raises(ValueError, match=said) as refused:
        everycell.evaluate(*judged, measures)
    assert str(refused.value).endswith(".")


def test_a_run_of_other_topics_is_refused(judged):
    run, qrels = judged
    with pytest.raises(ValueError, match="None of the 5 topics of the qrels is answered"):
        everycell.evaluate(run.assign(query="x" + run["query"]), qrels, "AP")


def test_compare_is_the_comparison_of_runs(judged):
    run, qrels = judged
    other = run.assign(score=run["score"].to_numpy()[::-1])
    names = {"query": "qid", "document": "docno"}
    found = everycell.compare(
        run.rename(columns=names), other.rename(columns=names), qrels,
        ["MAP", "P(rel=2)@5"], missing_topics="drop", depths=[10],
    )  # fmt: skip
    expected = compare_runs(
        run, other, qrels, ["MAP", "P(rel=2)@5"], missing_topics="drop", depths=[10]
    )
    assert found.scores.equals(expected.scores) and found.by_topic.equals(expected.by_topic)
    assert found.scores.index.tolist() == ["MAP", "P(rel=2)@5"]
    at_two = evaluate(run, qrels, ["P@5"], relevance_level=2, missing_topics="drop")
    kept = at_two.loc[found.by_topic.index]
    assert found.by_topic["P(rel=2)@5 original"].tolist() == kept["P@5"].tolist()


def test_fairness_of_a_frame_is_that_of_the_file(judged, tmp_path):
    run, _ = judged
    rng = np.random.default_rng(0)
    counts = pd.DataFrame(
        {"length": 20, "f": rng.integers(0, 4, 30), "m": rng.integers(0, 4, 30)},
        index=pd.Index([f"d{d}" for d in range(30)], name="document_id"),
    )
    counts.reset_index().to_parquet(tmp_path / "counts.parquet")
    rows = run.itertuples(index=False)
    theirs = [ir_measures.ScoredDoc(*row) for row in rows]
    found = everycell.fairness(theirs, counts, [5, 10])
    expected = fairness_report(run, tmp_path / "counts.parquet", [5, 10])
    pd.testing.assert_frame_equal(found.means, expected.means)
    assert 0 < found.means["TExFAIR"].min() < found.means["TExFAIR"].max() < 1
    own = everycell.fairness(theirs, counts, 5, background="run")
    assert (own.means["NFaiRR"] >= found.means["NFaiRR"].iloc[0]).all()


def test_measures_and_cutoffs_come_in_any_kind_of_sequence():
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1}}
    expected = everycell.evaluate(run, qrels, ["RR", "P@1"])
    assert expected.loc["q"].tolist() == [0.5, 0.0]
    for measures in (np.array(["RR", "P@1"]), iter(["RR", "P@1"]), dict.fromkeys(["RR", "P@1"])):
        pd.testing.assert_frame_equal(everycell.evaluate(run, qrels, measures), expected)
    for one in ("RR", ir_measures.RR):
        pd.testing.assert_frame_equal(everycell.evaluate(run, qrels, one), expected[["RR"]])
    counts = pd.DataFrame({"length": [5, 5], "f": [1, 0], "m": [0, 2]}, index=["a", "b"])
    for k in (2, np.int64(2), [2], np.array([2])):
        assert everycell.fairness(run, counts, k=k).means["k"].tolist() == [2]
