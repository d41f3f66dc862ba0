"""Names of `everycell`, and measures of runs in the notation of ir_measures."""

import os
import subprocess
import sys
import warnings
from importlib import import_module
from inspect import signature

import ir_measures
import numpy as np
import pandas as pd
import pytest

import everycell
from everycell.cli.measure import bias, runs
from everycell.metrics.term_fairness import fairness_report
from everycell.public import NAMES
from everycell.retrieval.any_measure import evaluate_measures, parse_measure
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.reproducibility import compare_runs, ranking_agreement
from everycell.trec.runs import write_qrels, write_run

pytestmark = pytest.mark.compares("fairness", "compare")


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
def test_names_documented(name):
    result = getattr(everycell, name)
    module, own = NAMES[name]
    assert result is getattr(import_module(module), own)
    assert name in dir(everycell)
    assert result.__doc__


def test_rbo_default_persistence():
    commands = bias.overlap, runs.compare
    functions = everycell.rbo, everycell.crbo, compare_runs, ranking_agreement
    defaults = {signature(one).parameters["p"].default for one in commands + functions}
    assert defaults == {0.9}


def test_names_are_no_packages():
    for name in NAMES:
        with pytest.raises(ModuleNotFoundError):
            import_module(f"everycell.{name}")


def test_import_loads_nothing():
    program = (
        "import sys, everycell; seen = [m for m in sys.modules if m.startswith('everycell.')"
        " or m in ('numpy', 'pandas')]; print(seen)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_getattr_unknown_name():
    message = "^everycell has no attribute 'nfair'. Did you mean nfairr, "
    with pytest.raises(AttributeError, match=message):
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
def test_evaluate_measures_equals_trec_eval(judged, theirs, ours, level):
    result = evaluate_measures(*judged, [theirs])[theirs]
    expected = evaluate(*judged, [ours], relevance_level=level)[ours]
    assert result.index.tolist() == expected.index.tolist()
    assert result.tolist() == expected.tolist()


def test_parse_measure_default_level():
    def read(text):
        return str(parse_measure(text, relevance_level=2))

    assert [read(text) for text in ("AP", "P(rel=3)@5", "nDCG@3")] == [
        "AP(rel=2)",
        "P(rel=3)@5",
        "nDCG@3",
    ]


@pytest.mark.parametrize(
    ("measures", "expected_message"),
    [
        ("nDGC@10", "which cannot be parsed .measure not found: nDGC.; expected the notation"),
        ("P", "'P', which cannot be parsed .*cutoff"),
        ("P(depth=3)@5", "cannot be parsed .*depth"),
        ("nDCG@", "cannot be parsed"),
        ("__import__('os')", "cannot be parsed"),
        (7, "measure is 7, which cannot be parsed"),
        ([], "measures is .*expected a list"),
        (["AP", "AP"], "expected each measure only once"),
        (["AP", "MAP"], "expected each measure only once"),
        ("RBP(rel=1)@5", "ir_measures cannot compute RBP.rel=1.@5"),
        ("NumRel(rel=2)", "ir_measures cannot compute"),
        ("alpha_nDCG@10", "subtopic"),
        *(
            (f"{name}@{k}", "cutoff is")
            for k in ("0", "1000000", "True")
            for name in (
                "P",
                "R",
                "nDCG",
                "AP",
                "Success",
                "RR",
                "Judged",
                "ERR",
                "Accuracy",
                "SDCG(max_rel=3)",
                "NERR9(max_rel=3)",
                "TExFAIR(counts='c.parquet')",
            )
        ),
        *(
            (f"{name}(rel={level})@5", "rel is")
            for level in ("0", "1000000000", "True")
            for name in ("P", "R", "AP", "Success", "RR", "Accuracy")
        ),
        ("Bpref(rel=0)", "rel is"),
        ("RBP(rel=0)", "rel is"),
        ("infAP(rel=0)", "rel is"),
        *(
            (f"nDCG(gains={gains})@5", "gains is")
            for gains in ("{1:2.5}", "{1.5:2}", "{'1':2}", "{1:True}", "{1:1000000000}")
        ),
        ("IPrec@1.5", "recall is"),
        ("IPrec@0.105", "recall is .*two decimals"),
        ("SetF(beta=1e-7)", "beta is"),
        ("SetF(beta=1e30)", "beta is"),
        ("RBP(p=1.0)", "p is"),
        ("Compat(p=2.0)", "p is"),
        ("NERR10(p=0.0,max_rel=3)", "p is"),
        ("INST(T=0.0,max_rel=3)", "T is"),
        ("INSQ(max_rel=0)", "max_rel is"),
        ("BPM(min_rel=3,max_rel=3)@5", "min_rel is"),
        ("SDCG(max_rel=3)@1001", "cwl-eval reads"),
        ("ERR", "cut-off"),
        ("nDCG(dcg='exp-log2')", "cut-off"),
        ("nDCG(dcg='exp-log2',gains={1:4,2:1})@4", "gains"),
        ("nDCG(dcg='exp-log2',judged_only=True)@4", "judged_only"),
    ],
)
def test_evaluate_refused_measure(judged, measures, expected_message):
    """Before a library is called: of these some abort the interpreter, and some give numbers."""
    with pytest.raises(ValueError, match=expected_message) as refused:
        everycell.evaluate(*judged, measures)
    assert str(refused.value).endswith(".")


#: All that ir_measures computes here, with parameters that it confuses when asked together.
MEASURES = [
    "AP", "AP(rel=2)", "AP(judged_only=True)@5", "AP@5", "Accuracy", "Accuracy(rel=2)@20",
    "BPM(max_rel=3)@5", "BPM(T=2.0,max_rel=3)@5", "Bpref", "Bpref(rel=2)", "Compat",
    "Compat(p=0.8,normalize=False)", "ERR@5", "ERR@10", "INSQ(max_rel=3)", "INST(max_rel=3)",
    "INST(T=2.0,max_rel=4)", "IPrec@0.1", "IPrec@0.11", "IPrec(rel=2)@0.1", "IPrec@1.0", "Judged",
    "Judged@5", "NERR10(max_rel=3)", "NERR11(max_rel=3)", "NERR8(max_rel=3)@5",
    "NERR9(max_rel=3)@5", "NumQ", "NumRel", "NumRet", "NumRet(rel=1)", "NumRet(rel=2)",
    "P(judged_only=True)@5", "P(rel=2)@5", "P@5", "P@50", "R(judged_only=True)@5", "R@5", "R@50",
    "RBP(rel=1)", "RBP(p=0.5,rel=1)", "RBP(rel=2)", "RR", "RR(judged_only=True)", "RR(rel=2)",
    "RR(rel=2)@3", "RR@3", "Rprec", "Rprec(judged_only=True)", "SDCG(max_rel=3)@5", "SetAP",
    "SetAP(rel=2)", "SetF", "SetF(beta=2.0)", "SetF(beta=0.5)", "SetP", "SetP(relative=True)",
    "SetR", "Success@1", "Success@5", "infAP", "nDCG", "nDCG(dcg='exp-log2')@5",
    "nDCG(gains={1:3,2:7})", "nDCG(gains={1:3,2:7})@10", "nDCG(gains={1:5,2:6})@10",
    "nDCG(judged_only=True)@10", "nDCG@10",
]  # fmt: skip


def test_evaluate_equals_ir_measures_without_ties(judged):
    """Each measure alone; all scores are positive, since some measures compare them with 0."""
    run, qrels = judged
    run = run.assign(score=np.random.default_rng(1).permutation(len(run)) + 1.0)
    # gdeval takes numbers for topics; without it they have any name.
    frames = [frame.assign(query=frame["query"].str[1:]).set_axis(names, axis="columns")
              for frame, names in ((qrels, ["query_id", "doc_id", "relevance"]),
                                   (run, ["query_id", "doc_id", "score"]))]  # fmt: skip
    odd = dict(zip(["q0", "q2", "q3", "q4", "q5"], ["PLAIN-10", "81_1", "t1", "1", "01"],
                   strict=True))  # fmt: skip
    renamed = [frame.assign(query=frame["query"].map(odd)) for frame in (run, qrels)]
    result = everycell.evaluate(renamed[0].dropna(), renamed[1], MEASURES)
    assert result.index.tolist() == qrels["query"].map(odd).unique().tolist()
    for name in MEASURES:
        theirs = ir_measures.iter_calc([ir_measures.parse_measure(name)], *frames)
        expected = {odd[f"q{item.query_id}"]: item.value for item in theirs}
        assert result[name].dropna().to_dict() == pytest.approx(expected), name
        assert np.ptp(list(expected.values())) > 0 or name.startswith("NumQ"), name


TOGETHER = """
import random, sys
import pandas as pd
import everycell
run, qrels, *measures = sys.argv[1:]
run, qrels = everycell.as_run(run), everycell.as_qrels(qrels)
alone = pd.concat([everycell.evaluate(run, qrels, name) for name in measures], axis="columns")
dice = random.Random(1)
for size in [len(measures)] * 3 + [2, 3, 5] * 10:
    asked = dice.sample(measures, size)
    pd.testing.assert_frame_equal(everycell.evaluate(run, qrels, asked), alone[asked])
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_evaluate_measures_together_and_alone(judged, tmp_path, seed):
    write_run(judged[0], tmp_path / "run", tag="t")
    write_qrels(judged[1], tmp_path / "qrels")
    counts = pd.DataFrame(
        {
            "document_id": [f"d{d}" for d in range(30)],
            "length": 20,
            "f": [d % 3 for d in range(30)],
            "m": [d % 5 for d in range(30)],
        }
    )
    counts.to_parquet(tmp_path / "c.parquet")
    ours = [f"{name}(counts='{tmp_path / 'c.parquet'}')@{k}" for name in ("TExFAIR", "NFaiRR")
            for k in (3, 20)]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER, tmp_path / "run", tmp_path / "qrels", *MEASURES, *ours],
        env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_evaluate_measures_level_of_rbp_and_numret(judged):
    result = evaluate_measures(*judged, ["RBP(p=0.5)", "NumRet"], relevance_level=2)
    expected = evaluate_measures(*judged, ["RBP(p=0.5,rel=2)", "NumRet"])
    assert (result.to_numpy() == expected.to_numpy()).all()
    plain = evaluate_measures(*judged, ["RBP(p=0.5)"])["RBP(p=0.5)"]
    assert plain.tolist() == everycell.evaluate(*judged, "RBP(p=0.5,rel=1)").squeeze().tolist()


def test_evaluate_uncomputable_measure():
    run, qrels = {"q": {"a": 1.0}}, {"q": {"a": 5}}
    for measure, message in (("ERR@3", "'a' of topic 'q' has relevance 5"),
                          ("Accuracy@1", "ir_measures cannot compute Accuracy@1")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            everycell.evaluate(run, qrels, measure)


def test_evaluate_own_measure(judged):
    best = ir_measures.define_byquery(lambda qrels, run: run["score"].max(), name="Best")
    result = everycell.evaluate(*judged, [best]).squeeze()
    expected = judged[0].groupby("query")["score"].max().reindex(result.index).dropna()
    assert result[expected.index].tolist() == expected.tolist()


@pytest.mark.parametrize("function", [everycell.evaluate, evaluate])
def test_evaluate_scores_equal_in_32_bits(function):
    run = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "score": [1 + 1e-8, 1, 0]})
    qrels = pd.DataFrame({"query": ["q"], "document": ["a"], "relevance": [1]})
    with pytest.warns(UserWarning, match="1.00000001 .*query 'q' are equal as 32-bit floats"):
        assert function(run, qrels, ["RR"])["RR"].tolist() == [0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(run.assign(score=[1, 1, 0]), qrels, ["RR"])


def test_compare_command_scores_equal_in_32_bits(tmp_path):
    lines = [f"{query} Q0 {name} 1 {score} t" for query, scores in (("q", (1.00000001, 1)),
             ("r", (2, 1))) for name, score in zip("ab", scores, strict=True)]  # fmt: skip
    (tmp_path / "run").write_text("\n".join(lines))
    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 a 1\n")
    code = "from everycell.cli.entry import main; main()"
    options = ["--measure", "RR", "--ranks", "ignore"]
    done = subprocess.run(
        [sys.executable, "-c", code, "measure", "compare", "run", "run", "qrels", *options],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr.startswith("everycell: The scores 1.00000001 and 1.0 of query 'q'")
    assert done.stderr.count("\n") == 1


def test_evaluate_run_of_other_topics(judged):
    run, qrels = judged
    with pytest.raises(ValueError, match="None of the 5 topics in the qrels is in the run"):
        everycell.evaluate(run.assign(query="x" + run["query"]), qrels, "AP")


def test_compare_equals_compare_runs(judged):
    run, qrels = judged
    other = run.assign(score=run["score"].to_numpy()[::-1])
    names = {"query": "qid", "document": "docno"}
    result = everycell.compare(
        run.rename(columns=names), other.rename(columns=names), qrels,
        ["MAP", "P(rel=2)@5"], missing_topics="drop", depths=[10],
    )  # fmt: skip
    expected = compare_runs(
        run, other, qrels, ["MAP", "P(rel=2)@5"], missing_topics="drop", depths=[10]
    )
    assert result.scores.equals(expected.scores) and result.by_topic.equals(expected.by_topic)
    assert result.scores.index.tolist() == ["MAP", "P(rel=2)@5"]
    at_two = evaluate(run, qrels, ["P@5"], relevance_level=2, missing_topics="drop")
    remaining = at_two.loc[result.by_topic.index]
    assert result.by_topic["P(rel=2)@5 original"].tolist() == remaining["P@5"].tolist()


def test_fairness_frame_and_file(judged, tmp_path):
    run, _ = judged
    rng = np.random.default_rng(0)
    counts = pd.DataFrame(
        {"length": 20, "f": rng.integers(0, 4, 30), "m": rng.integers(0, 4, 30)},
        index=pd.Index([f"d{d}" for d in range(30)], name="document_id"),
    )
    counts.reset_index().to_parquet(tmp_path / "counts.parquet")
    rows = run.itertuples(index=False)
    theirs = [ir_measures.ScoredDoc(*row) for row in rows]
    result = everycell.fairness(theirs, counts, [5, 10])
    expected = fairness_report(run, tmp_path / "counts.parquet", [5, 10])
    pd.testing.assert_frame_equal(result.means, expected.means)
    assert 0 < result.means["TExFAIR"].min() < result.means["TExFAIR"].max() < 1
    own = everycell.fairness(theirs, counts, 5, background="run")
    assert (own.means["NFaiRR"] >= result.means["NFaiRR"].iloc[0]).all()


def test_evaluate_and_fairness_sequence_types():
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


def test_compare_baselines_in_their_order(judged):
    """The first baseline is that of the original experiment, the second that of the other."""
    run, qrels = judged
    rng = np.random.default_rng(3)
    runs = [run.assign(score=rng.permutation(run["score"].to_numpy())) for _ in range(3)]
    options = {"missing_topics": "drop", "depths": [10]}
    result = everycell.compare(run, runs[0], qrels, "AP", baselines=(runs[1], runs[2]), **options)
    expected = compare_runs(
        run, runs[0], qrels, ["AP"], baselines=(runs[1], runs[2]), **options
    ).effects
    assert result.effects.equals(expected)
    # Effect of the original over its baseline, from separately computed values.
    values = [
        evaluate(one, qrels, ["AP"], missing_topics="drop")["AP"].mean() for one in (run, runs[1])
    ]
    assert result.effects.loc["AP", "effect_original"] == pytest.approx(values[0] - values[1])
