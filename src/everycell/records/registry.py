"""The data registry: released files with their sources and hashes.

The *key* of a file is ``SET/path``. The cache stores every file unpacked under its key, so that
readers need not distinguish the author's file from a mirror's compressed copy. Some model weights
are part of installed packages; their entries have a package instead of a repository.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import shutil
import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import quote

from pydantic import Field, StringConstraints, model_validator

from everycell.base.errors import FaultsError
from everycell.base.files import sha256
from everycell.base.untrusted import has_secret, in_quotes
from everycell.base.validation import Strict
from everycell.base.yaml import read_model

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+/\S+$")]
# Also a wildcard of the rule that fetches files.
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
# No backslashes and no parts that begin with a dot, so that no key is outside the cache folder.
_PART = r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*"
RelativePath = Annotated[str, StringConstraints(pattern=f"^{_PART}(/{_PART})*$")]
#: Snakemake reads braces as wildcards, and characters for text direction disguise a name.
_NOT_IN_KEYS = re.compile("[{}\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
State = Literal["both", "mirror", "network", "wheel", "unavailable"]


class SourceError(Exception):
    """A released file is unavailable or cannot be trusted; the message says what to do."""


class RegistryError(SourceError, FaultsError):
    """A file of the registry is invalid; the message says where and why."""


class UnknownKeyError(SourceError):
    """The registry does not have this key."""


class UnavailableError(SourceError):
    """The registry has the file, but neither a mirror nor the network provides it."""


class DamagedFileError(SourceError):
    """A file in the cache was changed after it was fetched."""


class CacheError(SourceError):
    """The cache cannot be read or written."""


class Form(Strict):
    """A form of a file: its bytes in a mirror or at a URL."""

    path: RelativePath = Field(description="Path in the mirror folder or in the repository.")
    size: int = Field(gt=0, description="Size in bytes.")
    sha256: Sha256 = Field(description="Hash of the file, packed or not.")
    packed: Literal["gzip", "tar"] | None = Field(
        None, description="Compression; a tar archive must contain exactly one file."
    )
    content_sha256: Sha256 | None = Field(
        None, description="Hash of the unpacked content; required with `gzip`."
    )

    @model_validator(mode="after")
    def _content_only_when_packed(self) -> Self:
        if self.packed is None and self.content_sha256 is not None:
            raise ValueError(f"{self.path} is not packed, so it must not have a content_sha256")
        if self.packed == "gzip" and self.content_sha256 is None:
            raise ValueError(f"{self.path} is gzipped, so it requires a content_sha256")
        return self

    @property
    def content(self) -> str | None:
        """Hash of the unpacked content; None if the registry does not have it."""
        return self.content_sha256 if self.packed else self.sha256


class Origin(Form):
    """The author's file, in a repository at a pinned commit or at a URL."""

    repository: str | None = Field(
        None, description="`OWNER/NAME` from `repositories`; `path` is the file's path there."
    )
    url: Url | None = Field(
        None, description="Instead of `repository`: address of the file; `path` is its name."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.repository is None) == (self.url is None):
            raise ValueError(f"{self.path} requires either a `repository` or a `url`")
        return self


class WheelFile(Strict):
    """A file of an installed package, which is not imported."""

    distribution: str = Field(description="Name of the package on PyPI.")
    version: str = Field(description="The only accepted version.")
    path: RelativePath = Field(description="Path in the package.")
    size: int = Field(gt=0, description="Bytes of the file.")
    sha256: Sha256 = Field(description="Hash of the file.")


class Entry(Strict):
    """A file of the registry, from its author, a mirror, both, or a package."""

    origin: Origin | None = Field(None, description="The author's file.")
    mirror: Form | None = Field(None, description="The file in a mirror folder.")
    wheel: WheelFile | None = Field(None, description="The file in an installed package.")
    note: str | None = Field(
        None,
        description="What the mirror changed, why only a mirror has the file, or why it is "
        "unavailable.",
    )

    @model_validator(mode="after")
    def _check_wheel(self) -> Self:
        if self.wheel and (self.origin or self.mirror):
            raise ValueError("`wheel` cannot be combined with `origin` or `mirror`")
        return self

    @model_validator(mode="after")
    def _check_note(self) -> Self:
        has_source = self.origin is not None or self.wheel is not None
        if self.note is None and (not has_source or len(self.contents) > 1):
            raise ValueError(
                "an entry without an `origin`, or with different contents, requires a `note`"
            )
        if self.origin and self.origin.packed == "tar" and self.note is None:
            raise ValueError(f"{self.origin.path} is an archive, so the entry requires a `note`")
        return self

    @property
    def state(self) -> State:
        """Sources of the file: `both`, `mirror`, `network`, `wheel` or `unavailable`."""
        if self.wheel:
            return "wheel"
        if self.origin and self.mirror:
            return "both"
        if self.origin:
            return "network"
        return "mirror" if self.mirror else "unavailable"

    @property
    def contents(self) -> tuple[str, ...]:
        """Distinct accepted hashes of the unpacked content, the author's first."""
        hashes = [form.content for form in (self.origin, self.mirror) if form and form.content]
        if self.wheel:
            hashes.append(self.wheel.sha256)
        return tuple(dict.fromkeys(hashes))


class Repository(Strict):
    """A repository at a pinned commit."""

    commit: Commit = Field(description="Hash of the commit.")
    licence: str = Field(description="Licence, or `none stated`.")
    host: str = Field("https://raw.githubusercontent.com", description="Base URL of its files.")


