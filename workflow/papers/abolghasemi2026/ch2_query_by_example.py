"""Query by example, the task of chapter 2 of abolghasemi2026, on linked documents.

Documents are queries; the documents they link to are relevant.

Candidates are sampled from sorted pools, with a generator for each seed, task and query. Results
therefore do not depend on the process, and the candidates of a query do not change when other
queries are added or removed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.collections.benchmark import Benchmark
from papers.abolghasemi2026.ch2_test_collections import Collection, cacm_issue, cacm_pages

TASKS = ("cite", "co-cite", "coupling")


#: Distribution of each package in the collection pydocs; packages precede those that import them.
PACKAGES: Mapping[str, str] = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
    "networkx": "networkx",
}
#: Sources of negatives of each setting, in order, with the maximum number of negatives (None: no
#: limit). Remaining negatives are sampled from all documents.
SETTINGS: Mapping[str, Sequence[tuple[str, int | None]]] = {
    "package": (("package", None),),
    "mixed": (("parent", 10), ("package", 8)),
    "random": (),
}


def linked_benchmark(
    positives: pd.DataFrame,
    excluded: pd.DataFrame,
    documents: pd.DataFrame,
    *,
    test: int,
    validation: int,
    seed: int,
    settings: Sequence[str],
) -> Benchmark:
    """Benchmark of tasks whose queries are documents of the collection.

    All tasks share one split: no pair of a test or validation query, in any task or direction, is
    among the relevant pairs for training. A document that is relevant to a query in one task is not
    a negative for this query in another.
    """
    split = split_queries(positives, test=test, validation=validation, seed=seed)
    text = documents.set_index("document_id")["text"]
    queries = split.assign(origin_id=split["query"], text=split["query"].map(text))
    pairs = ["query", "document_id"]
    excluded_pairs = pd.concat([positives[pairs], excluded[pairs]], ignore_index=True)
    is_training = queries["split"] == "train"
    lists = [
        candidate_lists(
            queries[~is_training], positives, excluded_pairs, documents, setting=setting, seed=seed
        )
        for setting in settings
    ]
    lists.append(
        candidate_lists(
            queries[is_training],
            training_positives(positives, split),
            excluded_pairs,
            documents,
            setting=settings[0],
            seed=seed,
        )
    )
    return Benchmark(queries, pd.concat(lists, ignore_index=True))


def citation_tasks(links: pd.DataFrame) -> pd.DataFrame:
    """Relevant pairs of the three citation tasks."""
    ids = np.unique(links[["source_id", "target_id"]].to_numpy(dtype=str))
    proper_links = links[links["source_id"] != links["target_id"]].drop_duplicates()
    source = np.searchsorted(ids, proper_links["source_id"].to_numpy(dtype=str))
    target = np.searchsorted(ids, proper_links["target_id"].to_numpy(dtype=str))
    ones = np.ones(len(proper_links), dtype=np.int32)
    # Imported here because rules import this module, and scipy would delay Snakemake by 0.2 s.
    from scipy import sparse

    cites = sparse.csr_array((ones, (source, target)), shape=(len(ids), len(ids)))
    frames = []
    for task, pairs in zip(TASKS, (cites, cites.T @ cites, cites @ cites.T), strict=True):
        query, document = sparse.coo_array(pairs).coords
        is_pair = query != document
        query, document = query[is_pair], document[is_pair]
        frame = pd.DataFrame({"query": ids[query], "document_id": ids[document]})
        frame.insert(0, "task", task)
        frames.append(frame.sort_values(["query", "document_id"]))
    return pd.concat(frames, ignore_index=True).assign(relevance=1)


def split_queries(
    positives: pd.DataFrame, *, test: int, validation: int, seed: int
) -> pd.DataFrame:
    """Split the queries into test, validation and training parts, in the same way for all tasks.

    The queries of all tasks are shuffled together. The test segment is the shortest prefix with
    `test` queries of each task, the validation segment is the shortest one after it with
    `validation` queries of each task, and the rest is for training. Each task uses only the first
    `test` or `validation` of its queries in a segment and omits the others. A query is therefore in
    the same part in all tasks.
    """
    # Sorted, so that the split does not depend on the order of the rows.
    order = np.random.default_rng(seed).permutation(sorted(set(positives["query"])))
    position = {query: number for number, query in enumerate(order)}
    positions_by_task = {
        task: sorted(position[query] for query in set(group))
        for task, group in positives.groupby("task", sort=False)["query"]
    }
    positions_by_part: dict[tuple[str, str], list[int]] = {}
    start = 0
    for split, size in (("test", test), ("validation", validation), ("train", None)):
        for task, numbers in positions_by_task.items():
            positions_by_part[task, split] = [number for number in numbers if number >= start][
                :size
            ]
            if size is not None and len(positions_by_part[task, split]) < size:
                raise DataError(
                    row=f"task {task}",
                    fault=f"has {len(numbers)} queries, too few for {test} test and {validation} "
                    "validation queries in one split of all tasks",
                    fix="reduce these numbers",
                )
        ends = [
            numbers[-1] + 1
            for (_, part), numbers in positions_by_part.items()
            if part == split and numbers
        ]
        start = max([start, *ends])
    rows = [
        (task, query, split)
        for task in positions_by_task
        for split in ("test", "validation", "train")
        for query in sorted(str(order[number]) for number in positions_by_part[task, split])
    ]
    return pd.DataFrame(rows, columns=["task", "query", "split"], dtype="str")


def training_positives(positives: pd.DataFrame, split: pd.DataFrame) -> pd.DataFrame:
    """Relevant pairs of training queries, without pairs of test and validation queries.

    Most links are mutual, so splitting only the queries would leave at least half of the test pairs
    in the training data, in the opposite direction.
    """
    test_queries = set(split.loc[split["split"] != "train", "query"])
    test_pairs = positives[positives["query"].isin(test_queries)]
    pairs = set(zip(test_pairs["query"], test_pairs["document_id"], strict=True))
    train = split.loc[split["split"] == "train", ["task", "query"]]
    is_training = pd.MultiIndex.from_frame(positives[["task", "query"]]).isin(
        pd.MultiIndex.from_frame(train)
    )
    is_disjoint = [
        (query, document) not in pairs and (document, query) not in pairs
        for query, document in zip(positives["query"], positives["document_id"], strict=True)
    ]
    return positives[is_training & np.array(is_disjoint, dtype=bool)]


def candidate_lists(
    queries: pd.DataFrame,
    positives: pd.DataFrame,
    excluded: pd.DataFrame,
    documents: pd.DataFrame,
    *,
    setting: str,
    seed: int,
    max_positives: int = 5,
    negatives: int = 25,
) -> pd.DataFrame:
    """Sample the documents that systems rank for each query."""
    table = documents.sort_values("document_id", ignore_index=True)
    row_of = pd.Series(table.index, index=table["document_id"])
    pools = {column: table.groupby(column).indices for column in ("package", "parent")}
    values = {column: table[column].to_numpy() for column in pools}
    relevant = _rows_of(positives, row_of, ["task", "query"])
    excluded_rows = _rows_of(excluded, row_of, ["query"])
    ids = table["document_id"].to_numpy()
    frames = []
    for query in queries.itertuples(index=False):
        relevant_rows = relevant.get((query.task, query.query))
        if relevant_rows is None:
            continue
        origin = row_of[getattr(query, "origin_id", query.query)]
        positive_rows = relevant_rows
        if len(relevant_rows) > max_positives:
            generator = _generator(seed, query.task, query.query, "positives")
            positive_rows = generator.choice(relevant_rows, max_positives, replace=False)
        is_available = np.ones(len(ids), dtype=bool)
        is_available[origin] = False
        is_available[relevant_rows] = False
        is_available[excluded_rows.get((query.query,), [])] = False
        negative_rows: list[int] = []
        generator = _generator(seed, query.task, query.query, setting)
        for column, limit in (*SETTINGS[setting], ("", None)):
            pool = pools[column][values[column][origin]] if column else np.arange(len(ids))
            pool = pool[is_available[pool]]
            missing = negatives - len(negative_rows)
            size = min(len(pool), missing if limit is None else min(limit, missing))
            new_rows = generator.choice(pool, size, replace=False)
            is_available[new_rows] = False
            negative_rows.extend(new_rows)
        if len(negative_rows) < negatives:
            raise DataError(
                row=f"task {query.task}, query {query.query}",
                fault=f"has {len(negative_rows)} possible negatives",
                expected=f"{negatives} or more",
                fix="reduce `negatives`, or use more documents",
            )
        rows = np.concatenate([positive_rows, negative_rows]).astype(int)
        relevance = np.repeat([1, 0], [len(positive_rows), negatives])
        # Rows are numbered in the order of the ids.
        by_id = np.argsort(rows)
        frames.append((query.task, query.split, query.query, ids[rows[by_id]], relevance[by_id]))
    lengths = [len(frame[3]) for frame in frames]
    columns = {
        name: np.repeat(np.array([frame[index] for frame in frames], dtype=object), lengths)
        for index, name in enumerate(["task", "split", "query"])
    }
    lists = pd.DataFrame(columns, dtype="str")
    lists.insert(0, "setting", pd.Series(setting, index=lists.index, dtype="str"))
    lists["document_id"] = _concatenate([frame[3] for frame in frames], "str")
    lists["relevance"] = _concatenate([frame[4] for frame in frames], "int64")
    return lists


def _concatenate(parts: list[np.ndarray], dtype: str) -> pd.Series:
    return pd.Series(np.concatenate(parts) if parts else [], dtype=dtype)


def _rows_of(
    pairs: pd.DataFrame, row_of: pd.Series, keys: Iterable[str]
) -> dict[tuple[str, ...], np.ndarray]:
    """Row numbers of each key's documents, sorted and without duplicates."""
    values = pairs["document_id"].map(row_of).to_numpy(dtype=np.int64)
    positions = pairs.groupby(list(keys)).indices
    return {
        key if isinstance(key, tuple) else (key,): np.unique(values[numbers])
        for key, numbers in positions.items()
    }


def _generator(seed: int, *names: str) -> np.random.Generator:
    """Random generator for a seed and names, identical in every process."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8])])


#: Task of each type of link in the records of CACM.
LINK_TYPES: Mapping[str, str] = {"5": "cite", "6": "co-cite", "4": "coupling"}
#: Settings of the candidate lists; the first is the main one, also used for training lists. Half of
#: the records have only a title, but four out of five relevant records have an abstract, and most
#: are from the time of the query, so random negatives would be easy to distinguish from them.
CACM_SETTINGS = ("mixed", "random")
#: The first year whose records have subject categories.
CATEGORIES_SINCE = 1968

_LINK = re.compile(r"(\d+)\t(\d+)\t(\d+)\s*")
_CATEGORIES = re.compile(r"\s*+(?:(?!\d\.\d)[\d .,])*+(\d\.\d+)[\d .,]*+")


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
    return pd.DataFrame(rows, columns=["task", "query", "document_id"]).assign(relevance=1)


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
    return links[links["query"].isin(queries)].reset_index(drop=True)


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
    relevant = positives[["query", "document_id"]].merge(texts, on="document_id")
    return relevant[["query", "text"]].drop_duplicates().merge(texts, on="text")
