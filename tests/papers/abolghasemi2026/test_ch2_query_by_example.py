"""Benchmarks from links: tasks, split and candidate lists, also in another process; ids."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from papers.abolghasemi2026.ch2_query_by_example import (
    SETTINGS,
    TASKS,
    candidate_lists,
    citation_tasks,
    linked_benchmark,
    split_queries,
    training_positives,
)

IDS = [f"p{number % 3}.m{number % 7}.d{number:02}" for number in range(90)]
PAIRS = ["query", "document_id"]
LINKS = st.lists(st.tuples(st.sampled_from(IDS[:30]), st.sampled_from(IDS[:30])), max_size=40)


def frame_of(links):
    return pd.DataFrame(links, columns=["source_id", "target_id"], dtype="str")


def documents():
    return pd.DataFrame(
        {
            "document_id": IDS,
            "package": [name.partition(".")[0] for name in IDS],
            "parent": [name.rpartition(".")[0] for name in IDS],
        }
    )


@settings(max_examples=50)
@given(LINKS)
def test_citation_tasks_definition(links):
    """Compare with the definitions, written as loops over sets."""
    links = {(source, target) for source, target in links if source != target}
    ids = {item for link in links for item in link}
    further = [(a, b) for a in ids for b in ids if a != b]
    expected = {
        "cite": links,
        "co-cite": {(a, b) for a, b in further if any({(c, a), (c, b)} <= links for c in ids)},
        "coupling": {(a, b) for a, b in further if any({(a, c), (b, c)} <= links for c in ids)},
    }
    result = citation_tasks(frame_of(sorted(links)))
    for task in TASKS:
        rows = result.loc[result["task"] == task, PAIRS].itertuples(index=False, name=None)
        assert list(rows) == sorted(expected[task])
    assert (result["relevance"] == 1).all()


def test_citation_tasks_self_links_and_repetitions():
    links = [("a", "a"), ("a", "b"), ("a", "b"), ("b", "b")]
    assert citation_tasks(frame_of(links))["task"].tolist() == ["cite"]


def test_citation_tasks_no_links():
    assert citation_tasks(frame_of([])).empty


@settings(max_examples=50)
@given(LINKS, st.integers(0, 3), st.integers(0, 3), st.integers(0, 9))
def test_split_queries_and_training_positives(links, test, validation, seed):
    positives = citation_tasks(frame_of(links))
    sizes = positives.groupby("task")["query"].nunique()
    try:
        split = split_queries(positives, test=test, validation=validation, seed=seed)
    except DataError as error:
        assert error.row.startswith("task ")
        return
    for task in sizes.index:
        result = split.loc[split["task"] == task, "split"].value_counts()
        assert result.get("test", 0) == test and result.get("validation", 0) == validation
    assert not split.duplicated(["task", "query"]).any()
    assert (split.groupby("query")["split"].nunique() <= 1).all()
    shuffled = positives.sample(frac=1, random_state=1).sort_values("task", kind="stable")
    pd.testing.assert_frame_equal(
        split, split_queries(shuffled, test=test, validation=validation, seed=seed)
    )

    held_out = set(split.loc[split["split"] != "train", "query"])
    tested = positives[positives["query"].isin(held_out)]
    tested = {frozenset(pair) for pair in tested[PAIRS].itertuples(index=False)}
    trained = training_positives(positives, split)
    remaining = {frozenset(pair) for pair in trained[PAIRS].itertuples(index=False)}
    assert not remaining & tested
    in_training = positives.merge(split[split["split"] == "train"], on=["task", "query"])
    everything = {frozenset(pair) for pair in in_training[PAIRS].itertuples(index=False)}
    assert remaining == everything - tested


def test_split_queries_too_few():
    positives = pd.DataFrame({"task": ["cite"] * 3, "query": list("abc")})
    with pytest.raises(DataError, match="task cite has 3 queries, too few for 2 test and 2"):
        split_queries(positives, test=2, validation=2, seed=0)


def lists_of(setting, *, seed=0, table=None, tasks=TASKS, **sizes):
    """Lists of a chain of links through all documents."""
    positives = citation_tasks(
        frame_of([(a, b) for step in (1, 2, 4) for a, b in zip(IDS, IDS[step:], strict=False)])
    )
    queries = positives[["task", "query"]].drop_duplicates().assign(split="test")
    queries = queries[queries["task"].isin(tasks)]
    table = documents() if table is None else table
    result = candidate_lists(
        queries, positives, positives[PAIRS], table, setting=setting, seed=seed, **sizes
    )
    return positives, result


@pytest.mark.parametrize("setting", SETTINGS)
def test_candidate_lists_sizes_and_relevance(setting):
    positives, lists = lists_of(setting, max_positives=3, negatives=20)
    assert not lists.duplicated(["task", *PAIRS]).any()
    by_query = lists.groupby(["task", "query"])["relevance"]
    available = positives.groupby(["task", "query"]).size()
    assert by_query.sum().eq(np.minimum(available, 3)).all()
    assert (by_query.size() - by_query.sum() == 20).all()
    relevant = positives.set_index(["task", *PAIRS]).index
    rows = lists.set_index(["task", *PAIRS])
    assert (rows.index.isin(relevant) == (rows["relevance"] == 1)).all()
    anywhere = positives.set_index(PAIRS).index
    negatives = lists[lists["relevance"] == 0]
    assert not negatives.set_index(PAIRS).index.isin(anywhere).any()
    assert (negatives["query"] != negatives["document_id"]).all()
    assert (
        lists.groupby(["task", "query"])["document_id"]
        .apply(lambda ids: ids.is_monotonic_increasing)
        .all()
    )


def test_candidate_lists_sources_of_negatives():
    """A package has 30 documents, of which a query excludes up to 13; a parent has 4 or 5."""
    _, lists = lists_of("package", negatives=10)
    near = lists[lists["relevance"] == 0]
    assert (near["query"].str[:2] == near["document_id"].str[:2]).all()
    _, lists = lists_of("mixed", negatives=20)
    near = lists[lists["relevance"] == 0]
    parent = near["query"].str[:5] == near["document_id"].str[:5]
    package = near["query"].str[:2] == near["document_id"].str[:2]
    by_query = [near["task"], near["query"]]
    assert parent.groupby(by_query).sum().min() >= 1
    assert package.groupby(by_query).sum().min() >= 9
    _, lists = lists_of("random", negatives=20)
    near = lists[lists["relevance"] == 0]
    share = (near["query"].str[:2] == near["document_id"].str[:2]).mean()
    assert 0.2 < share < 0.45


def test_candidate_lists_independent_of_other_rows():
    _, lists = lists_of("mixed")
    _, alone = lists_of("mixed", tasks=["coupling"])
    of_task = lists[lists["task"] == "coupling"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, of_task)
    _, shuffled = lists_of("mixed", table=documents().sample(frac=1, random_state=3))
    pd.testing.assert_frame_equal(lists, shuffled)
    assert not lists.equals(lists_of("mixed", seed=1)[1])


def test_candidate_lists_same_positives_in_every_setting():
    selection = []
    for setting in SETTINGS:
        _, lists = lists_of(setting, max_positives=2)
        selection.append(lists.loc[lists["relevance"] == 1, ["task", *PAIRS]].to_numpy().tolist())
    assert selection[0] == selection[1] == selection[2]


def test_candidate_lists_another_hash_seed():
    program = (
        "from test_ch2_query_by_example import lists_of;"
        "print(lists_of('mixed', tasks=['cite'])[1].to_csv())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") != "2" else "3",
            "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == lists_of("mixed", tasks=["cite"])[1].to_csv() + "\n"


def test_candidate_lists_query_without_relevant_documents():
    queries = pd.DataFrame({"task": ["cite"], "query": [IDS[0]], "split": ["test"]})
    none = pd.DataFrame({"task": [], "query": [], "document_id": []}, dtype="str")
    lists = candidate_lists(queries, none, none[PAIRS], documents(), setting="random", seed=0)
    assert list(lists.columns) == ["setting", "task", "split", *PAIRS, "relevance"]
    assert lists.empty


def test_candidate_lists_too_few_negatives():
    with pytest.raises(DataError, match="expected 90 or more"):
        lists_of("random", negatives=90)


def test_linked_benchmark_one_query_per_split():
    ids = [f"d{number:02}" for number in range(30)]
    documents = pd.DataFrame({"document_id": ids, "text": "x", "package": "p", "parent": "q"})
    pairs = pd.DataFrame({"task": "cite", "query": ids[:3], "document_id": ids[3:6]})
    benchmark = linked_benchmark(
        pairs, pairs, documents, test=1, validation=1, seed=0, settings=["random"]
    )
    assert benchmark.queries["split"].tolist() == ["test", "validation", "train"]
    assert len(benchmark.candidates) == 78  # three times a relevant document and 25 others
