"""Check that a fetched file matches the registry."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from everycell.base.files import sha256
from everycell.records.registry import Registry, load_registry
from everycell.records.registry_entries import Entry, SourceError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class DamagedFileError(SourceError):
    """A file in the cache was changed after it was fetched."""


class CacheError(SourceError):
    """The cache cannot be read or written."""


def check(path: Path, key: str, *, registry: Registry | None = None) -> Path:
    """Check the hash of a fetched file, which is done before each use."""
    path = Path(path)
    entry = (registry or load_registry()).entry(key)
    try:
        digest = sha256(path)
    except OSError as error:
        raise CacheError(
            f"{path} in the cache cannot be read ({error.strerror}); correct its permissions, or "
            f"remove the file and fetch {key} again."
        ) from error
    accepted = accepted_contents(path, entry)
    if digest not in accepted:
        raise DamagedFileError(
            f"{path} has sha256 {digest}, expected {' or '.join(accepted)} for {key}: the file was "
            f"changed or damaged after it was fetched. Remove it (rm '{path}') and fetch it again; "
            "first copy any changes that you want to keep."
        )
    return path


def archive_path(path: Path) -> Path:
    """Path of the author's archive, which is kept if its content has no registered hash."""
    return path.with_name(f".{path.name}.archive")


def copy_member(archive: Path, target: SupportsWrite[bytes]) -> None:
    """Copy the only file of a tar archive whose hash was checked.

    File names in the archive are ignored, and so are links, devices and sparse files, which may
    claim to have terabytes of zeros.
    """
    with tarfile.open(archive) as opened:
        members = [
            member
            for member in opened
            if member.isfile()
            and not member.issparse()
            # macOS adds a resource fork "._name" for each file.
            and not Path(member.name).name.startswith("._")
        ]
        if len(members) != 1:
            raise SourceError(
                f"{archive.name} contains {len(members)} files, expected 1; its hash is the "
                "registered one, so report this as an error of the registry."
            )
        content = opened.extractfile(members[0])
        assert content is not None, "the member is a regular file"
        shutil.copyfileobj(content, target)


class _Hash:
    """A write-only file that computes the hash of its content."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, chunk: bytes) -> int:
        self.digest.update(chunk)
        return len(chunk)


def accepted_contents(path: Path, entry: Entry) -> tuple[str, ...]:
    """Return the accepted hashes of the unpacked content at `path`.

    For an archive whose content has no registered hash, the hash is computed from the archive next
    to `path`, if that has its registered hash.
    """
    archive = archive_path(path)
    if entry.origin is None or entry.origin.content is not None or not archive.is_file():
        return entry.contents
    if sha256(archive) != entry.origin.sha256:
        return entry.contents
    content = _Hash()
    copy_member(archive, content)
    return (*entry.contents, content.digest.hexdigest())
