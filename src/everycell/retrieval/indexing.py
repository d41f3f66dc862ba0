"""Building Lucene indexes of tokenised documents."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from everycell.base.errors import DataError
from everycell.retrieval.java import (
    ID_FIELD,
    TEXT_FIELD,
    LuceneError,
    Terms,
    explain_java_errors,
    is_index,
    java_classes,
    join_ids,
    join_terms,
    lucene_classes,
    open_directory,
)
from everycell.retrieval.lucene import Index, Statistics


def build_index(
    documents: Iterable[tuple[str, Terms]], folder: Path | str, *, term_vectors: bool = False
) -> Statistics:
    """Index tokenised documents.

    The index is built in a temporary folder next to `folder`, which it replaces only when it is
    complete. It has one segment, with term frequencies but without positions. One thread writes it,
    since pyjnius confuses the objects of several threads.
    """
    folder = Path(folder)
    if folder.exists() and not (
        folder.is_dir() and (is_index(folder) or not any(folder.iterdir()))
    ):
        raise DataError(
            folder,
            fault="is neither an empty folder nor a Lucene index",
            fix="choose another folder, or delete this one",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    java, writer_java = lucene_classes(), _writer_classes()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".index-") as temporary:
        new = Path(temporary, "new")
        with explain_java_errors(f"write the index {folder}"):
            settings = writer_java.IndexWriterConfig(java.analyser)
            writer = writer_java.IndexWriter(open_directory(new), settings)
            try:
                counts = _add_documents(documents, writer, term_vectors)
                writer.forceMerge(1)
                writer.commit()
            finally:
                # Close without another commit.
                writer.rollback()
        with Index(new) as index:
            statistics = index.statistics()
        if counts.items() - asdict(statistics).items():
            raise LuceneError(f"The index {folder} has {statistics}, but {counts} was written.")
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        new.rename(folder)
    return statistics


def _add_documents(
    documents: Iterable[tuple[str, Terms]], writer: Any, term_vectors: bool
) -> dict[str, int | str]:
    """Add the documents, and return all statistics except the number of distinct terms."""
    java, writer_java = lucene_classes(), _writer_classes()
    # One document is reused, as Lucene advises, because calls into Java are slow.
    name_field = writer_java.StringField(ID_FIELD, "", writer_java.FieldStore.YES)
    order_field = writer_java.BinaryDocValuesField(ID_FIELD, writer_java.BytesRef())
    field_type = writer_java.FieldType()
    field_type.setIndexOptions(writer_java.IndexOptions.DOCS_AND_FREQS)
    field_type.setStoreTermVectors(term_vectors)
    field_type.freeze()
    text_field = writer_java.Field(
        TEXT_FIELD,
        java.cast("java.lang.CharSequence", java.String("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", field_type),
    )
    document = writer_java.Document()
    for field in (name_field, order_field, text_field):
        document.add(field)

    names: set[str] = set()
    empty = tokens = content = 0
    for name, terms in documents:
        raw_name, raw_terms = join_ids([name], "document"), join_terms(terms)
        if name in names:
            raise DataError(
                column="document",
                value=name,
                fault="which occurs twice",
                fix="remove one of the two",
            )
        names.add(name)
        empty += not raw_terms
        tokens += len(terms)
        content += int.from_bytes(hashlib.sha256(raw_name + b" " + raw_terms).digest(), "big")
        name_field.setStringValue(java.text(raw_name))
        order_field.setBytesValue(writer_java.BytesRef(raw_name))
        text_field.setStringValue(java.text(raw_terms))
        writer.addDocument(document)
    # The sum does not depend on the order of the documents.
    identity = f"{content % (1 << 256):064x}"
    data = writer_java.HashMap()
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
def _writer_classes() -> SimpleNamespace:
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
