"""What may explain that two results differ: what their receipts, and `lineage.json`, say otherwise.

Nothing is computed; `everycell.engine.differences` finds what differs.
"""

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
    """What a comparison of two folders finds: nothing changes once found."""

    model_config = ConfigDict(frozen=True)


class Moved(Model):
    """A cell of a table with another value, or a verdict or conclusion with another outcome.

    `old` or `new` is None where the cell is in one folder alone.
    """

    key: str
    old: str | None
    new: str | None


class Cause(Model):
    """Something that the receipts of both folders say differently.

    Attributes
    ----------
    kind
        `input`: a file that was read; `behind`: a setting of a job further up, or "input FILE" that
        one read; `file`: a file that is no longer what its receipt says; `card`: what the verdicts
        were given by; the others are fields of a receipt.
    name
        Path (a released file that lies elsewhere: its key), parameter (nested names with dots),
        package or part of a card. "card" alone where no part that verdict files hold is another
        and the judgement of the same table is: a tolerance of the card, or the code that judges.
    old, new
        Value or hash; None where there is none.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Moved, ...]:
    """What two mappings of names to texts have otherwise, in the order of the first.

    Examples
    --------
    >>> changes({"a": "1", "b": "2"}, {"b": "2", "c": "3"})
    (Moved(key='a', old='1', new=None), Moved(key='c', old=None, new='3'))
    """
    return tuple(
        Moved(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def causes_of(
    old: Mapping[str, Any], new: Mapping[str, Any], inputs: list[Cause], behind: list[Cause]
) -> Iterator[Cause]:
    """What two receipts, and the jobs behind their inputs, say differently."""
    seeds = [{"seed": json.dumps(receipt.get("seed"))} for receipt in (old, new)]
    yield from of_kind("seed", *seeds)
    settings = [
        {
            # The seed stands in a field of its own.
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
        said = [_code(code) for code in codes]
        yield Cause(kind="code", name="code", old=said[0], new=said[1])
    yield from of_kind("package", old.get("packages") or {}, new.get("packages") or {})


def other_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Inputs with other bytes: the same bytes under another path, as in another cache, are none."""
    files = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    named = [
        {path if path in other else key_or_path(path): digest for path, digest in side.items()}
        for side, other in (files, files[::-1])
    ]
    changed = list(of_kind("input", *named))
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
    """Key of a released file, in whichever cache it lies; another path as it is."""
    return path if path.startswith(OWN) else load_registry().key_in(path) or path


class Behind:
    """What `lineage.json` of two folders say differently of the jobs behind a file."""

    def __init__(self, old: list[JobRecord], new: list[JobRecord]) -> None:
        self.jobs = (old, new)
        self.known: dict[str, tuple[Cause, ...] | None] = {}

    def of(self, path: str) -> tuple[Cause, ...] | None:
        """What the jobs behind a file had otherwise; None where a folder does not have it all."""
        if path not in self.known:
            self.known[path] = self._compared(path)
        return self.known[path]

    def all_of(self, paths: Iterable[str]) -> list[Cause]:
        """Other settings and inputs of the jobs behind some files, each once."""
        found = (cause for path in paths for cause in self.of(path) or ())
        return list(dict.fromkeys(found))

    def _compared(self, path: str) -> tuple[Cause, ...] | None:
        old, new = (upstream(jobs, [path]) for jobs in self.jobs)
        if not old or not new:
            return None
        maker = {output: job for job in new for output in job.outputs}
        pairs = [
            (job, next((maker[made] for made in job.outputs if made in maker), None)) for job in old
        ]
        both = [(job, other) for job, other in pairs if other is not None]
        found = [cause for pair in both for cause in of_kind("behind", *_settings(*pair))]
        read = [[_read(job) for job in pair] for pair in both]
        for files in read:
            known = files[0].keys() & files[1].keys()
            sides = ({f"input {path}": side[path] for path in sorted(known)} for side in files)
            found += of_kind("behind", *sides)
        # A job of one folder alone is named where a job reads other files in that folder; where
        # none does, the other folder has no record of it.
        whole = len(old) == len(new) == len(both) and all(
            files[0].keys() == files[1].keys() for files in read
        )
        return tuple(dict.fromkeys(found)) if found or whole else None


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
    found = []
    for job in (old, new):
        read = ", ".join(sorted(map(key_or_path, job.inputs)))
        found.append({f"{at}: rule": job.rule, f"{at}: inputs": read})
    unnamed = [
        bool(job.parameters) and all(name.startswith("#") for name in job.parameters)
        for job in (old, new)
    ]
    if not any(unnamed):
        for settings, job in zip(found, (old, new), strict=True):
            settings |= {f"{at}: {name}": value for name, value in job.parameters.items()}
        return found[0], found[1]
    # Values have no names on a side: those are compared that the other side does not have at all.
    values = [Counter(job.parameters.values()) for job in (old, new)]
    alone = [values[0] - values[1], values[1] - values[0]]
    # A record leaves out what is not built of Python's own types, a list of names does not.
    if any(few for few, without in zip(alone, unnamed, strict=True) if without):
        for settings, few in zip(found, alone, strict=True):
            if few:
                settings[f"{at}: parameters"] = ", ".join(sorted(few.elements()))
    return found[0], found[1]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings under names with dots."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)
