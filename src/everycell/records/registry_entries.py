"""Models of the entries of the data registry.

The *key* of a file is ``SET/path``. The cache stores every file unpacked under its key, so that
readers need not distinguish the author's file from a mirror's compressed copy. Some model weights
are part of installed packages; their entries have a package instead of a repository.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+/\S+$")]
# Also a wildcard of the rule that fetches files.
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]
# No backslashes and no parts that begin with a dot, so that no key is outside the cache folder.
_PART = r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*"
RelativePath = Annotated[str, StringConstraints(pattern=f"^{_PART}(/{_PART})*$")]
State = Literal["both", "mirror", "network", "wheel", "unavailable"]


class SourceError(Exception):
    """A released file is unavailable or cannot be trusted; the message says what to do."""


class RegistryError(SourceError):
    """A file of the registry is invalid; the message says where and why."""


class UnknownKeyError(SourceError):
    """The registry does not have this key."""


class UnavailableError(SourceError):
    """The registry has the file, but neither a mirror nor the network provides it."""


class Strict(BaseModel):
    """Base of the models of registry files: unknown keys are an error; instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
