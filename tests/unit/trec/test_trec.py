"""TREC files: readers, writers, errors, and trec_eval's order."""

import gzip

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.trec.runs import (
    check_candidates,
    check_qrels,
    check_run,
    id_order,
    rank_run,
    read_qrels,
    read_run,
    restrict_run,
    system_name,
    trec_order,
    write_qrels,
    write_run,
)

READERS = {
    "run": (read_run, "q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1e-3 x\n"),
    "qrels": (read_qrels, "q1 0 d1 1\nq1 0 d2 -1\n"),
}


def make_run(documents, scores, query="q"):
    return pd.DataFrame({"query": query, "document": documents, "score": scores})


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", " \t "),
        lambda text: text.replace("\n", "  \n") + "\n\n",
        lambda text: "  " + text.replace("\n", "\n "),
        lambda text: "# made by\tBM25\n#\n" + text.replace("\n", "\n#q1 Q0 d1 9 9 t\n"),
    ],
    ids=["plain", "no_last_line_end", "crlf", "tabs", "mixed", "blanks_after", "blanks_before",
         "comments"],
)  # fmt: skip
@pytest.mark.parametrize("kind", READERS)
def test_read_run_white_space_and_comments(tmp_path, kind, change):
    read, text = READERS[kind]
    path = tmp_path / "file"
    path.write_text(change(text), newline="")
    result = read(path)
    assert result[["query", "document"]].values.tolist() == [["q1", "d1"], ["q1", "d2"]]
    if kind == "run":
        assert result["score"].tolist() == [2.5, 0.001]
    if kind == "qrels":
        assert result["relevance"].tolist() == [1, -1]


