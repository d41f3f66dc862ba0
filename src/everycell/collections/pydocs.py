"""Test collection `pydocs`: the documentation of installed Python packages, with its links.

A docstring is a document, its See Also list gives its citations, and the descriptions in that list
are short queries for the documents that they describe. In the embedded tier it replaces
SciDocs (abolghasemi2026, chapter 2). Its data card, ``docs/data-cards/pydocs.md``, says what it is
and what it is not.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata, resources

import pandas as pd
import yaml

from everycell.collections.docstrings import NamedDocstring, Walk, prose, see_also, walk
from everycell.collections.object_names import Resolver, mask_linked, mask_names, name_length
from everycell.collections.query_by_example import TASKS, citation_tasks

#: Package to import -> its distribution; each package before those that import it.
PACKAGES: Mapping[str, str] = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "sklearn": "scikit-learn",
    "networkx": "networkx",
}

KNOWN_ITEM = "known-item"
MIN_WORDS = 30
MIN_QUERY_WORDS = 3
#: Jaccard similarity of word 3-shingles at which two documents are merged.
SAME = 0.8
#: ... and at which one is never a negative of the other.
ALIKE = 0.5

_WORD = re.compile(r"\w+")


class OtherCollectionWarning(UserWarning):
    """The collection differs from the one that the data card describes."""


@dataclass(frozen=True)
class PyDocs:
    """Documents, links and descriptions."""

    documents: pd.DataFrame
    links: pd.DataFrame
    descriptions: pd.DataFrame
    alike: pd.DataFrame
    counts: dict[str, int]
    versions: dict[str, str]
    skipped: dict[str, str]

    @property
    def sha256(self) -> str:
        """Hash of all ids, texts, links and descriptions: hexadecimal, 64 characters."""
        digest = hashlib.sha256()
        for frame in (
            self.documents[["document_id", "text"]],
            self.links[["source_id", "target_id"]],
            self.descriptions[["source_id", "target_id", "description"]],
        ):
            lines = ["\t".join(row) for row in frame.itertuples(index=False)]
            digest.update(("\n".join(sorted(lines)) + "\n\n").encode())
        return digest.hexdigest()


def build(packages: Mapping[str, str] = PACKAGES) -> PyDocs:
    """Make the collection from the installed packages.

    Identical docstrings become one document, as do those whose prose is nearly the same (`SAME`,
    applied transitively): the document has the names and links of all of them, and the prose of the
    one with the shortest name. Names of linked documents are masked in it.
    """
    versions = {name: metadata.version(name) for name in packages.values()}
    return collect(walk(list(packages)), versions)


def collect(contents: Walk, versions: Mapping[str, str]) -> PyDocs:
    """Make the collection from a walk; see `build`."""
    members = _distinct(contents.docstrings)
    prose_of = {row: prose(docstring) for row, (_, docstring) in enumerate(members)}
    texts = {row: text for row, text in prose_of.items() if len(text.split()) >= MIN_WORDS}
    pairs, id_of = _merge(members, texts)
    names_of: dict[str, list[str]] = defaultdict(list)
    for row, document_id in id_of.items():
        names_of[document_id].extend(members[row][0])
    names = {key: tuple(sorted(names_of[key], key=name_length)) for key in sorted(names_of)}
    resolver = Resolver(
        {name: id_of.get(row) for row, (aliases, _) in enumerate(members) for name in aliases}
    )
    mentions = [
        (document_id, resolver.resolve(name, members[row][0]), entry)
        for row, document_id in id_of.items()
        for entry in see_also(members[row][1])
        for name in entry.names
    ]
    linked = [
        (source, target, entry) for source, target, entry in mentions if target and target != source
    ]
    links = _frame({(source, target) for source, target, _ in linked}, ["source_id", "target_id"])
    descriptions = _frame(
        {
            (source, target, entry.description)
            for source, target, entry in linked
            if entry.description and len(entry.names) == 1
        },
        ["source_id", "target_id", "description"],
    )
    ids_alike = ({id_of[row.left], id_of[row.right]} for row in pairs.itertuples())
    alike = _frame(
        {tuple(sorted(ids)) for ids in ids_alike if len(ids) == 2}, ["left_id", "right_id"]
    )
    text_of = {members[row][0][0]: text for row, text in texts.items()}
    masked = mask_linked({key: text_of[key] for key in names}, links, names)
    package_of = {docstring.name: docstring.package for docstring in contents.docstrings}
    documents = pd.DataFrame(
        {
            "document_id": list(names),
            "package": [package_of[key] for key in names],
            "parent": [key.rpartition(".")[0] for key in names],
            "text": [masked[key] for key in names],
            "words": [len(text_of[key].split()) for key in names],
            "names": list(names.values()),
        }
    )
    counts = {
        "modules": contents.modules,
        "modules skipped": len(contents.skipped),
        "names": len(contents.docstrings),
        "distinct docstrings": len(members),
        f"docstrings of {MIN_WORDS} words or more": len(texts),
        f"pairs of Jaccard {SAME} or more": int((pairs["jaccard"] >= SAME).sum()),
        f"pairs of Jaccard {ALIKE} or more": len(pairs),
        **_document_counts(documents),
        "names in See Also lists": len(mentions),
        "of these names of documents": sum(target is not None for _, target, _ in mentions),
        "links": len(links),
        "descriptions": len(descriptions),
    }
    collection = PyDocs(
        documents, links, descriptions, alike, counts, dict(versions), dict(contents.skipped)
    )
    counts |= _task_counts(collection)
    return collection


def _merge(
    members: list[tuple[tuple[str, ...], str]], texts: Mapping[int, str]
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Pairs of similar texts, and the document's id for each text, which near-duplicates share."""
    # Rules import constants from here: loading scipy would add 0.2 s to each start of Snakemake.
    from everycell.collections.near_duplicates import group_numbers, shingles, similar_pairs

    rows = pd.Index(texts)
    pairs = similar_pairs(shingles(list(texts.values())), ALIKE)
    pairs = pairs.assign(left=rows[pairs["left"]], right=rows[pairs["right"]])
    # Members are sorted by their shortest name, so the first of a group gives its id and prose.
    first_of = group_numbers(pairs[pairs["jaccard"] >= SAME], len(members))
    return pairs, {row: members[first_of[row]][0][0] for row in texts}


