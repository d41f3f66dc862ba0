"""Runs and judgements of other libraries, made by the libraries themselves, become our frames."""

import re
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everycell
from everycell.trec.conversion import as_qrels, as_run, as_run_and_qrels
from everycell.trec.runs import trec_order, write_qrels, write_run
from papers.abolghasemi2026.ch2_ranx import uncompiled_ranx

SCORES = {"q2": {"d1": 0.5, "d3": 2.0}, "q1": {"d2": 12.5, "d1": -1.0}}
LABELS = {"q2": {"d1": 1, "d3": 0}, "q1": {"d2": 2}}
RUN = pd.DataFrame(
    [(query, document, score) for query, row in SCORES.items() for document, score in row.items()],
    columns=["query", "document", "score"],
)
QRELS = pd.DataFrame(
    [(query, document, label) for query, row in LABELS.items() for document, label in row.items()],
    columns=["query", "document", "relevance"],
).astype({"relevance": np.int32})


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["query", "document"], ignore_index=True)


def other_runs():
    """Kind -> the same run."""
    iterator = [ir_measures.ScoredDoc(*row) for row in RUN.itertuples(index=False)]
    # Output of a transformer of PyTerrier: numbered documents, ranks from 0, the query's text.
    pyterrier = RUN.set_axis(["qid", "docno", "score"], axis="columns").assign(
        docid=range(4), rank=[1, 0, 0, 1], query="what is asked"
    )
    with uncompiled_ranx() as ranx:
        of_ranx = ranx.Run.from_dict(SCORES, name="bm25")
    return {
        "ours": RUN.assign(rank=0),
        "ir_measures frame": pd.DataFrame(iterator),
        "ir_measures list": iterator,
        "ir_measures iterator": iter(iterator),
        "pyterrier": pyterrier,
        "ranx": of_ranx,
        "dicts": SCORES,
    }


def other_qrels():
    """Kind -> the same judgements."""
    iterator = [ir_measures.Qrel(*row) for row in QRELS.itertuples(index=False)]
    with uncompiled_ranx() as ranx:
        of_ranx = ranx.Qrels.from_dict(LABELS)
    return {
        "ours": QRELS,
        "ir_measures frame": pd.DataFrame(iterator),
        "ir_measures iterator": iter(iterator),
        "pyterrier": QRELS.set_axis(["qid", "docno", "label"], axis="columns"),
        "ranx": of_ranx,
        "dicts": LABELS,
    }


@pytest.mark.parametrize("kind", other_runs())
def test_as_run_each_kind(kind):
    result = as_run(other_runs()[kind])
    assert in_order(result).equals(in_order(RUN))


@pytest.mark.parametrize("kind", other_qrels())
def test_qrels_of_each_kind_are_the_same(kind):
    result = as_qrels(other_qrels()[kind])
    assert in_order(result).equals(in_order(QRELS))


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_as_run_files(tmp_path, kind, ending):
    import gzip

    for name, frame, write, read in (
        ("a.run", RUN, lambda f, p: write_run(f, p, tag="t"), as_run),
        ("a.qrels", QRELS, write_qrels, as_qrels),
    ):
        path = tmp_path / name
        write(frame, path)
        if ending:
            packed = tmp_path / f"{name}.gz"
            packed.write_bytes(gzip.compress(path.read_bytes()))
            path = packed
        assert in_order(read(kind(path))).equals(in_order(frame))


def test_as_run_equals_ir_measures(tmp_path):
    path = tmp_path / "a.run"
    write_run(RUN, path, tag="t")
    assert as_run(ir_measures.read_trec_run(str(path))).equals(as_run(path))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (12, TypeError, "^The run is of type int; use a frame with the columns query, docum"),
        (None, TypeError, "^The run is of type NoneType; "),
        (b"a.run", TypeError, "^The run is of type bytes; "),
        ([("q", "d", 1.0)], TypeError, "^The run is of type list of tuple; "),
        (LABELS["q2"], TypeError, "^The run has 1 for the query 'd1'; use a dict of dicts"),
        (RUN.drop(columns="score"), ValueError, "has the columns .*; expected one of the sets"),
        (RUN.assign(qid="q", docno="d"), ValueError, "only one of the sets .query, document, sc"),
        (RUN.assign(query=1), ValueError, "query has the type int64"),
        ({1: {"d": 1.0}}, ValueError, "query has the type int64"),
        ({"q": {"d": float("nan")}}, ValueError, "score is nan"),
        ({}, ValueError, "has no rows"),
        ("no.run", FileNotFoundError, "no.run does not exist"),
    ],
)  # fmt: skip
def test_as_run_other_types(arguments, error, message):
    with pytest.raises(error, match=message) as refused:
        as_run(arguments)
    output = str(refused.value)
    assert output.endswith(".") and "\n" not in output