@pytest.mark.parametrize("kind", READERS)
def test_read_run_gzipped(tmp_path, kind):
    read, text = READERS[kind]
    (tmp_path / "file.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "file").write_text(text)
    pd.testing.assert_frame_equal(read(tmp_path / "file.gz"), read(tmp_path / "file"))


def test_read_run_ids(tmp_path):
    odd = ['"a', "007", "NA", "null", "1e5", "é", "a,b", "x#", "true"]
    path = tmp_path / "file"
    path.write_text("".join(f"{name} Q0 #{name} 1 1 t\n" for name in odd), encoding="utf-8")
    assert read_run(path)[["query", "document"]].values.tolist() == [[n, f"#{n}"] for n in odd]


def fields_of(error: DataError) -> tuple:
    return error.row, error.column, error.value


@pytest.mark.parametrize(
    ("kind", "text", "fields"),
    [
        ("run", "", (None, None, ...)),
        ("qrels", " \n\n", (None, None, ...)),
        ("run", "q Q0 d 1 2 t\nq Q0 my doc 1 2 t\n", (2, None, ...)),
        ("run", "q Q0 d 1 2\n", (1, None, ...)),
        ("run", "q Q0 d 1 2 t\n\nq Q0 e 1 2 t\n", (2, None, ...)),
        ("run", "# bm25\nq Q0 d 1 2 t\n#\nq Q0 e 1 2\n", (4, None, ...)),
        ("run", "# bm25\nq Q0 d 1 2 t\n#\nq Q0 d 1 1 t\n", (4, "document", "d")),
        ("qrels", "# nothing else\n", (None, None, ...)),
        ("run", "q Q0 d 1 2 t\nq Q0 e 2 high t\n", (2, "score", "high")),
        ("run", "q Q0 d 1 -inf t\n", (1, "score", "-inf")),
        ("run", "q Q0 d 1 1e39 t\n", (1, "score", 1e39)),
        ("run", "q Q0 d 1 2 t\nr Q0 d 1 2 t\nq Q0 d 2 1 t\n", (3, "document", "d")),
        ("qrels", "q 0 d 1\nq 0 e 1.5\n", (2, "relevance", "1.5")),
        ("qrels", "q 0 d 12345678901\n", (1, "relevance", "12345678901")),
        ("qrels", "q 0 d 1\nq 0 d 0\n", (2, "document", "d")),
        ("qrels", "q 0 my doc 1\n", (1, None, ...)),
        ("qrels", "q 0 a\x0bb 1\n", (1, "document", "a\x0bb")),
    ],
)
def test_read_run_and_qrels_invalid_file(tmp_path, kind, text, fields):
    path = tmp_path / "file"
    path.write_text(text, newline="")
    with pytest.raises(DataError) as caught:
        READERS[kind][0](path)
    assert (caught.value.path, *fields_of(caught.value)) == (path, *fields)


def test_read_run_nan_score(tmp_path):
    (tmp_path / "run").write_text("q Q0 d 1 2 t\nq Q0 e 2 nan t\n")
    with pytest.raises(DataError, match="document 'e' of query 'q'") as caught:
        read_run(tmp_path / "run")
    assert (caught.value.row, caught.value.column) == (2, "score")


def lines_of(topics: int, documents: int) -> list[str]:
    return [
        f"q{topic} Q0 d{document} {document} {-document} t\n"
        for topic in range(topics)
        for document in range(documents)
    ]


@pytest.mark.parametrize("documents", [2, 200], ids=["short_lists", "long_lists"])
@pytest.mark.parametrize("scattered", [False, True])
def test_read_run_repeated_document(tmp_path, documents, scattered):
    lines = lines_of(5, documents)
    if scattered:
        np.random.default_rng(1).shuffle(lines)
    (tmp_path / "run").write_text("".join(lines))
    assert len(read_run(tmp_path / "run")) == len(lines)
    (tmp_path / "run").write_text("".join([*lines, "q3 Q0 d1 9 -9 t\n", "q1 Q0 d0 9 -9 t\n"]))
    with pytest.raises(DataError, match="query 'q3'") as caught:
        read_run(tmp_path / "run")
    assert fields_of(caught.value) == (len(lines) + 1, "document", "d1")


@pytest.mark.parametrize(
    "lines",
    [
        ["q Q0 a 1 3 t", "q Q0 b 2 3 t", "r Q0 a 1 9 t"],
        # Ties in any order, and scores that differ beyond 32 bits only, which trec_eval ties.
        ["q Q0 b 2 3 t", "q Q0 a 1 3 t", "q Q0 c 3 3.00000001 t"],
        # No ranks at all: 0 everywhere.
        ["q Q0 a 0 1 t", "q Q0 b 0 2 t"],
        # The order of lines means nothing.
        ["q Q0 c 7 1 t", "q Q0 a 1 3 t", "q Q0 b 2 2 t"],
    ],
)
def test_read_run_ranks_that_agree_with_scores(tmp_path, lines):
    (tmp_path / "run").write_text("\n".join(lines))
    read = read_run(tmp_path / "run", ranks="error")
    pd.testing.assert_frame_equal(read, read_run(tmp_path / "run"))


@pytest.mark.parametrize(
    ("lines", "row", "value"),
    [
        # Distances, best first, and the second query as it should be.
        (["q Q0 a 1 0.5 t", "q Q0 b 2 0.75 t", "r Q0 a 1 2 t", "r Q0 b 2 1 t"], 2, 2),
        # The wrong rank need not be in an adjacent line.
        (["q Q0 a 1 2 t", "q Q0 c 9 3 t", "q Q0 b 2 1 t"], 2, 9),
        (["q Q0 a first 2 t"], 1, "first"),
        (["q Q0 a 1 2 t", "q Q0 b 1.5 1 t"], 2, "1.5"),
        (["q Q0 a -1 2 t"], 1, "-1"),
    ],
)
def test_read_run_contradictory_ranks(tmp_path, lines, row, value):
    (tmp_path / "run").write_text("\n".join(lines))
    # By default the ranks are ignored.
    assert read_run(tmp_path / "run")["score"].tolist() == [float(x.split()[4]) for x in lines]
    with refused("rank", value, row=row):
        read_run(tmp_path / "run", ranks="error")


def test_read_run_and_qrels_invalid_option(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 2 t")
    (tmp_path / "qrels").write_text("q 0 a 1")
    with refused("ranks", "warn", row=None):
        read_run(tmp_path / "run", ranks="warn")
    with refused("scale", (4, 0), row=None):
        read_qrels(tmp_path / "qrels", scale=(4, 0))


def test_read_qrels_scale(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 4\nq 0 b -1\nq 0 c 9\n")
    assert read_qrels(tmp_path / "qrels")["relevance"].tolist() == [4, -1, 9]
    assert len(read_qrels(tmp_path / "qrels", scale=(-1, 9))) == 3
    for scale, row, value in (((0, 9), 2, -1), ((-1, 4), 3, 9)):
        with refused("relevance", value, row=row):
            read_qrels(tmp_path / "qrels", scale=scale)


@pytest.mark.parametrize("kind", READERS)
def test_read_run_and_qrels_missing_file_and_encoding(tmp_path, kind):
    read, text = READERS[kind]
    with pytest.raises(FileNotFoundError, match="does not exist: check the path"):
        read(tmp_path / "file")
    (tmp_path / "file").write_bytes(text.encode() + text.replace("d1", "dé").encode("latin-1"))
    with pytest.raises(ValueError, match="line 3.* not UTF-8"):
        read(tmp_path / "file")


def test_read_run_unknown_query(tmp_path):
    _, text = READERS["run"]
    (tmp_path / "file").write_text("#\n" + text + text.replace("q1", "q7"))
    assert len(read_run(tmp_path / "file", queries=["q1", "q7", "q9"])) == 4
    with refused("query", "q7", row=4):
        read_run(tmp_path / "file", queries=["q1"])


@pytest.mark.parametrize("bad", ["", "my doc", "a\tb", "a\nb", "a\x00b", "a\x0bb"])
@pytest.mark.parametrize("column", ["query", "document"])
def test_check_run_invalid_id(column, bad):
    run = pd.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": [1.0, 2.0]})
    run.loc[1, column] = bad
    with refused(column, bad, row="row 1 of the run"):
        check_run(run)


@pytest.mark.parametrize(
    ("run", "column"),
    [
        (make_run([1, 2], [1.0, 2.0]), "document"),
        (make_run(["a", None], [1.0, 2.0]), "document"),
        (make_run(["a"], ["1.0"]), "score"),
        (make_run(["a", "b"], [1.0, np.nan]), "score"),
        (make_run(["a"], [1 + 2j]), "score"),
        (make_run(["a"], [1.0]).astype({"document": "category"}), "document"),
        (make_run(["a"], [1.0]).astype({"query": "category"}), "query"),
        (make_run(["a", "b", "a"], [1.0, 2.0, 3.0]), "document"),
        (make_run([], []), None),
    ],
)
def test_check_run_invalid(run, column):
    with pytest.raises(DataError) as caught:
        check_run(run)
    assert caught.value.column == column


def test_check_run_missing_column():
    with pytest.raises(ValueError, match="no column 'score'"):
        check_run(make_run(["a"], [1.0]).drop(columns="score"))


def test_check_qrels_whole_number():
    qrels = pd.DataFrame({"query": "q", "document": ["a", "b"], "relevance": [1.0, 0.5]})
    with refused("relevance", 0.5, row="row 1 of the qrels"):
        check_qrels(qrels)
    assert check_qrels(qrels[:1])["relevance"].dtype == np.int32


@pytest.mark.parametrize(
    ("write", "frame"),
    [
        (lambda frame, path: write_run(frame, path, tag="t"), make_run(["a"], [1.0])),
        (write_qrels, make_run(["a"], [1.0]).rename(columns={"score": "relevance"})),
    ],
    ids=["run", "qrels"],
)
def test_write_run_and_qrels_empty_and_comment(tmp_path, write, frame):
    write(frame, tmp_path / "file")
    assert len((tmp_path / "file").read_text().splitlines()) == 1
    for invalid, words in ((frame[:0], "no rows"), (frame.assign(query="#1"), "begins with '#'")):
        with pytest.raises(ValueError, match=words):
            write(invalid, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize("tag", ["", "two words"])
def test_write_run_invalid_tag(tmp_path, tag):
    with refused("tag", tag, row=None):
        write_run(make_run(["a"], [1.0]), tmp_path / "file", tag=tag)


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
ids = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=3)
ids = ids.filter(lambda name: not name.startswith("#"))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(ids, ids), finite | st.floats(-1e30, 1e30), min_size=1))
def test_write_run_round_trip(tmp_path_factory, scores):
    keys = pd.DataFrame(scores.keys(), columns=["query", "document"]).astype("str")
    run = keys.assign(score=list(scores.values()))
    path = tmp_path_factory.mktemp("runs") / "file"
    write_run(run, path, tag="t")
    result = read_run(path)
    pd.testing.assert_frame_equal(result, trec_order(run), check_exact=True)
    ranks = [int(line.split(" ")[3]) for line in path.read_text(encoding="utf-8").splitlines()]
    assert ranks == (result.groupby("query", sort=False).cumcount() + 1).tolist()


def test_write_qrels_round_trip(tmp_path):
    qrels = pd.DataFrame({"query": ["b", "a"], "document": "é", "relevance": [-1, 3]})
    write_qrels(qrels, tmp_path / "qrels")
    pd.testing.assert_frame_equal(read_qrels(tmp_path / "qrels"), check_qrels(qrels))


def test_trec_order_ignores_ranks_and_lines(tmp_path):
    (tmp_path / "a").write_text("q Q0 low 1 1 t\nq Q0 high 2 2 t\n")
    (tmp_path / "b").write_text("q Q0 high 99 2 u\nq Q0 low 0 1 u\n")
    a, b = (trec_order(read_run(tmp_path / name)) for name in "ab")
    pd.testing.assert_frame_equal(a, b)
    assert a["document"].tolist() == ["high", "low"]


names = st.lists(st.text("aAzZ019é~ß中𝄞", min_size=1, max_size=3), min_size=2, unique=True)


@settings(max_examples=40, deadline=None)
@given(names, st.data())
def test_trec_order_as_pytrec_eval(documents, data):
    """Found out from outside: with one relevant document, 1 / RR is its rank."""
    near = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-9, 1 + 1e-6, -2.0])
    scores = data.draw(st.lists(near, min_size=len(documents), max_size=len(documents)))
    run = {"q": dict(zip(documents, scores, strict=True))}
    ranks = {}
    for document in documents:
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {document: 1}}, {"recip_rank"})
        ranks[document] = round(1 / evaluator.evaluate(run)["q"]["recip_rank"])
    ordered = trec_order(make_run(documents, scores))["document"]
    assert ordered.tolist() == sorted(ranks, key=ranks.get)


