"""Lineage of results: the jobs that made them, from fetched files to tables."""

from __future__ import annotations

import itertools
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.base.files import sha256, write_json
from everycell.base.untrusted import parse_json, text_of
from everycell.base.validation import describe_fault
from everycell.receipts.intermediate import recorded_job
from everycell.receipts.receipts import (
    ReceiptError,
    content_hash,
    is_own,
    readable_receipts,
)
from everycell.records.registry import load_registry

NAME = "lineage.json"
#: Folders of files that the workflow makes; all other inputs are external.
MADE = ("work/", "results/")
#: Smallest size, in bytes, of files whose hashes are cached.
LARGE = 1 << 24


class JobRecord(BaseModel):
    """A job of the workflow.

    `hashes` maps its inputs to their hashes, and `output_hashes` its outputs below `work/` and the
    files in them; `uncovered_code` is as in a receipt. Parameters come from the record of an
    output. Snakemake's records, which `snakemake --touch` rewrites, lack their names; without a
    record of the output, these come from the job's log, or are "#1", "#2" and so on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    rule: str
    outputs: Annotated[tuple[str, ...], Field(min_length=1)]
    inputs: tuple[str, ...]
    parameters: dict[str, str]
    hashes: dict[str, str] = {}
    output_hashes: dict[str, str] = {}
    uncovered_code: dict[str, str] = {}


class _Lineage(BaseModel):
    jobs: list[JobRecord]
    content_sha256: str


def snakemake_jobs(project: Path, cache: str = "resources") -> list[JobRecord]:
    """Jobs recorded by Snakemake in a project folder; empty if it never ran.

    Each output has a JSON file, whose name is the output's path in base 64; a long name is split
    into folders. Records of incomplete jobs are skipped.
    """
    outputs: dict[tuple, list[str]] = {}
    # End of each job, and Snakemake's hashes of its small inputs.
    ends: dict[tuple, float] = {}
    checksums: dict[tuple, dict[str, str]] = {}
    for output, path in _snakemake_records(project).items():
        try:
            record = parse_json(text_of(path))
            # Each log belongs to one job.
            parts = [tuple(sorted(record[key])) for key in ("input", "params", "log")]
            job = (record["rule"], *parts)
            if not all(isinstance(text, str) for text in (job[0], *itertools.chain(*parts))):
                continue
            end = float(record.get("endtime") or 0)
            sums = {
                source: digest.removeprefix("sha256:")
                for source, digest in (record.get("input_checksums") or {}).items()
                if digest.startswith("sha256:")
            }
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if not record.get("incomplete"):
            outputs.setdefault(job, []).append(output)
            ends[job] = max(end, ends.get(job, 0))
            checksums.setdefault(job, {}).update(sums)
    hashes = _Hashes(project, cache)
    records = []
    for job, names in sorted(outputs.items()):
        own = recorded_job(names, project)
        records.append(
            JobRecord(
                rule=job[0],
                outputs=sorted(names),
                inputs=job[1],
                parameters=own.parameters
                or _parameters_by_name(job[2], [project / log for log in job[3]]),
                hashes=hashes.of(job[1], checksums[job], ends[job]) | own.inputs,
                output_hashes=own.files,
                uncovered_code=own.uncovered_code,
            )
        )
    hashes.save()
    return records


def _snakemake_records(project: Path) -> dict[str, Path]:
    """Snakemake's record of each output."""
    folder = project / ".snakemake" / "metadata"
    records = {}
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        pieces = [part.removeprefix("@") for part in path.relative_to(folder).parts]
        try:
            records[urlsafe_b64decode("".join(pieces)).decode()] = path
        except ValueError:
            continue
    return records


def job_finder(results: Path, project: Path) -> Callable[[str], list[str] | None]:
    """Return a function that finds the inputs of the job that made a file, if it is recorded.

    For results of the project, Snakemake's records come first; `lineage.json` is written last.
    """
    has_records = is_own(results, project)

    @cache
    def jobs() -> dict[str, list[str]]:
        return {output: list(job.inputs) for job in read_lineage(results) for output in job.outputs}

    def find(path: str) -> list[str] | None:
        # A job may have made the file itself or one of its parent folders.
        names = (path, *map(str, PurePosixPath(path).parents))
        for name in names if has_records else ():
            try:
                record = parse_json(text_of(_snakemake_record(project, name)))
                if not record.get("incomplete"):
                    return list(record["input"])
            except (KeyError, ValueError, TypeError, AttributeError, OSError):
                continue
        return next((jobs()[name] for name in names if name in jobs()), None)

    return find


def _snakemake_record(project: Path, output: str) -> Path:
    """Path of Snakemake's record of an output; a long name is split into folders."""
    folder = project / ".snakemake" / "metadata"
    longest = os.pathconf(folder, "PC_NAME_MAX") - 1
    name = urlsafe_b64encode(output.encode()).decode()
    pieces = [name[start : start + longest] for start in range(0, len(name), longest)]
    return folder.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1])


