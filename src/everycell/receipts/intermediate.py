"""Hashes of intermediate files: each job records what it made, and checks what it reads.

A record is a JSON file for each output below `work/`, in `work/.hashes`, so that it moves with the
folder. It is removed before the job runs and written after the outputs are complete. Results have
receipts instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError

from everycell.base.files import file_hashes, folder_fingerprint, write_json
from everycell.base.untrusted import parse_json, text_of

#: Folder of intermediate files, and the folder in it with their records.
WORK, RECORDS = "work", "work/.hashes"


class OutputRecord(BaseModel):
    """Record of an output: its hash, those of a folder's files, and what its job ran with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    sha256: str
    files: dict[str, str] = {}
    inputs: dict[str, str]
    #: As in the log of the job, which may be gone or that of another run.
    parameters: dict[str, str] = {}
    uncovered_code: dict[str, str] = {}

    def hash_of(self, below: str) -> str | None:
        """Hash of the output, or of a file or folder below it."""
        if below in ("", "."):
            return self.sha256
        if below in self.files:
            return self.files[below]
        files = {
            name.removeprefix(f"{below}/"): digest
            for name, digest in self.files.items()
            if name.startswith(f"{below}/")
        }
        return folder_fingerprint(files) if files else None


def record_path(output: str | Path, root: Path = Path()) -> Path:
    """Path of the record of an output below `work/`."""
    return root / RECORDS / f"{PurePosixPath(output).relative_to(WORK)}.json"


def is_intermediate(path: str | Path) -> bool:
    """Whether a path, relative to the project, is that of an intermediate file."""
    parts = PurePosixPath(path).parts
    return len(parts) > 1 and parts[0] == WORK and ".." not in parts


def remove_record(output: str | Path) -> None:
    """Remove the record of an output, or whatever is in its place or in that of its folder."""
    path = record_path(output)
    for folder in reversed(path.parents):
        if folder.is_relative_to(RECORDS) and not folder.is_dir():
            folder.unlink(missing_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_record(
    output: Path,
    inputs: Mapping[Path, str],
    parameters: Mapping[str, str] | None = None,
    uncovered_code: Mapping[str, str] | None = None,
) -> None:
    """Record the hash of an output, which is complete, and the inputs and parameters of its job."""
    hashes = file_hashes(output)
    sources = {source.as_posix(): digest for source, digest in sorted(inputs.items())}
    is_folder = output.is_dir()
    record = OutputRecord(
        sha256=folder_fingerprint(hashes) if is_folder else hashes[""],
        files=hashes if is_folder else {},
        inputs=sources,
        parameters=dict(parameters or {}),
        uncovered_code=dict(uncovered_code or {}),
    )
    write_json(record_path(output), record.model_dump(exclude_defaults=True))


def read_record(output: str | Path, root: Path = Path()) -> OutputRecord | None:
    """Record of an output; None if there is none, or if it is damaged."""
    try:
        return OutputRecord.model_validate(parse_json(text_of(record_path(output, root))))
    except (OSError, ValueError, ValidationError):
        return None


def recorded_job(outputs: Iterable[str], root: Path) -> OutputRecord:
    """Record of a job: `files` has its outputs and the files in them.

    An output that is a link, or a folder of links, may come from Snakemake's output cache. Its
    record may be that of an earlier job, and does not count.
    """
    job = OutputRecord(sha256="", inputs={})
    for output in filter(is_intermediate, sorted(outputs)):
        record = None if links_of(root / output) else read_record(output, root)
        if record is not None:
            files = {f"{output}/{name}": digest for name, digest in record.files.items()}
            job = OutputRecord(
                sha256="",
                files=job.files | {output: record.sha256} | files,
                inputs=job.inputs | record.inputs,
                parameters=job.parameters | record.parameters,
                uncovered_code=job.uncovered_code | record.uncovered_code,
            )
    return job


def expected_hash(path: Path) -> tuple[str, Path] | None:
    """Hash of an input that the job that made it recorded, with the file that has it."""
    if path.parts[:1] == ("results",):
        return _hash_in_receipt(path)
    if not is_intermediate(path):
        return None
    for output in (path, *path.parents[:-2]):
        # A record is that of the last job that ran here; none runs if the cache has the output.
        if not is_from_cache(output) and (record := read_record(output)) is not None:
            digest = record.hash_of(path.relative_to(output).as_posix())
            return None if digest is None else (digest, record_path(output))
    return None


def is_from_cache(output: Path) -> bool:
    """Whether an output is a link, or a folder of links, into Snakemake's output cache."""
    cache = os.environ.get("SNAKEMAKE_OUTPUT_CACHE")
    return cache is not None and any(
        link.resolve().is_relative_to(Path(cache).resolve()) for link in links_of(output)
    )


def links_of(output: Path) -> list[Path]:
    """Links among an output and the entries of its folder."""
    entries = [output, *output.iterdir()] if output.is_dir() else [output]
    return [entry for entry in entries if entry.is_symlink()]


def _hash_in_receipt(path: Path) -> tuple[str, Path] | None:
    receipt = path.with_name(f"{path.name.partition('.')[0]}.receipt.json")
    try:
        outputs = parse_json(text_of(receipt))["outputs"]
        digests = {output["path"]: output["sha256"] for output in outputs}
        return digests[path.name], receipt
    except (OSError, ValueError, KeyError, TypeError):
        return None
