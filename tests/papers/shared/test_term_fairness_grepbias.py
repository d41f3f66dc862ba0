"""GrepBiasIR: wordings and pairs, parallel collections, faults, and the real counts."""

import re

import pandas as pd
import pytest

from everycell.metrics.crbo import crbo
from everycell.sources import fetch
from papers.shared.term_fairness_grepbias import (
    DOCUMENTS,
    QUERIES,
    WORDINGS,
    all_wordings_benchmark,
    one_wording_benchmark,
    read_grepbias,
)

TOPICS = [("0", "Career", "best  boss"), ("1", "Career", "nurse")]
COLUMNS = [
    "q_id", "d_id", "relevant", "query", "doc_title", "document", "content_gender",
    "exp_stereotype",
]  # fmt: skip
ROWS = [
    ("0", "10", "1", "best boss", "Boss", "He \n leads", "M", "Towards Male"),
    ("0", "11", "1", "best boss", "Boss", "She leads", "F", "Towards Male"),
    ("0", "12", "1", "best boss", "Boss", "They lead", "N", "Towards Male"),
    ("0", "13", "0", "best boss", "", "Her plan", "F", "Towards Male"),
    ("0", "14", "0", "best boss", "", "His plan", "M", "Towards Male"),
    ("0", "15", "0", "best boss", "", "The plan", "N", "Towards Male"),
    ("1", "16", "1", "nurse", "He and she", "work", "both", "Towards female"),
    ("1", "17", "1", "nurse", "She and he", "work", "botrh", "Towards Female"),
    ("1", "18", "1", "nurse", "They", "work", "N", "Towards Female"),
]


@pytest.fixture
def read(tmp_path):
    """Read files with these rows."""

    def read_rows(rows=ROWS, topics=TOPICS):
        queries, documents = tmp_path / "queries.csv", tmp_path / "documents.csv"
        columns = ["q_id", "category", "query"]
        pd.DataFrame(topics, columns=columns).to_csv(queries, index=False)
        pd.DataFrame(rows, columns=COLUMNS).to_csv(documents, index=False)
        return read_grepbias(queries, [documents])

    return read_rows


@pytest.fixture(scope="module")
def grepbias(mirror, tmp_path_factory):
    """Read the released files."""
    cache = tmp_path_factory.mktemp("cache")
    queries, *documents = (
        fetch(key, cache, mirror=mirror, network=False) for key in (QUERIES, *DOCUMENTS)
    )
    return read_grepbias(queries, documents)


def test_read_grepbias_frames(read):
    result = read()
    assert result.queries.to_numpy().tolist() == [
        ["0", "Career", "male", "best boss"],
        ["1", "Career", "female", "nurse"],
    ]
    assert result.documents["text"].tolist()[:4] == [
        "Boss He leads", "Boss She leads", "Boss They lead", "Her plan",
    ]  # fmt: skip
    assert result.documents["wording"].tolist()[5:] == ["neutral", "both", "both", "neutral"]
    assert result.documents["item_id"].tolist() == ["10"] * 3 + ["13"] * 3 + ["16"] * 3
    assert result.qrels["relevance"].tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1]
    assert result.wordings.to_numpy().tolist() == [
        ["10", "0", 1, "10", "11", "12"],
        ["13", "0", 0, "14", "13", "15"],
    ]


def test_one_wording_benchmark_same_ids(read):
    result = {wording: one_wording_benchmark(read(), wording) for wording in WORDINGS}
    texts = {wording: documents["text"].tolist() for wording, (documents, _) in result.items()}
    assert texts == {
        "male": ["Boss He leads", "His plan"],
        "female": ["Boss She leads", "Her plan"],
        "neutral": ["Boss They lead", "The plan"],
    }
    for documents, benchmark in result.values():
        assert documents["document_id"].str.replace(r"^[01]\.", "", regex=True).tolist() == [
            "10",
            "13",
        ]
        assert benchmark.candidates["document_id"].tolist() == 2 * list(documents["document_id"])
        lists = benchmark.candidates[["query", "relevance"]]
        assert lists.to_numpy().tolist() == [["0", 1], ["0", 0], ["1", 0], ["1", 0]]


