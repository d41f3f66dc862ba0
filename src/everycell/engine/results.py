"""Results found on disk: the report of every artefact in every tier that its card declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.audits import FindAudits
from everycell.engine.cards import RUNNABLE, table_beside
from everycell.engine.conclusions import FindTable
from everycell.engine.printed_cells import CardError
from everycell.engine.receipts import ReceiptError, read_receipt
from everycell.engine.reports import Report, read_report
from everycell.engine.text_files import check_regular
from everycell.engine.tiers import Tier
from everycell.engine.verdicts import NO_AUDITS, report
from everycell.engine.verification import verify

#: Files of a result; the first two are required.
SUFFIXES = (".csv", ".receipt.json", ".verdicts.json")


@dataclass(frozen=True)
class Result:
    """State of an artefact in a tier.

    Attributes
    ----------
    report
        From `everycell.engine.verdicts.report`; if there is no trustworthy result on disk, the
        report of an artefact that was not run.
    faults
        Why a result on disk is not trusted; empty if there is none, or it is fine.
    """

    artefact: Artefact
    tier: Tier
    report: Report
    faults: tuple[str, ...] = ()


def stem_of(artefact: Artefact, tier: Tier, results: Path) -> Path:
    """Path of a result without its suffix."""
    return results / tier / artefact.paper / artefact.name


def read_result(path: Path) -> pd.DataFrame:
    """Read a rebuilt table as text: a key "1.10" and values such as "132_1" or "None" are kept."""
    check_regular(path)
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except ValueError as error:  # of pandas, for each thing that can be wrong with a CSV
        raise ValueError(
            f"{path}: cannot be read as CSV ({error}); remove it and run snakemake again."
        ) from None


def files_of(receipt: Path) -> list[str]:
    """Names of the files that a receipt lists as made."""
    return [output["path"] for output in read_receipt(receipt)["outputs"]]


def tables_beside(artefact: Artefact, tier: Tier, results: Path, root: Path) -> FindTable:
    """Find the tables beside an artefact's result, or beside that of another of its paper."""

    @cache  # several conclusions read the same table
    def find(name: str) -> pd.DataFrame | None:
        owner, suffix = table_beside(name)
        stem = owner or artefact.name
        receipt = results / tier / artefact.paper / f"{stem}.receipt.json"
        path = receipt.with_name(f"{stem}.{suffix}.csv" if suffix else f"{stem}.csv")
        if not receipt.exists() or path.name not in files_of(receipt):
            return None
        # The receipt of the artefact itself was verified before.
        for fault in verify(receipt, root, results) if owner else ():
            raise ReceiptError(fault)
        return read_result(path)

    return find


#: What a table of the full tier is of before its verdict, which looks at the data.
UNIDENTIFIED = "data that are not identified before the verdicts are made"


def result_of(
    artefact: Artefact, tier: Tier, results: Path, root: Path, *, audits: FindAudits | None
) -> Result:
    """Report of one artefact in one tier, checked against its receipt and its card."""
    if audits is None:
        artefact, known = _without_audits(artefact), NO_AUDITS
    else:
        known = audits(artefact.paper, artefact.chapter)
    stem = stem_of(artefact, tier, results)
    files = {suffix: stem.with_name(stem.name + suffix) for suffix in SUFFIXES}

    def untrusted(*faults: str) -> Result:
        return Result(artefact, tier, report(artefact, tier, audits=known), faults)

    if artefact.card.tiers[tier].state not in RUNNABLE or not any(
        path.exists() for path in files.values()
    ):
        return untrusted()
    missing = [path for path in list(files.values())[:2] if not path.exists()]
    if missing:
        fault = (
            f"{missing[0]}: is missing beside its result; remove {stem}.* and run snakemake again."
        )
        return untrusted(fault)
    faults = verify(files[".receipt.json"], root, results)
    if faults:
        return untrusted(*faults)
    try:
        made = files[".verdicts.json"].exists()
        stored = read_report(files[".verdicts.json"]) if made else None
        again = report(
            artefact,
            tier,
            read_result(files[".csv"]),
            files=files_of(files[".receipt.json"]),
            audits=known,
            beside=tables_beside(artefact, tier, results, root),
            foreign=stored.foreign if stored else UNIDENTIFIED * (tier == "full"),
        )
        if stored is None:  # only the table was asked for
            return Result(artefact, tier, again)
        again = again.model_copy(update={"notes": stored.notes})
    except (ValueError, CardError, ReceiptError) as error:
        fault = (
            f"{files['.verdicts.json']}: cannot be used ({error}); remove it and run snakemake "
            "again."
        )
        return untrusted(fault)
    if audits is None:
        again = again.model_copy(update={"errata": stored.errata})
    if stored != again:
        fault = (
            f"{files['.verdicts.json']}: is not what its card and its table give now; remove "
            "it and run snakemake again."
        )
        return untrusted(fault)
    return Result(artefact, tier, stored)


def _without_audits(artefact: Artefact) -> Artefact:
    errata = [erratum.model_copy(update={"audit": None}) for erratum in artefact.card.errata]
    card = artefact.card.model_copy(update={"errata": errata})
    return artefact.model_copy(update={"card": card})


def collect(
    papers: Mapping[str, Paper],
    results: Path,
    root: Path,
    *,
    wanted: Callable[[Artefact, Tier], bool] = lambda artefact, tier: True,
    audits: FindAudits | None,
) -> list[Result]:
    """Result of every artefact in every tier of its card, in the order of the cards."""
    return [
        result_of(artefact, tier, results, root, audits=audits)
        for artefact in all_artefacts(papers)
        for tier in artefact.card.tiers
        if wanted(artefact, tier)
    ]
