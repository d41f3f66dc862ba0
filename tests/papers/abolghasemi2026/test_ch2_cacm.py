"""CACM as a query-by-example benchmark, and the classic collections' topics for a search."""

import io
import re
import tarfile

import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import evaluate
from everycell.sources import fetch
from papers.abolghasemi2026.ch2_docstrings import shingles, similar_pairs
from papers.abolghasemi2026.ch2_query_by_example import (
    CACM_SETTINGS,
    TASKS,
    cacm_query_by_example,
    linked_tasks,
    read_cacm_issues,
    read_cacm_links,
    split_queries,
    training_positives,
)
from papers.abolghasemi2026.ch2_test_collections import FILES, ad_hoc_task, read_collection

PAGE = "<html>\n<pre>\n\nTitle\n\n{issue}\n\n{rest}\n\nCA600501 JB March 2, 1978  8:30 PM\n\n"


@pytest.fixture(scope="module")
def files(mirror, tmp_path_factory):
    """Fetch the files of each real collection."""
    cache = tmp_path_factory.mktemp("cache")
    return {
        name: {
            part: fetch(key, cache, mirror=mirror, network=False)
            for part, key in FILES[name].items()
        }
        for name in ("cacm", "cisi", "cranfield")
    }


@pytest.fixture(scope="module")
def cacm(files):
    """Read CACM: collection, links and issues."""
    archive = files["cacm"]["documents"]
    collection = read_collection("cacm", **files["cacm"])
    return collection, read_cacm_links(archive), read_cacm_issues(archive)


@pytest.fixture(scope="module")
def benchmark(cacm):
    """Draw the lists of the default sizes."""
    return cacm_query_by_example(*cacm)


def pairs(frame):
    return set(zip(frame["query"], frame["document_id"], strict=True))


@pytest.mark.parametrize(
    ("issue", "fields", "year", "category"),
    [
        ("CACM May, 1968", "Author, A.\n\nword, Lisp 1.5, word\n\n4.22 4.32", 1968, "4.22"),
        ("July 1970", "Author, A.\n\n5 5.1 5.11", 1970, "5.1"),
        ("CACM June, 1979", "3.73. 3.74 , 4.1", 1979, "3.73"),
        ("CACM May, 1960", "Author, A.", 1960, ""),
        ("CACM May, 1979", "algorithms, Lisp 1.5\ncategories--4.12", 1979, ""),
    ],
)
def test_read_cacm_issues_year_and_category(tmp_path, issue, fields, year, category):
    path = tmp_path / "cacm.tar.gz"
    page = PAGE.format(issue=issue, rest=fields).encode()
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("CACM-0007.html")
        member.size = len(page)
        archive.addfile(member, io.BytesIO(page))
    assert read_cacm_issues(path).to_numpy().tolist() == [["CACM-0007", year, category]]


def test_cacm_query_by_example_lists(cacm, benchmark):
    """25 negatives, linked with the query in no task; the same positives in both settings."""
    collection, links, _ = cacm
    lists = benchmark.candidates
    assert tuple(lists["setting"].drop_duplicates()) == CACM_SETTINGS
    assert tuple(lists["task"].drop_duplicates()) == TASKS
    key = ["setting", "task", "query"]
    assert not lists.duplicated([*key, "document_id"]).any()
    relevant = lists.groupby(key)["relevance"].agg(["sum", "size"])
    assert relevant["sum"].between(1, 5).all()
    assert (relevant["size"] - relevant["sum"] == 25).all()
    negatives = lists[lists["relevance"] == 0]
    assert not pairs(negatives) & pairs(links)
    assert (negatives["query"] != negatives["document_id"]).all()
    positives = lists[(lists["relevance"] == 1) & (lists["split"] != "train")]
    by_setting = [
        set(own[["task", "query", "document_id"]].itertuples(index=False, name=None))
        for _, own in positives.groupby("setting")
    ]
    assert by_setting[0] == by_setting[1]
    for task, own in positives.groupby("task"):
        assert pairs(own) <= pairs(links[links["task"] == task])

    text = collection.documents.set_index("document_id")["text"]
    queries = benchmark.queries
    assert (queries["text"] == queries["query"].map(text)).all()
    abstract = collection.documents.set_index("document_id")["abstract"]
    assert queries["query"].map(abstract).str.split().str.len().min() >= 50
    # A title may be repeated: none of its records is negative if one is relevant.
    linked = links.assign(text=links["document_id"].map(text))
    same = set(zip(linked["query"], linked["text"], strict=True))
    of_negatives = zip(negatives["query"], negatives["document_id"].map(text), strict=True)
    assert not same & set(of_negatives)


def test_cacm_query_by_example_no_leakage(cacm, benchmark):
    _, links, _ = cacm
    queries, lists = benchmark.queries, benchmark.candidates
    parts = queries.groupby("query")["split"].nunique()
    assert (parts == 1).all()
    held_out = set(queries.loc[queries["split"] != "train", "query"])
    tested = pairs(links[links["query"].isin(held_out)])
    trained = pairs(lists[(lists["split"] == "train") & (lists["relevance"] == 1)])
    assert trained
    assert not trained & tested
    assert not {(document, query) for query, document in trained} & tested


