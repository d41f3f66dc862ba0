"""Entries of the data registry: one released file, its forms, its set and its repository.

A file is named by its *key*, ``SET/path``, and is always stored unpacked under that key, so that
one reader serves the author's file and the mirror's compressed copy. Some model weights come inside
installed packages; such an entry names the package instead of a repository.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+/\S+$")]
# Also a wildcard of the rule that fetches.
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
# Forward slashes only, and no part that starts with a dot: a key can never leave the cache folder.
_PART = r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*"
RelativePath = Annotated[str, StringConstraints(pattern=f"^{_PART}(/{_PART})*$")]
State = Literal["both", "mirror", "network", "wheel", "unavailable"]


class SourceError(Exception):
    """A released file is unavailable or cannot be trusted; the message says what to do."""


class RegistryError(SourceError):
    """A file of the registry cannot be used; the message names the file and the key."""


class UnknownKeyError(SourceError):
    """The registry has no such key."""


class UnavailableError(SourceError):
    """The file is known, but neither a mirror nor the network can give it."""


class Strict(BaseModel):
    """Base of the models of registry files: unknown keys are an error; instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Form(Strict):
    """One form of a file: the bytes as stored in a mirror or behind a URL."""

    path: RelativePath = Field(description="Path in the mirror folder or in the repository.")
    size: int = Field(gt=0, description="Bytes of the file as stored there.")
    sha256: Sha256 = Field(description="Hash of the file as stored there.")
    packed: Literal["gzip", "tar"] | None = Field(
        None, description="How it is packed; a tar archive holds exactly one file."
    )
    content_sha256: Sha256 | None = Field(
        None, description="Hash of the unpacked content; required with `gzip`."
    )

    @model_validator(mode="after")
    def _content_only_when_packed(self) -> Self:
        if self.packed is None and self.content_sha256 is not None:
            raise ValueError(f"{self.path} is not packed, so it must not have a content_sha256")
        if self.packed == "gzip" and self.content_sha256 is None:
            raise ValueError(f"{self.path} is gzipped, so it needs a content_sha256")
        return self

    @property
    def content(self) -> str | None:
        """Hash of the unpacked content, None if it is not known beforehand."""
        return self.content_sha256 if self.packed else self.sha256


class Origin(Form):
    """The author's file, in a repository at a pinned commit or at a URL."""

    repository: str | None = Field(
        None, description="`OWNER/NAME` among `repositories`; `path` is the file's path there."
    )
    url: Url | None = Field(
        None, description="Instead of `repository`: the file's address; `path` is its name."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.repository is None) == (self.url is None):
            raise ValueError(f"{self.path} needs either a `repository` or a `url`")
        return self


class WheelFile(Strict):
    """A file inside an installed package; it is found by its name, and no code is imported."""

    distribution: str = Field(description="Name of the package, as pip knows it.")
    version: str = Field(description="The only accepted version.")
    path: RelativePath = Field(description="Path in the package.")
    size: int = Field(gt=0, description="Bytes of the file.")
    sha256: Sha256 = Field(description="Hash of the file.")


class Entry(Strict):
    """One file of the registry: by its author's form, its mirror's form, both, or from a wheel.

    `note` says what the mirror changed, why there is only a mirror form, or why there is none.
    """

    origin: Origin | None = Field(None, description="The author's file.")
    mirror: Form | None = Field(None, description="The file in a mirror folder.")
    wheel: WheelFile | None = Field(None, description="The file in an installed package.")
    note: str | None = Field(
        None, description="What the mirror changed, or why there is only a mirror, or nothing."
    )

    @model_validator(mode="after")
    def _wheel_stands_alone(self) -> Self:
        if self.wheel and (self.origin or self.mirror):
            raise ValueError(f"{self.wheel.path} is in a wheel, so it must have no other form")
        return self

    @model_validator(mode="after")
    def _note_where_needed(self) -> Self:
        has_source = self.origin is not None or self.wheel is not None
        if self.note is None and (not has_source or len(self.contents) > 1):
            raise ValueError(
                "an entry without an author's form, or with two contents, needs a note"
            )
        if self.origin and self.origin.packed == "tar" and self.note is None:
            raise ValueError(f"{self.origin.path} is an archive, so the entry needs a note")
        return self

    @property
    def state(self) -> State:
        """Where the file can be had: `both`, `mirror`, `network`, `wheel` or `unavailable`."""
        if self.wheel:
            return "wheel"
        if self.origin and self.mirror:
            return "both"
        if self.origin:
            return "network"
        return "mirror" if self.mirror else "unavailable"

    @property
    def contents(self) -> tuple[str, ...]:
        """Accepted hashes of the unpacked content, the author's first, each once."""
        known = [form.content for form in (self.origin, self.mirror) if form and form.content]
        if self.wheel:
            known.append(self.wheel.sha256)
        return tuple(dict.fromkeys(known))


class Repository(Strict):
    """A repository at a pinned commit; `host` is replaced only by tests and by private copies."""

    commit: Commit = Field(description="Hash of the commit.")
    licence: str = Field(description="Licence, or `none stated`.")
    host: str = Field("https://raw.githubusercontent.com", description="Server of its files.")


class DataSet(Strict):
    """What a user should know of a set before it is downloaded.

    `feeds` lists the artefacts that are rebuilt from it (empty: only surrogate data use it).
    """

    authors: str = Field(description="Authors of the data.")
    paper: str = Field(description="Publication of the data.")
    licence: str = Field(description="Licence, or `none stated`.")
    feeds: list[str] = Field(
        [], description="Artefacts that are made from it; none if only surrogate data use it."
    )


def set_of(key: str) -> str:
    """Return the set of a key: its first folder."""
    return key.partition("/")[0]


def key_of(path: str) -> str:
    """Return the key of a mirror path: without ``.gz``, but an archive keeps its whole name.

    Examples
    --------
    >>> key_of("a/b.csv.gz"), key_of("a/b.csv"), key_of("a/b.tar.gz")
    ('a/b.csv', 'a/b.csv', 'a/b.tar.gz')
    """
    return re.sub(r"(?<!\.tar)\.gz$", "", path)
