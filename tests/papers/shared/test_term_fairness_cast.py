"""CAsT passages: merging, disjoint folds, candidate lists, errors, real counts."""

import re

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.sources import fetch
from papers.shared.term_fairness_cast import (
    FILES,
    SETTINGS,
    CastPassages,
    assign_splits,
    cast_benchmark,
    read_cast_passages,
    topic_folds,
)

COLUMNS = ["turn_id", "query", "passage_id", "passage", "relevance_score"]
ANSWERABLE = [
    ("1_1", "first  turn", "p2", "one text", 4),
    ("1_2-3", "second", "p1", "one \n text", 1),
    ("2_1", "other", "p3", "that", 2),
]
UNANSWERABLE = [
    ("1_1", "first turn", "p4", "this", 0),
    ("1_2-3", "second", "p3", "that, written otherwise", 0),
    ("2_1", "other", "p3", "that", 2),
]


@pytest.fixture
def read(tmp_path):
    """Read files with these rows."""

    def read_rows(answerable=ANSWERABLE, unanswerable=UNANSWERABLE):
        paths = tmp_path / "answerable.csv", tmp_path / "unanswerable.csv"
        pd.DataFrame(answerable, columns=[f"Input.{name}" for name in COLUMNS]).to_csv(paths[0])
        pd.DataFrame(unanswerable, columns=COLUMNS).to_csv(paths[1])
        return read_cast_passages(*paths)

    return read_rows


@pytest.fixture(scope="module")
def files(mirror, tmp_path_factory):
    """Fetch the released files."""
    cache = tmp_path_factory.mktemp("cache")
    return {part: fetch(key, cache, mirror=mirror, network=False) for part, key in FILES.items()}


@pytest.fixture(scope="module")
def cast(files):
    """Read the released files."""
    return read_cast_passages(**files)


def test_read_cast_passages_duplicates(read):
    result = read()
    assert result.documents.to_numpy().tolist() == [
        ["p1", "one text"],
        ["p3", "that"],
        ["p4", "this"],
    ]
    assert result.merged.to_numpy().tolist() == [["p2", "p1"]]
    assert result.qrels.to_numpy().tolist() == [
        ["1_1", "p1", 4],
        ["1_2-3", "p1", 1],
        ["2_1", "p3", 2],
        ["1_1", "p4", 0],
        ["1_2-3", "p3", 0],
    ]
    assert result.queries.to_numpy().tolist() == [
        ["1_1", "1", "1", "first turn"],
        ["1_2-3", "1", "2-3", "second"],
        ["2_1", "2", "1", "other"],
    ]


def test_cast_benchmark_settings(read):
    lists = cast_benchmark(read()).candidates
    own = lists[lists["setting"] == "judged"]
    assert own[["query", "document_id", "relevance"]].to_numpy().tolist() == [
        ["1_1", "p1", 1],
        ["1_1", "p4", 0],
        ["1_2-3", "p1", 0],
        ["1_2-3", "p3", 0],
        ["2_1", "p3", 1],
    ]
    wide = lists[lists["setting"] == "topic"].groupby("query")["document_id"].agg(list)
    assert wide.to_dict() == {"1_1": ["p1", "p3", "p4"], "1_2-3": ["p1", "p3", "p4"], "2_1": ["p3"]}
    with refused("relevant_from", 0):
        cast_benchmark(read(), relevant_from=0)


@st.composite
def collections(draw):
    """Turns of some conversations, some of which share documents."""
    turns = draw(st.lists(st.integers(1, 4), min_size=3, max_size=9))
    queries = pd.DataFrame(
        [(f"{topic}_{turn}", str(topic)) for topic, n in enumerate(turns, 1) for turn in range(n)],
        columns=["query", "topic"],
    )
    judged = draw(st.lists(st.integers(0, 40), min_size=len(queries), max_size=len(queries)))
    qrels = pd.DataFrame({"query": queries["query"], "document_id": map(str, judged)})
    return CastPassages(pd.DataFrame(), queries, qrels, pd.DataFrame())


