"""CACM's links and issues: which documents cite which, and when they appeared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from everycell.collections.smart import (
    CATEGORIES,
    CollectionError,
    _cacm_issue,
    cacm_id,
    cacm_pages,
)
from everycell.engine.untrusted import in_quotes

#: Type of a link in the records of CACM -> task.
LINK_TYPES: Mapping[str, str] = {"5": "cite", "6": "co-cite", "4": "coupling"}


_LINK = re.compile(r"(\d+)\t(\d+)\t(\d+)\s*")


def read_cacm_links(path: Path) -> pd.DataFrame:
    """Links between the records of CACM.

    Parameters
    ----------
    path : Path
        `cacm.tar.gz`: its pages end with lines "record, type, own record".

    Returns
    -------
    pandas.DataFrame
        Columns `task` (cite, co-cite, coupling), `query_id`, `document_id`, `relevance` (always
        1), sorted by task (in this order), query and document. Links of a record to itself and
        repetitions are dropped. The file has every link from both ends, so a citation does not
        say who cites: both pairs are there.

    Raises
    ------
    CollectionError
        As `read_collection`; a link of another type, of another record's page, to a record that is
        not there, or that the other end does not have.

    Examples
    --------
    >>> read_cacm_links(Path("no.tar.gz"))
    Traceback (most recent call last):
    everycell.collections.smart.CollectionError: no.tar.gz cannot be read (No such file or
    directory); fetch it, or correct its path.
    """
    links: dict[tuple[str, str, str], str] = {}
    records = set()
    for place, record, lines in cacm_pages(Path(path)):
        records.add(record)
        for number, line in enumerate(lines, start=1):
            link = _LINK.fullmatch(line)
            if not link:
                continue
            where = f"{place}, line {number}"
            other, kind, own = link.groups()
            if kind not in LINK_TYPES or cacm_id(own) != record:
                raise CollectionError(
                    f"{where}: {in_quotes(line.strip())} is no link of {record}; a link is "
                    f"'record, type, {int(record[-4:])}' with type 4, 5 or 6: use the registry's "
                    "file."
                )
            if cacm_id(other) != record:
                links[LINK_TYPES[kind], record, cacm_id(other)] = where
    for (task, record, other), where in links.items():
        if other not in records or (task, other, record) not in links:
            lack = "has no link back" if other in records else "is not there"
            raise CollectionError(
                f"{where}: {record} has a link ({task}) to {other}, which {lack}; use the "
                "registry's file."
            )
    order = {task: place for place, task in enumerate(LINK_TYPES.values())}
    rows = sorted(links, key=lambda link: (order[link[0]], *link[1:]))
    return pd.DataFrame(rows, columns=["task", "query_id", "document_id"]).assign(relevance=1)


def linked_tasks(links: pd.DataFrame, documents: pd.DataFrame, *, min_words: int) -> pd.DataFrame:
    """Query-by-example tasks from links: those of records with an abstract that can be a query.

    Parameters
    ----------
    links : pandas.DataFrame
        From `read_cacm_links`; m rows.
    documents : pandas.DataFrame
        From `read_collection`.
    min_words : int
        Words, between blanks, that the abstract of a query has at least; 0 or more. Relevant
        documents may be shorter, also a title alone.

    Returns
    -------
    pandas.DataFrame
        The rows of `links` with such a query, in their order, numbered anew. The shape is that of
        `query_by_example.citation_tasks`; other documents to rank are left to the caller.

    Examples
    --------
    >>> links = pd.DataFrame(
    ...     {"task": "cite", "query_id": ["a", "b"], "document_id": ["b", "a"], "relevance": 1}
    ... )
    >>> documents = pd.DataFrame({"document_id": ["a", "b"], "abstract": ["two words", ""]})
    >>> print(linked_tasks(links, documents, min_words=2).to_string(index=False))
    task query_id document_id  relevance
    cite        a           b          1
    """
    words = documents["abstract"].str.split().str.len()
    queries = documents.loc[words >= min_words, "document_id"]
    return links[links["query_id"].isin(queries)].reset_index(drop=True)


def read_cacm_issues(path: Path) -> pd.DataFrame:
    """Year and subject of each record of CACM.

    Parameters
    ----------
    path : Path
        `cacm.tar.gz`.

    Returns
    -------
    pandas.DataFrame
        Columns `document_id`, `year` (of the issue, 1958 to 1979) and `category`: the first code
        of the Computing Reviews classification, such as "4.22", in the line that holds nothing
        but codes; "" where there is none. Only records from 1968 on have codes.

    Raises
    ------
    CollectionError
        As `read_collection`.

    Examples
    --------
    >>> read_cacm_issues(Path("no.tar.gz"))
    Traceback (most recent call last):
    everycell.collections.smart.CollectionError: no.tar.gz cannot be read (No such file or
    directory); fetch it, or correct its path.
    """
    rows = []
    for place, record, lines in cacm_pages(Path(path)):
        number, year = _cacm_issue(lines, place)
        codes = (CATEGORIES.fullmatch(line) for line in lines[number + 1 :])
        rows.append((record, year, next((found[1] for found in codes if found), "")))
    return pd.DataFrame(rows, columns=["document_id", "year", "category"])
