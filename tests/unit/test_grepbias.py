"""GrepBiasIR: wordings and pairs, parallel collections, faults, and the real counts."""

import pandas as pd
import pytest

from everycell.collections.grepbias import (
    COUNTS,
    DOCUMENTS,
    QUERIES,
    WORDINGS,
    all_wordings,
    one_wording,
    read_grepbias,
)
from everycell.collections.smart import CollectionError
from everycell.collections.user_studies import RatingsError
from everycell.metrics import crbo
from everycell.sources import fetch

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

    def read_rows(rows=ROWS, topics=TOPICS, **options):
        queries, documents = tmp_path / "queries.csv", tmp_path / "documents.csv"
        columns = ["q_id", "category", "query"]
        pd.DataFrame(topics, columns=columns).to_csv(queries, index=False)
        pd.DataFrame(rows, columns=COLUMNS).to_csv(documents, index=False)
        return read_grepbias(queries, [documents], **{"counts": None} | options)

    return read_rows


def changed(row, **values):
    """Rows with one row changed."""
    rows = [dict(zip(COLUMNS, fields, strict=True)) for fields in ROWS]
    rows[row] |= values
    return [tuple(fields.values()) for fields in rows]


@pytest.fixture(scope="module")
def grepbias(mirror, tmp_path_factory):
    """Read the released files."""
    cache = tmp_path_factory.mktemp("cache")
    queries, *documents = (
        fetch(key, cache, mirror=mirror, network=False) for key in (QUERIES, *DOCUMENTS)
    )
    return read_grepbias(queries, documents)


def test_frames(read):
    found = read()
    assert found.queries.to_numpy().tolist() == [
        ["0", "Career", "male", "best boss"],
        ["1", "Career", "female", "nurse"],
    ]
    assert found.documents["text"].tolist()[:4] == [
        "Boss He leads", "Boss She leads", "Boss They lead", "Her plan",
    ]  # fmt: skip
    assert found.documents["wording"].tolist()[5:] == ["neutral", "both", "both", "neutral"]
    assert found.documents["item_id"].tolist() == ["10"] * 3 + ["13"] * 3 + ["16"] * 3
    assert found.qrels["relevance"].tolist() == [1, 1, 1, 0, 0, 0, 1, 1, 1]
    assert found.wordings.to_numpy().tolist() == [
        ["10", "0", 1, "10", "11", "12"],
        ["13", "0", 0, "14", "13", "15"],
    ]


def test_collections_of_one_wording_have_the_same_ids(read):
    found = {wording: one_wording(read(), wording) for wording in WORDINGS}
    texts = {wording: documents["text"].tolist() for wording, (documents, _) in found.items()}
    assert texts == {
        "male": ["Boss He leads", "His plan"],
        "female": ["Boss She leads", "Her plan"],
        "neutral": ["Boss They lead", "The plan"],
    }
    for documents, benchmark in found.values():
        assert documents["document_id"].tolist() == ["10", "13"]
        lists = benchmark.candidates[["query_id", "document_id", "relevance"]]
        assert lists.to_numpy().tolist() == [
            ["0", "10", 1],
            ["0", "13", 0],
            ["1", "10", 0],
            ["1", "13", 0],
        ]
    with pytest.raises(ValueError, match="The wording is 'both'; give one of male, female"):
        one_wording(read(), "both")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (changed(3, relevant="2"), "row 4: relevant is '2'; allowed is 0 or 1"),
        (changed(0, content_gender="X"), "row 1: content_gender is 'X'; allowed is M, F, N"),
        (changed(0, exp_stereotype=""), "row 1: exp_stereotype is ''; allowed is towards female"),
        (changed(2, q_id="9"), "row 3: q_id is '9'; allowed is the id of a query"),
        (changed(2, query="worst boss"), "row 3: query is 'worst boss'; allowed is the text of"),
        (changed(1, document=" "), "row 2: document is ' '; allowed is a text"),
        (changed(1, d_id="x"), "row 2: d_id is 'x'; allowed is a number"),
        (
            changed(1, d_id="10"),
            "Document '10' of query '0' .* its id is that of a document before",
        ),
        (ROWS[:5], "Document '13' .* its query has not 3 texts of relevance 0;"),
        (changed(1, content_gender="M"), "two texts of relevance 1 with the wording male"),
        (changed(0, exp_stereotype="Towards Female"), "its query has another exp_stereotype"),
    ],
)
def test_a_fault_is_named(read, rows, message):
    with pytest.raises(CollectionError, match=message):
        read(rows)


