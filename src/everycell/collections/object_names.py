"""Names of Python objects in documentation: find the documents they name, and mask the names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pandas as pd

#: Abbreviations in documentation, as in ``np.sum``.
ALIASES: Mapping[str, str] = {"np": "numpy", "pd": "pandas", "nx": "networkx"}

_NAME = re.compile(r"(`*)~?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?\1")


def name_length(name: str) -> tuple[int, int, str]:
    """Sort key of names: number of parts, then number of characters, then alphabetical."""
    return name.count("."), len(name), name


def _suffixes(name: str) -> list[str]:
    """``a.b.c`` -> ``a.b.c``, ``b.c``, ``c``."""
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]


def _expand_alias(name: str) -> str:
    first, dot, suffix = name.partition(".")
    return f"{ALIASES[first]}.{suffix}" if dot and first in ALIASES else name


class Resolver:
    """Finds the document that a name in a docstring refers to."""

    def __init__(self, documents: Mapping[str, str | None]) -> None:
        """Store the document of every name, or None if its docstring is too short to be one."""
        self.documents = documents
        ids_by_suffix: dict[tuple[str, str], set[str | None]] = defaultdict(set)
        for name, document_id in documents.items():
            package = name.partition(".")[0]
            for suffix in _suffixes(name):
                ids_by_suffix[package, suffix].add(document_id)
        self.unique_suffixes = {
            key: next(iter(document_ids))
            for key, document_ids in ids_by_suffix.items()
            if len(document_ids) == 1
        }

    def resolve(self, name: str, own_names: Sequence[str]) -> str | None:
        """Find the document of a name that occurs in the docstring of an object.

        `own_names` are the full names of this object. The name is looked up as a full name, then
        in the class, module and packages of the object, then as a suffix of names in the object's
        package, provided that all names with this suffix have the same document.
        """
        name = _expand_alias(name)
        qualified = [f"{prefix}.{name}" for own in own_names for prefix in _prefixes(own)]
        for full_name in [name, *dict.fromkeys(qualified)]:
            if full_name in self.documents:
                return self.documents[full_name]
        return self.unique_suffixes.get((own_names[0].partition(".")[0], name))


def _prefixes(name: str) -> list[str]:
    """``a.b.c`` -> ``a.b``, ``a``."""
    return list(accumulate(name.split(".")[:-1], "{}.{}".format))[::-1]


@dataclass(frozen=True)
class _Mask:
    """Names to mask if dotted or in back quotes (`suffixes`), or everywhere (`identifiers`)."""

    suffixes: frozenset[str]
    identifiers: frozenset[str]


def _mask_of(names: Iterable[str]) -> _Mask:
    last_parts = {name.rpartition(".")[2] for name in names}
    return _Mask(
        frozenset(suffix for name in names for suffix in _suffixes(name)),
        frozenset(part for part in last_parts if "_" in part or part != part.lower()),
    )


def mask_names(text: str, names: Iterable[str]) -> str:
    """Remove the names of objects from a text.

    To keep ordinary words, a name without a dot is removed only if it is in back quotes or looks
    like an identifier, that is, contains an underscore or a capital letter.
    """
    return _apply_masks(text, [_mask_of(list(names))])


def _apply_masks(text: str, masks: Sequence[_Mask]) -> str:
    suffixes = frozenset().union(*(mask.suffixes for mask in masks))
    identifiers = frozenset().union(*(mask.identifiers for mask in masks))

    def replace(match: re.Match[str]) -> str:
        quotes, name = match[1], _expand_alias(match[2])
        is_name = name in suffixes and ("." in name or quotes)
        return "" if is_name or not identifiers.isdisjoint(name.split(".")) else match[0]

    return " ".join(_NAME.sub(replace, text).split())


def mask_linked(
    texts: Mapping[str, str], links: pd.DataFrame, names: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Mask in each text the names of documents that it links to or that link to it."""
    linked: dict[str, set[str]] = defaultdict(set)
    for source, target in links.itertuples(index=False):
        linked[source].add(target)
        linked[target].add(source)
    masks = {document_id: _mask_of(names[document_id]) for document_id in linked}
    return {
        document_id: _apply_masks(text, [masks[other] for other in sorted(linked[document_id])])
        if document_id in linked
        else text
        for document_id, text in texts.items()
    }
