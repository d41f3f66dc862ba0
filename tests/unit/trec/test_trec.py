"""TREC files: what is read, what is written, what is refused, and trec_eval's order."""

import gzip

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.trec.qrels import check_qrels, read_qrels, write_qrels
from everycell.trec.runs import (
    check_candidates,
    check_run,
    id_order,
    rank_run,
    read_run,
    restrict_run,
    system_name,
    trec_order,
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
def test_any_white_space_parts_fields_and_comments_are_skipped(tmp_path, kind, change):
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
def test_a_gzipped_file_is_read(tmp_path, kind):
    read, text = READERS[kind]
    (tmp_path / "file.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "file").write_text(text)
    pd.testing.assert_frame_equal(read(tmp_path / "file.gz"), read(tmp_path / "file"))


def test_ids_are_text_as_they_stand(tmp_path):
    odd = ['"a', "007", "NA", "null", "1e5", "é", "a,b", "x#", "true"]
    path = tmp_path / "file"
    path.write_text("".join(f"{name} Q0 #{name} 1 1 t\n" for name in odd), encoding="utf-8")
    assert read_run(path)[["query", "document"]].values.tolist() == [[n, f"#{n}"] for n in odd]


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("run", "", "run file .* is empty"),
        ("qrels", " \n\n", "qrels file .* is empty"),
        (
            "run",
            "q Q0 d 1 2 t\nq Q0 my doc 2 1 t\n",
            "Line 2 of .* has 7 fields.*within ids",
        ),
        ("run", "q Q0 d 1 2\n", "Line 1 of .* has 5 fields: a line of a run file has 6"),
        ("run", "q Q0 d 1 2 t\n\nq Q0 e 1 2 t\n", "Line 2 of .* has 0 fields"),
        ("run", "# bm25\nq Q0 d 1 2 t\n#\nq Q0 e 1 2\n", "Line 4 of .* has 5 fields"),
        ("run", "# bm25\nq Q0 d 1 2 t\n#\nq Q0 d 1 1 t\n", "Line 4 of .* repeats the document"),
        ("qrels", "# nothing else\n", "is empty"),
        ("run", "q Q0 d 1 2 t\nq Q0 e 2 high t\n", "Line 2 of .* the score 'high': .* a plain"),
        ("run", "q Q0 d 1 2 t\nq Q0 e 2 nan t\n", r"Line 2 of .*'e'\) has the score nan"),
        ("run", "q Q0 d 1 -inf t\n", "Line 1 of .* has the score '-inf': .* finite"),
        ("run", "q Q0 d 1 1e39 t\n", r"Line 1 of .* has the score 1e\+39"),
        ("run", "q Q0 d 1 2 t\nr Q0 d 1 2 t\nq Q0 d 2 1 t\n", "Line 3 of .* 'd' of query 'q':"),
        ("qrels", "q 0 d 1\nq 0 e 1.5\n", "Line 2 of .* the relevance '1.5': .* whole number"),
        ("qrels", "q 0 d 12345678901\n", "Line 1 of .* the relevance '12345678901'"),
        ("qrels", "q 0 d 1\nq 0 d 0\n", "Line 2 of .* repeats the document"),
        ("qrels", "q 0 my doc 1\n", "Line 1 of .* has 5 fields"),
        ("qrels", "q 0 a\x0bb 1\n", "Line 1 of .* has .*fields|Line 1 of .*document id"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, kind, text, words):
    path = tmp_path / "file"
    path.write_text(text, newline="")
    with pytest.raises(ValueError, match=words):
        READERS[kind][0](path)


def lines_of(topics: int, documents: int) -> list[str]:
    return [
        f"q{topic} Q0 d{document} {document} {-document} t\n"
        for topic in range(topics)
        for document in range(documents)
    ]


@pytest.mark.parametrize("documents", [2, 200], ids=["short_lists", "long_lists"])
@pytest.mark.parametrize("scattered", [False, True])
def test_a_document_twice_is_found_in_lists_of_any_length(tmp_path, documents, scattered):
    lines = lines_of(5, documents)
    if scattered:
        np.random.default_rng(1).shuffle(lines)
    (tmp_path / "run").write_text("".join(lines))
    assert len(read_run(tmp_path / "run")) == len(lines)
    (tmp_path / "run").write_text("".join([*lines, "q3 Q0 d1 9 -9 t\n", "q1 Q0 d0 9 -9 t\n"]))
    with pytest.raises(ValueError, match=f"Line {len(lines) + 1} of .*'d1' of query 'q3'"):
        read_run(tmp_path / "run")


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
def test_ranks_that_agree_with_the_scores(tmp_path, lines):
    (tmp_path / "run").write_text("\n".join(lines))
    read = read_run(tmp_path / "run", ranks="error")
    pd.testing.assert_frame_equal(read, read_run(tmp_path / "run"))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        # Distances, best first, and the second query as it should be.
        (
            ["q Q0 a 1 0.5 t", "q Q0 b 2 0.75 t", "r Q0 a 1 2 t", "r Q0 b 2 1 t"],
            r"Line 2 of .* has the rank 2 and the score 0.75, higher than that of rank 1 of the "
            r"same query \(queries with such ranks: 1\).* distances",
        ),
        # The wrong rank need not be in an adjacent line.
        (["q Q0 a 1 2 t", "q Q0 c 9 3 t", "q Q0 b 2 1 t"], "Line 2 of .* the rank 9"),
        (["q Q0 a first 2 t"], "Line 1 of .* has the rank 'first': it must be a whole number"),
        (["q Q0 a 1 2 t", "q Q0 b 1.5 1 t"], "Line 2 of .* has the rank '1.5'"),
        (["q Q0 a -1 2 t"], "Line 1 of .* has the rank '-1'"),
    ],
)
def test_ranks_that_disagree_are_refused_on_request(tmp_path, lines, words):
    (tmp_path / "run").write_text("\n".join(lines))
    # By default the ranks are ignored.
    assert read_run(tmp_path / "run")["score"].tolist() == [float(x.split()[4]) for x in lines]
    with pytest.raises(ValueError, match=words):
        read_run(tmp_path / "run", ranks="error")