def test_id_order_bytes():
    expected = ["𝄞", "中", "é", "~", "b", "ab", "a", "Z", "9", "10"]
    positions = id_order(pd.Index(sorted(expected)))
    assert [expected[position] for position in positions] == sorted(expected)


def test_restrict_run_candidates():
    run = make_run(["a", "b", "c"], [3.0, 2.0, 1.0])
    candidates = make_run(["c", "x", "a"], 0)[["query", "document"]]
    result = restrict_run(run, candidates, missing=-1, outside="drop")
    assert result["document"].tolist() == ["c", "x", "a"]
    assert result["score"].tolist() == [1.0, -1.0, 3.0]
    with pytest.raises(DataError, match="query 'q'") as caught:
        restrict_run(run, candidates, missing=-1)
    assert fields_of(caught.value) == ("row 1 of the run", "document", "b")
    with pytest.raises(DataError, match="query 'q'.*1 of 3") as caught:
        restrict_run(run, candidates, outside="drop")
    assert fields_of(caught.value) == (None, "document", "x")


@pytest.mark.parametrize(
    ("column", "value"), [("outside", "keep"), ("missing", np.nan), ("missing", np.inf)]
)
def test_restrict_run_invalid_option(column, value):
    run = make_run(["a"], [1.0])
    with pytest.raises(DataError) as caught:
        restrict_run(run, run, **{column: value})
    assert caught.value.column == column


