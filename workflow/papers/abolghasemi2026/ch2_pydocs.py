"""Collection `pydocs` of chapter 2 of abolghasemi2026: linked documentation of Python packages.

Docstrings are documents, their See Also lists are citations, and the descriptions in these lists
are short queries for the described documents. The collection is surrogate data for
SciDocs. Its data card is ``docs/data-cards/pydocs.md``.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from everycell.collections.benchmark import Benchmark
from papers.abolghasemi2026.ch2_docstrings import (
    NamedDocstring,
    Resolver,
    Walk,
    mask_linked,
    mask_names,
    name_length,
    prose,
    see_also,
    walk,
)
from papers.abolghasemi2026.ch2_query_by_example import (
    PACKAGES,
    TASKS,
    candidate_lists,
    citation_tasks,
    linked_benchmark,
    split_queries,
)

KNOWN_ITEM = "known-item"
#: Settings of the test and validation lists; the first is the main one.
MAIN_SETTINGS = ("package", "mixed")
MIN_WORDS = 30
MIN_QUERY_WORDS = 3
#: Jaccard similarity of word 3-shingles at or above which two documents are merged.
MERGE_THRESHOLD = 0.8
#: Jaccard similarity of word 3-shingles at or above which a document is not a negative for
#: another.
NEAR_DUPLICATE_THRESHOLD = 0.5

_WORD = re.compile(r"\w+")


class DifferentCollectionWarning(UserWarning):
    """The collection differs from the one described in the data card."""


@dataclass(frozen=True)
class PyDocs:
    """Documents, links, descriptions, and pairs of near-duplicates."""

    documents: pd.DataFrame
    links: pd.DataFrame
    descriptions: pd.DataFrame
    near_duplicates: pd.DataFrame
    counts: dict[str, int]
    versions: dict[str, str]
    skipped: dict[str, str]

    @property
    def sha256(self) -> str:
        """Hexadecimal hash of all ids, texts, links and descriptions."""
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
    """Build the collection from the installed packages.

    Docstrings that are identical, or whose prose is nearly identical (`MERGE_THRESHOLD`, applied
    transitively), become one document. It has the names and links of all of them, and the prose of
    the one with the shortest name. The names of linked documents are masked in its text.
    """
    versions = {name: metadata.version(name) for name in packages.values()}
    return build_from_walk(walk(list(packages)), versions)


def build_from_walk(contents: Walk, versions: Mapping[str, str]) -> PyDocs:
    """Build the collection from collected docstrings; see `build`."""
    members = _distinct_docstrings(contents.docstrings)
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
    id_pairs = ({id_of[row.left], id_of[row.right]} for row in pairs.itertuples())
    near_duplicates = _frame(
        {tuple(sorted(ids)) for ids in id_pairs if len(ids) == 2}, ["left_id", "right_id"]
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
    is_merged = pairs["jaccard"] >= MERGE_THRESHOLD
    counts = {
        "modules": contents.modules,
        "modules skipped": len(contents.skipped),
        "names": len(contents.docstrings),
        "distinct docstrings": len(members),
        f"docstrings of {MIN_WORDS} words or more": len(texts),
        f"pairs of Jaccard {MERGE_THRESHOLD} or more": int(is_merged.sum()),
        f"pairs of Jaccard {NEAR_DUPLICATE_THRESHOLD} or more": len(pairs),
        **_document_counts(documents),
        "names in See Also lists": len(mentions),
        "of these names of documents": sum(target is not None for _, target, _ in mentions),
        "links": len(links),
        "descriptions": len(descriptions),
    }
    collection = PyDocs(
        documents,
        links,
        descriptions,
        near_duplicates,
        counts,
        dict(versions),
        dict(contents.skipped),
    )
    counts |= _task_counts(collection)
    return collection


def _merge(
    members: list[tuple[tuple[str, ...], str]], texts: Mapping[int, str]
) -> tuple[pd.DataFrame, dict[int, str]]:
    """Return the pairs of similar texts, and the document id of each text after merging."""
    # Imported here because rules import this module, and scipy would delay Snakemake by 0.2 s.
    from papers.abolghasemi2026.ch2_docstrings import group_numbers, shingles, similar_pairs

    rows = pd.Index(texts)
    pairs = similar_pairs(shingles(list(texts.values())), NEAR_DUPLICATE_THRESHOLD)
    pairs = pairs.assign(left=rows[pairs["left"]], right=rows[pairs["right"]])
    # Members are sorted by their shortest name, so the first of a group supplies its id and prose.
    first_of = group_numbers(pairs[pairs["jaccard"] >= MERGE_THRESHOLD], len(members))
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
        sizes = positives[positives["task"] == task].groupby("query").size()
        counts[f"{task}: queries"] = len(sizes)
        counts[f"{task}: queries with 5 relevant documents or more"] = int((sizes >= 5).sum())
        counts[f"{task}: pairs"] = int(sizes.sum())
    known = known_items(collection)
    counts[f"{KNOWN_ITEM}: queries"] = len(known)
    counts[f"{KNOWN_ITEM}: documents"] = known["document_id"].nunique()
    return counts


def _distinct_docstrings(docstrings: Iterable[NamedDocstring]) -> list[tuple[tuple[str, ...], str]]:
    """Names (shortest first) and text of each docstring that is distinct up to white space."""
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
    """Descriptions from See Also lists as short queries for the documents that they describe.

    The document's own names are masked in the description. Descriptions are dropped if they have
    fewer than `MIN_QUERY_WORDS` words, describe more than one document, or occur verbatim, with or
    without the names, in the document's text.
    """
    documents = collection.documents.set_index("document_id")
    targets_by_words: dict[str, set[str]] = defaultdict(set)
    query_texts: dict[tuple[str, str], str] = {}
    verbatim: set[tuple[str, str]] = set()
    text_of = {document_id: f" {_words(text)} " for document_id, text in documents["text"].items()}
    for row in collection.descriptions.itertuples(index=False):
        text = mask_names(row.description, documents.at[row.target_id, "names"])
        words = _words(text)
        targets_by_words[words].add(row.target_id)
        query_texts.setdefault((row.target_id, words), text)
        if any(
            f" {phrase} " in text_of[row.target_id] for phrase in (words, _words(row.description))
        ):
            verbatim.add((row.target_id, words))
    rows = []
    numbers: dict[str, int] = defaultdict(int)
    in_order = sorted(query_texts.items(), key=lambda item: (item[0][0], item[1]))
    for (target, words), text in in_order:
        is_long_enough = len(words.split()) >= MIN_QUERY_WORDS
        if is_long_enough and len(targets_by_words[words]) == 1 and (target, words) not in verbatim:
            numbers[target] += 1
            rows.append((f"{target}#{numbers[target]}", target, text))
    return pd.DataFrame(rows, columns=["query", "document_id", "text"], dtype="str")


def _words(text: str) -> str:
    """Words of a text in lower case, separated by single spaces."""
    return " ".join(_WORD.findall(text.lower()))


def expected_facts() -> tuple[dict[str, int], dict[str, str], str]:
    """Counts, versions and sha256 of the collection described in the data card."""
    file = Path(__file__).with_name("ch2_pydocs.yaml")
    card = yaml.safe_load(file.read_text(encoding="utf-8"))
    return card["counts"], card["versions"], card["sha256"]


def check(collection: PyDocs) -> bool:
    """Warn if a collection differs from the one described in the data card.

    The collection depends on the versions of the packages, on whether all of them can be imported,
    and on the platform, since NumPy documents its integer types differently. Results on a different
    collection are not comparable.
    """
    counts, versions, sha256 = expected_facts()
    differences = [
        f"{name}: {actual.get(name, 'none')}, expected {expected.get(name, 'none')}"
        for actual, expected in ((collection.versions, versions), (collection.counts, counts))
        for name in {**expected, **actual}
        if actual.get(name) != expected.get(name)
    ]
    if not differences and collection.sha256 != sha256:
        differences = [f"sha256: {collection.sha256}, expected {sha256}"]
    if differences:
        warnings.warn(
            "The collection pydocs differs from the one in docs/data-cards/pydocs.md "
            f"({'; '.join(differences)}), so results are not comparable; install the versions in "
            "envs/base.lock.",
            DifferentCollectionWarning,
            stacklevel=2,
        )
    return not differences


def query_by_example(
    collection: PyDocs,
    *,
    test: int = 300,
    validation: int = 200,
    seed: int = 0,
    settings: Sequence[str] = MAIN_SETTINGS,
) -> Benchmark:
    """Tasks whose queries are docstrings: cite, co-cite, coupling.

    A query has up to 5 relevant documents and 25 negatives, which are not relevant in any of the
    three tasks and not near-duplicates of the query. All tasks share one split: no pair of a test
    or validation query, in any task or direction, is among the relevant pairs for training.
    """
    return linked_benchmark(
        citation_tasks(collection.links),
        _in_both_directions(collection.near_duplicates),
        collection.documents,
        test=test,
        validation=validation,
        seed=seed,
        settings=settings,
    )


def known_item_search(
    collection: PyDocs,
    *,
    test: int = 300,
    validation: int = 200,
    seed: int = 0,
    settings: Sequence[str] = MAIN_SETTINGS,
) -> Benchmark:
    """Known-item search: short queries with one relevant document and 29 negatives.

    There are no training queries. If a document has several queries, one is sampled, so that topics
    are independent. Negatives are sampled as if the target document were the query, and exclude its
    near-duplicates.
    """
    known = known_items(collection).sort_values("query", ignore_index=True)
    generator = np.random.default_rng(seed)
    groups = known.groupby("document_id").indices
    sample = known.loc[[int(generator.choice(rows)) for _, rows in sorted(groups.items())]]
    positives = sample.assign(task=KNOWN_ITEM)
    split = split_queries(positives, test=test, validation=validation, seed=seed)
    queries = split[split["split"] != "train"].merge(
        sample.rename(columns={"document_id": "origin_id"}), on="query"
    )
    near_duplicates = _in_both_directions(collection.near_duplicates)
    excluded = queries[["query", "origin_id"]].merge(
        near_duplicates.rename(columns={"query": "origin_id"}), on="origin_id"
    )
    lists = [
        candidate_lists(
            queries,
            positives,
            excluded,
            collection.documents,
            setting=setting,
            seed=seed,
            negatives=29,
        )
        for setting in settings
    ]
    return Benchmark(queries, pd.concat(lists, ignore_index=True))


def _in_both_directions(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of documents as query and document, in both directions."""
    forward = pairs.rename(columns={"left_id": "query", "right_id": "document_id"})
    backward = pairs.rename(columns={"right_id": "query", "left_id": "document_id"})
    return pd.concat([forward, backward[["query", "document_id"]]], ignore_index=True)
