"""The data registry: released files with their sources and hashes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import quote

from pydantic import Field, model_validator

from everycell.base.untrusted import has_secret
from everycell.base.yaml_files import read_model
from everycell.records.registry_entries import (
    DataSet,
    Entry,
    RegistryError,
    RelativePath,
    Repository,
    SetName,
    Strict,
    UnknownKeyError,
    key_of,
    set_of,
)

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
