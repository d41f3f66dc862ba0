"""Published files listed in the download dictionary of ir_datasets: fetch, verify and unpack them.

ir_datasets downloads into its own cache (``IR_DATASETS_HOME``) and resumes broken connections. A
killed download starts from the beginning. A file that is complete in the cache is not downloaded
again; its hash is verified before each use.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import lzma
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

from everycell.base.files import NO_SPACE, atomic_path
from everycell.base.settings import environment_folder
from everycell.base.untrusted import has_secret, parse_json, text_of
from everycell.records.registry import SourceError
from everycell.sources.download import MIN_BYTES_PER_SECOND, finishes_in_time
from everycell.sources.proxies import check_proxies

if TYPE_CHECKING:
    from _typeshed import SupportsRead

logger = logging.getLogger(__name__)

#: Content of a download dictionary: group -> key -> entry.
Dictionary = Mapping[str, Mapping[str, Mapping[str, Any]]]

_CHUNK = 1 << 20
# Seconds that a download may take besides those for its bytes at the lowest accepted speed.
_PATIENCE = 120.0
# A download may have this many times the expected size, which some dictionaries round.
_EXCESS = 2
# Seconds between log lines on the progress of a download.
_REPORT_INTERVAL = 30.0
_ADVICE = (
    "check the network and the proxy and start again, set a different URL in `corpora.downloads` "
    "(docs/data.md), or put the file at {path} yourself"
)


class CorpusError(SourceError):
    """A corpus is unavailable or cannot be trusted; the message says what to do."""


class _Entry(BaseModel):
    """The fields that everycell uses of an entry in the download dictionary."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    url: str = Field(pattern="^https?://")
    size_hint: int = Field(0, ge=0)
    expected_md5: str | None = Field(None, pattern="^[0-9a-f]{32}$")
    cache_path: str | None = None
    download_args: dict[str, Any] = {}


@dataclass(frozen=True)
class PublishedFile:
    """A published file: URL, md5 if any, size in bytes (0 if unknown), path in the cache."""

    url: str
    md5: str | None
    size: int
    cached: Path
    options: Mapping[str, Any] = field(default_factory=dict)


def cache_home() -> Path:
    """Folder of ir_datasets' cache, created if it does not exist."""
    import ir_datasets

    with explain_file_errors(
        "downloads", Path(environment_folder("IR_DATASETS_HOME") or "~/.ir_datasets")
    ):
        return ir_datasets.util.home_path()


def read_dictionary(path: Path) -> Dictionary:
    """Read a download dictionary in the format of ir_datasets' ``downloads.json``."""
    try:
        content = parse_json(text_of(path))
        return TypeAdapter(dict[str, dict[str, dict[str, Any]]]).validate_python(content)
    except (OSError, ValueError) as error:
        first_line = str(error).splitlines()[0]
        raise CorpusError(
            f"{path}, set as `corpora.downloads`, is not a download dictionary ({first_line}): use "
            "JSON in the format of ir_datasets' downloads.json, or null."
        ) from None


def find_published_file(
    location: tuple[str, str], extra: Dictionary, overrides: Dictionary, source: Path | None
) -> PublishedFile:
    """Look up a file in `extra`, else in ir_datasets; fields of `overrides` take precedence."""
    import ir_datasets

    group, key = location
    downloads = extra if group in extra else ir_datasets.util.DownloadConfig.contents()
    try:
        entry = _Entry.model_validate(
            {**downloads[group][key], **overrides.get(group, {}).get(key, {})}
        )
    except ValidationError as error:
        fault = error.errors()[0]
        raise CorpusError(
            f"{source}: {group}, {key}, {fault['loc'][0]}: {fault['msg']}; correct this entry."
        ) from None
    if has_secret(entry.url):
        raise CorpusError(
            f"{source}: {group}, {key}, url: contains a user name, password or token, which "
            "messages would show; use a public URL, or put the file into the cache yourself."
        )
    cached = cache_home() / group / (entry.cache_path or key)
    return PublishedFile(
        entry.url, entry.expected_md5, entry.size_hint, cached, entry.download_args
    )


def check_disk_space(what: str, needed: Mapping[Path, int]) -> None:
    """Raise an error if a disk has too little free space for the bytes needed per folder."""
    disks: dict[int, tuple[Path, int]] = {}
    for folder, size in needed.items():
        disk = folder.stat().st_dev
        first_folder, total = disks.get(disk, (folder, 0))
        disks[disk] = first_folder, total + size
    for folder, size in disks.values():
        free = shutil.disk_usage(folder).free
        if free < size:
            raise CorpusError(
                f"{what[0].upper()}{what[1:]} needs about {_size(size)} on the disk with {folder}, "
                f"which has {_size(free)} free: free some space, or choose another disk with "
                "IR_DATASETS_HOME in the environment (downloads) and `corpora.folder` in "
                "config.yaml (unpacked files)."
            )


def remove_unfinished(path: Path) -> None:
    """Remove temporary folders that killed processes left next to a file."""
    for folder in path.parent.glob(f".{escape(path.name)}.*/"):
        logger.info("Removing %s, left by an interrupted download.", folder)
        shutil.rmtree(folder, ignore_errors=True)


