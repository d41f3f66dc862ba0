"""Results on disk: reports of all artefacts in the tiers that their records declare."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pandas as pd

import everycell
from everycell.base.csv_files import read_text_columns
from everycell.base.files import quoted, sha256, write_json
from everycell.receipts.code import code_sha256, imported_files
from everycell.receipts.receipts import ReceiptError, read_receipt, verify
from everycell.records.cells import RecordError, plain_minus
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.records.tables import RUNNABLE, split_supplement_name
from everycell.verdicts.audits import FindAudits
from everycell.verdicts.cells import sources_of
from everycell.verdicts.claims import FindTable
from everycell.verdicts.reports import Report, Result, read_report
from everycell.verdicts.verdicts import NO_AUDITS, judge_errata, report

#: Files of a result; the first two are required.
SUFFIXES = (".csv", ".receipt.json", ".verdicts.json")


def stem_of(artefact: Artefact, tier: Tier, results: Path) -> Path:
    """Path of a result without its suffix."""
    return results / tier / artefact.paper / artefact.name


def read_result(path: Path) -> pd.DataFrame:
    """Read a reproduced table as text, so that "1.10", "132_1" and "None" do not change."""
    try:
        table = read_text_columns(path)
        return table.assign(value=table["value"].map(plain_minus)) if "value" in table else table
    except (ValueError, csv.Error) as error:
        raise ValueError(
            f"{path} cannot be read as CSV ({error}); remove it and run snakemake again."
        ) from None


def files_of(receipt: Path) -> list[str]:
    """Names of the output files of a receipt."""
    return [output["path"] for output in read_receipt(receipt)["outputs"]]


def find_supplements(artefact: Artefact, tier: Tier, results: Path, root: Path) -> FindTable:
    """Return a function that reads supplementary tables of an artefact or others of its paper."""

    @cache  # Several claims may read the same table.
    def find(name: str) -> pd.DataFrame | None:
        owner, suffix = split_supplement_name(name)
        stem = owner or artefact.name
        receipt = results / tier / artefact.paper / f"{stem}.receipt.json"
        path = receipt.with_name(f"{stem}.{suffix}.csv" if suffix else f"{stem}.csv")
        if not receipt.exists() or path.name not in files_of(receipt):
            return None
        # The artefact's own receipt was already verified.
        for fault in verify(receipt, root, results) if owner else ():
            raise ReceiptError(fault)
        return read_result(path)

    return find


#: Name of the data of a full-tier table without verdicts; the job of the verdicts identifies data.
UNIDENTIFIED = "data that were not identified, since the verdicts are missing"


@cache
def _judging_code() -> str:
    """Hash of the code that computes reports."""
    source = Path(everycell.__file__).parents[1]
    return code_sha256(imported_files(source / "everycell/verdicts/verdicts.py", [source]), source)


def seal_of(report: Report, artefact: Artefact, results: Path) -> str:
    """Hash of a report and of the record, cells, tables and code that it was computed from.

    A report with a valid seal need not be recomputed. The hash does not include audits.
    """
    stem, record = stem_of(artefact, report.tier, results), artefact.record
    tables = [stem.with_name(f"{stem.name}.csv"), artefact.cells_path]
    for name in sorted(record.tables_read(report.tier)):
        owner, suffix = split_supplement_name(name)
        tables.append(stem.with_name(".".join(filter(None, (owner or stem.name, suffix, "csv")))))
    receipt = read_receipt(stem.with_name(f"{stem.name}.receipt.json"))
    content = {
        "code": _judging_code(),
        "record": record.model_dump(),
        "tables": [sha256(path) if path.exists() else None for path in tables],
        "files": [receipt["inputs"], receipt["outputs"]],
        "report": report.model_dump(exclude={"seal"}),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write_report(path: Path, report: Report, artefact: Artefact, results: Path) -> None:
    """Write a verdict file with its seal."""
    seal = seal_of(report, artefact, results)
    write_json(path, report.model_copy(update={"seal": seal}).model_dump())


def _sealed_report(path: Path, artefact: Artefact, tier: Tier, results: Path) -> Report | None:
    """Read a verdict file; None if it is not the report of this result or its seal is invalid."""
    try:
        stored = read_report(path)
        if (stored.artefact, stored.tier) != (artefact.id, tier):
            return None
        if stored.seal != seal_of(stored, artefact, results):
            return None
        return stored if tier == "full" or not (stored.foreign or stored.notes) else None
    except (OSError, ValueError, ReceiptError):
        return None


def result_of(
    artefact: Artefact, tier: Tier, results: Path, root: Path, *, audits: FindAudits | None
) -> Result:
    """Result of an artefact in a tier, checked against its receipt and record.

    Without `audits`, a report with a valid seal is returned without further checks of the files
    behind it, which are left to `everycell verify`.
    """
    chapter_audits = NO_AUDITS if audits is None else audits(artefact.paper, artefact.chapter)
    judged_artefact = _without_audits(artefact) if audits is None else artefact
    stem = stem_of(artefact, tier, results)
    table, receipt, verdicts = (stem.with_name(stem.name + suffix) for suffix in SUFFIXES)

    def without_values(*faults: str) -> Result:
        return Result(artefact, tier, report(judged_artefact, tier, audits=chapter_audits), faults)

    if artefact.record.tiers[tier].state not in RUNNABLE or not any(
        path.exists() for path in (table, receipt, verdicts)
    ):
        return without_values()
    sealed = _sealed_report(verdicts, artefact, tier, results)
    if sealed and audits is None:
        return Result(artefact, tier, sealed)
    remedy = f"remove {quoted([f'{stem}.*'])} and run snakemake again"
    for path in (table, receipt):
        if not path.exists():
            return without_values(f"{path} is missing; {remedy}.")
    faults = verify(receipt, root, results)
    # A broken link does not count as a missing file.
    if os.path.lexists(verdicts) and not verdicts.is_file():
        faults.append(f"{verdicts} is not a file; remove it and run snakemake again.")
    if faults:
        return without_values(*faults)
    if sealed and sealed.errata == judge_errata(artefact, chapter_audits):
        return Result(artefact, tier, sealed)
    try:
        stored = read_report(verdicts) if verdicts.exists() else None
        recomputed = report(
            judged_artefact,
            tier,
            read_result(table),
            files=files_of(receipt),
            audits=chapter_audits,
            find_table=find_supplements(artefact, tier, results, root),
            foreign=(stored.foreign if stored else UNIDENTIFIED) if tier == "full" else "",
            sources=sources_of(receipt, results, root),
        )
    except (OSError, ValueError, RecordError, ReceiptError) as error:
        return without_values(
            f"{verdicts} cannot be checked ({error}); remove it and run snakemake again."
        )
    if stored is None:  # Only the table was requested.
        return Result(artefact, tier, recomputed)
    # `deviations` compares the notes of the full tier, and what is foreign, with the configuration.
    unchecked = {"seal", *(["notes"] if tier == "full" else [])}
    unchecked |= {"errata"} if audits is None else set()
    if stored != recomputed.model_copy(update={name: getattr(stored, name) for name in unchecked}):
        return without_values(
            f"{verdicts} does not match its record and table; remove it and run snakemake again."
        )
    return Result(artefact, tier, stored)


def _without_audits(artefact: Artefact) -> Artefact:
    errata = [erratum.model_copy(update={"audit": None}) for erratum in artefact.record.errata]
    record = artefact.record.model_copy(update={"errata": errata})
    return artefact.model_copy(update={"record": record})


def collect(
    papers: Mapping[str, Paper],
    results: Path,
    root: Path,
    *,
    include: Callable[[Artefact, Tier], bool] = lambda artefact, tier: True,
    audits: FindAudits | None,
) -> list[Result]:
    """Results of all artefacts in all tiers of their records, in the order of the records."""
    return [
        result_of(artefact, tier, results, root, audits=audits)
        for artefact in all_artefacts(papers)
        for tier in artefact.record.tiers
        if include(artefact, tier)
    ]
