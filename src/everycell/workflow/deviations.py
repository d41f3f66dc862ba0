"""Results that were made with other parameters than those that their project gives them.

A profile, an option or a variable of Snakemake can change settings without a trace in the files of
a project, so each receipt and each job behind it is compared with what the project alone gives.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from everycell.base.files import has_fingerprint
from everycell.base.installation import requirement
from everycell.base.untrusted import parse_json, parse_literal, text_of
from everycell.config import read_config
from everycell.jobs.job import NO_SETTINGS, parameter_texts
from everycell.receipts.diff import Change, Notice, changes, flatten, shorten
from everycell.receipts.intermediate import read_record
from everycell.receipts.provenance import JobRecord, lineage_of, read_lineage
from everycell.receipts.receipts import ReceiptError, is_own, readable_receipts
from everycell.verdicts.reports import Report, read_report
from everycell.workflow.planned_jobs import planned_parameters

#: Reason why nothing is compared, and the remedy.
NO_SNAKEMAKE = f"Snakemake is not installed; run `pip install '{requirement()}'`"
NO_SNAKEFILE = "there is no Snakefile here"


#: Deviation of a file that other code made, whose other settings then say nothing.
OTHER_CODE = (Change(key="code", old=None, new=None),)
OTHER_CODE_TEXT = "made by code that differs from the code of this project"
RUN_AGAIN = "run snakemake again"
RUN_WITHOUT_OPTIONS = f"{RUN_AGAIN} without a profile, option or variable that changes settings"
#: Folders of the inputs that have the same path on all machines.
PROJECT_FILES = ("data/", "published/", "recorded/", "results/", "work/")
#: Settings of a deviation that are listed.
LISTED = 3


@dataclass
class Deviations:
    """Deviating files by what deviates, and files that could not be compared, by the reason."""

    #: Settings, with the value in the receipt and the project's -> results or intermediate files.
    files: dict[tuple[Change, ...], list[str]] = field(default_factory=dict)
    #: Files for which the project's settings are incomplete, or which no rule makes.
    not_made: dict[str, list[str]] = field(default_factory=dict)
    uncompared: dict[str, list[str]] = field(default_factory=dict)

    @property
    def notices(self) -> list[Notice]:
        """What to say about files whose parameters the project does not give."""
        notices = [
            Notice(
                files,
                OTHER_CODE_TEXT
                if settings == OTHER_CODE
                else f"made with {_values(settings, 'old')}, but this project gives "
                f"{_values(settings, 'new')}",
                # Code and display settings, which are in records, come from no option.
                RUN_AGAIN
                if settings == OTHER_CODE
                or all(change.key.startswith("face.") for change in settings)
                else RUN_WITHOUT_OPTIONS,
            )
            for settings, files in self.files.items()
        ]
        return notices + [
            Notice(
                files,
                f"this project does not give the parameters ({reason})",
                "name the file with its settings with --configfile, or remove the results",
                is_certain=False,
            )
            for reason, files in self.not_made.items()
        ]


def _values(settings: Sequence[Change], side: str) -> str:
    values = [f"{change.key} = {shorten(getattr(change, side))}" for change in settings[:LISTED]]
    more = f" and {len(settings) - LISTED} more" if len(settings) > LISTED else ""
    return ", ".join(values) + more


def find_deviations(results: Path, project: Path, overrides: Path | None = None) -> Deviations:
    """Compare the parameters of all results, and of the jobs behind them, with the project's.

    `overrides` is a configuration file with further settings, as of ``snakemake --configfile``.
    """
    receipts = {
        f"results/{path.relative_to(results).as_posix()}": receipt
        for path, receipt in readable_receipts(results).items()
    }
    deviations = Deviations()
    for reason, is_so in (
        (NO_SNAKEMAKE, find_spec("snakemake") is None),
        (NO_SNAKEFILE, not (project / "Snakefile").is_file()),
    ):
        if is_so:
            deviations.uncompared[reason] = list(receipts)
            return deviations
    jobs = {job.outputs[0]: job for job in _jobs(results, project)}
    # The code of results from elsewhere may be that of another version.
    compares_code = is_own(results, project)
    reports = _full_reports(results) if compares_code else {}
    rules = dict.fromkeys(receipts) | {path: job.rule for path, job in jobs.items()}
    rules |= dict.fromkeys(reports, "verdicts")
    for path, parameters in planned_parameters(project, rules, overrides).items():
        if isinstance(parameters, str):
            deviations.not_made.setdefault(parameters, []).append(path)
        elif different := (
            _changes_in_receipt(receipts[path], parameters, compares_code)
            if path in receipts
            else _changes_in_report(reports[path], parameters, project)
            if path in reports
            else _changes_in_job(jobs[path], parameters, compares_code)
        ):
            deviations.files.setdefault(different, []).append(path)
    return deviations


def _jobs(results: Path, project: Path) -> list[JobRecord]:
    """Recorded jobs behind the results of a folder."""
    try:
        if is_own(results, project):
            return lineage_of(results, project, read_config(project / "config.yaml").cache)
        return read_lineage(results)
    except ReceiptError:  # reported by `check_lineage`
        return []


def _changes_in_receipt(
    receipt: Mapping[str, Any], parameters: Mapping[str, Any], compares_code: bool
) -> tuple[Change, ...]:
    """Settings whose values in a receipt are not the planned ones; facts of a job are left out."""
    code = receipt["code"]
    if compares_code and (code.get("script"), code["sha256"]) != (
        parameters.get("script"),
        parameters.get("code"),
    ):
        return OTHER_CODE
    planned = {name: value for name, value in parameters.items() if name not in NO_SETTINGS}
    display_settings = planned.pop("faces", {})
    name = receipt["artefact"].rpartition("/")[2]
    if name in display_settings:
        planned["face"] = display_settings[name]
    planned = parse_json(json.dumps(planned))
    recorded = {name: value for name, value in receipt["parameters"].items() if name in planned}
    seeds = {"seed": receipt.get("seed")}, {"seed": planned.pop("seed", None)}
    recorded.pop("seed", None)
    return (
        *changes(*(dict(flatten(seed)) for seed in seeds)),
        *changes(
            dict(flatten(recorded))
            | _listed_inputs(source["path"] for source in receipt["inputs"]),
            dict(flatten(planned)) | _planned_inputs(parameters),
        ),
    )


def _changes_in_job(
    job: JobRecord, parameters: Mapping[str, Any], compares_code: bool
) -> tuple[Change, ...]:
    planned = parameter_texts(parameters)
    # Without its log, a job has no names of parameters, but their values are known.
    if any(name.startswith("#") for name in job.parameters):
        values = set(planned.values())
        return tuple(
            Change(key=name, old=value, new=None)
            for name, value in job.parameters.items()
            if value not in values
        )
    recorded = {name: value for name, value in job.parameters.items() if name in planned}
    if compares_code and any(
        recorded.get(name) != planned.get(name) for name in ("script", "code") if name in recorded
    ):
        return OTHER_CODE
    return changes(
        _settings(recorded) | _listed_inputs(job.inputs),
        _settings(planned) | _planned_inputs(parameters),
    )


def _full_reports(results: Path) -> dict[str, Report]:
    """Verdict files of the full tier, which have what no record and table say."""
    reports = {}
    for path in results.glob("full/*/*.verdicts.json"):
        with suppress(OSError, ValueError):  # reported with its result
            reports[f"results/{path.relative_to(results).as_posix()}"] = read_report(path)
    return reports


def _changes_in_report(
    report: Report, parameters: Mapping[str, Any], project: Path
) -> tuple[Change, ...]:
    """Notes, and differences of corpora, that are not those of the settings and the corpora."""
    recorded = {"notes": json.dumps(report.notes), "foreign": report.foreign}
    differences = []
    for path in parameters["files"]["input"].get("identities", []):
        record = read_record(path, project)
        if record is None or not has_fingerprint(project / path, record.sha256):
            return (Change(key=path, old="edited or removed", new="as its job wrote it"),)
        differences.append(parse_json(text_of(project / path))["difference"])
    foreign = "; ".join(filter(None, differences))
    return changes(recorded, {"notes": json.dumps(parameters["notes"]), "foreign": foreign})


def _settings(parameters: Mapping[str, str]) -> dict[str, str]:
    """Settings of a job, with an entry for each name of its files."""
    settings = {name: text for name, text in parameters.items() if name not in NO_SETTINGS}
    files = settings.pop("files", "{}")
    try:
        return settings | dict(flatten(parse_literal(files), "files"))
    except (TypeError, ValueError):  # an edited lineage
        return settings | {"files": files}


def _listed_inputs(paths: Iterable[str]) -> dict[str, str]:
    """Inputs that have the same path on all machines."""
    return {f"input {path}": "listed" for path in paths if path.startswith(PROJECT_FILES)}


def _planned_inputs(parameters: Mapping[str, Any]) -> dict[str, str]:
    files = parameters.get("files", {}).get("input", {})
    return _listed_inputs(path for paths in files.values() for path in paths)