def test_choices_of_the_readers_that_are_refused(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 2 t")
    with pytest.raises(ValueError, match="ranks is 'warn': it must be 'ignore' or 'error'."):
        read_run(tmp_path / "run", ranks="warn")
    (tmp_path / "qrels").write_text("q 0 a 1")
    with pytest.raises(ValueError, match=r"The scale is \(4, 0\): give its lowest label"):
        read_qrels(tmp_path / "qrels", scale=(4, 0))


def test_labels_outside_the_scale(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 4\nq 0 b -1\nq 0 c 9\n")
    assert read_qrels(tmp_path / "qrels")["relevance"].tolist() == [4, -1, 9]
    assert len(read_qrels(tmp_path / "qrels", scale=(-1, 9))) == 3
    with pytest.raises(ValueError, match=r"Line 2 of .*'b'\) has the relevance -1: the scale goes"):
        read_qrels(tmp_path / "qrels", scale=(0, 9))
    with pytest.raises(ValueError, match="Line 3 of .* the relevance 9: .* from -1 to 4; correct"):
        read_qrels(tmp_path / "qrels", scale=(-1, 4))


@pytest.mark.parametrize("kind", READERS)
def test_a_missing_file_and_one_that_is_no_text(tmp_path, kind):
    read, text = READERS[kind]
    with pytest.raises(FileNotFoundError, match="does not exist: check the path"):
        read(tmp_path / "file")
    (tmp_path / "file").write_bytes(text.encode() + text.replace("d1", "dé").encode("latin-1"))
    with pytest.raises(ValueError, match="Line 3 of .* not UTF-8"):
        read(tmp_path / "file")


def test_a_line_for_an_unknown_query_is_refused(tmp_path):
    _, text = READERS["run"]
    (tmp_path / "file").write_text("#\n" + text + text.replace("q1", "q7"))
    assert len(read_run(tmp_path / "file", queries=["q1", "q7", "q9"])) == 4
    with pytest.raises(ValueError, match="Line 4 of .* has the unknown query 'q7'"):
        read_run(tmp_path / "file", queries=["q1"])


@pytest.mark.parametrize("bad", ["", "my doc", "a\tb", "a\nb", "a\x00b", "a\x0bb"])
@pytest.mark.parametrize("column", ["query", "document"])
def test_an_id_that_a_file_cannot_hold_is_refused(column, bad):
    run = pd.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": [1.0, 2.0]})
    run.loc[1, column] = bad
    with pytest.raises(ValueError, match=f"Row 1 of the run has the {column} id"):
        check_run(run)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (make_run(["a"], [1.0]).drop(columns="score"), "no column 'score'"),
        (make_run([1, 2], [1.0, 2.0]), "'document' of the run frame has the type int64"),
        (make_run(["a", None], [1.0, 2.0]), "'document' of the run frame has missing values"),
        (make_run(["a"], ["1.0"]), "'score' of the run frame has the type str"),
        (make_run(["a", "b"], [1.0, np.nan]), r"Row 1 of the run \(query 'q', document 'b'\)"),
    ],
)
def test_a_bad_frame_is_refused(run, words):
    with pytest.raises(ValueError, match=words):
        check_run(run)


