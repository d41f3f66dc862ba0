"""The data registry: which files were released, where they are and what they must hash to.

What serves several papers, or none, stands in `registry.yaml` beside this module; the data of one
paper in ``published/KEY/registry.yaml`` of the project folder. Both are generated (see
`everycell.sources.generate`). A file is named by its *key*, ``SET/path``, and is always stored
unpacked under that key, so that one reader serves the author's file and the mirror's compressed
copy. Weights of models come inside installed packages; such an entry names the package in place of
a repository.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import quote

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from everycell.engine.validation import describe_fault
from everycell.engine.yaml import load_yaml, yaml_fault

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
# Forward slashes only, and no part that starts with a dot: a key can never leave the cache folder.
_PART = r"[^/\\.\x00-\x1f][^/\\\x00-\x1f]*"
RelativePath = Annotated[str, StringConstraints(pattern=f"^{_PART}(/{_PART})*$")]
#: The parts of the registry, as messages name them.
_PLACES = "registry.yaml of everycell.engine and published/*/registry.yaml of the project folder"
State = Literal["both", "mirror", "network", "wheel", "unavailable"]


class SourceError(Exception):
    """A released file cannot be had or cannot be trusted; the message says what to do."""


class RegistryError(SourceError):
    """A file of the registry cannot be used; the message names the file and the key."""


class UnknownKeyError(SourceError):
    """The registry has no such key."""


class UnavailableError(SourceError):
    """The file is known, but neither a mirror nor the network can give it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Form(_Strict):
    """One form of a file: the bytes as they lie in a mirror or behind a URL.

    Attributes
    ----------
    path : str
        Path in the mirror folder or in the repository.
    size : int
        Bytes of the file as it lies there.
    sha256 : str
        Hash of the file as it lies there.
    packed : {"gzip", "tar"} or None
        How it is packed; a tar archive holds exactly one file.
    content_sha256 : str or None
        Hash of the unpacked content of a packed form; None where it is not known beforehand.
    """

    path: RelativePath
    size: int = Field(gt=0)
    sha256: Sha256
    packed: Literal["gzip", "tar"] | None = None
    content_sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _content_only_when_packed(self) -> Self:
        if self.packed is None and self.content_sha256 is not None:
            raise ValueError(f"{self.path} is not packed, so it must not have a content_sha256")
        if self.packed == "gzip" and self.content_sha256 is None:
            raise ValueError(f"{self.path} is gzipped, so it needs a content_sha256")
        return self

    @property
    def content(self) -> str | None:
        """Hash of the unpacked content, None where it is not known beforehand."""
        return self.content_sha256 if self.packed else self.sha256


class Origin(Form):
    """The author's file, in a repository at a pinned commit."""

    repository: str


class WheelFile(_Strict):
    """A file inside an installed package; it is found by its name, and no code is imported.

    Attributes
    ----------
    distribution : str
        Name of the package, as pip knows it.
    version : str
        The only version that is accepted.
    path : str
        Path of the file in the package's list of files.
    size : int
        Bytes.
    sha256 : str
        Hash of the file.
    """

    distribution: str
    version: str
    path: RelativePath
    size: int = Field(gt=0)
    sha256: Sha256


class Entry(_Strict):
    """One file of the registry: by its author's form, its mirror's form, both, or from a wheel.

    `note` says what the mirror changed, why there is only a mirror form, or why there is none.
    """

    origin: Origin | None = None
    mirror: Form | None = None
    wheel: WheelFile | None = None
    note: str | None = None

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


class Repository(_Strict):
    """A repository at a pinned commit; `host` is replaced only by tests and by private copies."""

    commit: Commit
    licence: str
    host: str = "https://raw.githubusercontent.com"


class DataSet(_Strict):
    """What a user should know of a set before it is downloaded.

    `feeds` lists the artefacts that are rebuilt from it (empty: only stand-ins use it).
    """

    authors: str
    paper: str
    licence: str
    feeds: list[str] = []


