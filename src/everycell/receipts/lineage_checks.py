"""Checks of the lineage of results: against itself, receipts, records of jobs and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from everycell.base.files import has_fingerprint, quoted
from everycell.receipts.intermediate import is_intermediate, links_of
from everycell.receipts.provenance import (
    MADE,
    NAME,
    JobRecord,
    lineage_of,
    read_lineage,
    upstream_jobs,
)
from everycell.receipts.receipts import is_own, is_released, readable_receipts
from everycell.receipts.uncovered import faults_of_uncovered_code


def files_without_jobs(results: Path) -> list[str]:
    """Files below `work/` that results depend on but whose jobs are not in `lineage.json`, sorted.

    If `everycell page` ran after the results were made, there are none.
    """
    return _files_without_jobs(results, read_lineage(results))


def _files_without_jobs(results: Path, jobs: Iterable[JobRecord]) -> list[str]:
    receipts = readable_receipts(results).values()
    used = {source["path"] for receipt in receipts for source in receipt["inputs"]}
    used |= {path for job in jobs for path in job.inputs}
    outputs = {path for job in jobs for path in job.outputs}
    return sorted(
        path
        for path in used
        # A job may have made a parent folder of the file.
        if path.startswith("work/")
        and outputs.isdisjoint({path, *map(str, PurePosixPath(path).parents)})
    )


def check_lineage(results: Path, project: Path, cache: str = "resources") -> list[str]:
    """Check `lineage.json` against itself, the receipts and existing files; return its faults.

    In the project, intermediate files are compared with the records of its jobs, which may be newer
    than `lineage.json`. Receipts that cannot be read, which `verify` reports, are skipped.
    """
    path, jobs = results / NAME, read_lineage(results)
    job_counts = Counter(output for job in jobs for output in job.outputs)
    faults = [
        f"{path} lists two jobs that made {output}; run `everycell page` in the project that made "
        "the results."
        for output, number in job_counts.items()
        if number > 1
    ]
    hash_of_file: dict[str, str] = {}
    for receipt in readable_receipts(results).values():
        hash_of_file |= {source["path"]: source["sha256"] for source in receipt["inputs"]}
    own = is_own(results, project)
    if own:
        newer = lineage_of(results, project, cache)
        faults += _faults_of_unrecorded_files(results, newer, project)
        faults += _differing_jobs(path, jobs, newer)
        jobs = [_without_intermediate_files(job) for job in jobs] + newer
    changed: dict[str, bool] = {}
    for job in jobs:
        statement = f"{path}: {job.outputs[0]} was made"
        faults += faults_of_uncovered_code(job.uncovered_code, statement, project)
        statements = {
            source: (digest, f"{job.rule} made {job.outputs[0]} from {source}")
            for source, digest in job.hashes.items()
        } | {
            output: (digest, f"{job.rule} made {output}")
            for output, digest in job.output_hashes.items()
        }
        for file, (digest, statement) in statements.items():
            if hash_of_file.setdefault(file, digest) != digest:
                faults.append(
                    f"{path}: {statement} with sha256 {digest[:12]}, but a receipt or another job "
                    f"has {hash_of_file[file][:12]}; run snakemake again in the project that made "
                    "the results."
                )
            elif Path(file).is_absolute() or (
                not own and (file.startswith("work/") or is_released(file, digest))
            ):
                continue
            else:
                if file not in changed:
                    local = project / file
                    changed[file] = local.exists() and not has_fingerprint(local, digest)
                if changed[file]:
                    advice = (
                        f"; remove {quoted(job.outputs[:1])} and run snakemake again" if own else ""
                    )
                    faults.append(
                        f"{path}: {statement}, but the file in this project differs{advice}."
                    )
    return list(dict.fromkeys(faults))


def _without_intermediate_files(job: JobRecord) -> JobRecord:
    external = {file: value for file, value in job.hashes.items() if not file.startswith(MADE)}
    return job.model_copy(update={"hashes": external, "output_hashes": {}})


def _faults_of_unrecorded_files(
    results: Path, jobs: Iterable[JobRecord], project: Path
) -> list[str]:
    """Faults of intermediate files without a record of their job or, from that job, their hash."""
    jobs = list(jobs)
    faults = {
        output: f"{output} has no record of its hash, which {job.rule} wrote"
        for job in jobs
        # Other jobs, such as those with shell commands, have no parameter `files`.
        if any(value.startswith("{'input': ") for value in job.parameters.values())
        for output in job.outputs
        if is_intermediate(output)
        and output not in job.output_hashes
        and not links_of(project / output)
    } | {
        file: f"{file}, from which results were made, has no record of its job"
        for file in _files_without_jobs(results, jobs)
    }
    removed = {file for file in faults if not (project / file).exists()}
    # Snakemake runs a job only if a file that it is asked for is missing.
    made_from = _files_behind(results, jobs, project) if faults else {}
    sentences = []
    for file, fault in faults.items():
        if file not in removed:
            names = [file, *(name for name, files in made_from.items() if file in files)]
            sentences.append(f"{fault}; remove {quoted(names)} and run snakemake again.")
    for name, files in made_from.items():
        missing = sorted(files & removed)
        if missing and name.endswith(".*"):
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            names = [other for other in made_from if other in files and made_from[other] & removed]
            sentences.append(
                f"{name[:-1]}receipt.json depends on {missing[0]}{more}, removed before `everycell "
                f"page` noted its job and hash in {NAME}; remove {quoted([*names, name])} and "
                "run snakemake again."
            )
    return sentences


def _files_behind(results: Path, jobs: Sequence[JobRecord], project: Path) -> dict[str, set[str]]:
    """Existing intermediate files, and results as ``STEM.*`` -> all files they were made from."""

    def behind(inputs: Iterable[str]) -> set[str]:
        files = set(inputs)
        for job in upstream_jobs(jobs, files):
            files.update(job.inputs, job.outputs)
        return files

    made_from = {
        output: behind(job.inputs)
        for job in jobs
        for output in job.outputs
        if is_intermediate(output) and (project / output).exists()
    }
    for path, receipt in readable_receipts(results).items():
        stem = str(path).removesuffix(".receipt.json")
        made_from[f"{stem}.*"] = behind(file["path"] for file in receipt["inputs"])
    return made_from


def _differing_jobs(path: Path, jobs: Iterable[JobRecord], newer: Iterable[JobRecord]) -> list[str]:
    """Faults of jobs in a project's `lineage.json` that are not those that it records."""
    recorded = {job.outputs: job for job in newer}
    faults = []
    for job in jobs:
        other = recorded.get(job.outputs, job)
        is_named = not any("#1" in parameters for parameters in (job.parameters, other.parameters))
        if (job.rule, job.inputs) != (other.rule, other.inputs) or (
            is_named and job.parameters != other.parameters
        ):
            faults.append(
                f"{path} differs from the records of the job that made {job.outputs[0]}; update it "
                "with `everycell page`."
            )
    return faults
