"""Indexes by the names under which pyserini publishes them."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from everycell.engine.files import atomic_path, write_atomically
from everycell.retrieval.java import start_java
from everycell.retrieval.query_files import PrebuiltError
from everycell.sources.published_files import (
    PublishedFile,
    explain_file_errors,
    fetch_published_file,
    find_published_file,
    read_dictionary,
    remove_unfinished,
)

# Space that an index takes while it is unpacked, in units of its archive.
_GROWTH = 2.2
#: Group of a dictionary of downloads in which indexes stand by their names.
GROUP = "pyserini"
_ARCHIVE = ".tar.gz"


def find_index(index: str, *, network: bool = True, downloads: Path | None = None) -> Path:
    """Folder of an index, given by its folder or by pyserini's name."""
    if Path(index).is_dir():
        return Path(index)
    entry = published_index(index, downloads)
    cache = entry.cached.parent
    folder = cache / f"{entry.cached.name.removesuffix(_ARCHIVE)}.{entry.md5}"
    with explain_file_errors(f"the index {index}", cache):
        cache.mkdir(parents=True, exist_ok=True)
        # One at a time: archives of 25 GB would lie beside each other.
        with FileLock(cache / ".everycell.lock"):
            if not folder.is_dir():
                for path in (entry.cached, folder):
                    remove_unfinished(path)
                _check_room(index, entry.size, cache)
                _unpack(fetch_published_file(entry, network=network), folder)
                # Where it is found again, only the folder is looked for.
                entry.cached.unlink(missing_ok=True)
    return folder


def published_index(index: str, downloads: Path | None = None) -> PublishedFile:
    """Address, md5 and size of the archive of an index, and its place in pyserini's cache."""
    # pyserini reads the names from its jar; with Java running already, it leaves the options alone.
    start_java()
    from pyserini import prebuilt_index_info

    known = _published(index, prebuilt_index_info)
    if known is None:
        raise PrebuiltError(
            f"The index {index!r} is not a folder, and pyserini publishes none of this name: give "
            "the folder of an index, or a name that pyserini publishes."
        )
    url = known["urls"][0]
    own = {
        "url": url,
        "expected_md5": known["md5"],
        "size_hint": known.get("size compressed (bytes)") or 0,
    }
    addresses = {} if downloads is None else read_dictionary(downloads)
    entry = find_published_file((GROUP, index), {GROUP: {index: own}}, addresses, downloads)
    # pyserini finds what is here by the same name, and so do we what pyserini fetched.
    return replace(entry, cached=_cache() / os.path.basename(url))


def fetch_index(
    index: str, record: Path, *, network: bool = True, downloads: Path | None = None
) -> None:
    """Bring a published index into pyserini's cache, and write a file that says which one it is."""
    entry = published_index(index, downloads)
    folder = find_index(index, network=network, downloads=downloads)
    noted = {"index": index, "url": entry.url, "md5": entry.md5, "folder": folder.name}
    write_atomically(record, json.dumps(noted, indent=2) + "\n")


def fetched_index(record: Path) -> Path:
    """Folder of an index that `fetch_index` brought; nothing is downloaded, and no Java started.

    Examples
    --------
    >>> import tempfile
    >>> record = Path(tempfile.mkdtemp()) / "toy.json"
    >>> _ = record.write_text('{"index": "toy", "folder": "toy.0"}')
    >>> fetched_index(record)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    everycell.retrieval.query_files.PrebuiltError: The index 'toy' is no longer in .../indexes: \
remove .../toy.json, so that it is fetched again.
    """
    noted = json.loads(record.read_text(encoding="utf-8"))
    folder = _cache() / noted["folder"]
    if not folder.is_dir():
        raise PrebuiltError(
            f"The index {noted['index']!r} is no longer in {folder.parent}: remove {record}, so "
            "that it is fetched again."
        )
    return folder


def _cache() -> Path:
    """Where pyserini keeps indexes."""
    home = os.environ.get("PYSERINI_CACHE") or "~/.cache/pyserini"
    return Path(home).expanduser() / "indexes"


def _published(index: str, tables: Any) -> Mapping[str, Any] | None:
    """Pyserini's entry for an index, from whichever of its tables has it."""
    names = ("TF", "IMPACT", "FAISS", "LUCENE_HNSW", "LUCENE_FLAT")
    for table in (getattr(tables, f"{name}_INDEX_INFO", {}) for name in names):
        if index in table:
            return table[index]
    return None


def _check_room(index: str, size: int, cache: Path) -> None:
    needed = _GROWTH * size
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise PrebuiltError(
            f"The index {index!r} needs about {needed / 1e9:.0f} GB in {cache}, where "
            f"{free / 1e9:.0f} GB are free: make room there, or name another folder in the "
            "environment variable PYSERINI_CACHE."
        )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack the one folder of an archive under a name of its own."""
    try:
        with atomic_path(folder) as target, tarfile.open(archive, "r|*") as packed:
            unpacked = target.with_name("unpacked")
            packed.extractall(unpacked, filter="data")
            # Archives may have traces of macOS, which packed them: files ._NAME, a folder __MACOSX.
            folders = [path for path in unpacked.iterdir() if path.is_dir()]
            tops = [path for path in folders if path.name != "__MACOSX"]
            if len(tops) != 1:
                raise ValueError(f"it has {sorted(path.name for path in tops)}")
            os.replace(tops[0], target)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise PrebuiltError(
            f"{archive} is not an archive of one folder ({error}): remove it and start again."
        ) from error
