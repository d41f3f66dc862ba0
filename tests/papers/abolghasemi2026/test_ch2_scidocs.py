"""Reader of SciDocs, on small files of its format with invented papers."""

import json

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import evaluate
from everycell.trec.runs import check_qrels
from papers.abolghasemi2026.ch2_scidocs import (
    FOLDERS,
    METADATA,
    SETTING,
    paper_text,
    read_scidocs,
)

#: Queries of each file; a query has two relevant documents, of its own subject, and three others.
QUERIES = {"test": 4, "val": 20}
SUBJECTS = ["bees", "rivers", "bridges"]


def paper_id(task, file, number):
    return f"{FOLDERS[task]}{file}{number:02}"


def papers():
    """Queries and candidates, each a paper on one of the subjects."""
    result = {}
    for number in range(30):
        subject = SUBJECTS[number % 3]
        result[f"paper{number:02}"] = {
            "abstract": None if number == 3 else f"A study of {subject}, part {number}.",
            "authors": ["1", "2"],
            "cited_by": [],
            "paper_id": f"paper{number:02}",
            "references": ["elsewhere"],
            "title": f"All about {subject}",
            "year": None,
        }
    for task in FOLDERS:
        for file, size in QUERIES.items():
            for number in range(size):
                name = paper_id(task, file, number)
                title = f"{task} question {number}: {SUBJECTS[number % 3]}?"
                result[name] = {"abstract": "", "title": title, "paper_id": name}
    return result


def lines(task, file):
    """Candidates of each query: numbers in steps of 3 are of its subject."""
    return [
        f"{paper_id(task, file, number)} 0 paper{(number + step) % 30:02} {int(step % 3 == 0)}"
        for number in range(QUERIES[file])
        for step in (0, 1, 2, 3, 4)
    ]


@pytest.fixture
def scidocs(tmp_path):
    """Write the files, some replaced, and give their folder."""

    def write(**replaced):
        for task, folder in FOLDERS.items():
            (tmp_path / folder).mkdir(exist_ok=True)
            for file in QUERIES:
                content = replaced.get(f"{folder}_{file}", lines(task, file))
                path = tmp_path / folder / f"{file}.qrel"
                path.write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
        metadata = replaced.get("metadata", papers())
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        (tmp_path / METADATA).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_read_scidocs_to_evaluation(scidocs):
    """Ranking by shared words is perfect in every list, and by their lack it is the worst."""
    result = read_scidocs(scidocs(), seed=1)
    assert result.documents["document_id"].tolist() == list(papers())
    assert result.left_out.empty
    queries, candidates = result.benchmark.queries, result.benchmark.candidates
    assert list(queries) == ["task", "query", "split", "origin_id", "text"]
    assert list(candidates) == ["setting", "task", "split", "query", "document_id", "relevance"]
    assert set(candidates["setting"]) == {SETTING}
    assert (queries["origin_id"] == queries["query"]).all()
    sizes = queries.groupby(["task", "split"]).size().unstack()
    assert sizes.loc[list(FOLDERS), ["test", "train", "validation"]].to_numpy().tolist() == [
        [4, 17, 3]
    ] * len(FOLDERS)

    text = result.documents.set_index("document_id")["text"]
    words = (
        text.str.lower()
        .str.findall(r"\w+")
        .map(lambda words_of_text: set(words_of_text) & set(SUBJECTS))
    )
    shared = [
        len(words[query] & words[document])
        for query, document in zip(candidates["query"], candidates["document_id"], strict=True)
    ]
    names = {"query": "query", "document_id": "document"}
    run = candidates.rename(columns=names).assign(score=np.array(shared, dtype=float))
    for task in FOLDERS:
        qrels = check_qrels(run[run["task"] == task])
        own = run.loc[run["task"] == task, ["query", "document", "score"]]
        assert (evaluate(own, qrels)[["MAP", "nDCG"]] == 1).all(axis=None)
        assert (evaluate(own.assign(score=-own["score"]), qrels)["MAP"] < 0.6).all()


