"""Indexes by the names under which pyserini publishes them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everycell.retrieval.java import start_java
from everycell.retrieval.query_files import PrebuiltError

# Space that an index takes while it is unpacked, in units of its archive.
_GROWTH = 2.2


def find_index(index: str) -> Path:
    """Folder of an index, given by its folder or by pyserini's name.

    Parameters
    ----------
    index : str
        A folder, or a name that pyserini publishes an index under ("msmarco-v1-passage"). One that
        is not yet in pyserini's cache (``~/.cache/pyserini``, or where ``PYSERINI_CACHE`` says) is
        downloaded: gigabytes, or tens of them for vectors. pyserini checks size and md5 of an
        archive before it unpacks it, and begins a killed download anew.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    PrebuiltError
        A name that pyserini does not know, an index that cannot be fetched or is not the published
        one, or too little room on the disk.
    LuceneError
        Java does not start, or pyserini is not installed.

    Examples
    --------
    >>> find_index("msmarco")
    Traceback (most recent call last):
    everycell.retrieval.query_files.PrebuiltError: The index 'msmarco' is not a folder, and pyserini
    publishes none of this name: give the folder of an index, or a name that pyserini publishes.
    """
    if Path(index).is_dir():
        return Path(index)
    # pyserini reads the names from its jar; with Java running already, it leaves the options alone.
    start_java()
    from pyserini import prebuilt_index_info, util

    known = _published(index, prebuilt_index_info)
    if known is None:
        raise PrebuiltError(
            f"The index {index!r} is not a folder, and pyserini publishes none of this name: give "
            "the folder of an index, or a name that pyserini publishes."
        )
    if sys.flags.optimize:
        raise PrebuiltError(
            f"The index {index!r} would be fetched without a check: pyserini compares hashes by "
            "`assert`, which -O and PYTHONOPTIMIZE switch off; run without them."
        )
    cache = Path(util.get_cache_home(), "indexes")
    cache.mkdir(parents=True, exist_ok=True)
    if not util.check_downloaded(index):
        _check_room(index, known, cache)
    try:
        return Path(util.download_prebuilt_index(index, verbose=False))
    except AssertionError as error:
        raise PrebuiltError(
            f"What was fetched for the index {index!r} is not what pyserini publishes ({error}): "
            "check the network and the proxy, and start again."
        ) from error
    except (ValueError, OSError) as error:
        raise PrebuiltError(
            f"The index {index!r} is not a folder, and pyserini cannot fetch it ({error}): check "
            "the network, or give the folder of an index."
        ) from error


def _published(index: str, tables: Any) -> Mapping[str, Any] | None:
    """Pyserini's entry for an index, from whichever of its tables has it."""
    names = ("TF", "IMPACT", "FAISS", "LUCENE_HNSW", "LUCENE_FLAT")
    for table in (getattr(tables, f"{name}_INDEX_INFO", {}) for name in names):
        if index in table:
            return table[index]
    return None


def _check_room(index: str, known: Mapping[str, Any], cache: Path) -> None:
    needed = _GROWTH * (known.get("size compressed (bytes)") or 0)
    free = shutil.disk_usage(cache).free
    if free < needed:
        raise PrebuiltError(
            f"The index {index!r} needs about {needed / 1e9:.0f} GB in {cache}, where "
            f"{free / 1e9:.0f} GB are free: make room there, or name another folder in the "
            "environment variable PYSERINI_CACHE."
        )
