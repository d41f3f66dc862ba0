"""Encoded queries (word counts, impacts or vectors) and their files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes, parse_json

_DENSE = ("index", "docid")


# Stop words that DeepImpact removes from queries, from the authors' code (DI4IR/SIGIR2021,
# src/utils2.py, Apache-2.0), without apostrophes.
_STOP_WORDS = frozenset(
    """
    a about also am an and another any anyone are arent as at be been being but by despite did
    didnt do does doesnt doing done dont each etc every everyone for from further had hadnt has
    hasnt have havent having he hed hell her here heres hers herself hes him himself his however i
    id if ill im in into is isnt it its itself ive just lets like lot may me might mightnt my
    myself no nor not of on onto or other ought oughtnt our ours ourselves out over shall shant she
    shed shell shes since so some something such than that thats the their theirs them themselves
    then there theres these they theyd theyll theyre theyve this those through tht to too usually
    very via was wasnt we wed well were werent weve will with without wont would wouldnt yes yet
    you youd youll your youre yours yourself yourselves youve
    """.split()
)


def deepimpact_query(text: str) -> dict[str, int]:
    """DeepImpact query for a text: the number of occurrences of each of its words.

    A document's score is the sum of the impacts of the query's words in it (Mallia et al., SIGIR
    2021). Words are split as in the authors' code (DI4IR/SIGIR2021, ``cleanQ`` in
    ``src/utils2.py``). They consist of ASCII letters and digits in lower case. A word is split at
    dots unless all its parts are single letters, and at hyphens unless any of its parts is a single
    letter. Stop words are removed from queries only. pyserini counts repeated words in the same
    way.
    """
    # Before lower-casing, which turns the Kelvin sign into a k.
    words = re.sub(r"[^0-9A-Za-z.-]", " ", text).lower().split()
    for mark, extreme in ((".", max), ("-", min)):
        split = [word.split(mark) for word in words]
        joined = ((" " if extreme(map(len, parts)) > 1 else "").join(parts) for parts in split)
        words = " ".join(joined).split()
    return dict(Counter(word for word in words if word not in _STOP_WORDS))


def write_encoded_queries(
    path: Path | str, queries: Mapping[str, str], vectors: Iterable[Vector]
) -> None:
    """Write encoded queries, one JSON object per line."""
    lines = [
        json.dumps({"id": query, "contents": text, "vector": vector}) + "\n"
        for (query, text), vector in zip(queries.items(), vectors, strict=True)
    ]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_encoded_queries(path: Path | str, queries: Mapping[str, str]) -> dict[str, Any]:
    """Read encoded queries, matched by text as in pyserini."""
    path, vectors = Path(path), {}
    if not path.is_file():
        raise PrebuiltError(f"The file {path} does not exist: give a file of encoded queries.")
    for number, line in text_lines(path, PrebuiltError):
        try:
            entry = parse_json(line)
            vectors[entry["contents"].strip()] = entry["vector"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise PrebuiltError(
                f"{path}, line {number} is not a JSON object with 'contents' and 'vector': "
                "encode the queries again."
            ) from None
    for query, text in queries.items():
        if text.strip() not in vectors:
            raise PrebuiltError(
                f"{path} has no vector for query {query}, {in_quotes(text)}: encode all queries."
            )
    return {query: vectors[text.strip()] for query, text in queries.items()}


Vector = Mapping[str, int] | Sequence[float]


class PrebuiltError(Exception):
    """An index or its encoded queries cannot be used."""