class _Hashes:
    """Hashes of external inputs, computed only if necessary.

    Released files with a single accepted hash are not read, since each job checks them. Hashes of
    large files are cached in `.snakemake`.
    """

    def __init__(self, project: Path, cache: str) -> None:
        self.project = project
        self.cache = Path(cache)
        self.registry = load_registry()
        self.cache_file = project / ".snakemake" / "everycell.hashes.json"
        try:
            cached = parse_json(text_of(self.cache_file))
        except (OSError, ValueError):
            cached = {}
        self.cached: dict[str, Any] = cached if isinstance(cached, dict) else {}
        self.updated_cache = dict(self.cached)
        self.computed: dict[str, str] = {}

    def of(self, inputs: Iterable[str], checksums: Mapping[str, str], end: float) -> dict[str, str]:
        """Hashes of a job's external inputs, except for files that changed after its `end`."""
        hashes: dict[str, str] = {}
        for source in inputs:
            if source.startswith(MADE):
                continue
            local = self.project / source
            if digest := checksums.get(source) or self._registered_hash(source):
                hashes[source] = digest
            elif local.is_dir():
                files = sorted(path for path in local.rglob("*") if path.is_file())
                names = [f"{source}/{path.relative_to(local).as_posix()}" for path in files]
                hashes |= {name: digest for name in names if (digest := self._hash(name, end))}
            elif digest := self._hash(source, end):
                hashes[source] = digest
        return dict(sorted(hashes.items()))

    def _registered_hash(self, source: str) -> str | None:
        path = Path(source)
        key = path.relative_to(self.cache).as_posix() if path.is_relative_to(self.cache) else ""
        entry = self.registry.files.get(key)
        if entry is None or len(entry.contents) != 1:
            return None
        # The registry has no content hash for some archives.
        has_content_hash = entry.origin is None or entry.origin.content is not None
        return entry.contents[0] if has_content_hash else None

    def _hash(self, source: str, end: float) -> str | None:
        """Hash of a file; None if it changed after `end` or cannot be read."""
        path = self.project / source
        try:
            state = path.stat()
            if state.st_mtime > end:
                return None
            if source not in self.computed:
                self.computed[source] = self._compute(
                    source, path, [state.st_size, state.st_mtime_ns]
                )
        except OSError:
            return None
        return self.computed[source]

    def _compute(self, source: str, path: Path, state: list[int]) -> str:
        if state[0] < LARGE:
            return sha256(path)
        cached = self.cached.get(source)
        is_valid = isinstance(cached, list) and cached[:-1] == state
        digest: str = cached[-1] if is_valid else sha256(path)
        self.updated_cache[source] = [*state, digest]
        return digest

    def save(self) -> None:
        """Write the cache of hashes if it changed."""
        if self.updated_cache != self.cached:
            write_json(self.cache_file, self.updated_cache)


def _parameters_by_name(values: tuple[str, ...], logs: Iterable[Path]) -> dict[str, str]:
    """Parameters by name, from the log of the same run; otherwise "#1", "#2" and so on."""
    for log in logs:
        try:
            last = text_of(log).rstrip("\n").rpartition("\n")[2]
            parameters = parse_json(last)["parameters"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        # Snakemake's records omit values that are not of Python's built-in types.
        if not Counter(values) - Counter(parameters.values()):
            return parameters
    return {f"#{number}": value for number, value in enumerate(values, 1)}


def upstream_jobs(jobs: Iterable[JobRecord], files: Iterable[str]) -> list[JobRecord]:
    """Jobs that made files, directly or indirectly, in the order of `jobs`."""
    jobs = list(jobs)
    maker = {path: index for index, job in enumerate(jobs) for path in job.outputs}
    indices: set[int] = set()
    pending = list(files)
    while pending:
        # A job may have made the file itself or one of its parent folders.
        path = pending.pop()
        index = maker.get(path)
        if index is None:
            folders = map(str, PurePosixPath(path).parents)
            index = next((maker[folder] for folder in folders if folder in maker), None)
        if index is not None and index not in indices:
            indices.add(index)
            pending.extend(jobs[index].inputs)
    return [jobs[index] for index in sorted(indices)]


def write_lineage(results: Path, project: Path, cache: str = "resources") -> Path:
    """Write the jobs that made the results of a folder to its `lineage.json`.

    Jobs that Snakemake no longer records are kept. Unreadable receipts are skipped;
    `everycell verify` reports them.
    """
    path = results / NAME
    jobs = lineage_of(results, project, cache)
    write_jobs(path, [job.model_dump(mode="json") for job in jobs])
    return path


def write_jobs(path: Path, jobs: list[dict[str, Any]]) -> None:
    """Write jobs with a hash, by which `read_lineage` detects edits."""
    write_json(path, {"jobs": jobs, "content_sha256": content_hash({"jobs": jobs})})


def lineage_of(results: Path, project: Path, cache: str = "resources") -> list[JobRecord]:
    """Jobs that made the results of a folder, including those in its `lineage.json`."""
    jobs = snakemake_jobs(project, cache)
    recorded = {path for job in jobs for path in job.outputs}
    earlier = {job.outputs: job for job in read_lineage(results)}
    # The records of intermediate files that were removed are gone with them.
    jobs = [
        job.model_copy(update={"output_hashes": earlier[job.outputs].output_hashes})
        if job.outputs in earlier and not any((project / path).exists() for path in job.outputs)
        else job
        for job in jobs
    ]
    jobs += [job for job in earlier.values() if not recorded & set(job.outputs)]
    inputs: set[str] = set()
    for receipt in readable_receipts(results).values():
        inputs |= {source["path"] for source in receipt["inputs"]}
    return sorted(upstream_jobs(jobs, inputs), key=lambda job: job.outputs)


def read_lineage(results: Path) -> list[JobRecord]:
    """Jobs in the `lineage.json` of a results folder; empty if it does not exist."""
    path = results / NAME
    # A broken link does not count as a missing file.
    if not os.path.lexists(path):
        return []
    try:
        content = parse_json(text_of(path))
        lineage = _Lineage.model_validate(content)
        if content_hash(content) == lineage.content_sha256:
            return lineage.jobs
        reason = "it was edited after it was written"
    except ValidationError as error:
        reason = describe_fault(_Lineage, error).rstrip(".")
    except (OSError, ValueError) as error:
        reason = str(error)
    raise ReceiptError(
        f"{path} is not a valid list of jobs ({reason}); remove it and run `everycell page`."
    )
