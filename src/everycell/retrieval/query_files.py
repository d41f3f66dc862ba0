"""Queries that were encoded elsewhere, in a file: word counts, impacts or vectors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes, parse_json

_DENSE = ("index", "docid")


def distinct_words(text: str) -> dict[str, int]:
    """Query of DeepImpact: its distinct words, each with the weight 1.

    A document's score is the sum of the impacts of the query's words in it (Mallia et al., SIGIR
    2021). How their queries were cut into words is not published beside the index: lower case and
    runs of letters and digits are this project's choice.

    Examples
    --------
    >>> distinct_words("What's the bee, the 1st?")
    {'what': 1, 's': 1, 'the': 1, 'bee': 1, '1st': 1}
    """
    return dict.fromkeys(re.findall(r"[^\W_]+", text.lower()), 1)


def write_encoded_queries(
    path: Path | str, queries: Mapping[str, str], vectors: Iterable[Vector]
) -> None:
    """Write encoded queries, one JSON object per line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "queries.jsonl"
    >>> write_encoded_queries(path, {"q": "red bee"}, [{"red": 1, "bee": 2}])
    >>> read_encoded_queries(path, {"7": "red bee"})
    {'7': {'red': 1, 'bee': 2}}
    """
    lines = [
        json.dumps({"id": query, "contents": text, "vector": vector}) + "\n"
        for (query, text), vector in zip(queries.items(), vectors, strict=True)
    ]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_encoded_queries(path: Path | str, queries: Mapping[str, str]) -> dict[str, Any]:
    """Read vectors of queries, which are matched by their text as in pyserini.

    Examples
    --------
    See `write_encoded_queries`.
    """
    path, found = Path(path), {}
    if not path.is_file():
        raise PrebuiltError(f"The file {path} does not exist: name one with encoded queries.")
    for number, line in text_lines(path, PrebuiltError):
        try:
            entry = parse_json(line)
            found[entry["contents"].strip()] = entry["vector"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise PrebuiltError(
                f"{path}, line {number} is not a JSON object with 'contents' and 'vector': "
                "encode the queries again."
            ) from None
    for query, text in queries.items():
        if text.strip() not in found:
            raise PrebuiltError(
                f"{path} has no vector for query {query}, {in_quotes(text)}: encode all queries."
            )
    return {query: found[text.strip()] for query, text in queries.items()}


Vector = Mapping[str, int] | Sequence[float]


class PrebuiltError(Exception):
    """An index or its encoded queries cannot be used; the message says what to do."""