def test_cacm_query_by_example_seed_and_settings(cacm, benchmark):
    """A setting's lists do not depend on the other settings, and another seed draws others."""
    again, other = (
        cacm_query_by_example(*cacm, settings=["random"], seed=seed).candidates.query(
            "split != 'train'"
        )
        for seed in (0, 1)
    )
    random = benchmark.candidates.query("setting == 'random'")
    pd.testing.assert_frame_equal(again.reset_index(drop=True), random.reset_index(drop=True))
    assert set(other["query"]) != set(again["query"])


def test_cacm_query_by_example_too_few_queries(cacm):
    with pytest.raises(DataError, match="task co-cite has 524 queries, too few for 400 test"):
        cacm_query_by_example(*cacm, test=400, validation=200)


def tables(repository, name):
    """Tables of the data card with a heading of three columns or more: rows as lists of text."""
    text = (repository / "docs" / "data-cards" / f"{name}.md").read_text(encoding="utf-8")
    result = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        ]
        if len(rows[0]) > 2:
            result.append(rows[2:])
    return result


def share(values) -> str:
    return f"{100 * values.mean():.0f} %"


def test_data_card_benchmark(repository, cacm, benchmark):
    collection, links, issues = cacm
    documents = collection.documents
    positives = linked_tasks(links, documents, min_words=50)
    title_only = set(documents.loc[documents["abstract"] == "", "document_id"])
    queries, sizes, hints = [], [], []
    for task, own in positives.groupby("task"):
        item = own.groupby("query").size()
        queries.append(
            [
                task,
                len(item),
                (item >= 5).sum(),
                len(own),
                share(own["document_id"].isin(title_only)),
            ]
        )
    for test, validation in ((150, 100), (200, 100)):
        split = split_queries(positives, test=test, validation=validation, seed=0)
        remaining = training_positives(positives, split)
        for task, own in remaining.groupby("task"):
            train = (split["task"] == task) & (split["split"] == "train")
            left = own["query"].nunique()
            sizes.append(
                [
                    task,
                    test,
                    validation,
                    train.sum(),
                    left,
                    len(own),
                    f"{100 * left / train.sum():.0f} %",
                ]
            )
    year = issues.set_index("document_id")["year"]
    lists = benchmark.candidates.query("split == 'test'")
    features = pd.DataFrame(
        {
            "abstract": ~lists["document_id"].isin(title_only),
            "years": -(lists["query"].map(year) - lists["document_id"].map(year)).abs(),
        }
    )
    category = issues.set_index("document_id")["category"]
    of_query, of_document = (lists[key].map(category) for key in ("query", "document_id"))
    features["category"] = (of_query == of_document) & (of_query != "")
    for (setting, task), own in lists.groupby(["setting", "task"], sort=False):
        hints.append(
            [
                setting,
                task,
                share(own.loc[own["relevance"] == 0, "document_id"].isin(title_only)),
                *(
                    f"{roc_auc_score(own['relevance'], features.loc[own.index, name]):.2f}"
                    for name in features
                ),
            ]
        )
    text = [[[str(cell) for cell in row] for row in rows] for rows in (queries, sizes, hints)]
    result = [
        [[cell.replace(",", "") for cell in row] for row in rows]
        for rows in tables(repository, "cacm")
    ]
    assert result == text
    candidates = set(benchmark.candidates["document_id"])
    assert (len(candidates), len(candidates & title_only)) == (3204, 1616)


def test_cacm_near_duplicates(cacm):
    """So near-duplicates, as pydocs has them, need no handling."""
    collection, links, _ = cacm
    documents = collection.documents
    queries = set(linked_tasks(links, documents, min_words=50)["query"])
    alike = similar_pairs(shingles(documents["text"].tolist()), threshold=0.5)
    ids = documents["document_id"].to_numpy()
    assert not queries & set(ids[alike[["left", "right"]].to_numpy().ravel()])


@pytest.mark.parametrize(
    ("name", "topics", "judgements"),
    [("cacm", 52, 796), ("cisi", 76, 3114), ("cranfield", 225, 1837)],
)
def test_ad_hoc_task_topics(files, name, topics, judgements):
    """A run of all relevant documents, by their relevance, is perfect."""
    collection = read_collection(name, **files[name])
    result = ad_hoc_task(name, collection)
    assert list(result.documents) == ["document_id", "text"]
    assert len(result.documents) == collection.counts.documents
    assert list(result.topics) == ["task", "query", "text"]
    assert (len(result.topics), len(result.qrels)) == (topics, judgements)
    assert set(result.topics["task"]) == set(result.qrels["task"]) == {name}
    assert (result.topics["text"] != "").all()
    run = result.qrels.rename(columns={"relevance": "score"})
    values = evaluate(run, result.qrels, ["MAP", "nDCG"])
    assert len(values) == topics
    assert values[["MAP", "nDCG"]].min().min() == pytest.approx(1)


def test_ad_hoc_task_cranfield_relevance(files):
    """Codes -1 and 1, 225 and 128 of them, are relevance 4."""
    qrels = ad_hoc_task("cranfield", read_collection("cranfield", **files["cranfield"])).qrels
    assert qrels["relevance"].value_counts().to_dict() == {4: 353, 3: 387, 2: 734, 1: 363}
