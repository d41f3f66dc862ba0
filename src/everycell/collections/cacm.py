"""CACM as a query-by-example benchmark: records, the links between them, and their issues.

Long abstracts are queries, linked records are relevant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import Benchmark, linked_benchmark
from everycell.collections.smart import Collection, cacm_issue, cacm_pages

#: Task of each type of link in the records of CACM.
LINK_TYPES: Mapping[str, str] = {"5": "cite", "6": "co-cite", "4": "coupling"}
#: Settings of the candidate lists; the first is the main one, also used for training lists. Half of
#: the records have only a title, but four out of five relevant records have an abstract, and most
#: are from the time of the query, so random negatives would be easy to distinguish from them.
CACM_SETTINGS = ("mixed", "random")
#: The first year whose records have subject categories.
CATEGORIES_SINCE = 1968

_LINK = re.compile(r"(\d+)\t(\d+)\t(\d+)\s*")
_CATEGORIES = re.compile(r"\s*[\d .,]*?(\d\.\d+)[\d .,]*")


def read_cacm_links(path: Path) -> pd.DataFrame:
    """Read the links between the records of CACM."""
    links = set()
    for record, lines in cacm_pages(Path(path)):
        for line in lines:
            if link := _LINK.fullmatch(line):
                target = f"CACM-{int(link[1]):04d}"
                if target != record:
                    links.add((LINK_TYPES[link[2]], record, target))
    order = {task: position for position, task in enumerate(LINK_TYPES.values())}
    rows = sorted(links, key=lambda link: (order[link[0]], *link[1:]))
    return pd.DataFrame(rows, columns=["task", "query_id", "document_id"]).assign(relevance=1)


def read_cacm_issues(path: Path) -> pd.DataFrame:
    """Read the year and subject category of each record of CACM."""
    rows = []
    for record, lines in cacm_pages(Path(path)):
        number, year = cacm_issue(lines)
        codes = (_CATEGORIES.fullmatch(line) for line in lines[number + 1 :])
        rows.append((record, year, next((match[1] for match in codes if match), "")))
    return pd.DataFrame(rows, columns=["document_id", "year", "category"])


def linked_tasks(links: pd.DataFrame, documents: pd.DataFrame, *, min_words: int) -> pd.DataFrame:
    """Links of the records whose abstracts have at least `min_words` words."""
    words = documents["abstract"].str.split().str.len()
    queries = documents.loc[words >= min_words, "document_id"]
    return links[links["query_id"].isin(queries)].reset_index(drop=True)


def cacm_groups(collection: Collection, issues: pd.DataFrame) -> pd.DataFrame:
    """Records of CACM with the groups from which negatives are sampled.

    Negatives are not selected with a ranker, which would put systems similar to it at a
    disadvantage.
    """
    records = collection.documents.merge(issues, on="document_id", how="left")
    form = records["abstract"].ne("").map({True: "abstract", False: "title only"})
    late = records["year"] >= CATEGORIES_SINCE
    era = late.map({True: f"since {CATEGORIES_SINCE}", False: f"before {CATEGORIES_SINCE}"})
    in_year = form + ", " + records["year"].astype(int).astype(str)
    return records[["document_id", "text"]].assign(
        package=form + ", " + era,
        parent=records["category"].where(records["category"] != "", in_year),
    )


def cacm_query_by_example(
    collection: Collection,
    links: pd.DataFrame,
    issues: pd.DataFrame,
    *,
    min_words: int = 50,
    test: int = 150,
    validation: int = 100,
    seed: int = 0,
    settings: Sequence[str] = CACM_SETTINGS,
) -> Benchmark:
    """Tasks whose queries are records of CACM: cite, co-cite, coupling.

    A query has up to 5 relevant documents and 25 negatives. Links have no direction, so "cite"
    means cites or is cited by. All tasks share one split: no pair of a test or validation query, in
    any task or direction, is among the relevant pairs for training.
    """
    positives = linked_tasks(links, collection.documents, min_words=min_words)
    return linked_benchmark(
        positives,
        _same_text(positives, collection.documents),
        cacm_groups(collection, issues),
        test=test,
        validation=validation,
        seed=seed,
        settings=settings,
    )


def _same_text(positives: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a query and a document with the text of one of the query's relevant documents."""
    texts = documents[["document_id", "text"]]
    relevant = positives[["query_id", "document_id"]].merge(texts, on="document_id")
    return relevant[["query_id", "text"]].drop_duplicates().merge(texts, on="text")