@given(collections(), st.integers(2, 4), st.integers(0, 3))
@settings(max_examples=30)
def test_topic_folds_disjoint(collection, folds, seed):
    try:
        result = topic_folds(collection, folds=folds, seed=seed)
    except DataError as error:
        assert (error.column, error.value) == ("folds", folds)
        return
    assert result["query"].tolist() == collection.queries["query"].tolist()
    assert set(result["fold"]) == set(range(folds))
    judged = collection.qrels.merge(result)
    assert (judged.groupby("topic")["fold"].nunique() == 1).all()
    assert (judged.groupby("document_id")["fold"].nunique() == 1).all()


def test_data_card(cast, files, repository):
    text = (repository / "docs" / "data-cards" / "cast-passages.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([\d,]+) \|$", text, flags=re.MULTILINE)
    raw = pd.concat(
        [
            pd.read_csv(path).rename(columns=lambda name: name.removeprefix("Input."))
            for path in files.values()
        ]
    )
    levels = cast.qrels["relevance"].value_counts()
    best = cast.qrels.groupby("query")["relevance"].max()
    topics = cast.queries["topic"].astype(int).drop_duplicates()
    lengths = cast.documents["text"].str.split().str.len()
    settings = cast_benchmark(cast).candidates["setting"].value_counts()
    assert not cast.documents.duplicated("text").any()
    assert {what: int(count.replace(",", "")) for what, count in rows} == {
        "rows of the two files": len(raw),
        "passage ids": raw["passage_id"].nunique(),
        "passage ids with two texts": (raw.groupby("passage_id")["passage"].nunique() > 1).sum(),
        "passage ids merged, since their text is that of another": len(cast.merged),
        "documents": len(cast.documents),
        "documents of more than 512 words": (lengths > 512).sum(),
        "turns": len(cast.queries),
        "texts of turns": cast.queries["text"].nunique(),
        "conversations": len(topics),
        "conversations of 2020": (topics <= 105).sum(),
        "conversations of 2022": (topics >= 132).sum(),
        "judgements": len(cast.qrels),
        **{f"judgements of level {level}": levels[level] for level in range(5)},
        **{
            f"turns with a passage of level {level} or more": (best >= level).sum()
            for level in (1, 2, 3)
        },
        **{f"candidates of the setting {setting}": settings[setting] for setting in SETTINGS},
    }


def test_cast_benchmark_released_files(cast):
    benchmark = cast_benchmark(cast)
    sizes = benchmark.candidates.groupby(["setting", "query"]).size().unstack("setting")
    assert sizes["judged"].value_counts().to_dict() == {10: 369, 9: 2}
    topic = sizes["topic"]
    assert (topic.min(), topic.median(), topic.max(), topic.sum()) == (47, 84, 159, 33_468)
    relevant = benchmark.candidates.groupby(["setting", "query"])["relevance"].sum()
    assert (relevant["judged"] == relevant["topic"]).all()
    assert (relevant["judged"] > 0).sum() == 362
    some = cast_benchmark(cast, relevant_from=1).candidates.groupby("query")["relevance"].max()
    assert (some == 1).all()


def test_topic_folds_no_leakage(cast):
    folds = topic_folds(cast)
    assert folds["fold"].value_counts().sort_index().tolist() == [75, 74, 73, 77, 72]
    assert not topic_folds(cast, seed=1).equals(folds)
    topic_of = folds.set_index("query")["topic"]
    benchmark = cast_benchmark(cast)
    tested = []
    for fold in range(5):
        lists = assign_splits(benchmark, folds, fold).candidates
        test, calls = lists[lists["split"] == "test"], lists[lists["split"] != "test"]
        assert not set(test["query"].map(topic_of)) & set(calls["query"].map(topic_of))
        assert not set(test["document_id"]) & set(calls["document_id"])
        assert set(calls["split"]) == {"train", "validation"}
        tested.extend(test["query"].unique())
    assert np.unique(tested).tolist() == sorted(cast.queries["query"])
    assert len(tested) == len(cast.queries)
