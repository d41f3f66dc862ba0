"""Published files by their place in the dictionary of ir_datasets: fetched, checked, unpacked.

ir_datasets downloads, into its own cache (``IR_DATASETS_HOME``), and resumes after a broken
connection; a killed download starts again. A file with a complete copy in the cache is not
downloaded again, and its hash is checked before each use.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import logging
import os
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from everycell.engine.files import atomic_path
from everycell.engine.registry_entries import SourceError
from everycell.engine.untrusted import has_secret, parse_json, text_of

if TYPE_CHECKING:
    from _typeshed import SupportsRead

logger = logging.getLogger(__name__)

#: Content of a dictionary of downloads: group -> key -> entry.
Dictionary = Mapping[str, Mapping[str, Mapping[str, Any]]]

_CHUNK = 1 << 20
# Seconds between two lines on the progress of a download.
_EVERY = 30.0
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_ADVICE = (
    "check the network and the proxy and start again, name another address in `corpora.downloads` "
    "(docs/data.md), or put the file there by hand: {path}"
)


class CorpusError(SourceError):
    """A corpus is unavailable or cannot be trusted; the message says what to do."""


class _Entry(BaseModel):
    """Fields used from an entry of the dictionary of downloads."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    url: str = Field(pattern="^https?://")
    size_hint: int = Field(0, ge=0)
    expected_md5: str | None = Field(None, pattern="^[0-9a-f]{32}$")
    cache_path: str | None = None
    download_args: dict[str, Any] = {}


@dataclass(frozen=True)
class Published:
    """A published file: address, md5 if published, bytes (0: unknown), place in the cache."""

    url: str
    md5: str | None
    size: int
    cached: Path
    options: Mapping[str, Any] = field(default_factory=dict)


def cache_home() -> Path:
    """Folder of ir_datasets' cache, made if it is missing."""
    import ir_datasets

    with as_sentence("downloads", Path(os.environ.get("IR_DATASETS_HOME", "~/.ir_datasets"))):
        return ir_datasets.util.home_path()


def read_dictionary(path: Path) -> Dictionary:
    """Read a file of entries in the form of ir_datasets' ``downloads.json``."""
    try:
        content = parse_json(text_of(path))
        return TypeAdapter(dict[str, dict[str, dict[str, Any]]]).validate_python(content)
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise CorpusError(
            f"{path}, which `corpora.downloads` names, is not a dictionary of downloads ({first}): "
            "give JSON in the form of the downloads.json of ir_datasets, or null."
        ) from None


def entry_of(
    location: tuple[str, str], own: Dictionary, addresses: Dictionary, source: Path | None
) -> Published:
    """Look up a published file in the dictionaries."""
    import ir_datasets

    group, key = location
    known = own if group in own else ir_datasets.util.DownloadConfig.contents()
    try:
        entry = _Entry.model_validate(
            {**known[group][key], **addresses.get(group, {}).get(key, {})}
        )
    except ValidationError as error:
        fault = error.errors()[0]
        raise CorpusError(
            f"{source}: {group}, {key}, {fault['loc'][0]}: {fault['msg']}; correct it there."
        ) from None
    if has_secret(entry.url):
        raise CorpusError(
            f"{source}: {group}, {key}, url: holds a user, password or token, which messages would "
            "show; name a public URL, or put the file into the cache by hand."
        )
    cached = cache_home() / group / (entry.cache_path or key)
    return Published(entry.url, entry.expected_md5, entry.size_hint, cached, entry.download_args)


def check_room(what: str, needed: Mapping[Path, int]) -> None:
    """Refuse to begin if a disk lacks the room."""
    disks: dict[int, tuple[Path, int]] = {}
    for folder, size in needed.items():
        disk = folder.stat().st_dev
        first, before = disks.get(disk, (folder, 0))
        disks[disk] = first, before + size
    for folder, size in disks.values():
        free = shutil.disk_usage(folder).free
        if free < size:
            raise CorpusError(
                f"{what[0].upper()}{what[1:]} needs about {_size(size)} on the disk of {folder}, "
                f"which has {_size(free)} free: make room there, or name another disk by "
                "IR_DATASETS_HOME in the environment (downloads) and `corpora.folder` in "
                "config.yaml (what is unpacked)."
            )


def remove_unfinished(path: Path) -> None:
    """Remove leftovers of killed processes for a file that no other process is writing."""
    for folder in path.parent.glob(f".{escape(path.name)}.*/"):
        logger.info("Removing %s, left by an interrupted download.", folder)
        shutil.rmtree(folder, ignore_errors=True)