@pytest.mark.parametrize("column", ["query", "document", "score"])
def test_check_run_repeated_column(column):
    run = make_run(["a", "b"], [1.0, 2.0])
    with pytest.raises(ValueError, match=f"run frame has 2 columns named '{column}'"):
        check_run(pd.concat([run, run[[column]]], axis=1))


def test_check_qrels_complex_numbers():
    qrels = make_run(["a", "b"], [1 + 2j, 2]).rename(columns={"score": "relevance"})
    with pytest.raises(DataError) as caught:
        check_qrels(qrels)
    assert caught.value.column == "relevance"


@pytest.mark.parametrize("kind", READERS)
def test_read_run_and_qrels_gzip(tmp_path, kind):
    read, path = READERS[kind][0], tmp_path / "packed.txt"
    path.write_bytes(gzip.compress(b"q d"))
    with pytest.raises(ValueError, match="compressed with gzip"):
        read(path)
    path = tmp_path / "plain.gz"
    path.write_bytes(b"q d")
    with pytest.raises(ValueError, match=r"create it again, or remove \.gz from its name"):
        read(path)


@pytest.mark.parametrize("join", ["\n", ""])
def test_read_run_byte_order_mark(tmp_path, join):
    path = tmp_path / "joined.run"
    path.write_text("\ufeffq Q0 d 1 2 t", encoding="utf-8")
    assert read_run(path).to_numpy().tolist() == [["q", "d", 2.0]]
    path.write_text(f"\ufeffq Q0 d 1 2 t{join}\ufeffr Q0 d 1 2 t\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"line {2 if join else 1} has a byte order mark"):
        read_run(path)


@pytest.mark.parametrize(
    ("start", "words"), [(b"\xfd7zXZ\x00", "xz"), (b"PK\x03\x04", "zip"), (b"\xff\xfe", "UTF-16")]
)
def test_read_run_other_format(tmp_path, start, words):
    path = tmp_path / "a.run"
    path.write_bytes(start + b"abc")
    with pytest.raises(ValueError, match=words):
        read_run(path)


@pytest.mark.parametrize("text", ["1e309", "-1e400", "inf", "-Infinity"])
def test_read_run_infinite_number(tmp_path, text):
    path = tmp_path / "a.run"
    path.write_text(f"q Q0 c 1 3 t\nq  Q0 d 2 {text} t\n")
    with refused("score", text, row=2):
        read_run(path)


@pytest.mark.parametrize("sign", [1, -1])
def test_check_qrels_nine_digits(sign):
    frame = pd.DataFrame({"query": ["q"], "document": ["d"], "relevance": [sign * 999_999_999]})
    assert check_qrels(frame)["relevance"].tolist() == [sign * 999_999_999]
    with pytest.raises(ValueError, match="relevance"):
        check_qrels(frame.assign(relevance=sign * 1_000_000_000))


def test_restrict_run_missing_score_has_32_bits():
    run = pd.DataFrame({"query": ["q"], "document": ["d"], "score": [1.0]})
    candidates = pd.DataFrame({"query": ["q", "q"], "document": ["d", "e"]})
    lowest = -float(np.finfo(np.float32).max)
    assert restrict_run(run, candidates, missing=lowest)["score"].tolist() == [1, lowest]
    with pytest.raises(ValueError, match="missing"):
        restrict_run(run, candidates, missing=10 * lowest)


def test_check_candidates_repeated_document():
    with pytest.raises(DataError, match="row 1 .*'d'.* query 'q'"):
        check_candidates(pd.DataFrame({"query": ["q", "q"], "document": ["d", "d"]}))


def test_system_name_with_points():
    assert system_name("runs/bm25.k60.run.gz") == "bm25.k60"


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdeé"), st.sampled_from([1.0, 2, 3])),
        min_size=1,
        max_size=18,
        unique_by=lambda row: row[:2],
    )
)
def test_rank_run_equals_trec_order(rows):
    run = pd.DataFrame(rows, columns=["query", "document", "score"])
    for frame in (run, run.sort_values(["query", "score"], ascending=[True, False])):
        ordered = trec_order(frame)
        ranked = rank_run(frame)
        assert ranked.queries[ranked.query].tolist() == ordered["query"].tolist()
        assert ranked.documents[ranked.document].tolist() == ordered["document"].tolist()
        expected = ordered.groupby("query", sort=False).cumcount()
        assert ranked.rank.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("q", "d", 1.0), ("p", "d", 1.0), ("q", "d", 2.0)],
        [("q", "d", 1.0), ("q", "", 2.0)],
        [("q q", "d", 1.0)],
        [("q", None, 1.0)],
        [("q", "d", np.inf)],
        [("q", "d", 1e39)],
        [("q", "d", "x")],
        [(1, "d", 1.0)],
    ],
)
def test_rank_run_refuses_what_check_run_refuses(rows):
    run = pd.DataFrame(rows, columns=["query", "document", "score"])
    with pytest.raises(ValueError, match=r"\w") as expected:
        check_run(run)
    with pytest.raises(ValueError, match=r"\w") as caught:
        rank_run(run)
    assert str(caught.value) == str(expected.value)
