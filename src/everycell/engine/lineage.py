"""Lineage: the jobs behind the results, from fetched files through trained models to tables."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.engine.files import has_fingerprint, sha256
from everycell.engine.receipts import (
    ReceiptError,
    content_hash,
    read_receipt,
    receipts_in,
    write_json,
)
from everycell.engine.registry import load_registry
from everycell.engine.untrusted import parse_json, text_of
from everycell.engine.validation import describe_fault
from everycell.engine.verification import is_own, is_released

NAME = "lineage.json"
#: Folders of files that the workflow makes; everything else that a job reads came from outside.
MADE = ("work/", "results/")
#: File size, in bytes, from which hashes are cached for the next time the lineage is written.
LARGE = 1 << 24


class JobRecord(BaseModel):
    """A job of the workflow.

    `hashes` has the files that no job made. Snakemake's records have no names of parameters, so
    these come from the job's log; if that is gone, they are "#1", "#2" and so on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    rule: str
    outputs: Annotated[tuple[str, ...], Field(min_length=1)]
    inputs: tuple[str, ...]
    parameters: dict[str, str]
    hashes: dict[str, str] = {}


class _Lineage(BaseModel):
    jobs: list[JobRecord]
    content_sha256: str


def snakemake_jobs(project: Path, cache: str = "resources") -> list[JobRecord]:
    """Jobs recorded by Snakemake in a project folder; empty if it never ran.

    A record is a JSON file for each output, named by the output's path in base 64, in pieces if it
    is long. Unfinished records are skipped.
    """
    folder = project / ".snakemake" / "metadata"
    outputs: dict[tuple, list[str]] = {}
    # Job -> its end, and hashes that Snakemake computed of small inputs then.
    ends: dict[tuple, float] = {}
    checksums: dict[tuple, dict[str, str]] = {}
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        pieces = [part.removeprefix("@") for part in path.relative_to(folder).parts]
        try:
            output = urlsafe_b64decode("".join(pieces)).decode()
            record = parse_json(text_of(path))
            # A log belongs to only one job.
            parts = (tuple(sorted(record[key])) for key in ("input", "params", "log"))
            job = (record["rule"], *parts)
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
    records = [
        JobRecord(
            rule=job[0],
            outputs=sorted(names),
            inputs=job[1],
            parameters=_parameters_by_name(job[2], [project / log for log in job[3]]),
            hashes=hashes.of(job[1], checksums[job], ends[job]),
        )
        for job, names in sorted(outputs.items())
    ]
    hashes.keep()
    return records


class _Hashes:
    """Hashes of the files that jobs read but the workflow does not make, with minimal reading.

    A released file with a single accepted content is not read: each job checks the hashes of
    fetched files before it uses them. Hashes of large files are cached in `.snakemake`.
    """

    def __init__(self, project: Path, cache: str) -> None:
        self.project = project
        self.cache = Path(cache)
        self.registry = load_registry()
        self.memory = project / ".snakemake" / "everycell.hashes.json"
        try:
            known = parse_json(text_of(self.memory))
        except (OSError, ValueError):
            known = {}
        self.known: dict[str, Any] = known if isinstance(known, dict) else {}
        self.kept = dict(self.known)
        self.read: dict[str, str] = {}

    def of(self, inputs: Iterable[str], checksums: Mapping[str, str], end: float) -> dict[str, str]:
        """Hashes of a job's inputs: from `checksums`, otherwise of files not newer than `end`."""
        hashes: dict[str, str] = {}
        for source in inputs:
            if source.startswith(MADE):
                continue
            local = self.project / source
            if digest := checksums.get(source) or self._registered(source):
                hashes[source] = digest
            elif local.is_dir():
                below = sorted(path for path in local.rglob("*") if path.is_file())
                names = [f"{source}/{path.relative_to(local).as_posix()}" for path in below]
                hashes |= {name: digest for name in names if (digest := self._now(name, end))}
            elif digest := self._now(source, end):
                hashes[source] = digest
        return dict(sorted(hashes.items()))

    def _registered(self, source: str) -> str | None:
        path = Path(source)
        key = path.relative_to(self.cache).as_posix() if path.is_relative_to(self.cache) else ""
        entry = self.registry.files.get(key)
        # An archive whose content hash is unknown beforehand may hold another content.
        sure = entry and (entry.origin is None or entry.origin.content is not None)
        return entry.contents[0] if entry and sure and len(entry.contents) == 1 else None

    def _now(self, source: str, end: float) -> str | None:
        path = self.project / source
        try:
            state = path.stat()
            if state.st_mtime > end:
                return None
            if source not in self.read:
                self.read[source] = self._read(source, path, [state.st_size, state.st_mtime_ns])
        except OSError:
            return None
        return self.read[source]

    def _read(self, source: str, path: Path, state: list[int]) -> str:
        if state[0] < LARGE:
            return sha256(path)
        known = self.known.get(source)
        same = isinstance(known, list) and known[:-1] == state
        digest: str = known[-1] if same else sha256(path)
        self.kept[source] = [*state, digest]
        return digest

    def keep(self) -> None:
        """Cache hashes of large files for the next time."""
        if self.kept != self.known:
            write_json(self.memory, self.kept)


