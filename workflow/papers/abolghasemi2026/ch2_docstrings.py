"""Docstrings of installed packages as documents of chapter 2 of abolghasemi2026.

Reads their sections, See Also lists and names, and finds near-duplicates.

`walk` imports the public modules of a package and reads the dictionaries of modules and classes, so
that no property, descriptor or lazy attribute of the package runs.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from everycell.base.errors import DataError

#: Modules without documentation for users, in addition to those whose names start with "_"; and
#: `numpy.distutils`, since importing it changes the standard library's distutils.
SKIPPED_MODULES = frozenset({"conftest", "distutils", "externals", "f2py", "tests"})
#: Section titles of numpydoc; any other title is part of the section around it.
SECTIONS = (
    "Parameters|Other Parameters|Returns|Yields|Receives|Raises|Warns|Warnings|See Also|Notes"
    "|References|Examples?|Attributes|Methods"
)
#: Sections that are not prose: code, bibliography, and the links that define the tasks.
NON_PROSE_SECTIONS = frozenset({"see also", "example", "examples", "references"})

_HEADER = re.compile(rf"^({SECTIONS}):?[ ]*\n[-=]{{3,}}[ ]*$", re.MULTILINE | re.IGNORECASE)
_NAME = r"(?::[\w:]+:)?`~?[\w.]+`|~?[A-Za-z_][\w.]*(?:\(\))?"
_ENTRY = re.compile(rf"(?:[-*]\s+)?({_NAME})((?:\s*,\s*(?:{_NAME}))*)\s*,?(?:\s*:\s*(.*))?")
#: A placeholder for another function to fill; such docstrings are left out.
_TEMPLATE = re.compile(r"%\(\w+\)s")
#: A printed Python set, whose order changes from process to process.
_PRINTED_SET = re.compile(r"\{'\w+'(?:, '\w+')+\}")
_ROLE = re.compile(r":[\w:]+:")
#: Abbreviations in documentation, as in ``np.sum``.
ALIASES: Mapping[str, str] = {"np": "numpy", "pd": "pandas", "nx": "networkx"}

_OBJECT_NAME = re.compile(r"(`*)~?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?\1")


@dataclass(frozen=True)
class NamedDocstring:
    """A non-empty docstring under one of its full dotted names."""

    name: str
    package: str
    text: str


@dataclass(frozen=True)
class Walk:
    """Docstrings of packages, the number of modules, and skipped modules with the reasons."""

    docstrings: tuple[NamedDocstring, ...]
    modules: int
    skipped: dict[str, str]


@dataclass(frozen=True)
class SeeAlso:
    """An entry of a See Also list: the names, without markup, and their description."""

    names: tuple[str, ...]
    description: str


def walk(packages: Sequence[str]) -> Walk:
    """Collect the docstrings of public modules' classes, functions, methods and properties."""
    modules: dict[str, ModuleType] = {}
    skipped: dict[str, str] = {}
    for package in packages:
        _import(package, modules, skipped)
        if package in skipped:
            raise DataError(
                column="package",
                value=package,
                fault=f"which cannot be imported ({skipped[package]})",
                fix="install it, or remove it from the list of packages",
            )
    owners: dict[int, str] = {}
    by_name: dict[str, NamedDocstring] = {}
    for module_name, module in modules.items():
        package = module_name.partition(".")[0]
        for name, thing in sorted(vars(module).items(), key=lambda item: item[0]):
            if name.startswith("_") or isinstance(thing, ModuleType):
                continue
            if owners.setdefault(id(thing), _owner(thing, packages) or package) != package:
                continue
            for suffix, text in _docstrings(thing, package):
                if _TEMPLATE.search(text):
                    continue
                full = f"{module_name}.{name}{suffix}"
                by_name[full] = NamedDocstring(full, package, text)
    order = {package: position for position, package in enumerate(packages)}
    docstrings = sorted(by_name.values(), key=lambda entry: (order[entry.package], entry.name))
    return Walk(tuple(docstrings), len(modules), skipped)


