"""Passages of TREC CAsT from the published files of their collections.

====  =======================================  ==================================================
year  collection                               id of a passage
====  =======================================  ==================================================
2020  MS MARCO passages                        ``MARCO_`` and their number
2020  paragraphs of TREC CAR 2.0 (CBOR)        ``CAR_`` and their hash
2021  MS MARCO documents (TSV)                 ``MARCO_D1-1``: the document, a hyphen, the passage
2021  KILT's Wikipedia (JSON lines)            ``KILT_1-1``
2021  Washington Post, version 4 (JSON lines)  ``WAPO_1-1``
====  =======================================  ==================================================

In 2021, the track split documents into passages. The offsets of these passages, with an md5 of
their texts, are published as ``trec_cast_offsets`` by the authors of ir_datasets. They leave out
duplicates. Titles and texts of documents follow the track's scripts (grill-lab/trec-cast-tools).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines
from everycell.base.untrusted import parse_json
from everycell.collections.msmarco import COLLECTION, stream_passages

_HINT = "see docs/data-cards/cast-collections.md for what to download"
_MARKUP = re.compile("<.*?>")
#: Type of a file of paragraphs, in the header of a file of TREC CAR.
_PARAGRAPHS = 2


class Text(NamedTuple):
    """A document or passage; passages of 2020 have no title."""

    id: str
    title: str
    text: str


def stream_cast(year: str, folder: Path) -> Iterator[Text]:
    """Stream all passages of CAsT 2020 or 2021 from the published files in a folder."""
    if year == "2020":
        for passage, text in stream_passages(folder / COLLECTION):
            yield Text(f"MARCO_{passage}", "", text)
        yield from stream_car(folder / CAR)
        return
    for documents, (read, offsets) in DOCUMENTS.items():
        yield from split_documents(read(folder / documents), folder / offsets)


def stream_car(path: Path) -> Iterator[Text]:
    """Stream the paragraphs of TREC CAR, an indefinite CBOR array after a header."""
    import cbor2

    with path.open("rb") as file:
        # Reads no further than the item, since the array must not be read at once.
        decoder = cbor2.CBORDecoder(file, read_size=1)
        number = 0
        try:
            name, (kind, *_), *_ = decoder.decode()
            if (name, kind, file.read(1)) != ("CAR", _PARAGRAPHS, b"\x9f"):
                raise ValueError("the header is not that of a file of paragraphs")
            while file.peek(1)[:1] != b"\xff":
                number += 1
                _, paragraph, parts = decoder.decode()
                # The content of a part is its text, or a link, whose last element is its text.
                texts = [part if tag == 0 else part[-1] for tag, part in parts]
                yield Text(f"CAR_{paragraph.decode()}", "", "".join(texts).strip())
        except (ValueError, TypeError, AttributeError, IndexError, cbor2.CBORError) as error:
            raise DataError(
                path,
                f"paragraph {number}",
                fault=f"cannot be read ({error})",
                expected="paragraphCorpus of TREC CAR 2.0",
                fix="download the file again",
            ) from None


def stream_msmarco_documents(path: Path) -> Iterator[Text]:
    """Stream the documents of MS MARCO: id, URL, title and body."""
    for number, line in read_lines(path, _HINT):
        fields = line.split("\t")
        if len(fields) != 4:
            raise DataError(
                path,
                number,
                fault=f"has {len(fields)} columns",
                expected="id, URL, title and body, separated by tabs",
                fix="download the file again",
            )
        yield Text(f"MARCO_{fields[0]}", fields[2], fields[3].strip())


def stream_kilt(path: Path) -> Iterator[Text]:
    """Stream the pages of KILT."""

    def page(content: Mapping[str, Any]) -> Text:
        body = " ".join(content["text"]).replace("\n", " ").strip()
        return Text(f"KILT_{content['wikipedia_id']}", content["wikipedia_title"], body)

    return _stream_objects(path, page)


def stream_washington_post(path: Path) -> Iterator[Text]:
    """Stream the articles of the Washington Post; their text is that of the paragraphs."""

    def article(content: Mapping[str, Any]) -> Text:
        paragraphs = [
            item["content"]
            for item in content["contents"] or ()
            if item is not None and item.get("subtype") == "paragraph"
        ]
        body = _MARKUP.sub("", " ".join(["", *paragraphs])).replace("\n", " ").strip()
        return Text(f"WAPO_{content['id']}", content["title"] or "No Title", body)

    return _stream_objects(path, article)


def _stream_objects(path: Path, parse: Callable[[Mapping[str, Any]], Text]) -> Iterator[Text]:
    for number, line in read_lines(path, _HINT):
        try:
            yield parse(parse_json(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                path,
                number,
                fault=f"cannot be read ({type(error).__name__}: {error})",
                expected="a JSON object with the fields of the published file",
                fix="download the file again",
            ) from None


def split_documents(documents: Iterable[Text], offsets: Path) -> Iterator[Text]:
    """Split documents into the track's passages.

    Documents without offsets are duplicates, empty or repeated, and are skipped.
    """
    remaining = iter(documents)
    for number, line in read_lines(offsets, _HINT):
        entry = parse_json(line)
        document = next((text for text in remaining if text.id == entry["id"]), None)
        if document is None:
            raise DataError(
                offsets,
                number,
                "id",
                entry["id"],
                "which is missing from the collection, or in another order",
                fix="use the collection that the offsets belong to",
            )
        digest, passages = md5(usedforsecurity=False), []
        for ranges in entry["ranges"]:
            parts = [document.text[start:end] for start, end in ranges]
            digest.update(b"\x00" + b"".join(b"\x01" + part.encode() for part in parts))
            passages.append(" ".join(parts))
        if digest.hexdigest() != entry["md5"]:
            raise DataError(
                offsets,
                number,
                "id",
                entry["id"],
                "whose passages have another md5",
                fix="use the collection that the offsets belong to",
            )
        for position, text in enumerate(passages, 1):
            yield Text(f"{document.id}-{position}", document.title, text)


#: File of the paragraphs of TREC CAR.
CAR = "dedup.articles-paragraphs.cbor"
#: Files of 2021: documents -> their reader, and the offsets of their passages.
DOCUMENTS: Mapping[str, tuple[Callable[[Path], Iterator[Text]], str]] = {
    "msmarco-docs.tsv": (stream_msmarco_documents, "MARCO_v1.chunks.jsonl.gz"),
    "kilt_knowledgesource.json": (stream_kilt, "KILT-nodupes.chunks.jsonl.gz"),
    "TREC_Washington_Post_collection.v4.jl": (
        stream_washington_post,
        "WaPo-v2.chunks.jsonl.gz",
    ),
}
#: Files of each year.
FILES: Mapping[str, tuple[str, ...]] = {
    "2020": (COLLECTION, CAR),
    "2021": (*DOCUMENTS, *(offsets for _, offsets in DOCUMENTS.values())),
}