def test_relevance_in_memory_is_a_whole_number():
    qrels = pd.DataFrame({"query": "q", "document": ["a", "b"], "relevance": [1.0, 0.5]})
    with pytest.raises(ValueError, match="Row 1 of the qrels .* has the relevance 0.5"):
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
def test_nothing_to_write_and_queries_like_comments_are_refused(tmp_path, write, frame):
    write(frame, tmp_path / "file")
    assert len((tmp_path / "file").read_text().splitlines()) == 1
    for refused, words in ((frame[:0], "no rows"), (frame.assign(query="#1"), "begins with '#'")):
        with pytest.raises(ValueError, match=words):
            write(refused, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize("tag", ["", "two words"])
def test_a_tag_is_one_word(tmp_path, tag):
    with pytest.raises(ValueError, match="The tag of the run"):
        write_run(make_run(["a"], [1.0]), tmp_path / "file", tag=tag)


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
ids = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=3)
ids = ids.filter(lambda name: not name.startswith("#"))


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.tuples(ids, ids), finite | st.floats(-1e30, 1e30), min_size=1))
def test_a_run_that_is_written_and_read_is_the_same(tmp_path_factory, scores):
    keys = pd.DataFrame(scores.keys(), columns=["query", "document"]).astype("str")
    run = keys.assign(score=list(scores.values()))
    path = tmp_path_factory.mktemp("runs") / "file"
    write_run(run, path, tag="t")
    result = read_run(path)
    pd.testing.assert_frame_equal(result, trec_order(run), check_exact=True)
    ranks = [int(line.split(" ")[3]) for line in path.read_text(encoding="utf-8").splitlines()]
    assert ranks == (result.groupby("query", sort=False).cumcount() + 1).tolist()


def test_qrels_that_are_written_and_read_are_the_same(tmp_path):
    qrels = pd.DataFrame({"query": ["b", "a"], "document": "é", "relevance": [-1, 3]})
    write_qrels(qrels, tmp_path / "qrels")
    pd.testing.assert_frame_equal(read_qrels(tmp_path / "qrels"), check_qrels(qrels))


def test_the_rank_column_and_the_order_of_lines_mean_nothing(tmp_path):
    (tmp_path / "a").write_text("q Q0 low 1 1 t\nq Q0 high 2 2 t\n")
    (tmp_path / "b").write_text("q Q0 high 99 2 u\nq Q0 low 0 1 u\n")
    a, b = (trec_order(read_run(tmp_path / name)) for name in "ab")
    pd.testing.assert_frame_equal(a, b)
    assert a["document"].tolist() == ["high", "low"]


names = st.lists(st.text("aAzZ019é~ß中𝄞", min_size=1, max_size=3), min_size=2, unique=True)


@settings(max_examples=40, deadline=None)
@given(names, st.data())
def test_the_order_is_that_of_pytrec_eval(documents, data):
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


def test_ids_are_ordered_by_their_bytes():
    expected = ["𝄞", "中", "é", "~", "b", "ab", "a", "Z", "9", "10"]
    positions = id_order(pd.Index(sorted(expected)))
    assert [expected[position] for position in positions] == sorted(expected)


