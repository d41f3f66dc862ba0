"""Corpora by name: fetched, checked, and unpacked into the files that readers take.

The address, size and md5 of a file come from the dictionary of ir_datasets, and from `OWN` for what
it lacks. A half-written file never counts as finished: a download is renamed once its hash is
verified, a file of the folder once it is unpacked, and ``SOURCE.json``, which records the origin of
each file, is written last.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from everycell.engine.files import sha256, write_atomically
from everycell.sources.published_files import (
    CorpusError,
    Published,
    as_sentence,
    bring,
    cache_home,
    check_room,
    entry_of,
    read_dictionary,
    remove_unfinished,
    unpack,
)

logger = logging.getLogger(__name__)

#: File of a folder that records the origin of the others; it is written last.
SOURCE = "SOURCE.json"
_SQUAD = "https://rajpurkar.github.io/SQuAD-explorer/dataset"
_SCIDOCS = "https://ai2-s2-research-public.s3.us-west-2.amazonaws.com/specter/scidocs"
_SCIDOCS_FILES = (
    "paper_metadata_view_cite_read.json",
    *(f"{task}/{part}.qrel" for task in ("coview", "coread", "cite", "cocite")
      for part in ("val", "test")),
)  # fmt: skip

#: What ir_datasets lacks, in the form of its dictionary. Nobody published hashes of SciDocs.
OWN: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "squad2": {
        "train": {
            "url": f"{_SQUAD}/train-v2.0.json",
            "size_hint": 42_123_633,
            "expected_md5": "62108c273c268d70893182d5cf8df740",
        },
        "dev": {
            "url": f"{_SQUAD}/dev-v2.0.json",
            "size_hint": 4_370_528,
            "expected_md5": "246adae8b7002f8679c027697b0b7cf8",
        },
    },
    "scidocs": {name: {"url": f"{_SCIDOCS}/{name}"} for name in _SCIDOCS_FILES}
    # Not published either: about the size of 142,009 papers with their citations.
    | {_SCIDOCS_FILES[0]: {"url": f"{_SCIDOCS}/{_SCIDOCS_FILES[0]}", "size_hint": 520_000_000}},
}


@dataclass(frozen=True)
class Part:
    """A published file, and its content."""

    location: tuple[str, str]
    files: Mapping[str, str | None]
    growth: float = 1.0


@dataclass(frozen=True)
class Corpus:
    """A corpus that can be fetched: the content of its notice, and its published files."""

    title: str
    authors: str
    licence: str
    parts: tuple[Part, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Files that a folder of it has, `SOURCE` among them."""
        return (*(name for part in self.parts for name in part.files), SOURCE)


_MSMARCO_TERMS = (
    "Microsoft's terms: research that is not commercial, see https://microsoft.github.io/msmarco"
)
#: What can be fetched, by name.
CORPORA: Mapping[str, Corpus] = {
    "msmarco": Corpus(
        "MS MARCO passages, training queries, and judgements of training and development queries",
        "Bajaj and others (2016)",
        _MSMARCO_TERMS,
        (
            Part(("msmarco-passage", "dev/qrels"), {"qrels.dev.tsv": None}),
            Part(("msmarco-passage", "train/qrels"), {"qrels.train.tsv": None}),
            Part(
                ("msmarco-passage", "collectionandqueries"),
                {"collection.tsv": "collection.tsv"},
                growth=3.0,
            ),
            Part(
                ("msmarco-passage", "queries"),
                {"queries.train.tsv": "queries.train.tsv"},
                growth=3.0,
            ),
        ),
    ),
    "msmarco_qa": Corpus(
        "MS MARCO QA 2.1, development part",
        "Bajaj and others (2016)",
        _MSMARCO_TERMS,
        (Part(("msmarco-qna", "dev"), {"dev_v2.1.json": None}, growth=5.0),),
    ),
    "nq": Corpus(
        "Natural Questions in the form of BEIR",
        "Kwiatkowski and others (TACL 2019), Thakur and others (BEIR, 2021)",
        "CC BY-SA 3.0 (questions, Google; passages, authors of Wikipedia)",
        (
            Part(
                ("beir", "nq"),
                {
                    "corpus.jsonl": "nq/corpus.jsonl",
                    "queries.jsonl": "nq/queries.jsonl",
                    "qrels/test.tsv": "nq/qrels/test.tsv",
                },
                growth=3.0,
            ),
        ),
    ),
    "scidocs": Corpus(
        "SciDocs, four tasks of query by example",
        "Cohan and others (SPECTER, ACL 2020)",
        "see https://github.com/allenai/scidocs; its files have no published hashes",
        tuple(Part(("scidocs", name), {name: None}) for name in _SCIDOCS_FILES),
    ),
    "squad": Corpus(
        "SQuAD 2.0",
        "Rajpurkar, Jia and Liang (ACL 2018)",
        "CC BY-SA 4.0",
        (
            Part(("squad2", "train"), {"train-v2.0.json": None}),
            Part(("squad2", "dev"), {"dev-v2.0.json": None}),
        ),
    ),
}


def fetch_corpus(
    name: str, folder: Path, *, downloads: Path | None = None, network: bool = True
) -> dict[str, Path]:
    """Bring a corpus into a folder, unless it is complete there."""
    if name not in CORPORA:
        raise CorpusError(
            f"There is no corpus {name!r}; those that can be fetched are {', '.join(CORPORA)}."
        )
    corpus, folder = CORPORA[name], Path(folder)
    addresses = read_dictionary(downloads) if downloads is not None else {}
    published = [entry_of(part.location, OWN, addresses, downloads) for part in corpus.parts]
    home = cache_home()
    with as_sentence(f"the corpus {name}", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f".everycell-{name}.lock"):
            if not _is_whole(folder, corpus, published):
                _fetch(name, folder, published, network)
    return {file: folder / file for file in corpus.files}


def _is_whole(folder: Path, corpus: Corpus, published: list[Published]) -> bool:
    """Whether a folder has every file unchanged, from the expected downloads."""
    try:
        recorded = json.loads((folder / SOURCE).read_text(encoding="utf-8"))["files"]
        return all(
            recorded[file]["md5 of the download"] == source.md5
            and sha256(folder / file) == recorded[file]["sha256"]
            for part, source in zip(corpus.parts, published, strict=True)
            for file in part.files
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _fetch(name: str, folder: Path, published: list[Published], network: bool) -> None:
    corpus = CORPORA[name]
    # A warning, so that it reaches the terminal without any set-up of logging by the caller.
    logger.warning(
        "Corpus %s: %s. By %s. Licence: %s. The data remain theirs: cite them.",
        name,
        corpus.title,
        corpus.authors,
        corpus.licence,
    )
    files = [folder / file for part in corpus.parts for file in part.files]
    for path in (*(source.cached for source in published), *files):
        remove_unfinished(path)
    packed = sum(source.size for source in published if not source.cached.exists())
    unpacked = sum(
        int(part.growth * source.size) for part, source in zip(corpus.parts, published, strict=True)
    )
    check_room(f"the corpus {name}", {cache_home(): packed, folder: unpacked})
    record: dict[str, dict[str, Any]] = {}
    for part, source in zip(corpus.parts, published, strict=True):
        packed_file = bring(source, network=network)
        for file, member in part.files.items():
            unpack(packed_file, member, folder / file)
            digest = sha256(folder / file)
            record[file] = {"url": source.url, "md5 of the download": source.md5, "sha256": digest}
            logger.info("%s: %s has the sha256 %s.", name, file, digest)
    content = json.dumps({"corpus": name, "files": record}, indent=2)
    write_atomically(folder / SOURCE, content + "\n")
