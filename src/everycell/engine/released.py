"""Check, before each use, that a fetched file matches the registry."""

from __future__ import annotations

from pathlib import Path

from everycell.engine.files import sha256
from everycell.engine.registry import Registry, load_registry
from everycell.engine.registry_entries import Entry, SourceError
from everycell.engine.untrusted import parse_json


class DamagedFileError(SourceError):
    """A file in the cache was changed after it was fetched."""


class CacheError(SourceError):
    """The cache cannot be written: read-only, not a folder, or full."""


def check(path: Path, key: str, *, registry: Registry | None = None) -> Path:
    """Hash a fetched file again, as before each use.

    Parameters
    ----------
    path : Path
        The file, unpacked.
    key : str
        Its key in the registry.
    registry : Registry, optional
        The registry that comes with the package if not given.

    Returns
    -------
    Path
        `path`, for use in an expression.

    Raises
    ------
    DamagedFileError
        If the content is neither the author's nor the mirror's; both hashes are named.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     check(Path(empty.name), "transparent-cis/input_data.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    everycell.engine.released.DamagedFileError: ...
    """
    path = Path(path)
    entry = (registry or load_registry()).entry(key)
    try:
        found = sha256(path)
    except OSError as error:
        raise CacheError(
            f"{path} in the cache cannot be read ({error.strerror}); correct its permissions, or "
            f"remove it and fetch {key} again."
        ) from error
    accepted = accepted_contents(path, entry)
    if found not in accepted:
        raise DamagedFileError(
            f"{path} has sha256 {found}, but {key} must have {' or '.join(accepted)}: it was "
            f"changed or damaged after it was fetched; keep a copy if it is yours, remove it "
            f"(rm '{path}') and fetch again."
        )
    return path


def content_record(path: Path) -> Path:
    """Path of the note on the content of an archive of which only the own hash is registered."""
    return path.with_name(f".{path.name}.json")


def accepted_contents(path: Path, entry: Entry) -> tuple[str, ...]:
    """Return the accepted hashes of the unpacked content at `path`."""
    if (
        entry.origin is None
        or entry.origin.content is not None
        or not content_record(path).is_file()
    ):
        return entry.contents
    try:
        record = parse_json(content_record(path).read_bytes())
        if record["archive_sha256"] != entry.origin.sha256:
            return entry.contents
        return (*entry.contents, str(record["content_sha256"]))
    except (ValueError, KeyError, TypeError):
        raise DamagedFileError(
            f"{content_record(path)} does not say which content {path.name} must have: it was "
            f"changed or damaged; remove both files and fetch again."
        ) from None
