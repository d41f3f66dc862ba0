"""Building a Lucene index of tokenised documents."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from everycell.retrieval.index_statistics import Statistics, check_statistics
from everycell.retrieval.java import (
    ID_FIELD,
    TEXT_FIELD,
    Terms,
    explain_java_errors,
    id_line,
    is_index,
    java_classes,
    lucene_classes,
    open_directory,
    term_line,
)
from everycell.retrieval.lucene import Index


def build_index(
    documents: Iterable[tuple[str, Terms]], folder: Path | str, *, term_vectors: bool = False
) -> Statistics:
    """Index tokenised documents.

    The index is written beside `folder` and takes its name only when it is complete; an older index
    of that name is then removed. It is one segment with term frequencies and no positions, written
    by one thread, since pyjnius mixes up the objects of several.
    """
    folder = Path(folder)
    if folder.exists() and not (
        folder.is_dir() and (is_index(folder) or not any(folder.iterdir()))
    ):
        raise ValueError(
            f"{folder} has files that are not a Lucene index: name another folder, or "
            "delete this one."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    java, writing = lucene_classes(), _writing_classes()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".index-") as beside:
        new = Path(beside, "new")
        with explain_java_errors(f"write the index {folder}"):
            settings = writing.IndexWriterConfig(java.analyser)
            writer = writing.IndexWriter(open_directory(new), settings)
            try:
                counts = _add(documents, writer, term_vectors)
                writer.forceMerge(1)
                writer.commit()
            finally:
                # Closes without a further commit.
                writer.rollback()
        with Index(new) as index:
            statistics = index.statistics()
        check_statistics(statistics, counts, str(folder))
        if folder.exists():
            folder.rename(Path(beside, "old"))
        new.rename(folder)
    return statistics


def _add(
    documents: Iterable[tuple[str, Terms]], writer: Any, term_vectors: bool
) -> dict[str, int | str]:
    """Add the documents, and return the statistics that can be counted without memory."""
    java, writing = lucene_classes(), _writing_classes()
    # One document, filled again and again, as Lucene advises: each call into Java costs.
    name_field = writing.StringField(ID_FIELD, "", writing.FieldStore.YES)
    order_field = writing.BinaryDocValuesField(ID_FIELD, writing.BytesRef())
    kind = writing.FieldType()
    kind.setIndexOptions(writing.IndexOptions.DOCS_AND_FREQS)
    kind.setStoreTermVectors(term_vectors)
    kind.freeze()
    text_field = writing.Field(
        TEXT_FIELD,
        java.cast("java.lang.CharSequence", java.String("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", kind),
    )
    document = writing.Document()
    for field in (name_field, order_field, text_field):
        document.add(field)

    names: set[str] = set()
    empty = tokens = content = 0
    for name, terms in documents:
        raw_name, raw = id_line([name], "document"), term_line(terms, f"document {name!r}")
        if name in names:
            raise ValueError(
                f"The document id {name!r} is given twice: an index holds an id once, so leave "
                "one of the two out."
            )
        names.add(name)
        empty += not raw
        tokens += len(terms)
        content += int.from_bytes(hashlib.sha256(raw_name + b" " + raw).digest(), "big")
        name_field.setStringValue(java.text(raw_name))
        order_field.setBytesValue(writing.BytesRef(raw_name))
        text_field.setStringValue(java.text(raw))
        writer.addDocument(document)
    if not names:
        raise ValueError("There are no documents to index: give one or more.")
    # A sum does not depend on the order of documents.
    identity = f"{content % (1 << 256):064x}"
    data = writing.HashMap()
    data.put("content", identity)
    data.put("term_vectors", str(term_vectors))
    writer.setLiveCommitData(data.entrySet())
    return {
        "documents": len(names),
        "empty_documents": empty,
        "tokens": tokens,
        "content": identity,
    }


@cache
def _writing_classes() -> SimpleNamespace:
    return SimpleNamespace(
        **java_classes(
            {
                "org.apache.lucene.document": "BinaryDocValuesField Document Field Field$Store "
                "FieldType StringField",
                "org.apache.lucene.index": "IndexOptions IndexWriter IndexWriterConfig",
                "org.apache.lucene.util": "BytesRef",
                "java.util": "HashMap",
            }
        )
    )
