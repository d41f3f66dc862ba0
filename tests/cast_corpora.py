"""Small collections of TREC CAsT in their published formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from hashlib import md5
from pathlib import Path

import cbor2

from everycell.collections.cast import CAR, DOCUMENTS

#: File of the Washington Post.
POSTS = "TREC_Washington_Post_collection.v4.jl"
_PREFIXES = {"msmarco-docs.tsv": "MARCO_", "kilt_knowledgesource.json": "KILT_", POSTS: "WAPO_"}


def paragraph_corpus(paragraphs: Mapping[str, Sequence[str]]) -> bytes:
    """Paragraphs of TREC CAR: id -> parts, of which those in brackets are links."""
    head = cbor2.dumps(["CAR", [2], [["2018", "toy", [], "en", []]]]) + b"\x9f"
    items = [
        [0, name.encode(), [
            [1, ["Page", [], b"enwiki:Page", part[1:-1]]] if part.startswith("[") else [0, part]
            for part in parts
        ]]
        for name, parts in paragraphs.items()
    ]  # fmt: skip
    return head + b"".join(map(cbor2.dumps, items)) + b"\xff"


def write_2020(
    folder: Path, passages: Sequence[str], paragraphs: Mapping[str, Sequence[str]]
) -> None:
    """The two files of 2020."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{number}\t{text}\n" for number, text in enumerate(passages))
    (folder / "collection.tsv").write_text(lines, encoding="utf-8")
    (folder / CAR).write_bytes(paragraph_corpus(paragraphs))


def write_2021(
    folder: Path,
    documents: Mapping[str, Mapping[str, tuple[str, Sequence[str]]]],
    duplicates: Mapping[str, str] | None = None,
) -> None:
    """The six files of 2021: file -> document -> title and passages.

    `duplicates` are documents of MS MARCO that the offsets leave out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file, (_, offsets) in DOCUMENTS.items():
        texts = {
            name: (title, " ".join(passages))
            for name, (title, passages) in documents.get(file, {}).items()
        }
        if file == "msmarco-docs.tsv":
            texts = {name: ("", text) for name, text in (duplicates or {}).items()} | texts
        lines = [_line(file, name, *text) + "\n" for name, text in texts.items()]
        (folder / file).write_text("".join(lines), encoding="utf-8")
        entries = [
            _offsets(_PREFIXES[file] + name, passages)
            for name, (_, passages) in documents.get(file, {}).items()
        ]
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (folder / offsets).write_bytes(gzip.compress(text.encode(), mtime=0))


def _line(file: str, name: str, title: str, text: str) -> str:
    if file == "msmarco-docs.tsv":
        return f"{name}\thttps://example.org/{name}\t{title}\t{text}"
    if file == POSTS:
        contents = [{"type": "title", "content": title}, {"subtype": "paragraph", "content": text}]
        return json.dumps({"id": name, "title": title, "article_url": "", "contents": contents})
    return json.dumps({"wikipedia_id": name, "wikipedia_title": title, "text": [text]})


def _offsets(name: str, passages: Sequence[str]) -> dict[str, object]:
    digest, ranges, start = md5(usedforsecurity=False), [], 0
    for text in passages:
        ranges.append([[start, start + len(text)]])
        start += len(text) + 1
        digest.update(b"\x00\x01" + text.encode())
    return {"id": name, "ranges": ranges, "md5": digest.hexdigest()}