def test_read_scidocs_lists_as_in_evaluator(scidocs):
    folder = scidocs()
    candidates = read_scidocs(folder, seed=0).benchmark.candidates
    for task, name in FOLDERS.items():
        expected = {}
        for file in QUERIES:
            with open(folder / name / f"{file}.qrel", encoding="utf-8") as stream:
                expected |= pytrec_eval.parse_qrel(stream)
        own = candidates[candidates["task"] == task]
        result = {
            query: dict(zip(rows["document_id"], rows["relevance"], strict=True))
            for query, rows in own.groupby("query")
        }
        assert result == expected
        assert list(own["split"].drop_duplicates()) == ["test", "validation", "train"]
        assert all(
            rows[["query", "document_id"]].apply(tuple, axis=1).is_monotonic_increasing
            for _, rows in own.groupby("split")
        )


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), validation=st.floats(0.05, 0.9))
def test_read_scidocs_split(tmp_path_factory, seed, validation):
    """Each validation query is in one part; the same seed gives the same parts, line order or not.

    The size is that of the share, and test queries stay where they are.
    """
    folder = tmp_path_factory.mktemp("scidocs")
    (folder / METADATA).write_text(json.dumps(papers()), encoding="utf-8")

    def split(reverse):
        for task, name in FOLDERS.items():
            (folder / name).mkdir(exist_ok=True)
            for file in QUERIES:
                rows = lines(task, file)[:: -1 if reverse else 1]
                (folder / name / f"{file}.qrel").write_text("\n".join(rows), encoding="utf-8")
        result = read_scidocs(folder, seed=seed, validation=validation).benchmark.queries
        return result.set_index(["task", "query"])["split"]

    result = split(reverse=False)
    pd.testing.assert_series_equal(result, split(reverse=True))
    assert result.index.is_unique
    for task in FOLDERS:
        parts = result[task]
        assert (parts == "validation").sum() == round(validation * QUERIES["val"])
        assert len(parts) == sum(QUERIES.values())
        assert set(parts[parts == "test"].index) == {paper_id(task, "test", n) for n in range(4)}


def test_read_scidocs_other_seed(scidocs):
    folder = scidocs()
    first, second = (
        read_scidocs(folder, seed=seed).benchmark.queries.query("split == 'validation'")
        for seed in (0, 1)
    )
    assert set(first["query"]) != set(second["query"])


@pytest.mark.parametrize(
    ("title", "abstract", "cleaning", "text"),
    [
        ("Title: x", "One.\n\nTwo", "none", "One. Two Title: x"),
        ("Title: x", None, "none", "Title: x"),
        (None, None, "none", ""),
        # The authors' code puts nothing between the two, and keeps runs of blanks.
        ("Title: x", "One.\n\nTwo", "words", "One   TwoTitle  x"),
        ("naïve_x", None, "words", "naïve_x"),
        (None, "One", "words", "One"),
    ],
)
def test_paper_text(title, abstract, cleaning, text):
    assert paper_text(title, abstract, cleaning=cleaning) == text


def test_paper_text_cleaning(scidocs):
    folder = scidocs()
    for cleaning, text in (("none", "cite question 1: rivers?"), ("words", "cite question 1  riv")):
        result = read_scidocs(folder, seed=0, cleaning=cleaning)
        texts = result.documents.set_index("document_id")["text"]
        assert texts["paper03"] == "All about bees"
        assert texts["citeval01"].startswith(text)
        queries = result.benchmark.queries
        assert (queries["text"] == queries["query"].map(texts)).all()


def test_read_scidocs_listed_documents(scidocs):
    folder = scidocs(metadata=papers() | {"alone": {"title": "Nobody's", "abstract": None}})
    everything = read_scidocs(folder, seed=0).documents
    listed = read_scidocs(folder, seed=0, documents="listed").documents
    assert set(everything["document_id"]) - set(listed["document_id"]) >= {"alone"}
    lists = read_scidocs(folder, seed=0).benchmark.candidates
    assert set(listed["document_id"]) == set(lists["query"]) | set(lists["document_id"])