def test_as_qrels_ranx_run():
    with pytest.raises(TypeError, match="^The qrels are of type Run; "):
        as_qrels(other_runs()["ranx"])


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from("abcdef"), st.floats(-9, 9, width=32), min_size=1),
        min_size=1,
    )
)
def test_as_run_order(scores):
    rows = [(q, d, score) for q, row in scores.items() for d, score in row.items()]
    frame = pd.DataFrame(rows, columns=["query", "document", "score"])
    expected = trec_order(frame)
    other = [ir_measures.ScoredDoc(*row) for row in rows]
    for given_run in (scores, other, frame.rename(columns={"query": "qid", "document": "docno"})):
        assert trec_order(as_run(given_run)).equals(expected)


RUN_FRAME = pd.DataFrame({"query": ["q"], "document": ["d"], "score": [2.0]})
QRELS_FRAME = pd.DataFrame({"query": ["q"], "document": ["d"], "relevance": [1]})


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (RUN_FRAME, QRELS_FRAME),
        (
            RUN_FRAME.set_axis(["qid", "docno", "score"], axis=1),
            QRELS_FRAME.set_axis(["qid", "docno", "label"], axis=1),
        ),
        (
            RUN_FRAME.set_axis(["query_id", "doc_id", "score"], axis=1),
            QRELS_FRAME.set_axis(["query_id", "doc_id", "relevance"], axis=1),
        ),
        ({"q": {"d": 2.0, "e": 3.0}}, {"q": {"d": 1}}),
        ({"q": {"d": np.float32(2)}}, {"q": {"d": np.int64(1)}}),
        ({"q": {"d": 2.0}}, QRELS_FRAME),
        ({"q": {"d": 0.5}}, {"q": {"d": 1}}),
        ([ir_measures.ScoredDoc("q", "d", 2.0)], [ir_measures.Qrel("q", "d", 1)]),
    ],
)
def test_as_run_and_qrels_swapped(run, qrels):
    frames = as_run_and_qrels(run, qrels)
    assert [list(frame)[-1] for frame in frames] == ["score", "relevance"]
    with pytest.raises((TypeError, ValueError)) as error:
        as_run_and_qrels(qrels, run)
    assert re.search(r"swapped|whole number|ScoredDoc", str(error.value))


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        # Ranks as scores, and labels as pandas has them after a merge.
        ({"q": {"d": 3, "e": 2}}, {"q": {"d": 1}}),
        ({"q": {"d": 2.5}}, {"q": {"d": 1.0}}),
        ({"q": {"d": 3}}, {"q": {"d": 1, "e": 0.0}}),
        (iter([ir_measures.ScoredDoc("q", "d", 2.0)]), iter([ir_measures.Qrel("q", "d", 1)])),
    ],
)
def test_as_run_and_qrels_in_order(run, qrels):
    assert [len(frame) > 0 for frame in as_run_and_qrels(run, qrels)] == [True, True]


def test_as_run_and_qrels_swapped_files(tmp_path):
    run, qrels = tmp_path / "a.run", tmp_path / "a.qrels"
    run.write_text("q Q0 d 1 2.0 t\n")
    qrels.write_text("q 0 d 1\n")
    for read, path, expected in ((as_run, qrels, "qrels"), (as_qrels, run, "a run")):
        with pytest.raises(ValueError, match=f"{path.name} contains .*{expected}.*order"):
            read(path)
    for function in (everycell.evaluate, partial(everycell.compare, run)):
        with pytest.raises(ValueError, match=r"a\.(qrels|run) contains"):
            function(qrels, run)
