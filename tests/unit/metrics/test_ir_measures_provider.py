"""Measures of group fairness as measures of ir_measures: parsed, computed and averaged by it."""

import re
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from data_errors import refused

import everycell
from everycell import metrics
from everycell.metrics import ir_measures_provider as provider
from everycell.metrics.ir_measures_provider import EverycellProvider
from everycell.metrics.run_measure import CUTOFF, SUPPORTED_MEASURES, RunMeasure, register
from everycell.metrics.term_fairness import fairness_report
from everycell.public import NAMES
from everycell.trec.runs import trec_order, write_run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Path of counts, a run in the library's terms, and qrels of two of its three queries."""
    rng = np.random.default_rng(2)
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    counts = {"document_id": [f"d{n}" for n in range(30)], "length": 20}
    counts |= dict(zip("fm", rng.integers(0, 4, (2, 30)), strict=True))
    pd.DataFrame(counts).to_parquet(path)
    rows = [(f"q{q}", f"d{d}", float(rng.normal())) for q in range(3) for d in range(30)]
    run = [ir_measures.ScoredDoc(*row) for row in rows]
    return path, run, [ir_measures.Qrel(q, "d1", 1) for q in ("q0", "q2")]


def test_evaluate_equals_report(files):
    path, run, qrels = files
    ours = [
        measure
        for k in (3, 10)
        for measure in (
            everycell.TExFAIR(counts=str(path)) @ k,
            everycell.NFaiRR(counts=str(path), tau=0) @ k,
            everycell.AWRF(counts=str(path)) @ k,
        )
    ]
    result = ir_measures.calc([*ours, ir_measures.nDCG @ 10], qrels, run)
    frame = pd.DataFrame(run).set_axis(["query", "document", "score"], axis="columns")
    expected = fairness_report(frame[frame["query"] != "q1"], path, [3, 10], tau=0).by_query
    expected = expected.set_index(["k", "query"])
    values = {(item.measure, item.query_id): item.value for item in result.per_query}
    assert len(values) == 7 * 2
    for measure in ours:
        for query in ("q0", "q2"):
            at = expected.loc[(measure["cutoff"], query), measure.NAME]
            assert values[measure, query] == pytest.approx(at)
        mean = expected.loc[measure["cutoff"], measure.NAME].mean()
        assert result.aggregated[measure] == pytest.approx(mean)
    assert result.aggregated[ir_measures.nDCG @ 10] == pytest.approx(
        ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]
    )


def test_parse_measure_round_trip(files):
    path, run, qrels = files
    text = f"TExFAIR(counts='{path}')@5"
    assert repr(ir_measures.parse_measure(text)) == text
    table = everycell.evaluate(run, qrels, [text, "P@5"])
    assert table.index.tolist() == ["q0", "q2"] and table.columns.tolist() == [text, "P@5"]
    result = everycell.fairness([row for row in run if row.query_id != "q1"], path, 5)
    assert table[text].mean() == pytest.approx(result.means["TExFAIR"][0])


def test_evaluate_query_without_documents(files):
    path, run, qrels = files
    measure = everycell.TExFAIR(counts=str(path)) @ 5
    more = [*qrels, ir_measures.Qrel("q9", "d1", 1)]
    result = ir_measures.calc([measure], more, run)
    assert {item.query_id: np.isnan(item.value) for item in result.per_query}["q9"]
    assert result.aggregated[measure] == ir_measures.calc_aggregate([measure], qrels, run)[measure]


def test_evaluate_documents_without_counts(files):
    path, run, qrels = files
    stray = [*run, ir_measures.ScoredDoc("q0", "other", 99.0)]
    measure = everycell.TExFAIR(counts=str(path)) @ 5
    for compute in (lambda: ir_measures.calc_aggregate([measure], qrels, stray),
                    lambda: everycell.evaluate(stray, qrels, measure)):  # fmt: skip
        with refused("document of the run", "other"):
            compute()
    assert (
        0
        < ir_measures.calc_aggregate([measure(unknown="neutral")], qrels, stray)[
            measure(unknown="neutral")
        ]
        < 1
    )