def fetch_published_file(published: PublishedFile, *, network: bool) -> Path:
    """Return the path of a published file in the cache; download it if necessary, and verify it."""
    path = published.cached
    if published.md5 and not path.exists():
        # ir_datasets also accepts files that a user puts there.
        manual_copy = cache_home() / "downloads" / published.md5
        path = manual_copy if manual_copy.exists() else path
    if path.exists():
        with explain_file_errors(published.url, path), path.open("rb") as file:
            digest = hashlib.file_digest(file, _md5).hexdigest()
        if published.md5 not in (None, digest):
            raise CorpusError(
                f"{path} has md5 {digest}, expected {published.md5} ({published.url}): it was "
                "changed or damaged, or comes from another host; remove it and start again."
            )
        return path
    if not network:
        raise CorpusError(
            f"{published.url} is not in the cache of ir_datasets, and config.yaml switches the "
            f"network off: put the file at {path} yourself, or allow the network."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        _download(published, temporary)
    return path


def _md5() -> Any:
    return hashlib.md5(usedforsecurity=False)


def _download(published: PublishedFile, target_path: Path) -> None:
    """Download a published file to a path, and verify its hash."""
    import requests
    from ir_datasets.util import RequestsDownload

    class Download(RequestsDownload):
        """A download that raises HTTP errors; ir_datasets would save the error page."""

        def _iter_response_data(self, response: Any, http_args: Any, skip: Any) -> Any:
            response.raise_for_status()
            yield from super()._iter_response_data(response, http_args, skip)

    check_proxies()
    url, digest, size, last_report = published.url, _md5(), 0, time.monotonic()
    # Without "identity" a server may compress the response, and a broken download could not resume.
    options = dict(published.options)
    options["headers"] = {"Accept-Encoding": "identity", **options.get("headers", {})}
    total = _size(published.size) if published.size else "size unknown"
    logger.info("Fetching %s (%s).", url, total)
    start, is_abandoned = b"", False

    def copy() -> None:
        nonlocal start, size, last_report
        with Download(url, **options).stream() as source, target_path.open("wb") as target:
            while not is_abandoned and (chunk := source.read(_CHUNK)):
                start = start or chunk[:512]
                digest.update(chunk)
                target.write(chunk)
                size += len(chunk)
                if published.size and size > _EXCESS * published.size + _CHUNK:
                    raise CorpusError(
                        f"{url} has more than {size} bytes, expected {published.size}; the file "
                        f"was discarded: {_ADVICE.format(path=published.cached)}."
                    )
                if time.monotonic() - last_report > _REPORT_INTERVAL:
                    last_report = time.monotonic()
                    logger.info("%s: %s of %s.", url, _size(size), total)

    try:
        if not finishes_in_time(copy, lambda: _PATIENCE + size / MIN_BYTES_PER_SECOND):
            is_abandoned = True
            raise CorpusError(
                f"The download of {url} was abandoned after {size} of "
                f"{published.size or 'an unknown number of'} bytes, since it is slower than "
                f"{MIN_BYTES_PER_SECOND // 1000} kB per second: "
                f"{_ADVICE.format(path=published.cached)}."
            )
    except requests.HTTPError as error:
        status = f"{error.response.status_code} {error.response.reason}"
        raise CorpusError(
            f"{url} returned {status}: {_ADVICE.format(path=published.cached)}."
        ) from None
    except requests.RequestException as error:
        raise CorpusError(
            f"The download of {url} broke off after {size} of "
            f"{published.size or 'an unknown number of'} bytes ({type(error).__name__}): "
            f"{_ADVICE.format(path=published.cached)}."
        ) from error
    md5 = digest.hexdigest()
    is_page = start.lstrip().lower().startswith((b"<!doctype html", b"<html", b"<?xml"))
    if published.md5 is None and size and not is_page:
        logger.warning("%s has no published hash; its md5 is %s.", url, md5)
    elif md5 != published.md5:
        what = "an HTML or XML page instead of data" if is_page else f"{size} bytes"
        if published.size not in (0, size) and not is_page:
            what += f" (expected {published.size})"
        expected = f", expected {published.md5}" if published.md5 else ""
        raise CorpusError(
            f"{url} returned {what} with md5 {md5}{expected}; the file was discarded: "
            f"{_ADVICE.format(path=published.cached)}."
        )


def unpack(path: Path, member: str | None, target: Path) -> None:
    """Write a member of an archive, or a file that may be gzipped, to `target`."""
    try:
        with atomic_path(target) as temporary, ExitStack() as open_files:
            source = _member(path, member, open_files)
            with temporary.open("wb") as file:
                shutil.copyfileobj(source, file, _CHUNK)
    # A RuntimeError is about a password or an unknown method.
    except (
        *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, EOFError, RuntimeError),
        *(zlib.error, lzma.LZMAError, ValueError),
    ) as error:
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
        f"{path} does not contain {member!r}, so it is not the published archive; remove it and "
        "start again."
    )


@contextmanager
def explain_file_errors(what: str, folder: Path) -> Iterator[None]:
    """Turn an error of the file system into a CorpusError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        where = error.filename or folder
        advice = (
            "free some space, or raise the size limit (ulimit -f, quota)"
            if error.errno in NO_SPACE
            else "choose a writable folder"
        )
        raise CorpusError(
            f"{what[0].upper()}{what[1:]} cannot be written ({where}: "
            f"{os.strerror(error.errno)}): {advice}; the incomplete file is discarded."
        ) from error


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
