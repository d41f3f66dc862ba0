"""Measures of group fairness as measures of ir_measures: parsed, computed and averaged by it."""

import ir_measures
import numpy as np
import pandas as pd
import pytest

import everycell
from everycell.metrics.fairness_report import fairness_report


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Path of counts, a run in the library's terms, and qrels of two of its three queries."""
    rng = np.random.default_rng(2)
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    counts = {"document_id": [f"d{n}" for n in range(30)], "length": 20}
    counts |= dict(zip("fm", rng.integers(0, 4, (2, 30)), strict=True))
    pd.DataFrame(counts).to_parquet(path)
    rows = [(f"q{q}", f"d{d}", float(rng.normal())) for q in range(3) for d in range(30)]
    run = [ir_measures.ScoredDoc(*row) for row in rows]
    return path, run, [ir_measures.Qrel(q, "d1", 1) for q in ("q0", "q2")]


def test_values_are_those_of_the_report_beside_the_librarys_own(made):
    path, run, qrels = made
    ours = [
        measure
        for k in (3, 10)
        for measure in (
            everycell.TExFAIR(counts=str(path)) @ k,
            everycell.NFaiRR(counts=str(path), tau=0) @ k,
            everycell.AWRF(counts=str(path)) @ k,
        )
    ]
    found = ir_measures.calc([*ours, ir_measures.nDCG @ 10], qrels, run)
    frame = pd.DataFrame(run).set_axis(["query", "document", "score"], axis="columns")
    expected = fairness_report(frame[frame["query"] != "q1"], path, [3, 10], tau=0).by_query
    expected = expected.set_index(["k", "query"])
    values = {(each.measure, each.query_id): each.value for each in found.per_query}
    assert len(values) == 7 * 2
    for measure in ours:
        for query in ("q0", "q2"):
            at = expected.loc[(measure["cutoff"], query), measure.NAME]
            assert values[measure, query] == pytest.approx(at)
        mean = expected.loc[measure["cutoff"], measure.NAME].mean()
        assert found.aggregated[measure] == pytest.approx(mean)
    assert found.aggregated[ir_measures.nDCG @ 10] == pytest.approx(
        ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]
    )


def test_the_name_is_read_from_text_and_written_back(made):
    path, run, qrels = made
    text = f"TExFAIR(counts='{path}')@5"
    assert repr(ir_measures.parse_measure(text)) == text
    table = everycell.evaluate(run, qrels, [text, "P@5"])
    assert table.index.tolist() == ["q0", "q2"] and table.columns.tolist() == [text, "P@5"]
    found = everycell.fairness([row for row in run if row.query_id != "q1"], path, 5)
    assert table[text].mean() == pytest.approx(found.means["TExFAIR"][0])


def test_a_query_without_documents_is_no_zero(made):
    path, run, qrels = made
    measure = everycell.TExFAIR(counts=str(path)) @ 5
    more = [*qrels, ir_measures.Qrel("q9", "d1", 1)]
    found = ir_measures.calc([measure], more, run)
    assert {each.query_id: np.isnan(each.value) for each in found.per_query}["q9"]
    assert found.aggregated[measure] == ir_measures.calc_aggregate([measure], qrels, run)[measure]


def test_documents_without_counts(made):
    path, run, qrels = made
    stray = [*run, ir_measures.ScoredDoc("q0", "other", 99.0)]
    measure = everycell.TExFAIR(counts=str(path)) @ 5
    for compute in (lambda: ir_measures.calc_aggregate([measure], qrels, stray),
                    lambda: everycell.evaluate(stray, qrels, measure)):  # fmt: skip
        with pytest.raises(ValueError, match="^Document 'other' of the run has no counts"):
            compute()
    assert (
        0
        < ir_measures.calc_aggregate([measure(unknown="neutral")], qrels, stray)[
            measure(unknown="neutral")
        ]
        < 1
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TExFAIR@5", "counts"),
        ("TExFAIR(counts='c.parquet')", "cutoff"),
        ("TExFAIR(counts='c.parquet',tau=1)@5", "tau"),
        ("AWRF(counts='c.parquet',unknown='drop')@5", "unknown"),
    ],
)
def test_measures_with_other_parameters_are_refused(made, text, says):
    with pytest.raises(ValueError, match=f"cannot be read .*{says}"):
        everycell.evaluate(made[1], made[2], text)