def test_data_card(grepbias, repository):
    text = (repository / "docs" / "data-cards" / "grepbias.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \|$", text, flags=re.MULTILINE)
    wording = grepbias.documents["wording"].value_counts()
    stereotype = grepbias.queries["stereotype"].value_counts()
    texts = grepbias.documents.set_index("document_id")["text"]
    wordings = grepbias.wordings[list(WORDINGS)].apply(lambda ids: ids.map(texts))
    assert (wordings["male"] != wordings["female"]).all()
    assert (wordings["female"] != wordings["neutral"]).all()
    assert {what: int(count.replace(",", "")) for what, count in rows} == {
        "queries": len(grepbias.queries),
        "queries expected to be tied to women": stereotype["female"],
        "queries expected to be tied to men": stereotype["male"],
        "queries on which the annotators did not agree": stereotype["none"],
        "texts": len(grepbias.documents),
        "different texts": texts.nunique(),
        "texts in a male wording": wording["male"],
        "texts in a female wording": wording["female"],
        "texts in a neutral wording": wording["neutral"],
        "texts that name both genders": wording["both"],
        "items: documents regardless of their wording": grepbias.documents["item_id"].nunique(),
        "items with all three wordings": len(grepbias.wordings),
        "male wordings with the text of the neutral one": (
            wordings["male"] == wordings["neutral"]
        ).sum(),
    }
    lengths = texts.str.split().str.len()
    assert (lengths.min(), lengths.max()) == (13, 98)
    incomplete = set(grepbias.documents["item_id"]) - set(grepbias.wordings["item_id"])
    lacking = grepbias.qrels[grepbias.qrels["document_id"].isin(incomplete)]
    assert lacking[["query", "relevance"]].to_numpy().tolist() == [["107", 0], ["112", 0]]


def test_all_wordings_benchmark_released_files(grepbias):
    documents, mixed = all_wordings_benchmark(grepbias)
    assert (len(documents), len(mixed.candidates)) == (702, 117 * 702)
    assert mixed.candidates["relevance"].sum() == 3 * 117
    result = {wording: one_wording_benchmark(grepbias, wording) for wording in WORDINGS}
    assert all(len(documents) == 232 for documents, _ in result.values())
    # 107 and 112 lack the document that is not relevant, so each query has a relevant one.
    relevant = result["male"][1].candidates.groupby("query")["relevance"].sum()
    assert (relevant == 1).all()
    assert len(relevant) == 117


def test_all_wordings_benchmark_random_order(grepbias):
    """A run breaks ties by id; the release's ids would put female texts before male ones."""
    ids = grepbias.wordings[["male", "female"]]
    assert (ids["female"].astype(int) > ids["male"].astype(int)).mean() > 0.75
    documents, _ = all_wordings_benchmark(grepbias)
    position = documents["document_id"].str.split(".").map(lambda parts: parts[::-1])
    number = dict(position.tolist())
    drawn = ids.map(number.get)
    assert 0.42 < (drawn["female"] > drawn["male"]).mean() < 0.58
    lists = one_wording_benchmark(grepbias, "male")[1].candidates
    number = lists.drop_duplicates("document_id")["document_id"]
    relevant = lists.loc[lists["relevance"] == 1, "document_id"]
    ranks = number.rank().set_axis(number)
    assert 0.45 < ranks[relevant].mean() / len(number) < 0.55


def test_one_wording_benchmark_crbo(grepbias):
    """Lists by length: a swap of few words leaves that order nearly as it is."""
    query = grepbias.queries["query"][0]
    runs = []
    for wording in ("male", "female"):
        documents, _ = one_wording_benchmark(grepbias, wording)
        by_length = documents.sort_values("text", key=lambda text: text.str.len(), kind="stable")
        run = pd.DataFrame({"query": query, "document": by_length["document_id"]})
        runs.append(run.assign(rank=range(1, len(run) + 1)))
    assert 0.3 < crbo(*runs)[query] < 1