def test_faults_of_queries_and_other_counts(read, tmp_path):
    with pytest.raises(CollectionError, match="row 2: q_id is '0'; allowed is an id that no row"):
        read(topics=[TOPICS[0], TOPICS[0]])
    with pytest.raises(CollectionError, match="row 1: query is ''; allowed is a text"):
        read(topics=[("0", "Career", "")])
    with pytest.raises(CollectionError, match="documents=9.*documents=702.*fetch them again"):
        read(counts=COUNTS)
    with pytest.raises(RatingsError, match="lacks the column 'category'"):
        read_grepbias(tmp_path / "documents.csv", [])


def test_the_released_files(grepbias):
    assert grepbias.counts == COUNTS
    assert grepbias.documents["wording"].value_counts().to_dict() == {
        "neutral": 233, "male": 232, "female": 232, "both": 5,
    }  # fmt: skip
    assert grepbias.queries["stereotype"].value_counts().to_dict() == {
        "none": 88, "female": 20, "male": 9,
    }  # fmt: skip
    assert grepbias.queries["category"].value_counts().to_dict() == {
        "Sex & Relationship": 23, "Career": 20, "Physical Capabilities": 19, "Domestic Work": 15,
        "Appearance": 14, "Child Care": 14, "Cognitive Capabilities": 12,
    }  # fmt: skip
    texts = grepbias.documents["text"]
    assert (len(texts), texts.nunique()) == (702, 698)
    incomplete = set(grepbias.documents["item_id"]) - set(grepbias.wordings["item_id"])
    queries = grepbias.qrels.set_index("document_id")["query_id"]
    assert {queries[item] for item in incomplete} == {"107", "112"}


def test_wordings_of_an_item_differ(grepbias):
    text = grepbias.documents.set_index("document_id")["text"]
    male, female, neutral = (grepbias.wordings[name].map(text) for name in WORDINGS)
    assert (male != female).all()
    assert (female != neutral).all()
    assert grepbias.wordings.loc[male == neutral, "query_id"].tolist() == ["28"]


def test_searches_of_the_released_files(grepbias):
    documents, mixed = all_wordings(grepbias)
    assert (len(documents), len(mixed.candidates)) == (702, 117 * 702)
    assert mixed.candidates["relevance"].sum() == 3 * 117
    found = {wording: one_wording(grepbias, wording) for wording in WORDINGS}
    assert all(len(documents) == 232 for documents, _ in found.values())
    # 107 and 112 lack the document that is not relevant, so each query has a relevant one.
    relevant = found["male"][1].candidates.groupby("query_id")["relevance"].sum()
    assert (relevant == 1).all()
    assert len(relevant) == 117


def test_runs_of_two_wordings_can_be_compared(grepbias):
    """Lists by length: a swap of few words leaves that order nearly as it is."""
    query = grepbias.queries["query_id"][0]
    runs = []
    for wording in ("male", "female"):
        documents, _ = one_wording(grepbias, wording)
        by_length = documents.sort_values("text", key=lambda text: text.str.len(), kind="stable")
        run = pd.DataFrame({"query": query, "document": by_length["document_id"]})
        runs.append(run.assign(rank=range(1, len(run) + 1)))
    assert 0.3 < crbo(*runs)[query] < 1
