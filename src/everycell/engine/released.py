"""Check, before each use, that a fetched file matches the registry."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from everycell.engine.files import sha256
from everycell.engine.registry import Registry, load_registry
from everycell.engine.registry_entries import Entry, SourceError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class DamagedFileError(SourceError):
    """A file in the cache was changed after it was fetched."""


class CacheError(SourceError):
    """The cache cannot be written: read-only, not a folder, or full."""


def check(path: Path, key: str, *, registry: Registry | None = None) -> Path:
    """Hash a fetched file again, as before each use."""
    path = Path(path)
    entry = (registry or load_registry()).entry(key)
    try:
        digest = sha256(path)
    except OSError as error:
        raise CacheError(
            f"{path} in the cache cannot be read ({error.strerror}); correct its permissions, or "
            f"remove it and fetch {key} again."
        ) from error
    accepted = accepted_contents(path, entry)
    if digest not in accepted:
        raise DamagedFileError(
            f"{path} has sha256 {digest}, but {key} must have {' or '.join(accepted)}: it was "
            f"changed or damaged after it was fetched; keep a copy if it is yours, remove it "
            f"(rm '{path}') and fetch again."
        )
    return path


def kept_archive(path: Path) -> Path:
    """Path of the author's archive, kept because the hash of its content is not registered."""
    return path.with_name(f".{path.name}.archive")


def copy_member(archive: Path, target: SupportsWrite[bytes]) -> None:
    """Copy the only file of a tar archive, whose hash was checked.

    A name in an archive never says where something is written; links and devices are no files, and
    a sparse member may say that it has terabytes of zeros.
    """
    with tarfile.open(archive) as opened:
        members = [
            member
            for member in opened
            if member.isfile()
            and not member.issparse()
            # Archives made on a Mac carry a resource fork "._name" beside each file.
            and not Path(member.name).name.startswith("._")
        ]
        if len(members) != 1:
            raise SourceError(
                f"{archive.name} holds {len(members)} files, expected is 1; report this, since its "
                "hash is the registered one."
            )
        content = opened.extractfile(members[0])
        assert content is not None, "it is a regular file"
        shutil.copyfileobj(content, target)


class _Hash:
    """A target that keeps only the hash of what is written."""

    def __init__(self) -> None:
        self.found = hashlib.sha256()

    def write(self, chunk: bytes) -> int:
        self.found.update(chunk)
        return len(chunk)


def accepted_contents(path: Path, entry: Entry) -> tuple[str, ...]:
    """Return the accepted hashes of the unpacked content at `path`.

    Only the registry is believed: of an archive whose content has no registered hash, the archive
    itself must lie beside, and have its registered hash.
    """
    archive = kept_archive(path)
    if entry.origin is None or entry.origin.content is not None or not archive.is_file():
        return entry.contents
    if sha256(archive) != entry.origin.sha256:
        return entry.contents
    content = _Hash()
    copy_member(archive, content)
    return (*entry.contents, content.found.hexdigest())
