"""ranx's report of a comparison, against our own values and tests."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from scipy import stats

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import mark_beaten_systems, paired_tests, system_letters
from papers.abolghasemi2026.ch2_ranx import comparison_report

MEASURES = ["MAP", "nDCG", "RR", "MAP@5", "nDCG@5", "RR@3", "P@5", "R@5"]
RANX = ["map", "ndcg", "mrr", "map@5", "ndcg@5", "mrr@3", "precision@5", "recall@5"]
SUPERSCRIPTS = dict(zip("ᵃᵇᶜᵈ", "abcd", strict=True))


@pytest.fixture(scope="module")
def data():
    """Qrels with grades and four systems full of ties, each better than the one before."""
    rng = np.random.default_rng(0)
    pairs = pd.DataFrame(
        {
            "query": np.repeat([f"q{i}" for i in range(30)], 20),
            "document": [f"d{j}" for j in range(20)] * 30,
        }
    )
    relevance = rng.choice([0, 1, 2], p=[0.7, 0.2, 0.1], size=len(pairs))
    relevance[pairs["query"] == "q7"] = 0
    qrels = pairs.assign(relevance=relevance)
    runs = {
        name: pairs.assign(score=rng.integers(4, size=len(pairs)) + help * relevance)
        for name, help in [("BM25", 0.0), ("TILDE_v2", 0.5), ("TILDE", 2.0)]
    }
    return {**runs, "TILDE again": runs["TILDE"]}, qrels


@pytest.fixture(scope="module")
def report(data):
    return comparison_report(*data, MEASURES, level=0.01)


def test_comparison_report_means_with_ties(data, report):
    runs, qrels = data
    result = json.loads(report.json)["report"]
    for name, run in runs.items():
        expected = evaluate(run, qrels, MEASURES).mean().tolist()
        assert [result[name]["scores"][measure] for measure in RANX] == pytest.approx(expected)


def test_comparison_report_p_equals_scipy(data, report):
    runs, qrels = data
    result = json.loads(report.json)["report"]
    values = {name: evaluate(run, qrels, MEASURES) for name, run in runs.items()}
    for one, other in itertools.permutations(list(runs)[:3], 2):
        for measure, label in zip(MEASURES, RANX, strict=True):
            expected = stats.ttest_rel(values[one][measure], values[other][measure]).pvalue
            assert result[one]["comparisons"][other][label] == pytest.approx(expected)


def test_comparison_report_equal_systems(report):
    result = json.loads(report.json)["report"]
    assert set(result["TILDE"]["comparisons"]["TILDE again"].values()) == {1.0}
    assert result["TILDE"]["win_tie_loss"]["TILDE again"]["map"] == {"W": 0, "T": 30, "L": 0}


def test_comparison_report_superscripts(data, report):
    runs, qrels = data
    lines = [line.split("|")[1:-1] for line in report.markdown.splitlines()[2:]]
    assert [line[1].strip() for line in lines] == list(runs)
    letters = system_letters(list(runs))
    calls = set()
    for column, measure in enumerate(MEASURES, 2):
        values = pd.DataFrame(
            {n: evaluate(run, qrels, [measure])[measure] for n, run in runs.items()}
        )
        expected = mark_beaten_systems(paired_tests(values, level=0.01), letters)
        for line, name in zip(lines, runs, strict=True):
            cell = line[column].strip()
            assert cell.startswith(f"{values[name].mean():.4f}")
            result = "".join(SUPERSCRIPTS[character] for character in cell[6:])
            assert result == expected[name]
            calls.add(result)
    assert {"", "a", "ab"} <= calls


def test_comparison_report_notes(data, report):
    notes = json.loads(report.json)
    assert (notes["topics"], notes["level"], notes["comparisons"]) == (30, 0.01, 6)
    assert notes["level_of_one_comparison"] == pytest.approx(0.01 / 6)
    runs, qrels = data
    other = json.loads(comparison_report(runs, qrels, ["MAP"], comparisons=3).json)
    assert other["level_of_one_comparison"] == pytest.approx(0.05 / 3)


def test_latex_is_one_environment(report):
    assert report.latex.startswith(r"\begin{table*}")
    assert report.latex.endswith("\\end{table*}\n")
    assert r"TILDE\_v2 &" in report.latex and r"\textbf{MAP@5}" in report.latex
    assert "$^{ab}$" in report.latex


def test_comparison_report_unjudged_topics(data):
    runs, qrels = data
    fewer = qrels[qrels["query"].isin(["q1", "q2", "q3"])]
    result = json.loads(comparison_report(runs, fewer, ["MAP"]).json)
    expected = evaluate(runs["BM25"], fewer, ["MAP"])["MAP"].mean()
    assert result["topics"] == 3
    assert result["report"]["BM25"]["scores"]["map"] == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["ERR", "P", "MAP@0"])
def test_comparison_report_unknown_measure(data, measure):
    with refused("measure", measure):
        comparison_report(*data, measures=[measure])


def test_comparison_report_too_many_systems(data):
    runs, qrels = data
    with pytest.raises(DataError) as error:
        comparison_report({f"s{number}": runs["BM25"] for number in range(17)}, qrels)
    assert error.value.value == 17


def test_uncompiled_ranx_restores_compilation(data):
    import numba

    comparison_report(*data)
    assert not numba.config.DISABLE_JIT
    square = numba.njit(lambda x: x * x)
    assert square(3) == 9 and square.signatures