def test_evaluate_rbo_equals_crbo(files, tmp_path):
    _, run, qrels = files
    frame = pd.DataFrame(run).set_axis(["query", "document", "score"], axis="columns")
    other = frame.assign(score=np.random.default_rng(3).permutation(frame["score"]))
    write_run(other, tmp_path / "other.run", tag="t")
    ranked = [
        item.assign(rank=item.groupby("query").cumcount() + 1)
        for item in map(trec_order, (frame, other))
    ]
    measure = everycell.RBO(run=str(tmp_path / "other.run"), p=0.8) @ 5
    values = everycell.evaluate(run, qrels, measure)[str(measure)]
    expected = everycell.crbo(*ranked, 0.8, depth=5)
    assert values.to_dict() == pytest.approx(expected[["q0", "q2"]].to_dict())
    itself = ir_measures.parse_measure(f"RBO(run='{tmp_path / 'other.run'}')@10")
    assert ir_measures.calc_aggregate([itself], qrels, other.set_axis(
        ["query_id", "doc_id", "score"], axis="columns"))[itself] == pytest.approx(1)  # fmt: skip
    write_run(other[other["query"] != "q0"], tmp_path / "other.run", tag="t")
    with refused("query", "q0"):
        everycell.evaluate(run, qrels, measure)


def test_evaluate_gfr_equals_gfr(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("document,a,b\nd1,1,0\nd2,0,1\n")
    run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d2": 1.0}}
    qrels = {"q1": {"d2": 1, "d9": 2}, "q2": {"d2": 2}, "q3": {"d1": 1}}
    measure = everycell.GFR(groups=str(path), max_rel=3, utility="iRBU") @ 3
    values = everycell.evaluate(run, qrels, measure)[str(measure)]
    shares = [[[1, 0], [0, 1], [0.5, 0.5]], [[0, 1], [0, 1], [0, 1]]]
    expected = everycell.gfr(
        [[0, 1, 0], [2, 0, 0]],
        {"a": shares},
        {"a": everycell.AttributeSet((0.5, 0.5), "JSD")},
        max_gain=3,
        utility="iRBU",
        listed=[[True] * 3, [True, False, False]],
    ).combined[:, -1]
    # A query without documents has the value 0, which counts in the mean.
    assert values.tolist() == pytest.approx([*expected, 0])
    frames = [
        pd.DataFrame(
            [(q, d, value) for q, items in data.items() for d, value in items.items()],
            columns=["query_id", "doc_id", column],
        )
        for data, column in ((qrels, "relevance"), (run, "score"))
    ]
    assert ir_measures.calc_aggregate([measure], *frames)[measure] == pytest.approx(values.mean())


@pytest.mark.parametrize(("max_rel", "value"), [(1, 0.4222), (3, 0.2111)])
def test_gfr_other_queries(tmp_path, max_rel, value):
    """The highest level is a parameter, so judgements of other queries do not matter."""
    path = tmp_path / "groups.csv"
    path.write_text("document,drama,comedy\nd1,1,0\nd2,0,1\n")
    measure = everycell.GFR(groups=str(path), max_rel=max_rel) @ 5
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}}
    qrels = {"q1": {"d1": 1}}
    for level in (1, 3):
        more = qrels | {"q2": {"d2": min(level, max_rel)}}
        for judgements in (qrels, more):
            values = everycell.evaluate(run, judgements, measure)[str(measure)]
            assert values["q1"] == pytest.approx(value, abs=5e-5)