def bring(published: Published, *, network: bool) -> Path:
    """Path of a published file in the cache, downloaded if need be; its hash was just checked."""
    path = published.cached
    if published.md5 and not path.exists():
        by_hand = cache_home() / "downloads" / published.md5
        path = by_hand if by_hand.exists() else path
    if path.exists():
        with as_sentence(published.url, path), path.open("rb") as file:
            digest = hashlib.file_digest(file, _md5).hexdigest()
        if published.md5 not in (None, digest):
            raise CorpusError(
                f"{path} has the md5 {digest}, but {published.url} must have {published.md5}: it "
                "was changed, damaged, or comes from another host; remove it and start again."
            )
        return path
    if not network:
        raise CorpusError(
            f"{published.url} is not in the cache of ir_datasets, and config.yaml switches the "
            f"network off: put the file there by hand ({path}), or allow the network."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        _download(published, temporary)
    return path


def _md5() -> Any:
    return hashlib.md5(usedforsecurity=False)


def _download(published: Published, target_path: Path) -> None:
    """Download the URL, and check the result."""
    import requests
    from ir_datasets.util import RequestsDownload

    class Download(RequestsDownload):
        """Refuses an error page, which ir_datasets would take for the file."""

        def _iter_response_data(self, response: Any, http_args: Any, skip: Any) -> Any:
            response.raise_for_status()
            yield from super()._iter_response_data(response, http_args, skip)

    url, digest, size, last_report = published.url, _md5(), 0, time.monotonic()
    # Without "identity" a server may compress on the way, and a broken download could not go on.
    options = dict(published.options)
    options["headers"] = {"Accept-Encoding": "identity", **options.get("headers", {})}
    total = _size(published.size) if published.size else "size unknown"
    logger.info("Fetching %s (%s).", url, total)
    start = b""
    try:
        with Download(url, **options).stream() as source, target_path.open("wb") as target:
            while chunk := source.read(_CHUNK):
                start = start or chunk[:512]
                digest.update(chunk)
                target.write(chunk)
                size += len(chunk)
                if time.monotonic() - last_report > _EVERY:
                    last_report = time.monotonic()
                    logger.info("%s: %s of %s.", url, _size(size), total)
    except requests.HTTPError as error:
        status = f"{error.response.status_code} {error.response.reason}"
        raise CorpusError(
            f"{url} answered {status}: {_ADVICE.format(path=published.cached)}."
        ) from None
    except requests.RequestException as error:
        raise CorpusError(
            f"{url} broke off after {size} bytes of {published.size or 'an unknown number'} "
            f"({type(error).__name__}): {_ADVICE.format(path=published.cached)}."
        ) from error
    md5 = digest.hexdigest()
    is_page = start.lstrip().lower().startswith((b"<!doctype html", b"<html", b"<?xml"))
    if published.md5 is None and size and not is_page:
        logger.warning("%s has no published hash; its md5 is %s.", url, md5)
    elif md5 != published.md5:
        what = "an HTML or XML page in place of data" if is_page else f"{size} bytes"
        if published.size and not is_page:
            what += f" where {published.size} are expected"
        raise CorpusError(
            f"{url} gave {what}, whose md5 is {md5}, expected is {published.md5 or 'data'}: "
            f"the file was discarded, {_ADVICE.format(path=published.cached)}."
        )


def unpack(path: Path, member: str | None, target: Path) -> None:
    """Write a member of an archive, or the whole of a file that may be gzipped, to `target`."""
    try:
        with atomic_path(target) as temporary, ExitStack() as open_files:
            source = _member(path, member, open_files)
            with temporary.open("wb") as file:
                shutil.copyfileobj(source, file, _CHUNK)
    except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CorpusError(
            f"{path} cannot be unpacked ({error}): remove it and start again."
        ) from error


def _member(path: Path, member: str | None, open_files: ExitStack) -> SupportsRead[bytes]:
    if member is None:
        source = open_files.enter_context(path.open("rb"))
        is_gzip = source.read(2) == b"\x1f\x8b"
        source.seek(0)
        return open_files.enter_context(gzip.open(source)) if is_gzip else source
    if zipfile.is_zipfile(path):
        archive = open_files.enter_context(zipfile.ZipFile(path))
        if member in archive.namelist():
            return open_files.enter_context(archive.open(member))
    else:
        packed = open_files.enter_context(tarfile.open(path, "r|*"))
        for item in packed:
            is_member = item.isfile() and item.name.removeprefix("./") == member
            if is_member and (file := packed.extractfile(item)) is not None:
                return file
    raise CorpusError(
        f"{path} has no file {member!r}: it is another archive than the published one; remove it "
        "and start again."
    )


@contextmanager
def as_sentence(what: str, folder: Path) -> Iterator[None]:
    """Turn a failure of the file system into one sentence that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        where = error.filename or folder
        advice = (
            "make room there, or raise the limit (ulimit -f, quota)"
            if error.errno in _NO_SPACE
            else "take a folder that can be written"
        )
        raise CorpusError(
            f"{what[0].upper()}{what[1:]} cannot be written ({where}: "
            f"{os.strerror(error.errno)}): {advice}; the incomplete file is discarded."
        ) from error


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
