"""Named corpora: download, verify and unpack them into the files that the readers need.

URLs, sizes and md5 hashes come from ir_datasets, and from `EXTRA_DOWNLOADS` for files that
ir_datasets lacks. Incomplete files keep temporary names: a download is renamed once its hash is
verified, and an unpacked file once it is complete. ``SOURCE.json``, which records the origin of
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

from everycell.base.files import sha256, write_atomically
from everycell.base.untrusted import read_json
from everycell.sources.published_files import (
    CorpusError,
    PublishedFile,
    cache_home,
    check_disk_space,
    explain_file_errors,
    fetch_published_file,
    find_published_file,
    read_dictionary,
    remove_unfinished,
    unpack,
)

logger = logging.getLogger(__name__)

#: File that records the origin of the other files in a corpus folder.
SOURCE = "SOURCE.json"
_SQUAD = "https://rajpurkar.github.io/SQuAD-explorer/dataset"
_SCIDOCS = "https://ai2-s2-research-public.s3.us-west-2.amazonaws.com/specter/scidocs"
_SCIDOCS_FILES = (
    "paper_metadata_view_cite_read.json",
    *(f"{task}/{part}.qrel" for task in ("coview", "coread", "cite", "cocite")
      for part in ("val", "test")),
)  # fmt: skip

#: Downloads that ir_datasets lacks, in its format. SciDocs has no published hashes.
EXTRA_DOWNLOADS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
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
    # Estimated, since no size is published: 142,009 papers with their citations.
    | {_SCIDOCS_FILES[0]: {"url": f"{_SCIDOCS}/{_SCIDOCS_FILES[0]}", "size_hint": 520_000_000}},
}


@dataclass(frozen=True)
class Part:
    """A published file, and the files of the corpus that it contains.

    `files` maps each file to its name in the archive, or to None if the download is the file
    itself, possibly gzipped; `growth` is the ratio of the unpacked size to the download size.
    """

    location: tuple[str, str]
    files: Mapping[str, str | None]
    growth: float = 1.0


@dataclass(frozen=True)
class Corpus:
    """A corpus that can be fetched: its title, authors, licence and published files."""

    title: str
    authors: str
    licence: str
    parts: tuple[Part, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files in a folder of the corpus, including `SOURCE`."""
        return (*(name for part in self.parts for name in part.files), SOURCE)


_MSMARCO_TERMS = (
    "Microsoft's terms: non-commercial research, see https://microsoft.github.io/msmarco"
)
#: Corpora that can be fetched, by name.
CORPORA: Mapping[str, Corpus] = {
    "msmarco": Corpus(
        "MS MARCO passages, training queries, and qrels of training and development queries",
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
        "MS MARCO QA 2.1, development set",
        "Bajaj and others (2016)",
        _MSMARCO_TERMS,
        (Part(("msmarco-qna", "dev"), {"dev_v2.1.json": None}, growth=5.0),),
    ),
    "nq": Corpus(
        "Natural Questions in the BEIR format",
        "Kwiatkowski and others (TACL 2019), Thakur and others (BEIR, 2021)",
        "CC BY-SA 3.0 (questions by Google; passages by authors of Wikipedia)",
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
        "SciDocs, four tasks with papers as queries",
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
    """Fetch a corpus into a folder, unless it is already complete there."""
    if name not in CORPORA:
        raise CorpusError(f"Unknown corpus {name!r}; use one of {', '.join(CORPORA)}.")
    corpus, folder = CORPORA[name], Path(folder)
    addresses = read_dictionary(downloads) if downloads is not None else {}
    published = [
        find_published_file(part.location, EXTRA_DOWNLOADS, addresses, downloads)
        for part in corpus.parts
    ]
    home = cache_home()
    with explain_file_errors(f"the corpus {name}", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f".everycell-{name}.lock"):
            if not _is_complete(folder, corpus, published):
                _fetch(name, folder, published, network)
    return {file: folder / file for file in corpus.files}


def _is_complete(folder: Path, corpus: Corpus, published: list[PublishedFile]) -> bool:
    """Whether a folder contains all files of a corpus, unchanged and from these downloads."""
    try:
        recorded = read_json(folder / SOURCE)["files"]
        return all(
            recorded[file]["md5 of the download"] == source.md5
            and sha256(folder / file) == recorded[file]["sha256"]
            for part, source in zip(corpus.parts, published, strict=True)
            for file in part.files
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _fetch(name: str, folder: Path, published: list[PublishedFile], network: bool) -> None:
    corpus = CORPORA[name]
    # A warning, so that it reaches the terminal even if the caller has not configured logging.
    logger.warning(
        "Corpus %s: %s. By %s. Licence: %s. Please cite its authors, who own the data.",
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
    check_disk_space(f"the corpus {name}", {cache_home(): packed, folder: unpacked})
    record: dict[str, dict[str, Any]] = {}
    for part, source in zip(corpus.parts, published, strict=True):
        packed_file = fetch_published_file(source, network=network)
        for file, member in part.files.items():
            unpack(packed_file, member, folder / file)
            digest = sha256(folder / file)
            record[file] = {"url": source.url, "md5 of the download": source.md5, "sha256": digest}
            logger.info("%s: %s has sha256 %s.", name, file, digest)
    content = json.dumps({"corpus": name, "files": record}, indent=2)
    write_atomically(folder / SOURCE, content + "\n")