class Registry(_Strict):
    """All released files by key, with their sets and repositories.

    Examples
    --------
    >>> registry = load_registry()
    >>> registry.entry("transparent-cis/input_data.csv").state
    'both'
    >>> registry.data_set("transparent-cis/input_data.csv").licence
    'none stated'
    """

    repositories: dict[str, Repository] = {}
    sets: dict[str, DataSet] = {}
    files: dict[RelativePath, Entry] = {}

    @model_validator(mode="after")
    def _names_resolve(self) -> Self:
        for key, entry in self.files.items():
            if set_of(key) not in self.sets:
                raise ValueError(f"{key} belongs to no set of the registry")
            if entry.origin and entry.origin.repository not in self.repositories:
                raise ValueError(f"{key} names the unknown repository {entry.origin.repository}")
            if entry.mirror and key_of(entry.mirror.path) != key:
                raise ValueError(f"{key} is not the key of its mirror path {entry.mirror.path}")
        return self

    def entry(self, key: str) -> Entry:
        """Return the entry of `key`.

        Raises
        ------
        UnknownKeyError
            If there is none; the message suggests the nearest keys.
        """
        if key in self.files:
            return self.files[key]
        near = difflib.get_close_matches(key, self.files, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"see {_PLACES} for the keys."
        raise UnknownKeyError(f"The data registry has no file {key!r}; {hint}")

    def data_set(self, key: str) -> DataSet:
        """Return the set to which `key` belongs."""
        self.entry(key)
        return self.sets[set_of(key)]

    def keys(self, set_name: str) -> list[str]:
        """Return the keys of a set that can be fetched, in the registry's order.

        Raises
        ------
        UnknownKeyError
            If there is no such set.
        """
        if set_name not in self.sets:
            raise UnknownKeyError(
                f"The data registry has no set {set_name!r}; its sets are {', '.join(self.sets)}."
            )
        return [
            key
            for key, entry in self.files.items()
            if set_of(key) == set_name and entry.state != "unavailable"
        ]

    def key_in(self, path: str) -> str | None:
        """Key of a released file by its path in whichever cache; None if it is no such file.

        Examples
        --------
        >>> load_registry().key_in("/shared/cache/transparent-cis/pilot/qs3.csv")
        'transparent-cis/pilot/qs3.csv'
        >>> load_registry().key_in("work/transparent-cis/qs3.csv") is None
        True
        """
        parts = path.split("/")
        keys = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((key for key in keys if key in self.files), None)

    def url(self, key: str) -> str | None:
        """Return the URL of the author's file at its pinned commit; None if it has none.

        Examples
        --------
        >>> load_registry().url("transparent-cis/input_data.csv").rpartition("/data/")[2]
        'input/input_data.csv'
        """
        origin = self.entry(key).origin
        if origin is None:
            return None
        repository = self.repositories[origin.repository]
        return "/".join((repository.host, origin.repository, repository.commit, quote(origin.path)))


def set_of(key: str) -> str:
    """Return the set of a key: its first folder.

    Examples
    --------
    >>> set_of("transparent-cis/pilot/qs3.csv")
    'transparent-cis'
    """
    return key.partition("/")[0]


def key_of(path: str) -> str:
    """Return the key of a mirror path: without ``.gz``, but an archive keeps its whole name.

    Examples
    --------
    >>> key_of("a/b.csv.gz"), key_of("a/b.csv"), key_of("a/b.tar.gz")
    ('a/b.csv', 'a/b.csv', 'a/b.tar.gz')
    """
    return re.sub(r"(?<!\.tar)\.gz$", "", path)


#: What serves several papers, or none.
SHARED = Path(__file__).with_name("registry.yaml")


def load_registry(project: Path = Path()) -> Registry:
    """Read and validate the registry: the part that all papers share, and that of each paper.

    Parameters
    ----------
    project : Path
        Project folder whose ``published/KEY/registry.yaml`` are added; outside of one there is the
        shared part alone.

    Returns
    -------
    Registry
        Its files are read once a process; the object is frozen.

    Raises
    ------
    RegistryError
        If a file is no registry, or if two of them have the same key.

    Examples
    --------
    >>> "cis-response-limitations/viewpoints.csv" in load_registry().files
    True
    >>> import tempfile
    >>> "minilm" in load_registry(Path(tempfile.mkdtemp())).sets
    True
    """
    parts = sorted((project.resolve() / "published").glob("*/registry.yaml"))
    return _merged((SHARED, *parts))


@cache
def _merged(paths: tuple[Path, ...]) -> Registry:
    return merge_parts((path, read_part(path)) for path in paths)


def read_part(path: Path) -> Registry:
    """Read and validate one file of the registry, which holds together by itself.

    Raises
    ------
    RegistryError
        One sentence for the first fault.
    """
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
        return Registry.model_validate({} if content is None else content)
    except OSError as error:
        raise RegistryError(f"{path}: cannot be read ({error.strerror}); restore it.") from None
    except UnicodeDecodeError:
        raise RegistryError(f"{path}: is no UTF-8 text; save it as UTF-8.") from None
    except yaml.YAMLError as error:
        raise RegistryError(f"{path}: is no YAML, {yaml_fault(error)}; mend that line.") from None
    except ValidationError as error:
        raise RegistryError(f"{path}: {describe_fault(Registry, error)}") from None


def merge_parts(parts: Iterable[tuple[Path, Registry]]) -> Registry:
    """Put the parts of the registry together.

    A repository may stand in several parts, at one commit: a paper's part needs no other one.

    Parameters
    ----------
    parts
        File and content of each part.

    Raises
    ------
    RegistryError
        If a set or a file stands in two of them, or a repository with two commits or licences.
    """
    merged: dict[str, dict] = {"repositories": {}, "sets": {}, "files": {}}
    places: dict[tuple[str, str], Path] = {}
    for path, part in parts:
        for kind, known in merged.items():
            for key, value in getattr(part, kind).items():
                place = places.setdefault((kind, key), path)
                if kind == "repositories" and known.get(key, value) != value:
                    raise RegistryError(
                        f"{path}: the repository {key} has another commit or licence than in "
                        f"{place}; make them agree."
                    )
                if kind != "repositories" and key in known:
                    raise RegistryError(
                        f"{path}: `{kind}` has {key}, which stands in {place} too; leave it in one."
                    )
                known[key] = value
    return Registry.model_validate({kind: dict(sorted(of.items())) for kind, of in merged.items()})
