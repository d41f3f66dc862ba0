"""Possible causes of a difference between two results, from their receipts and `lineage.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from everycell.receipts.lineage import JobRecord, upstream_jobs
from everycell.records.registry import load_registry

Kind = Literal[
    "input", "parameter", "seed", "code", "version", "package", "behind", "file", "record"
]
#: Folders of the project itself; released files may be in any cache.
OWN = ("published/", "results/", "work/")


class Model(BaseModel):
    """Immutable base of the models of a comparison."""

    model_config = ConfigDict(frozen=True)


class Change(Model):
    """A cell, verdict or claim that differs; `old` or `new` is None if only one folder has it."""

    key: str
    old: str | None
    new: str | None


class Cause(Model):
    """A difference that may explain why two results differ.

    Attributes
    ----------
    kind
        `input`: an input file; `behind`: a setting or input ("input FILE") of an upstream job;
        `file`: a file that no longer matches its receipt; `record`: the record; the other kinds are
        fields of a receipt.
    name
        Path or registry key of a file, parameter (nested names with dots), package, or part of the
        record. It is "record" if verdicts on the same table differ but the parts of the record in
        the verdict files do not: a tolerance or the code that judges cells has changed.
    old, new
        Value or hash; None if that side has none.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    """Differences between two mappings of names to texts, in the order of the first."""
    return tuple(
        Change(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def causes_of(
    old: Mapping[str, Any], new: Mapping[str, Any], inputs: list[Cause], upstream: list[Cause]
) -> Iterator[Cause]:
    """Differences between two receipts and between the upstream jobs of their inputs."""
    seeds = [{"seed": json.dumps(receipt.get("seed"))} for receipt in (old, new)]
    yield from causes_of_kind("seed", *seeds)
    settings = [
        {
            # The receipt has a separate field for the seed.
            name: value
            for name, value in _flatten(receipt.get("parameters") or {})
            if name != "seed"
        }
        for receipt in (old, new)
    ]
    yield from causes_of_kind("parameter", *settings)
    yield from inputs
    yield from upstream
    codes = [receipt["code"] for receipt in (old, new)]
    yield from causes_of_kind(
        "version", *({"everycell": str(code.get("version"))} for code in codes)
    )
    if codes[0].get("sha256") != codes[1].get("sha256"):
        codes_as_text = [_format_code(code) for code in codes]
        yield Cause(kind="code", name="code", old=codes_as_text[0], new=codes_as_text[1])
    yield from causes_of_kind("package", old.get("packages") or {}, new.get("packages") or {})


def changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Inputs whose content differs; the same content under another path does not count."""
    files = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    hashes = [
        {path if path in other else key_or_path(path): digest for path, digest in side.items()}
        for side, other in (files, files[::-1])
    ]
    changed = list(causes_of_kind("input", *hashes))
    removed = Counter(cause.old for cause in changed if cause.new is None)
    added = Counter(cause.new for cause in changed if cause.old is None)
    renamed = {"old": removed & added, "new": removed & added}
    for cause in changed:
        side, digest = ("old", cause.old) if cause.new is None else ("new", cause.new)
        if (cause.old is None or cause.new is None) and renamed[side][digest]:
            renamed[side][digest] -= 1
        else:
            yield cause


def key_or_path(path: str) -> str:
    """Registry key of a released file in any cache; other paths unchanged."""
    return path if path.startswith(OWN) else load_registry().key_in(path) or path


class UpstreamCauses:
    """Differences between the upstream jobs of files in two folders, from their `lineage.json`."""

    def __init__(self, old: list[JobRecord], new: list[JobRecord]) -> None:
        self.jobs = (old, new)
        self.causes_by_path: dict[str, tuple[Cause, ...] | None] = {}

    def of(self, path: str) -> tuple[Cause, ...] | None:
        """Differences between the upstream jobs of a file; None if a lineage is incomplete."""
        if path not in self.causes_by_path:
            self.causes_by_path[path] = self._compare(path)
        return self.causes_by_path[path]

    def all_of(self, paths: Iterable[str]) -> list[Cause]:
        """Distinct differences between the upstream jobs of several files."""
        causes = (cause for path in paths for cause in self.of(path) or ())
        return list(dict.fromkeys(causes))

    def _compare(self, path: str) -> tuple[Cause, ...] | None:
        old, new = (upstream_jobs(jobs, [path]) for jobs in self.jobs)
        if not old or not new:
            return None
        maker = {output: job for job in new for output in job.outputs}
        pairs = [
            (job, next((maker[file] for file in job.outputs if file in maker), None)) for job in old
        ]
        shared_jobs = [(job, match) for job, match in pairs if match is not None]
        causes = [
            cause for pair in shared_jobs for cause in causes_of_kind("behind", *_settings(*pair))
        ]
        input_hashes = [[_external_hashes(job) for job in pair] for pair in shared_jobs]
        for files in input_hashes:
            shared_paths = sorted(files[0].keys() & files[1].keys())
            sides = ({f"input {path}": side[path] for path in shared_paths} for side in files)
            causes += causes_of_kind("behind", *sides)
        # If a job is in only one lineage although no job reads different files, the other lineage
        # is incomplete.
        is_complete = len(old) == len(new) == len(shared_jobs) and all(
            files[0].keys() == files[1].keys() for files in input_hashes
        )
        return tuple(dict.fromkeys(causes)) if causes or is_complete else None


def _external_hashes(job: JobRecord) -> dict[str, str]:
    """Hashes of the external files that a job read, by registry key or path."""
    return {key_or_path(path): digest for path, digest in job.hashes.items()}


def causes_of_kind(kind: Kind, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Cause]:
    """Differences between two mappings as causes of one kind."""
    for change in changes(old, new):
        yield Cause(kind=kind, name=change.key, old=change.old, new=change.new)


def _format_code(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{str(code.get('sha256'))[:12]} (commit {commit[:12] if commit else 'unknown'})"


def _settings(old: JobRecord, new: JobRecord) -> tuple[dict[str, str], dict[str, str]]:
    """Settings of a job in two folders, under the same names."""
    job_name = f"{old.rule} {old.outputs[0]}"
    settings_by_side = []
    for job in (old, new):
        inputs = ", ".join(sorted(map(key_or_path, job.inputs)))
        settings_by_side.append({f"{job_name}: rule": job.rule, f"{job_name}: inputs": inputs})
    unnamed = [
        bool(job.parameters) and all(name.startswith("#") for name in job.parameters)
        for job in (old, new)
    ]
    if not any(unnamed):
        for settings, job in zip(settings_by_side, (old, new), strict=True):
            settings |= {f"{job_name}: {name}": value for name, value in job.parameters.items()}
        return settings_by_side[0], settings_by_side[1]
    # One side has values without names: compare only values that the other side lacks entirely.
    values = [Counter(job.parameters.values()) for job in (old, new)]
    extra_values = [values[0] - values[1], values[1] - values[0]]
    # Values without names come from Snakemake's records, which omit values that are not of
    # Python's built-in types, so extra values of the side with names do not show a difference.
    if any(extra for extra, is_unnamed in zip(extra_values, unnamed, strict=True) if is_unnamed):
        for settings, extra in zip(settings_by_side, extra_values, strict=True):
            if extra:
                settings[f"{job_name}: parameters"] = ", ".join(sorted(extra.elements()))
    return settings_by_side[0], settings_by_side[1]


def _flatten(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings, under dotted names."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flatten(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)
