"""Names of Python objects in documentation: finding the document they refer to, and masking."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pandas as pd

#: Abbreviations of the documentation, as in ``np.sum``.
ALIASES: Mapping[str, str] = {"np": "numpy", "pd": "pandas", "nx": "networkx"}

_NAME = re.compile(r"(`*)~?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?\1")


def shortest(name: str) -> tuple[int, int, str]:
    """Sorting key of names: fewest parts, then fewest characters, then the alphabet."""
    return name.count("."), len(name), name


def _suffixes(name: str) -> list[str]:
    """``a.b.c`` -> ``a.b.c``, ``b.c``, ``c``."""
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def _unabbreviated(name: str) -> str:
    first, dot, suffix = name.partition(".")
    return f"{ALIASES[first]}.{suffix}" if dot and first in ALIASES else name


class Resolver:
    """Finds the document that a name in a docstring refers to."""

    def __init__(self, documents: Mapping[str, str | None]) -> None:
        """Store the document of every name; None if its docstring is too short to be one."""
        self.documents = documents
        ends: dict[tuple[str, str], set[str | None]] = defaultdict(set)
        for name, document_id in documents.items():
            package = name.partition(".")[0]
            for suffix in _suffixes(name):
                ends[package, suffix].add(document_id)
        self.unique = {
            key: next(iter(document_ids))
            for key, document_ids in ends.items()
            if len(document_ids) == 1
        }

    def resolve(self, name: str, own_names: Sequence[str]) -> str | None:
        """Document of a name that occurs in the docstring of an object with these names.

        Looked up as a full name, then in the class, module and packages around each of the object's
        names, then as the end of names in the object's package, if all of these give one document.
        """
        name = _unabbreviated(name)
        around = [f"{prefix}.{name}" for own in own_names for prefix in _prefixes(own)]
        for full in [name, *dict.fromkeys(around)]:
            if full in self.documents:
                return self.documents[full]
        return self.unique.get((own_names[0].partition(".")[0], name))


def _prefixes(name: str) -> list[str]:
    """``a.b.c`` -> ``a.b``, ``a``."""
    return list(accumulate(name.split(".")[:-1], "{}.{}".format))[::-1]


@dataclass(frozen=True)
class _Mask:
    """Names to mask: those masked as dotted or back-quoted words, and those masked everywhere."""

    ends: frozenset[str]
    identifiers: frozenset[str]


def _mask(names: Iterable[str]) -> _Mask:
    last = {name.rpartition(".")[2] for name in names}
    return _Mask(
        frozenset(suffix for name in names for suffix in _suffixes(name)),
        frozenset(name for name in last if "_" in name or name != name.lower()),
    )


def mask_names(text: str, names: Iterable[str]) -> str:
    """Remove the names of objects from a text.

    Everyday words stay: a name without a dot is removed only if it is in back quotes or looks like
    an identifier, that is, has an underscore or a capital letter.
    """
    return _masked(text, [_mask(list(names))])


def _masked(text: str, masks: Sequence[_Mask]) -> str:
    ends = frozenset().union(*(mask.ends for mask in masks))
    identifiers = frozenset().union(*(mask.identifiers for mask in masks))

    def replace(match: re.Match[str]) -> str:
        quotes, name = match[1], _unabbreviated(match[2])
        is_name = name in ends and ("." in name or quotes)
        return "" if is_name or not identifiers.isdisjoint(name.split(".")) else match[0]

    return " ".join(_NAME.sub(replace, text).split())


def mask_linked(
    texts: Mapping[str, str], links: pd.DataFrame, names: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Mask, in each text, the names of the documents that it cites or that cite it."""
    linked: dict[str, set[str]] = defaultdict(set)
    for source, target in links.itertuples(index=False):
        linked[source].add(target)
        linked[target].add(source)
    masks = {document_id: _mask(names[document_id]) for document_id in linked}
    return {
        document_id: _masked(text, [masks[other] for other in sorted(linked[document_id])])
        if document_id in linked
        else text
        for document_id, text in texts.items()
    }
