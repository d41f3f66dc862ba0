"""Readers of the classic collections: toy files and the real counts."""

import io
import re
import tarfile

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from everycell.base.errors import DataError
from everycell.records.registry import load_registry
from everycell.sources import fetch
from papers.abolghasemi2026.ch2_query_by_example import linked_tasks, read_cacm_links
from papers.abolghasemi2026.ch2_test_collections import (
    CRANFIELD_RELEVANCE,
    FILES,
    Counts,
    read_collection,
)

PAGE = """<html>
<pre>

A Title
of Two Lines

   An abstract of
six words.

 CACM may,1960

Author, A.

CA600501 JB

{links}
</pre>
</html>
"""
PAGES = {
    "CACM-0001.html": PAGE.format(links="1\t5\t1\n2\t5\t1\n2\t5\t1\n3\t4\t1\n3\t6\t1"),
    "CACM-0002.html": "<html>\n<pre>\n\nOnly a title\n\nJune, 1961\n\n1\t5\t2\n</pre>\n",
    "CACM-0003.html": "<html>\n<pre>\nThird\n\nabstract\nCACM June 1961\n\n1\t4\t3\n1\t6\t3\n",
}
#: A small collection in each format: documents, topics, judgements.
TOYS = {
    "cacm": (
        PAGES,
        "<DOC>\n<DOCNO> 1 </DOCNO>\n\n What is\n it?\n</DOC>\n"
        "<DOC>\n<DOCNO> 2 </DOCNO>\nx\n</DOC>\n",
        "1 Q0 CACM-2 1\n1 Q0 CACM-0003 1\n",
    ),
    "cisi": (
        ".I 1\n.T\nOne\n.A\nAuthor\n.W\nbody\n text\n.X\n1\t5\t1\n"
        ".I 2\n.T \nTwo\n.W\n.dot begins\n",
        ".I 1\n.W\nwhat?\n.I 2\n.T\nTitle\n.A\nAuthor\n.W\nbody\n.B\n(source)\n",
        "     1      2\t0\t0.000000\n",
    ),
    "cranfield": (
        ".I 1\n.T\na title .\n.A\nx\n.B\n.W\na title .\n body\n"
        ".I 2\n.T\n.W\n.I 3\n.T\nt\n.W\nother\n",
        ".I 001\n.W\nfirst\n.I 004\n.W\nsecond\n",
        "1 3 2 \r\n1 1 -1\r\n2 2 4\r\n\n",
    ),
    "vaswani": (
        "<DOC>\n<DOCNO>7</DOCNO>\ntext of\nseven\n</DOC>\n",
        "<top>\n<num>1</num><title>\nTOPIC ONE\n</title>\n</top>\n",
        "1 0 7 1\n",
    ),
}