def _document_counts(documents: pd.DataFrame) -> dict[str, int]:
    words = int(documents["words"].sum())
    return {
        "documents": len(documents),
        **{
            f"documents of {name}": int(number)
            for name, number in documents["package"].value_counts().sort_index().items()
        },
        "words": words,
        "words masked": words - int(documents["text"].str.split().str.len().sum()),
    }


def _task_counts(collection: PyDocs) -> dict[str, int]:
    counts: dict[str, int] = {}
    positives = citation_tasks(collection.links)
    for task in TASKS:
        sizes = positives[positives["task"] == task].groupby("query_id").size()
        counts[f"{task}: queries"] = len(sizes)
        counts[f"{task}: queries with 5 relevant documents or more"] = int((sizes >= 5).sum())
        counts[f"{task}: pairs"] = int(sizes.sum())
    known = known_items(collection)
    counts[f"{KNOWN_ITEM}: queries"] = len(known)
    counts[f"{KNOWN_ITEM}: documents"] = known["document_id"].nunique()
    return counts


def _distinct(docstrings: Iterable[NamedDocstring]) -> list[tuple[tuple[str, ...], str]]:
    """Names (shortest first) and text of each docstring that differs beyond white space."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for docstring in docstrings:
        texts[" ".join(docstring.text.split())][docstring.name] = docstring.text
    members = []
    for by_name in texts.values():
        names = tuple(sorted(by_name, key=name_length))
        members.append((names, by_name[names[0]]))
    return sorted(members, key=lambda member: name_length(member[0][0]))


def _frame(rows: Iterable[tuple[str, ...]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(sorted(rows), columns=columns, dtype="str")


def known_items(collection: PyDocs) -> pd.DataFrame:
    """Short queries: descriptions from See Also lists, each for the document that it describes.

    The document's own names are masked in the description. Dropped are descriptions of fewer than
    `MIN_QUERY_WORDS` words, those given for more than one document, and those whose words occur in
    this order, with or without the names, in the document's text.
    """
    documents = collection.documents.set_index("document_id")
    targets_by_words: dict[str, set[str]] = defaultdict(set)
    spelled: dict[tuple[str, str], str] = {}
    verbatim: set[tuple[str, str]] = set()
    text_of = {document_id: f" {_words(text)} " for document_id, text in documents["text"].items()}
    for row in collection.descriptions.itertuples(index=False):
        text = mask_names(row.description, documents.at[row.target_id, "names"])
        words = _words(text)
        targets_by_words[words].add(row.target_id)
        spelled.setdefault((row.target_id, words), text)
        if any(
            f" {phrase} " in text_of[row.target_id] for phrase in (words, _words(row.description))
        ):
            verbatim.add((row.target_id, words))
    rows = []
    numbers: dict[str, int] = defaultdict(int)
    for (target, words), text in sorted(spelled.items(), key=lambda item: (item[0][0], item[1])):
        long_enough = len(words.split()) >= MIN_QUERY_WORDS
        if long_enough and len(targets_by_words[words]) == 1 and (target, words) not in verbatim:
            numbers[target] += 1
            rows.append((f"{target}#{numbers[target]}", target, text))
    return pd.DataFrame(rows, columns=["query_id", "document_id", "text"], dtype="str")


def _words(text: str) -> str:
    """Only the words, in lower case, separated by one space."""
    return " ".join(_WORD.findall(text.lower()))


def expected() -> tuple[dict[str, int], dict[str, str], str]:
    """Counts, versions and sha256 of the collection that the data card describes."""
    text = (
        resources.files("everycell.collections").joinpath("pydocs.yaml").read_text(encoding="utf-8")
    )
    card = yaml.safe_load(text)
    return card["counts"], card["versions"], card["sha256"]


def check(collection: PyDocs) -> bool:
    """Compare a collection with the one of the data card; call it before any search.

    Other versions, another platform (on which NumPy documents its integer types differently) or a
    package that cannot be imported give another collection. It can be used, but results on it are
    not comparable.
    """
    counts, versions, sha256 = expected()
    differences = [
        f"{name}: {own.get(name, 'none')} here, {described.get(name, 'none')} there"
        for own, described in ((collection.versions, versions), (collection.counts, counts))
        for name in {**described, **own}
        if own.get(name) != described.get(name)
    ]
    if not differences and collection.sha256 != sha256:
        differences = [f"sha256: {collection.sha256} here, {sha256} there"]
    if differences:
        warnings.warn(
            "The collection pydocs is not the one of docs/data-cards/pydocs.md, so results are "
            f"not comparable; install the versions of envs/base.lock to have it "
            f"({'; '.join(differences)}).",
            OtherCollectionWarning,
            stacklevel=2,
        )
    return not differences