def test_read_scidocs_without_metadata(scidocs):
    """A few lines are left out and recorded; many are of another release."""
    missing = [line for line in lines("cite", "val") if line.startswith("citeval03 ")]
    lacking = {key: paper for key, paper in papers().items() if key != "citeval03"}
    result = read_scidocs(scidocs(metadata=lacking), seed=0)
    assert len(result.left_out) == len(missing)
    assert set(result.left_out["reason"]) == {"no metadata"}
    assert set(result.left_out["query"]) == {"citeval03"}
    assert not (result.benchmark.queries["query"] == "citeval03").any()
    assert result.benchmark.queries["text"].notna().all()
    del lacking["paper00"]
    with pytest.raises(DataError, match=r"\d+ of \d+ lines .*paper00 ") as caught:
        read_scidocs(scidocs(metadata=lacking), seed=0)
    assert caught.value.path.name == METADATA


def test_read_scidocs_test_queries(scidocs):
    again = lines("cite", "test")[:5]
    result = read_scidocs(scidocs(cite_val=lines("cite", "val") + again), seed=0)
    assert result.left_out[["task", "split", "reason"]].drop_duplicates().to_numpy().tolist() == [
        ["cite", "validation", "test query"]
    ]
    assert len(result.left_out) == 5
    lists = result.benchmark.candidates
    assert set(lists.loc[lists["query"] == "citetest00", "split"]) == {"test"}
    assert len(lists[lists["query"] == "citetest00"]) == 5


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a 0 b", "a 0 b"),
        ("a 0 b c 1", "a 0 b c 1"),
        ("a 1 b 0", "a 1 b 0"),
        ("a 0 b 2", "a 0 b 2"),
        ("", ""),
        ("citeval00 0 paper00 1", "paper00"),
        ("citeval00 0 paper00 0", "paper00"),
    ],
)
def test_read_scidocs_invalid_line(scidocs, line, value):
    folder = scidocs(cite_val=[*lines("cite", "val"), line, "a 0 b 1"])
    with pytest.raises(DataError) as caught:
        read_scidocs(folder, seed=0)
    error = caught.value
    assert (error.path, error.row, error.value) == (folder / "cite/val.qrel", 101, value)


PAPER = '{"title": "t", "abstract": null}'


@pytest.mark.parametrize(
    ("metadata", "row", "value"),
    [
        ("", None, ...),
        (json.dumps(papers())[:-9], None, ...),
        ("[]", None, ...),
        ("{}", None, ...),
        ('{"a": "text"}', "paper a", ...),
        ('{"a": {"title": "t"}}', "paper a", ...),
        ('{"a": {"title": ["t"], "abstract": ""}}', "paper a", ...),
        (f'{{"a": {PAPER}, "b": {PAPER}, "a": {PAPER}}}', None, "a"),
        ('{"a": {"title": "t", "title": "u", "abstract": ""}}', None, "title"),
    ],
)
def test_read_scidocs_invalid_metadata(scidocs, metadata, row, value):
    folder = scidocs(metadata=metadata)
    with pytest.raises(DataError) as caught:
        read_scidocs(folder, seed=0)
    error = caught.value
    assert (error.path, error.row, error.value) == (folder / METADATA, row, value)


@pytest.mark.parametrize("content", [b"a 0 \xff 1\n", b"\n", None])
def test_read_scidocs_unreadable_file(scidocs, content):
    folder = scidocs()
    path = folder / "cocite" / "val.qrel"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_scidocs(folder, seed=0)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("validation", 1.0),
        ("validation", 0.001),
        ("documents", "some"),
        ("cleaning", "stem"),
    ],
)
def test_read_scidocs_invalid_option(scidocs, column, value):
    with refused(column, value):
        read_scidocs(scidocs(), **{"seed": 0, column: value})