def test_a_run_over_exactly_the_candidates():
    run = make_run(["a", "b", "c"], [3.0, 2.0, 1.0])
    candidates = make_run(["c", "x", "a"], 0)[["query", "document"]]
    result = restrict_run(run, candidates, missing=-1, outside="drop")
    assert result["document"].tolist() == ["c", "x", "a"]
    assert result["score"].tolist() == [1.0, -1.0, 3.0]
    with pytest.raises(ValueError, match="Row 1 .* 'b'.* 'q'"):
        restrict_run(run, candidates, missing=-1)
    with pytest.raises(ValueError, match="no score for the candidate 'x' of query 'q' .1 of 3 "):
        restrict_run(run, candidates, outside="drop")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"outside": "keep"}, "outside is 'keep'"),
        ({"missing": np.nan}, "missing is nan"),
        ({"missing": np.inf}, "missing is inf"),
    ],
)
def test_unknown_choices_of_candidates_are_refused(choice, words):
    run = make_run(["a"], [1.0])
    with pytest.raises(ValueError, match=words):
        restrict_run(run, run, **choice)


@pytest.mark.parametrize("column", ["query", "document", "score"])
def test_a_doubled_column_is_refused(column):
    run = make_run(["a", "b"], [1.0, 2.0])
    with pytest.raises(ValueError, match=f"run frame has 2 columns named '{column}'"):
        check_run(pd.concat([run, run[[column]]], axis=1))


@pytest.mark.parametrize("column", ["query", "document"])
def test_categorical_ids_are_refused_in_a_sentence(column):
    run = make_run(["a", "b"], [1.0, 2.0]).astype({column: "category"})
    with pytest.raises(ValueError, match=rf"{column!r} of the run frame has the type category"):
        check_run(run)


def test_complex_numbers_do_not_lose_their_imaginary_part():
    run = make_run(["a", "b"], [1 + 2j, 2])
    with pytest.raises(ValueError, match=r"'score' of the run frame has the type complex128"):
        check_run(run)
    qrels = run.rename(columns={"score": "relevance"})
    with pytest.raises(ValueError, match=r"'relevance' of the qrels frame has the type complex128"):
        check_qrels(qrels)


@pytest.mark.parametrize("kind", READERS)
def test_a_gzip_file_that_its_name_hides_and_one_that_is_none(tmp_path, kind):
    read, path = READERS[kind][0], tmp_path / "packed.txt"
    path.write_bytes(gzip.compress(b"q d"))
    with pytest.raises(ValueError, match=r"its name does not end in .gz: rename"):
        read(path)
    path = tmp_path / "plain.gz"
    path.write_bytes(b"q d")
    with pytest.raises(ValueError, match=r"create it again, or remove \.gz from its name"):
        read(path)


@pytest.mark.parametrize("join", ["\n", ""])
def test_a_byte_order_mark_is_skipped_at_the_start_and_refused_elsewhere(tmp_path, join):
    path = tmp_path / "joined.run"
    path.write_text("\ufeffq Q0 d 1 2 t", encoding="utf-8")
    assert read_run(path).to_numpy().tolist() == [["q", "d", 2.0]]
    path.write_text(f"\ufeffq Q0 d 1 2 t{join}\ufeffr Q0 d 1 2 t\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"Line {2 if join else 1} of .* byte order mark"):
        read_run(path)


@pytest.mark.parametrize(
    ("start", "words"), [(b"\xfd7zXZ\x00", "xz"), (b"PK\x03\x04", "zip"), (b"\xff\xfe", "UTF-16")]
)
def test_a_file_of_another_kind_is_called_what_it_is(tmp_path, start, words):
    path = tmp_path / "a.run"
    path.write_bytes(start + b"abc")
    with pytest.raises(ValueError, match=words):
        read_run(path)


@pytest.mark.parametrize("text", ["1e309", "-1e400", "inf", "-Infinity"])
def test_a_number_that_is_too_large_is_named_as_the_file_has_it(tmp_path, text):
    path = tmp_path / "a.run"
    path.write_text(f"q Q0 c 1 3 t\nq  Q0 d 2 {text} t\n")
    with pytest.raises(ValueError, match=f"Line 2 of .* score '{text}'"):
        read_run(path)


@pytest.mark.parametrize("sign", [1, -1])
def test_relevance_in_memory_has_at_most_nine_digits(sign):
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
    with pytest.raises(ValueError, match="Row 1 .*'d' of query 'q'"):
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
