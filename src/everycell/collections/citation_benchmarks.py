"""Query by example on CACM: a record with a long abstract is the query, its links are relevant."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.collections.benchmark import Benchmark, linked_benchmark
from everycell.collections.cacm import linked_tasks
from everycell.collections.smart import Collection

#: Settings of the candidate lists; the first one is the main one, and that of training lists.
#: Half of the records are a title, but four of five relevant ones have an abstract, and most are of
#: the query's time: among random negatives that alone tells many relevant documents.
CACM_SETTINGS = ("mixed", "random")
#: The first year whose records have subject categories.
CATEGORIES_SINCE = 1968


def cacm_groups(collection: Collection, issues: pd.DataFrame) -> pd.DataFrame:
    """Records of CACM with the groups that negatives are drawn from.

    No ranker has a part in it: a negative that one system ranks high would count against that
    system and not against another.

    Parameters
    ----------
    collection : Collection
        CACM, from `everycell.collections.smart.read_collection`.
    issues : pandas.DataFrame
        From `everycell.collections.cacm.read_cacm_issues`.

    Returns
    -------
    pandas.DataFrame
        Columns `document_id`, `text` (title and abstract), `package` and `parent`, as
        `everycell.collections.query_by_example.candidate_lists` takes them; rows as in
        `collection`. package: records with (or without) an abstract of the time before (or since)
        records have categories. parent: records of the same first category; for those without
        category, the records with (or without) an abstract of the same year.

    Raises
    ------
    ValueError
        A record that `issues` does not have.

    Examples
    --------
    >>> documents = pd.DataFrame({"document_id": ["a", "b"], "abstract": ["x", ""], "text": "y"})
    >>> collection = Collection(documents, pd.DataFrame(), pd.DataFrame())
    >>> issues = pd.DataFrame(
    ...     {"document_id": ["a", "b"], "year": [1970, 1960], "category": ["4.2", ""]}
    ... )
    >>> cacm_groups(collection, issues)[["package", "parent"]].to_numpy().tolist()
    [['abstract, since 1968', '4.2'], ['title only, before 1968', 'title only, 1960']]
    """
    records = collection.documents.merge(issues, on="document_id", how="left")
    if records["year"].isna().any():
        first = records.loc[records["year"].isna(), "document_id"].iloc[0]
        raise ValueError(
            f"Record {first} has no issue: read collection and issues from the same archive."
        )
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
    """Tasks where a record of CACM is the query: cite, co-cite, coupling.

    Up to 5 relevant documents a query and 25 negatives. Links do not say who cites, so "cite" is
    cites or is cited by. One split for all tasks; no pair of a test or validation query, in any
    task and direction, is among the relevant pairs for training.

    Parameters
    ----------
    collection : Collection
        CACM, from `everycell.collections.smart.read_collection`.
    links, issues : pandas.DataFrame
        From `everycell.collections.cacm.read_cacm_links` and `read_cacm_issues`.
    min_words : int
        Words that the abstract of a query has at least. Any record may be a candidate, also a
        title alone.
    test, validation : int
        Queries of each task.
    seed : int
        0 or more.
    settings : sequence of str
        "mixed": of the 25 negatives up to 10 of the query's parent and 8 of its package, see
        `cacm_groups`; the others from all records. "random": all of them from all records, as
        SciDocs draws them. Training lists are made in the first one only.

    Returns
    -------
    Benchmark
        No negative is linked with the query in any way, or has the text of a record that is (a
        title may stand several times). Positives are the same in every setting.

    Raises
    ------
    ValueError
        More queries asked for than a task has, an unknown setting, or files of other collections.
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
    """Query and each document with the text of one that is relevant to it, that one included."""
    texts = documents[["document_id", "text"]]
    relevant = positives[["query_id", "document_id"]].merge(texts, on="document_id")
    return relevant[["query_id", "text"]].drop_duplicates().merge(texts, on="text")
