"""Lineage: the jobs behind the results, from fetched files through trained models to tables.

A receipt names the files that its result was made from, and a run of a ranker says nothing of how
its model was trained. Snakemake keeps a record of each file that a job made; `lineage.json` beside
the results holds those on which some receipt rests, so that a copied folder still says with which
settings each of its numbers came about.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.config import describe_fault
from everycell.foreign import parse_json
from everycell.receipts import ReceiptError, read_receipt, write_json

NAME = "lineage.json"


class JobRecord(BaseModel):
    """A job of the workflow.

    Attributes
    ----------
    rule
        Name of its rule.
    outputs, inputs
        Paths as the workflow names them, sorted.
    parameters
        The rule's parameters: name to value as Python writes it. Snakemake's own records have no
        names, which are taken from the job's log; where that is gone, or of another run, the
        values stand under "#1", "#2" and so on.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    rule: str
    outputs: Annotated[tuple[str, ...], Field(min_length=1)]
    inputs: tuple[str, ...]
    parameters: dict[str, str]


class _Lineage(BaseModel):
    jobs: list[JobRecord]


def snakemake_jobs(project: Path) -> list[JobRecord]:
    """Jobs of which Snakemake keeps records in a project folder; none where it ran never.

    A record is a JSON file for each output, named by the output's path in base 64, in pieces if it
    is long. Records that were begun and never ended are passed over.

    Examples
    --------
    >>> import tempfile
    >>> snakemake_jobs(Path(tempfile.mkdtemp()))
    []
    """
    folder = project / ".snakemake" / "metadata"
    outputs: dict[tuple, list[str]] = {}
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        pieces = [part.removeprefix("@") for part in path.relative_to(folder).parts]
        try:
            made = urlsafe_b64decode("".join(pieces)).decode()
            record = parse_json(path.read_text(encoding="utf-8"))
            # A log belongs to one job alone.
            job = tuple(tuple(sorted(record[key])) for key in ("input", "params", "log"))
            rule = record["rule"]
        except (ValueError, KeyError, TypeError):
            continue
        if not record.get("incomplete"):
            outputs.setdefault((rule, *job), []).append(made)
    return [
        JobRecord(
            rule=rule,
            outputs=sorted(made),
            inputs=inputs,
            parameters=_named(values, [project / log for log in logs]),
        )
        for (rule, inputs, values, logs), made in sorted(outputs.items())
    ]


def _named(values: tuple[str, ...], logs: Iterable[Path]) -> dict[str, str]:
    """Values with the names that a log has for them, if it is the log of this run."""
    for log in logs:
        try:
            last = log.read_text(encoding="utf-8").rstrip("\n").rpartition("\n")[2]
            named = parse_json(last)["parameters"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        # Snakemake leaves out of its records what is not built of Python's own types.
        if not Counter(values) - Counter(named.values()):
            return named
    return {f"#{place}": value for place, value in enumerate(values, 1)}


def upstream(jobs: Iterable[JobRecord], files: Iterable[str]) -> list[JobRecord]:
    """Jobs that made files, or what these were made from, in the order of `jobs`.

    Examples
    --------
    >>> train = JobRecord(rule="train", outputs=["model"], inputs=["text"], parameters={})
    >>> rank = JobRecord(rule="rank", outputs=["run"], inputs=["model", "queries"], parameters={})
    >>> [job.rule for job in upstream([train, rank], ["run"])]
    ['train', 'rank']
    >>> upstream([train, rank], ["queries"])
    []
    """
    jobs = list(jobs)
    maker = {path: place for place, job in enumerate(jobs) for path in job.outputs}
    found: set[int] = set()
    waiting = list(files)
    while waiting:
        # The file itself, or the folder that a job made with it.
        path = waiting.pop()
        place = maker.get(path)
        if place is None:
            folders = map(str, PurePosixPath(path).parents)
            place = next((maker[folder] for folder in folders if folder in maker), None)
        if place is not None and place not in found:
            found.add(place)
            waiting.extend(jobs[place].inputs)
    return [jobs[place] for place in sorted(found)]


def write_lineage(results: Path, project: Path) -> Path:
    """Write the jobs behind all receipts of a results folder to `lineage.json` in it.

    A receipt that cannot be read is passed over: `everycell verify` names it. What an earlier run
    wrote and Snakemake no longer has a record of is kept.
    """
    jobs = snakemake_jobs(project)
    known = {path for job in jobs for path in job.outputs}
    jobs += [job for job in read_lineage(results) if not known & set(job.outputs)]
    inputs: set[str] = set()
    for receipt in sorted(results.rglob("*.receipt.json")):
        try:
            inputs |= {source["path"] for source in read_receipt(receipt)["inputs"]}
        except ReceiptError:
            continue
    path = results / NAME
    chosen = sorted(upstream(jobs, inputs), key=lambda job: job.outputs)
    write_json(path, {"jobs": [job.model_dump(mode="json") for job in chosen]})
    return path


def without_jobs(results: Path) -> list[str]:
    """Files below `work/` behind a results folder that no job of its `lineage.json` made, sorted.

    None lack where the page was made after the results; all do where there is no such file.

    Raises
    ------
    ReceiptError
        `lineage.json` or a receipt cannot be used.
    """
    jobs = read_lineage(results)
    receipts = sorted(results.rglob("*.receipt.json"))
    used = {source["path"] for path in receipts for source in read_receipt(path)["inputs"]}
    used |= {path for job in jobs for path in job.inputs}
    made = {path for job in jobs for path in job.outputs}
    return sorted(
        path
        for path in used
        # A job may make a folder of which another reads files.
        if path.startswith("work/")
        and made.isdisjoint({path, *map(str, PurePosixPath(path).parents)})
    )


def read_lineage(results: Path) -> list[JobRecord]:
    """Jobs behind a results folder; none where nothing was written.

    Raises
    ------
    ReceiptError
        `lineage.json` is there and cannot be used.
    """
    path = results / NAME
    if not path.is_file():
        return []
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        return _Lineage.model_validate(content).jobs
    except ValidationError as error:
        what = describe_fault(_Lineage, error).rstrip(".")
    except (OSError, ValueError) as error:
        what = str(error)
    raise ReceiptError(
        f"{path}: holds no list of jobs ({what}); remove it, and `everycell page` writes it again."
    )
