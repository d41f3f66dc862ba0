"""Possible causes of a difference between two results, from their receipts and `lineage.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from everycell.engine.lineage import JobRecord, upstream
from everycell.engine.registry import load_registry

Kind = Literal["input", "parameter", "seed", "code", "version", "package", "behind", "file", "card"]
#: Folders of the project itself: files elsewhere may lie in any cache.
OWN = ("published/", "results/", "work/")


class Model(BaseModel):
    """Base of the findings of a comparison of two folders; immutable."""

    model_config = ConfigDict(frozen=True)


class Moved(Model):
    """A cell of a table whose value differs, or a verdict or conclusion whose outcome differs.

    `old` or `new` is None where the cell is in only one folder.
    """

    key: str
    old: str | None
    new: str | None


class Cause(Model):
    """Something in which the receipts of the two folders differ.

    Attributes
    ----------
    kind
        `input`: a file that was read; `behind`: a setting of a job further up, or "input FILE" that
        one read; `file`: a file that no longer matches its receipt; `card`: the basis of the
        verdicts; the others are fields of a receipt.
    name
        Path (a released file that lies elsewhere: its key), parameter (nested names with dots),
        package or part of a card. "card" alone if no part in the verdict files differs but the
        judgement of the same table does: then a tolerance of the card, or the judging code, has
        changed.
    old, new
        Value or hash; None if there is none.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Moved, ...]:
    """Differences between two mappings of names to texts, in the order of the first."""
    return tuple(
        Moved(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def causes_of(
    old: Mapping[str, Any], new: Mapping[str, Any], inputs: list[Cause], behind: list[Cause]
) -> Iterator[Cause]:
    """Differences between two receipts, and between the jobs behind their inputs."""
    seeds = [{"seed": json.dumps(receipt.get("seed"))} for receipt in (old, new)]
    yield from of_kind("seed", *seeds)
    settings = [
        {
            # The seed has a separate field.
            name: value
            for name, value in _flat(receipt.get("parameters") or {})
            if name != "seed"
        }
        for receipt in (old, new)
    ]
    yield from of_kind("parameter", *settings)
    yield from inputs
    yield from behind
    codes = [receipt["code"] for receipt in (old, new)]
    yield from of_kind("version", *({"everycell": str(code.get("version"))} for code in codes))
    if codes[0].get("sha256") != codes[1].get("sha256"):
        codes_as_text = [_code(code) for code in codes]
        yield Cause(kind="code", name="code", old=codes_as_text[0], new=codes_as_text[1])
    yield from of_kind("package", old.get("packages") or {}, new.get("packages") or {})


def other_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Inputs with other bytes; the same bytes under another path do not count."""
    files = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    named_causes = [
        {path if path in other else key_or_path(path): digest for path, digest in side.items()}
        for side, other in (files, files[::-1])
    ]
    changed = list(of_kind("input", *named_causes))
    gone = Counter(cause.old for cause in changed if cause.new is None)
    came = Counter(cause.new for cause in changed if cause.old is None)
    moved = {"old": gone & came, "new": gone & came}
    for cause in changed:
        side, digest = ("old", cause.old) if cause.new is None else ("new", cause.new)
        if (cause.old is None or cause.new is None) and moved[side][digest]:
            moved[side][digest] -= 1
        else:
            yield cause


def key_or_path(path: str) -> str:
    """Key of a released file, whichever cache it is in; other paths unchanged."""
    return path if path.startswith(OWN) else load_registry().key_in(path) or path


class Behind:
    """Differences between two folders' `lineage.json` in the jobs behind a file."""

    def __init__(self, old: list[JobRecord], new: list[JobRecord]) -> None:
        self.jobs = (old, new)
        self.known: dict[str, tuple[Cause, ...] | None] = {}

    def of(self, path: str) -> tuple[Cause, ...] | None:
        """Differences between the jobs behind a file; None if a folder's record is incomplete."""
        if path not in self.known:
            self.known[path] = self._compared(path)
        return self.known[path]

    def all_of(self, paths: Iterable[str]) -> list[Cause]:
        """Other settings and inputs of the jobs behind some files, each once."""
        causes = (cause for path in paths for cause in self.of(path) or ())
        return list(dict.fromkeys(causes))

    def _compared(self, path: str) -> tuple[Cause, ...] | None:
        old, new = (upstream(jobs, [path]) for jobs in self.jobs)
        if not old or not new:
            return None
        maker = {output: job for job in new for output in job.outputs}
        pairs = [
            (job, next((maker[file] for file in job.outputs if file in maker), None)) for job in old
        ]
        both = [(job, other) for job, other in pairs if other is not None]
        causes = [cause for pair in both for cause in of_kind("behind", *_settings(*pair))]
        read = [[_read(job) for job in pair] for pair in both]
        for files in read:
            known = files[0].keys() & files[1].keys()
            sides = ({f"input {path}": side[path] for path in sorted(known)} for side in files)
            causes += of_kind("behind", *sides)
        # A job of only one folder is named if a job reads other files in that folder; if none
        # does, the other folder has no record of it.
        is_complete = len(old) == len(new) == len(both) and all(
            files[0].keys() == files[1].keys() for files in read
        )
        return tuple(dict.fromkeys(causes)) if causes or is_complete else None


def _read(job: JobRecord) -> dict[str, str]:
    """Hashes of what a job read from outside, by key where it is a released file."""
    return {key_or_path(path): digest for path, digest in job.hashes.items()}


def of_kind(kind: Kind, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Cause]:
    """Changes as causes of a kind.

    Examples
    --------
    >>> list(of_kind("seed", {"seed": "1"}, {"seed": "2"}))
    [Cause(kind='seed', name='seed', old='1', new='2')]
    """
    for moved in changes(old, new):
        yield Cause(kind=kind, name=moved.key, old=moved.old, new=moved.new)


def _code(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{str(code.get('sha256'))[:12]} (commit {commit[:12] if commit else 'unknown'})"


def _settings(old: JobRecord, new: JobRecord) -> tuple[dict[str, str], dict[str, str]]:
    """Settings of a job in two folders, under one name if they are of the same kind."""
    at = f"{old.rule} {old.outputs[0]}"
    causes = []
    for job in (old, new):
        read = ", ".join(sorted(map(key_or_path, job.inputs)))
        causes.append({f"{at}: rule": job.rule, f"{at}: inputs": read})
    unnamed = [
        bool(job.parameters) and all(name.startswith("#") for name in job.parameters)
        for job in (old, new)
    ]
    if not any(unnamed):
        for settings, job in zip(causes, (old, new), strict=True):
            settings |= {f"{at}: {name}": value for name, value in job.parameters.items()}
        return causes[0], causes[1]
    # One side has values without names: compare only values that the other side lacks entirely.
    values = [Counter(job.parameters.values()) for job in (old, new)]
    alone = [values[0] - values[1], values[1] - values[0]]
    # A record leaves out values that are not of Python's built-in types; a list of names does not.
    if any(few for few, without in zip(alone, unnamed, strict=True) if without):
        for settings, few in zip(causes, alone, strict=True):
            if few:
                settings[f"{at}: parameters"] = ", ".join(sorted(few.elements()))
    return causes[0], causes[1]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings, under dotted names."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)