def _import(name: str, modules: dict[str, ModuleType], skipped: dict[str, str]) -> None:
    """Import a module and its submodules, adding to both dictionaries."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        skipped[name] = f"{type(error).__name__}: {error}"
        return
    modules[name] = module
    children = {info.name for info in pkgutil.iter_modules(vars(module).get("__path__", []))}
    for child in sorted(children - SKIPPED_MODULES):
        if not child.startswith("_"):
            _import(f"{name}.{child}", modules, skipped)


def _owner(thing: Any, packages: Sequence[str]) -> str | None:
    """Package that defines an object, or None if it is unknown.

    An instance has the `__module__` of its class, which need not be the package that created it:
    the ufuncs of `scipy.special` are instances of a NumPy class.
    """
    module = _text_attribute(thing, "__module__")
    if module is None:
        return None
    is_instance = not isinstance(thing, type) and not inspect.isroutine(thing)
    is_from_class = is_instance and module == getattr(type(thing), "__module__", None)
    package = module.partition(".")[0]
    return None if is_from_class and package in packages else package


def _docstrings(thing: Any, package: str) -> Iterator[tuple[str, str]]:
    """Yield ("", docstring) for an object, and (".name", docstring) for members of a class."""
    if not isinstance(thing, type):
        text = _own_docstring(thing)
        if text and (inspect.isroutine(thing) or _is_callable_instance(thing)):
            yield "", text
        return
    bases = [base for base in thing.__mro__ if _package_of(base) == package]
    if text := next(filter(None, map(_own_docstring, bases)), None):
        yield "", text
    names = {name for base in bases for name in vars(base) if not name.startswith("_")}
    for name in sorted(names):
        members = [vars(base)[name] for base in bases if name in vars(base)]
        # pandas stores the class of an accessor (Series.str) in its descriptor.
        accessor = inspect.getattr_static(members[0], "_accessor", None)
        if isinstance(accessor, type):
            for suffix, text in _docstrings(accessor, package):
                yield f".{name}{suffix}", text
        elif _is_member(members[0]):
            if text := next(filter(None, map(_own_docstring, members)), None):
                yield f".{name}", text


def _package_of(base: type) -> str:
    return str(base.__module__).partition(".")[0]


def _is_member(thing: Any) -> bool:
    """Whether a class attribute is a method, property or other descriptor, not a constant."""
    return not isinstance(thing, type) and (
        inspect.isroutine(thing) or hasattr(type(thing), "__get__")
    )


def _is_callable_instance(thing: Any) -> bool:
    return callable(thing) and type(thing).__name__ != "fortran"


def _own_docstring(thing: Any) -> str | None:
    """Docstring of an object itself (not of its class), without indentation."""
    text = _text_attribute(thing, "__doc__")
    if text is None or (not isinstance(thing, type) and text == type(thing).__doc__):
        return None
    return _PRINTED_SET.sub(_sorted_set, inspect.cleandoc(text)) or None


def _sorted_set(match: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(match[0][1:-1].split(", "))) + "}"


def _text_attribute(thing: Any, name: str) -> str | None:
    """Value of ``__doc__`` or ``__module__``; None if it is not a string or computing it fails."""
    try:
        value = getattr(thing, name)
    except Exception:
        return None
    return value if isinstance(value, str) else None


def split_sections(docstring: str) -> list[tuple[str, str]]:
    """Titles and texts of the sections of a numpydoc docstring."""
    parts = _HEADER.split(docstring)
    titles = ["", *(title.lower() for title in parts[1::2])]
    return [(title, text.strip("\n")) for title, text in zip(titles, parts[::2], strict=True)]


def prose(docstring: str) -> str:
    """Docstring without See Also, Examples and References, with normalised white space."""
    sections = [
        (title, text)
        for title, text in split_sections(docstring)
        if title not in NON_PROSE_SECTIONS
    ]
    return " ".join(" ".join(f"{title} {text}" for title, text in sections).split())


def see_also(docstring: str) -> list[SeeAlso]:
    """Entries of all See Also sections of a docstring, in order."""
    entries = []
    for title, text in split_sections(docstring):
        if title != "see also":
            continue
        # An unindented line and the indented or empty lines that follow it.
        for block in re.findall(r"^\S.*(?:\n(?:[ \t].*)?)*", textwrap.dedent(text), re.MULTILINE):
            first, _, continuation = block.partition("\n")
            if entry := _ENTRY.fullmatch(first.strip()):
                names = re.findall(_NAME, entry[1] + entry[2])
                description = " ".join(f"{entry[3] or ''} {continuation}".split())
                entries.append(SeeAlso(tuple(map(_remove_markup, names)), description))
    return entries


def _remove_markup(name: str) -> str:
    """Remove role, back quotes, tilde, call brackets and final dots from a name."""
    return _ROLE.sub("", name).strip("`~").removesuffix("()").rstrip(".")


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

    return " ".join(_OBJECT_NAME.sub(replace, text).split())


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


def shingles(texts: Sequence[str], length: int = 3) -> sparse.csr_array:
    """Sets of word shingles as rows of a matrix of zeros and ones."""
    columns: dict[tuple[str, ...], int] = {}
    indices: list[int] = []
    starts = [0]
    for text in texts:
        words = text.lower().split()
        last = max(len(words) - length, 0) if words else -1
        row = {
            columns.setdefault(tuple(words[start : start + length]), len(columns))
            for start in range(last + 1)
        }
        indices.extend(sorted(row))
        starts.append(len(indices))
    ones = np.ones(len(indices), dtype=np.int32)
    return sparse.csr_array((ones, indices, starts), shape=(len(texts), len(columns)))


def similar_pairs(sets: sparse.csr_array, threshold: float) -> pd.DataFrame:
    """All pairs of rows whose Jaccard similarity reaches a threshold.

    Unlike MinHash, the result does not depend on a seed. Only pairs of sets that share a rare
    element are compared (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006, section 4.1).
    """
    sizes = np.diff(sets.indptr)
    prefixes = _rarest_elements(sets, sizes, threshold)
    candidates = sparse.triu(prefixes @ prefixes.T, k=1).tocoo()
    left, right = candidates.row.astype(np.int64), candidates.col.astype(np.int64)
    # Divide the sizes, since rounding may lift a product such as 0.55 * 100 above the size.
    size_pairs = sizes[left], sizes[right]
    is_possible = np.minimum(*size_pairs) / np.maximum(*size_pairs) >= threshold
    left, right = left[is_possible], right[is_possible]
    shared = _intersection_sizes(sets, left, right)
    jaccard = shared / (sizes[left] + sizes[right] - shared)
    pairs = pd.DataFrame({"left": left, "right": right, "jaccard": jaccard})
    pairs = pairs[pairs["jaccard"] >= threshold]
    return pairs.sort_values(["left", "right"], ignore_index=True)


def _rarest_elements(
    sets: sparse.csr_array, sizes: np.ndarray, threshold: float
) -> sparse.csr_array:
    """Reduce rows to their rarest elements; similar rows must share at least one of them.

    Jaccard >= t implies |A and B| >= t |A|, so B lacks at most |A| - ceil(t |A|) elements of A. The
    first |A| - ceil(t |A|) + 1 elements, in an order common to all rows, therefore include a shared
    one.
    """
    order = np.argsort(np.argsort(sets.sum(axis=0), kind="stable"), kind="stable")
    rows = np.repeat(np.arange(sets.shape[0]), sizes)
    ranks = order[sets.indices]
    by_row = np.lexsort((ranks, rows))
    position = np.arange(len(rows)) - np.repeat(sets.indptr[:-1], sizes)
    # Rounded because 0.8 * 5 must be exactly 4.
    is_rare = position < (sizes - np.ceil(np.round(threshold * sizes, 9)) + 1)[rows]
    rows, ranks = rows[is_rare], ranks[by_row][is_rare]
    ones = np.ones(len(rows), dtype=np.int32)
    return sparse.csr_array((ones, (rows, ranks)), shape=sets.shape)


def _intersection_sizes(
    sets: sparse.csr_array, left: np.ndarray, right: np.ndarray, chunk: int = 20_000
) -> np.ndarray:
    """Count the common elements of each pair of rows, in chunks to limit memory."""
    counts = [
        sets[left[start : start + chunk]].multiply(sets[right[start : start + chunk]]).sum(axis=1)
        for start in range(0, len(left), chunk)
    ]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def group_numbers(pairs: pd.DataFrame, size: int) -> np.ndarray:
    """Number of each row's connected component: the index of the component's first row."""
    ones = np.ones(len(pairs), dtype=np.int8)
    graph = sparse.coo_array((ones, (pairs["left"], pairs["right"])), shape=(size, size))
    _, labels = sparse.csgraph.connected_components(graph, directed=False)
    _, first = np.unique(labels, return_index=True)
    return first[labels]