def _parameters_by_name(values: tuple[str, ...], logs: Iterable[Path]) -> dict[str, str]:
    """Values with the names from a log, if it is the log of this run."""
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


def upstream(jobs: Iterable[JobRecord], files: Iterable[str]) -> list[JobRecord]:
    """Jobs that made files, directly or indirectly, in the order of `jobs`."""
    jobs = list(jobs)
    maker = {path: index for index, job in enumerate(jobs) for path in job.outputs}
    indices: set[int] = set()
    waiting = list(files)
    while waiting:
        # The file itself, or a folder around it that a job made.
        path = waiting.pop()
        index = maker.get(path)
        if index is None:
            folders = map(str, PurePosixPath(path).parents)
            index = next((maker[folder] for folder in folders if folder in maker), None)
        if index is not None and index not in indices:
            indices.add(index)
            waiting.extend(jobs[index].inputs)
    return [jobs[index] for index in sorted(indices)]


def write_lineage(results: Path, project: Path, cache: str = "resources") -> Path:
    """Write the jobs behind all receipts of a results folder to `lineage.json` in it.

    A receipt that cannot be read is skipped: `everycell verify` names it. Records of an earlier run
    that Snakemake no longer has are kept.
    """
    path = results / NAME
    jobs = lineage_of(results, project, cache)
    write_jobs(path, [job.model_dump(mode="json") for job in jobs])
    return path


def write_jobs(path: Path, jobs: list[dict[str, Any]]) -> None:
    """Write jobs with the hash by which `read_lineage` finds an edit."""
    write_json(path, {"jobs": jobs, "content_sha256": content_hash({"jobs": jobs})})


def lineage_of(results: Path, project: Path, cache: str = "resources") -> list[JobRecord]:
    """Jobs behind all receipts of a results folder, as `write_lineage` writes them.

    Examples
    --------
    >>> import tempfile
    >>> lineage_of(Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp()))
    []
    """
    jobs = snakemake_jobs(project, cache)
    known = {path for job in jobs for path in job.outputs}
    jobs += [job for job in read_lineage(results) if not known & set(job.outputs)]
    inputs: set[str] = set()
    for receipt in receipts_in(results):
        try:
            inputs |= {source["path"] for source in read_receipt(receipt)["inputs"]}
        except ReceiptError:
            continue
    return sorted(upstream(jobs, inputs), key=lambda job: job.outputs)


def without_jobs(results: Path) -> list[str]:
    """Files below `work/` behind a results folder that no job of its `lineage.json` made, sorted.

    It is empty if the page was made after the results; without a `lineage.json` it has all of them.
    """
    jobs = read_lineage(results)
    receipts = receipts_in(results)
    used = {source["path"] for path in receipts for source in read_receipt(path)["inputs"]}
    used |= {path for job in jobs for path in job.inputs}
    outputs = {path for job in jobs for path in job.outputs}
    return sorted(
        path
        for path in used
        # A job may make a folder from which another reads files.
        if path.startswith("work/")
        and outputs.isdisjoint({path, *map(str, PurePosixPath(path).parents)})
    )


def contradictions(results: Path, project: Path) -> list[str]:
    """Check that `lineage.json` is consistent, also with receipts and existing files."""
    path, jobs = results / NAME, read_lineage(results)
    again = "`everycell page` in the project that made it writes it again"
    makers = Counter(output for job in jobs for output in job.outputs)
    faults = [
        f"{path}: says that two jobs made {output}; {again}."
        for output, number in makers.items()
        if number > 1
    ]
    read: dict[str, str] = {}
    for receipt in receipts_in(results):
        read |= {source["path"]: source["sha256"] for source in read_receipt(receipt)["inputs"]}
    own = is_own(results, project)
    changed: dict[str, bool] = {}
    for job in jobs:
        for source, digest in job.hashes.items():
            at = f"{path}: says that {job.rule} made {job.outputs[0]} from {source}"
            if read.setdefault(source, digest) != digest:
                faults.append(
                    f"{at} with sha256 {digest[:12]}, and a receipt or another job has "
                    f"{read[source][:12]}; run snakemake again where it was made."
                )
            elif Path(source).is_absolute() or (not own and is_released(source, digest)):
                continue
            else:
                if source not in changed:
                    local = project / source
                    changed[source] = local.exists() and not has_fingerprint(local, digest)
                if changed[source]:
                    advice = f"remove {job.outputs[0]} and run snakemake again"
                    advice = advice if own else "it was made from another one"
                    faults.append(f"{at}, which has other bytes here; {advice}.")
    return faults


def read_lineage(results: Path) -> list[JobRecord]:
    """Jobs behind a results folder; empty if nothing was written."""
    path = results / NAME
    if not path.exists():
        return []
    try:
        content = parse_json(text_of(path))
        lineage = _Lineage.model_validate(content)
        if content_hash(content) == lineage.content_sha256:
            return lineage.jobs
        what = "it was edited after it was written"
    except ValidationError as error:
        what = describe_fault(_Lineage, error).rstrip(".")
    except (OSError, ValueError) as error:
        what = str(error)
    raise ReceiptError(
        f"{path}: holds no list of jobs ({what}); remove it, and `everycell page` writes it again."
    )
