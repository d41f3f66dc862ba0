"""Indexes that pyserini publishes, found and downloaded by name."""

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

from everycell.base.files import atomic_path, write_atomically
from everycell.base.settings import environment_folder
from everycell.base.untrusted import printable_line, read_json
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import PrebuiltError
from everycell.sources.published_files import (
    PublishedFile,
    explain_file_errors,
    fetch_published_file,
    find_published_file,
    read_dictionary,
    remove_unfinished,
)

# Disk space for an index and its archive, as a multiple of the archive's size.
_SPACE_FACTOR = 2.2
#: Group of the indexes in a dictionary of downloads.
GROUP = "pyserini"
_ARCHIVE = ".tar.gz"


def find_index(index: str, *, network: bool = True, downloads: Path | None = None) -> Path:
    """Find the folder of an index, given as a path or by name; download it if necessary."""
    if Path(index).is_dir():
        return Path(index)
    entry = published_index(index, downloads)
    cache = entry.cached.parent
    folder = cache / f"{entry.cached.name.removesuffix(_ARCHIVE)}.{entry.md5}"
    with explain_file_errors(f"the index {index}", cache):
        cache.mkdir(parents=True, exist_ok=True)
        # One index at a time, because an archive may take up 25 GB.
        with FileLock(cache / ".everycell.lock"):
            if not folder.is_dir():
                for path in (entry.cached, folder):
                    remove_unfinished(path)
                _check_room(index, entry.size, cache)
                _unpack(fetch_published_file(entry, network=network), folder)
                # Only the folder is needed later.
                entry.cached.unlink(missing_ok=True)
    return folder


def published_index(index: str, downloads: Path | None = None) -> PublishedFile:
    """URL, md5 and size of an index's archive, and its path in pyserini's cache."""
    # pyserini starts Java to read the names from its jar, unless a JVM with our options is running.
    start_java()
    from pyserini import prebuilt_index_info

    info = _find_info(index, prebuilt_index_info)
    if info is None:
        raise PrebuiltError(
            f"The index {index!r} is neither a folder nor the name of an index that pyserini "
            "publishes: correct the path or the name."
        )
    url = info["urls"][0]
    own = {
        "url": url,
        "expected_md5": info["md5"],
        "size_hint": info.get("size compressed (bytes)") or 0,
    }
    addresses = {} if downloads is None else read_dictionary(downloads)
    entry = find_published_file((GROUP, index), {GROUP: {index: own}}, addresses, downloads)
    # This is pyserini's own path, so everycell and pyserini find each other's downloads.
    return replace(entry, cached=_cache_folder() / os.path.basename(url))


def fetch_index(
    index: str, record: Path, *, network: bool = True, downloads: Path | None = None
) -> None:
    """Download a published index to pyserini's cache, and write a record of it."""
    entry = published_index(index, downloads)
    folder = find_index(index, network=network, downloads=downloads)
    content = {"index": index, "url": entry.url, "md5": entry.md5, "folder": folder.name}
    write_atomically(record, json.dumps(content, indent=2) + "\n")


def fetched_index(record: Path) -> Path:
    """Folder of an index that `fetch_index` recorded; no download, no Java."""
    content = read_json(record)
    folder = _cache_folder() / content["folder"]
    if not folder.is_dir():
        raise PrebuiltError(
            f"The index {content['index']!r} is no longer in {folder.parent}: remove {record} to "
            "download it again."
        )
    return folder


def _cache_folder() -> Path:
    """Folder in which pyserini caches indexes."""
    home = environment_folder("PYSERINI_CACHE") or "~/.cache/pyserini"
    return Path(home).expanduser() / "indexes"


def _find_info(index: str, tables: Any) -> Mapping[str, Any] | None:
    """Entry of an index in pyserini's tables; None if it is in none of them."""
    names = ("TF", "IMPACT", "FAISS", "LUCENE_HNSW", "LUCENE_FLAT")
    for table in (getattr(tables, f"{name}_INDEX_INFO", {}) for name in names):
        if index in table:
            return table[index]
    return None


def _check_room(index: str, size: int, cache: Path) -> None:
    needed = _SPACE_FACTOR * size
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise PrebuiltError(
            f"The index {index!r} needs about {needed / 1e9:.0f} GB in {cache}, but only "
            f"{free / 1e9:.0f} GB are free: delete other files, or set the environment variable "
            "PYSERINI_CACHE to another folder."
        )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive that contains a single folder, under a new name."""
    try:
        with atomic_path(folder) as target, tarfile.open(archive, "r|*") as packed:
            unpacked = target.with_name("unpacked")
            packed.extractall(unpacked, filter="data")
            # Archives made on macOS may also contain files ._NAME and a folder __MACOSX.
            folders = [path for path in unpacked.iterdir() if path.is_dir()]
            tops = [path for path in folders if path.name != "__MACOSX"]
            if len(tops) != 1:
                raise ValueError(f"it contains {sorted(path.name for path in tops)}")
            os.replace(tops[0], target)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise PrebuiltError(
            f"{archive} is not an archive of a single folder ({printable_line(str(error))}): "
            "remove it and try again."
        ) from error
