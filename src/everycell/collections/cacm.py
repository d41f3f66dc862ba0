"""CACM: records, links between them, and dates of their issues, from the archive's HTML pages."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from everycell.base.errors import CollectionError
from everycell.base.text_files import check_regular
from everycell.base.untrusted import in_quotes, unpack
from everycell.collections.smart_files import (
    decode_lines,
    normalise_space,
    trec_blocks,
    unreadable_file_error,
)

#: Task of each type of link in the records of CACM.
LINK_TYPES: Mapping[str, str] = {"5": "cite", "6": "co-cite", "4": "coupling"}

_LINK = re.compile(r"(\d+)\t(\d+)\t(\d+)\s*")
_MONTHS = "January February March April May June July August September October November December"
_DATE = re.compile(rf"\s*(CACM )?({'|'.join(_MONTHS.split())}),? ?(\d{{4}})\s*", re.IGNORECASE)
_CATEGORIES = re.compile(r"\s*[\d .,]*?(\d\.\d+)[\d .,]*")
_PAGE = re.compile(r"(CACM-\d{4})\.html")


def cacm_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Location, id, title and abstract of each record.

    The title is the first paragraph; the abstract is the text from there to the date of the issue.
    """
    for page, record, lines in _pages(path):
        issue, _ = _issue(lines, page)
        head = "\n".join(lines[2:issue]).strip()
        title, _, abstract = (
            normalise_space(part) for part in re.split(r"(\n\s*\n)", head + "\n\n", maxsplit=1)
        )
        yield page, record, title, abstract


def cacm_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    """Location, number and text of each topic."""
    return trec_blocks(path, "DOC", "DOCNO")


def read_cacm_links(path: Path) -> pd.DataFrame:
    """Read the links between the records of CACM."""
    links: dict[tuple[str, str, str], str] = {}
    records = set()
    for page, record, lines in _pages(Path(path)):
        records.add(record)
        for number, line in enumerate(lines, start=1):
            link = _LINK.fullmatch(line)
            if not link:
                continue
            location = f"{page}, line {number}"
            target, kind, source = link.groups()
            if kind not in LINK_TYPES or cacm_id(source) != record:
                raise CollectionError(
                    f"{location}: {in_quotes(line.strip())} is not a link of {record}; expected "
                    f"'record, type, {int(record[-4:])}' with type 4, 5 or 6: use the registered "
                    "file."
                )
            if cacm_id(target) != record:
                links[LINK_TYPES[kind], record, cacm_id(target)] = location
    for (task, record, target), location in links.items():
        if target not in records or (task, target, record) not in links:
            fault = "has no link back" if target in records else "is missing"
            raise CollectionError(
                f"{location}: {record} has a link ({task}) to {target}, which {fault}; use the "
                "registered file."
            )
    order = {task: position for position, task in enumerate(LINK_TYPES.values())}
    rows = sorted(links, key=lambda link: (order[link[0]], *link[1:]))
    return pd.DataFrame(rows, columns=["task", "query_id", "document_id"]).assign(relevance=1)


def linked_tasks(links: pd.DataFrame, documents: pd.DataFrame, *, min_words: int) -> pd.DataFrame:
    """Links of the records whose abstracts have at least `min_words` words."""
    words = documents["abstract"].str.split().str.len()
    queries = documents.loc[words >= min_words, "document_id"]
    return links[links["query_id"].isin(queries)].reset_index(drop=True)


def read_cacm_issues(path: Path) -> pd.DataFrame:
    """Read the year and subject category of each record of CACM."""
    rows = []
    for page, record, lines in _pages(Path(path)):
        number, year = _issue(lines, page)
        codes = (_CATEGORIES.fullmatch(line) for line in lines[number + 1 :])
        rows.append((record, year, next((match[1] for match in codes if match), "")))
    return pd.DataFrame(rows, columns=["document_id", "year", "category"])


def cacm_id(number: str) -> str:
    """Id of the CACM record with this number."""
    return f"CACM-{int(number):04d}"


def _pages(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Location, record id and lines of each page, in the order of the archive."""
    try:
        check_regular(path)
        # Unpack the complete file first, to verify the checksum at its end.
        with gzip.open(path, "rb") as packed:
            unpacked = io.BytesIO(unpack(packed, path))
        with tarfile.open(fileobj=unpacked, mode="r:") as archive:
            for member in archive:
                page = _PAGE.fullmatch(member.name)
                # A sparse member of a few bytes may expand to terabytes of zeros.
                is_regular = member.isfile() and not member.issparse()
                file = archive.extractfile(member) if page and is_regular else None
                if page is None or file is None:
                    raise CollectionError(
                        f"{path} contains {in_quotes(member.name)}; expected pages named "
                        "CACM-0001.html and so on: use the registered file."
                    )
                location = f"{path}, {member.name}"
                yield location, page[1], decode_lines(file.read(), location)
    # `unpack` and malformed headers raise a ValueError.
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise CollectionError(
            f"{path} is not a complete .tar.gz archive ({error}); fetch it again."
        ) from error
    except OSError as error:
        raise unreadable_file_error(path, error) from error


def _issue(lines: list[str], page: str) -> tuple[int, int]:
    """Index of the line with the month of the issue, and the year."""
    dates = [(number, date) for number, line in enumerate(lines) if (date := _DATE.fullmatch(line))]
    if lines[:2] != ["<html>", "<pre>"] or len(dates) != 1:
        raise CollectionError(
            f"{page}, line 1: a page must begin with <html> and <pre> and have one line with the "
            f"month of the issue, but this page has {len(dates)}; use the registered file."
        )
    number, date = dates[0]
    return number, int(date[3])