def pack(path, pages):
    """Write pages into a tar archive."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in pages.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def read(tmp_path):
    """Read a small collection."""

    def run(name):
        paths = {}
        for part, content in zip(("documents", "topics", "qrels"), TOYS[name], strict=True):
            paths[part] = tmp_path / part
            if isinstance(content, dict):
                pack(paths[part], content)
            else:
                paths[part].write_text(content)
        return read_collection(name, **paths)

    return run


def test_read_collection_cacm(read):
    result = read("cacm")
    assert result.documents.to_numpy().tolist() == [
        [
            "CACM-0001",
            "A Title of Two Lines",
            "An abstract of six words.",
            "A Title of Two Lines An abstract of six words.",
        ],
        ["CACM-0002", "Only a title", "", "Only a title"],
        ["CACM-0003", "Third", "abstract", "Third abstract"],
    ]
    assert result.topics.to_numpy().tolist() == [["1", "What is it?"], ["2", "x"]]
    assert result.qrels.to_numpy().tolist() == [["1", "CACM-0002", 1], ["1", "CACM-0003", 1]]


def test_read_collection_cisi(read):
    result = read("cisi")
    assert result.documents["text"].tolist() == ["One body text", "Two .dot begins"]
    assert result.topics["text"].tolist() == ["what?", "Title body"]
    assert result.qrels.to_numpy().tolist() == [["1", "2", 1]]


def test_read_collection_cranfield(read):
    result = read("cranfield")
    assert result.documents["abstract"].tolist() == ["body", "", "other"]
    assert result.documents["text"].tolist() == ["a title . body", "", "t other"]
    assert result.topics.to_numpy().tolist() == [["1", "first"], ["2", "second"]]
    assert result.qrels.to_numpy().tolist() == [["1", "3", 3], ["1", "1", 4], ["2", "2", 1]]


def test_read_collection_vaswani(read):
    result = read("vaswani")
    assert result.documents.to_numpy().tolist() == [["7", "", "text of seven", "text of seven"]]
    assert result.topics.to_numpy().tolist() == [["1", "TOPIC ONE"]]


def test_read_cacm_links_and_tasks(read, tmp_path):
    links = read_cacm_links(pack(tmp_path / "links.tar.gz", PAGES))
    one, two, three = (f"CACM-000{number}" for number in (1, 2, 3))
    assert links.to_numpy().tolist() == [
        ["cite", one, two, 1],
        ["cite", two, one, 1],
        ["co-cite", one, three, 1],
        ["co-cite", three, one, 1],
        ["coupling", one, three, 1],
        ["coupling", three, one, 1],
    ]
    documents = read("cacm").documents
    assert linked_tasks(links, documents, min_words=5)["query"].tolist() == [one] * 3
    assert linked_tasks(links, documents, min_words=6).empty
    pd.testing.assert_frame_equal(linked_tasks(links, documents, min_words=0), links)


def test_read_collection_unknown_name(tmp_path):
    with pytest.raises(DataError) as caught:
        read_collection("trec", tmp_path, tmp_path, tmp_path)
    assert caught.value.value == "trec"


def test_files_in_the_registry():
    for files in FILES.values():
        assert {load_registry().entry(key).state for key in files.values()} == {"both"}


@pytest.fixture
def real(mirror, tmp_path):
    """Fetch a real collection; its paths."""

    def run(name):
        files = FILES[name].items()
        return {part: fetch(key, tmp_path, mirror=mirror, network=False) for part, key in files}

    return run


def card(repository, name) -> dict[str, int]:
    """Tables of a data card: what -> count."""
    text = (repository / "docs" / "data-cards" / f"{name}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \|$", text, flags=re.MULTILINE)
    return {what: int(count.replace(",", "")) for what, count in rows}


def words(texts: pd.Series) -> pd.Series:
    return texts.str.split().str.len()


def test_data_card_cacm(repository, real):
    paths = real("cacm")
    result = read_collection("cacm", **paths)
    links = read_cacm_links(paths["documents"])
    tasks = linked_tasks(links, result.documents, min_words=50)
    abstract = words(result.documents["abstract"])
    counts = {
        "documents": result.counts.documents,
        "documents with an abstract": (abstract > 0).sum(),
        "documents with an abstract of 50 words or more: possible queries": (abstract >= 50).sum(),
        "documents that share their text with another document": result.documents["text"]
        .duplicated(keep=False)
        .sum(),
        "topics": result.counts.topics,
        "topics with judgements": result.counts.judged_topics,
        "judgements, all relevant": (result.qrels["relevance"] == 1).sum(),
    }
    names = {"cite": "citation", "co-cite": "co-citation", "coupling": "bibliographic coupling"}
    for task, name in names.items():
        own = tasks[tasks["task"] == task]
        counts[f"links, each counted from both ends: {name}"] = (links["task"] == task).sum()
        counts[f"queries of the task {task}"] = own["query"].nunique()
        counts[f"relevant pairs of the task {task}"] = len(own)
    assert card(repository, "cacm") == counts
    title_only = result.documents.loc[abstract == 0, "document_id"]
    share = tasks["document_id"].isin(title_only).groupby(tasks["task"]).mean()
    assert (round(share.min(), 2), round(share.max(), 2)) == (0.15, 0.24)


def test_data_card_cisi(repository, real):
    paths = real("cisi")
    result = read_collection("cisi", **paths)
    assert card(repository, "cisi") == {
        "documents": result.counts.documents,
        "documents with an abstract of 50 words or more": (
            words(result.documents["abstract"]) >= 50
        ).sum(),
        "topics": result.counts.topics,
        "topics of 50 words or more": (words(result.topics["text"]) >= 50).sum(),
        "topics with a title": paths["topics"].read_text(encoding="ascii").count("\n.T"),
        "topics with judgements": result.counts.judged_topics,
        "judgements, all relevant": (result.qrels["relevance"] == 1).sum(),
    }


def test_data_card_cranfield(repository, real):
    """Counts, and the order of the codes by how near their documents are to the topics."""
    paths = real("cranfield")
    result = read_collection("cranfield", **paths)
    empty = result.documents.loc[result.documents["text"] == "", "document_id"]
    counts = {
        "documents": result.counts.documents,
        f"documents without text ({' and '.join(empty)})": len(empty),
        "documents with an abstract of 50 words or more": (
            words(result.documents["abstract"]) >= 50
        ).sum(),
        "topics": result.counts.topics,
        "topics with judgements": result.counts.judged_topics,
        "judgements, all relevant": (result.qrels["relevance"] >= 1).sum(),
    }
    vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    documents = vectors.fit_transform(result.documents["text"])
    similar = (vectors.transform(result.topics["text"]) @ documents.T).toarray()
    rank = pd.DataFrame((-similar).argsort(axis=1, kind="stable").argsort(axis=1) + 1).stack()
    judged = pd.read_csv(paths["qrels"], sep=r"\s+", names=["topic", "document", "code"])
    judged["rank"] = rank[pd.MultiIndex.from_frame(judged[["topic", "document"]] - 1)].to_numpy()
    medians = judged.groupby("code")["rank"].median()
    for code in CRANFIELD_RELEVANCE:
        counts[f"judgements with code {code}"] = (judged["code"] == int(code)).sum()
        counts[code] = int(medians[int(code)])
    assert card(repository, "cranfield") == counts
    assert np.all(np.diff(medians.sort_index()) > 0)
    last = judged.groupby("topic")["code"].last()
    assert (last == -1).all() and (judged["code"] == -1).sum() == len(last)


def test_counts_vaswani(real):
    assert read_collection("vaswani", **real("vaswani")).counts == Counts(11_429, 93, 93, 2083)