def test_gfr_relevance_above_the_scale(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("document,a,b\nd1,1,0\n")
    measure = everycell.GFR(groups=str(path), max_rel=2) @ 5
    with refused("relevance", 3, row="document 'd9' of query 'q'"):
        everycell.evaluate({"q": {"d1": 1.0}}, {"q": {"d1": 1, "d9": 3}}, measure)
    with pytest.raises(ValueError, match="cannot be parsed .*max_rel: highest relevance level"):
        everycell.evaluate({"q": {"d1": 1.0}}, {"q": {"d1": 1}}, f"GFR(groups='{path}')@5")
    with pytest.raises(ValueError, match="max_rel is 0"):
        everycell.evaluate({"q": {"d1": 1.0}}, {"q": {"d1": 1}}, measure(max_rel=0))


def test_provider_unregistered_measure():
    """A measure of the provider's classes that is not registered is an error, not another measure.

    Registering it is all that is needed to compute it.
    """

    class _TopScore(RunMeasure):
        __name__ = NAME = "TopScore"
        SUPPORTED_PARAMS = {"cutoff": CUTOFF}

        def by_query(self, run, qrels):
            return run.groupby("query")["score"].max().to_dict()

    measure = _TopScore() @ 1
    qrels, run = [ir_measures.Qrel("q", "d", 1)], [ir_measures.ScoredDoc("q", "d", 7.0)]
    own = EverycellProvider()
    for unknown in (measure, ir_measures.AP, ir_measures.nDCG @ 5):
        assert not own.supports(unknown)
        with refused("measure", str(unknown)):
            own.calc([everycell.RBO(run="x") @ 3, unknown], qrels, run)
    register(_TopScore)
    try:
        assert everycell.evaluate(run, qrels, "TopScore@1").squeeze() == 7.0
        assert ir_measures.calc_aggregate([measure, ir_measures.RR], qrels, run)[measure] == 7.0
    finally:
        del ir_measures.measures.registry["TopScore"]
        SUPPORTED_MEASURES.pop()


def test_provider_imports_all_measures():
    """Each module that registers a measure is imported by the provider, and public."""
    folder = Path(metrics.__file__).parent
    registering = {
        path.stem
        for path in folder.glob("*.py")
        if "\n\n\nclass _" in (text := path.read_text())
        and re.search(r"= register\(_\w+\)$", text, re.MULTILINE)
    }
    modules = {type(measure).__module__.rpartition(".")[2] for measure in SUPPORTED_MEASURES}
    assert modules == registering
    names = {str(measure.NAME) for measure in SUPPORTED_MEASURES}
    assert {name for name, (module, _) in NAMES.items() if module == provider.__name__} == names


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("document,a,b\nd1,1,0\nd1,0,1\n", "document 'd1'"),
        ("document,a,b\nd1,1,1\n", "document 'd1'"),
        ("document,a,b\nd1,1,x\n", "document 'd1'"),
        ("document,a\nd1,1\n", None),
    ],
)
def test_gfr_invalid_file_of_groups(tmp_path, text, row):
    (tmp_path / "groups.csv").write_text(text)
    measure = everycell.GFR(groups=str(tmp_path / "groups.csv"), max_rel=1) @ 3
    with refused(path="groups.csv", row=row):
        everycell.evaluate({"q": {"d1": 1.0}}, {"q": {"d1": 1}}, measure)


def test_gfr_file_of_groups_without_documents(tmp_path):
    (tmp_path / "groups.csv").write_text("doc,a,b\nd1,1,0\n")
    measure = everycell.GFR(groups=str(tmp_path / "groups.csv"), max_rel=1) @ 3
    with pytest.raises(ValueError, match="groups.csv.*document"):
        everycell.evaluate({"q": {"d1": 1.0}}, {"q": {"d1": 1}}, measure)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TExFAIR@5", "counts"),
        ("TExFAIR(counts='c.parquet')", "cutoff"),
        ("TExFAIR(counts='c.parquet',tau=1)@5", "tau"),
        ("AWRF(counts='c.parquet',unknown='drop')@5", "unknown"),
        ("RBO@5", "run"),
        ("GFR(groups='g.csv',max_rel=1)", "cutoff"),
        ("GFR(groups='g.csv',max_rel=1,divergence='KL')@5", "divergence"),
    ],
)
def test_evaluate_invalid_parameters(files, text, says):
    with pytest.raises(ValueError, match=f"cannot be parsed .*{says}"):
        everycell.evaluate(files[1], files[2], text)