class DataSet(Strict):
    """Authors, licence and use of a data set."""

    authors: str = Field(description="Authors of the data.")
    paper: str = Field(description="Publication of the data.")
    licence: str = Field(description="Licence, or `none stated`.")
    feeds: list[str] = Field(
        [], description="Artefacts reproduced from it; empty if it serves only as surrogate data."
    )


def set_of(key: str) -> str:
    """Return the data set of a key: its first folder."""
    return key.partition("/")[0]


def key_of(path: str) -> str:
    """Return the key of a mirror path: drop ``.gz``, except from the name of an archive."""
    return re.sub(r"(?<!\.tar)\.gz$", "", path)


#: Files of the registry, for messages.
_FILES = "registry.yaml of everycell.records and published/*/registry.yaml of the project folder"


class Registry(Strict):
    """Released files by key, with their data sets and repositories."""

    repositories: dict[str, Repository] = Field(
        {}, description="Repositories of released files, by `OWNER/NAME`."
    )
    sets: dict[SetName, DataSet] = Field({}, description="Data sets by name.")
    files: dict[RelativePath, Entry] = Field({}, description="Files by key, `SET/path`.")

    @model_validator(mode="after")
    def _names_resolve(self) -> Self:
        for key, entry in self.files.items():
            if match := _NOT_IN_KEYS.search(key):
                raise ValueError(f"{in_quotes(key)} contains {in_quotes(match[0])}; rename it")
            if set_of(key) not in self.sets:
                raise ValueError(f"{key} does not belong to any data set of the registry")
            repository = entry.origin.repository if entry.origin else None
            if repository is not None and repository not in self.repositories:
                raise ValueError(f"{key} refers to the unknown repository {repository}")
            if entry.mirror and key_of(entry.mirror.path) != key:
                raise ValueError(f"{key} does not match its mirror path {entry.mirror.path}")
        return self

    def entry(self, key: str) -> Entry:
        """Return the entry of a key, or suggest similar keys in an error."""
        if key in self.files:
            return self.files[key]
        matches = difflib.get_close_matches(key, self.files, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(matches)}?" if matches else f"the keys are in {_FILES}."
        raise UnknownKeyError(f"The data registry has no file {key!r}; {hint}")

    def data_set(self, key: str) -> DataSet:
        """Return the data set of a key."""
        self.entry(key)
        return self.sets[set_of(key)]

    def keys(self, set_name: str) -> list[str]:
        """Return the keys of a data set's available files, in the registry's order."""
        if set_name not in self.sets:
            raise UnknownKeyError(
                f"The data registry has no set {set_name!r}; the sets are {', '.join(self.sets)}."
            )
        return [
            key
            for key, entry in self.files.items()
            if set_of(key) == set_name and entry.state != "unavailable"
        ]

    def key_in(self, path: str) -> str | None:
        """Key of a released file from its path in any cache; None for other files."""
        parts = path.split("/")
        keys = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((key for key in keys if key in self.files), None)

    def url(self, key: str) -> str | None:
        """Return the URL of the author's file at its pinned commit; None if it has no URL."""
        origin = self.entry(key).origin
        if origin is None or origin.repository is None:
            return origin.url if origin else None
        repository = self.repositories[origin.repository]
        return "/".join((repository.host, origin.repository, repository.commit, quote(origin.path)))


#: Part of the registry that does not belong to a paper.
SHARED = Path(__file__).with_name("registry.yaml")


def load_registry(project: Path = Path()) -> Registry:
    """Read, merge and validate all files of the registry."""
    parts = sorted((project.resolve() / "published").glob("*/registry.yaml"))
    return _read_and_merge((SHARED, *parts))


def forget_registry() -> None:
    """Clear the cache after a file of the registry was written."""
    _read_and_merge.cache_clear()


@cache
def _read_and_merge(paths: tuple[Path, ...]) -> Registry:
    return merge_parts((path, read_part(path)) for path in paths)


def read_part(path: Path) -> Registry:
    """Read and validate one file of the registry, which must be self-contained."""
    registry = read_model(path, Registry, RegistryError)
    hosts = {key: entry.origin.url for key, entry in registry.files.items() if entry.origin}
    hosts |= {name: repository.host for name, repository in registry.repositories.items()}
    for key, url in hosts.items():
        if url and has_secret(url):
            raise RegistryError(
                f"{path}: the URL of {key} contains a user name, password or token, which messages "
                "and receipts would reveal; use a public URL, or put the file into the mirror."
            )
    return registry


def merge_parts(parts: Iterable[tuple[Path, Registry]]) -> Registry:
    """Merge the parts of the registry; several parts may contain the same repository."""
    merged: dict[str, dict] = {"repositories": {}, "sets": {}, "files": {}}
    first_files: dict[tuple[str, str], Path] = {}
    for path, part in parts:
        for kind, entries in merged.items():
            for key, value in getattr(part, kind).items():
                first = first_files.setdefault((kind, key), path)
                if kind == "repositories" and entries.get(key, value) != value:
                    raise RegistryError(
                        f"{path}: the repository {key} differs from its entry in {first}; use the "
                        "same commit, licence and host in both."
                    )
                if kind != "repositories" and key in entries:
                    raise RegistryError(
                        f"{path}: `{kind}` has {key}, which {first} also has; remove one of them."
                    )
                entries[key] = value
    return Registry.model_validate(
        {kind: dict(sorted(entries.items())) for kind, entries in merged.items()}
    )


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
