"""Results found on disk: the report of every artefact in every tier that its card declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.artefacts import RUNNABLE, Artefact, CardError, Paper, Tier, all_artefacts
from everycell.receipts import verify
from everycell.verdicts import report


@dataclass(frozen=True)
class Result:
    """What is known of an artefact in a tier.

    Attributes
    ----------
    report
        As `everycell.verdicts.report` makes it; that of an artefact which was not run where no
        trustworthy result is on disk.
    faults
        Why a result on disk is not trusted; empty where there is none, or all is well.
    """

    artefact: Artefact
    tier: Tier
    report: dict[str, Any]
    faults: tuple[str, ...] = ()


def stem_of(artefact: Artefact, tier: Tier, results: Path) -> Path:
    """Path of a result without its suffix."""
    return results / tier / artefact.paper / artefact.name


def read_rebuilt(path: Path) -> pd.DataFrame:
    """Read a rebuilt table; the word "None" stays a word."""
    return pd.read_csv(path, keep_default_na=False)


def result_of(artefact: Artefact, tier: Tier, results: Path, root: Path) -> Result:
    """Report of one artefact in one tier, checked against its receipt and its card.

    Parameters
    ----------
    artefact, tier
        What to look for.
    results
        Folder of the results.
    root
        Project folder, to check the inputs that a receipt names.
    """
    stem = stem_of(artefact, tier, results)
    files = {suffix: stem.with_name(stem.name + suffix) for suffix in SUFFIXES}
    nothing = Result(artefact, tier, report(artefact, tier))
    if artefact.card.tiers[tier].state not in RUNNABLE or not any(
        path.exists() for path in files.values()
    ):
        return nothing
    missing = [path for path in files.values() if not path.exists()]
    if missing:
        fault = f"{missing[0]}: is missing beside its result; rebuild {artefact.id}."
        return Result(artefact, tier, nothing.report, (fault,))
    faults = verify(files[".receipt.json"], root)
    if faults:
        return Result(artefact, tier, nothing.report, tuple(faults))
    try:
        stored = json.loads(files[".verdicts.json"].read_text(encoding="utf-8"))
        again = report(artefact, tier, read_rebuilt(files[".csv"]), files=stored.get("files"))
    except (ValueError, CardError) as error:
        fault = f"{files['.verdicts.json']}: cannot be used ({error}); rebuild {artefact.id}."
        return Result(artefact, tier, nothing.report, (fault,))
    if stored != json.loads(json.dumps(again)):
        fault = (
            f"{files['.verdicts.json']}: is not what its card and its table give now; rebuild "
            f"{artefact.id}."
        )
        return Result(artefact, tier, nothing.report, (fault,))
    return Result(artefact, tier, stored)


#: Files without which a result is not complete.
SUFFIXES = (".csv", ".receipt.json", ".verdicts.json")


def collect(
    papers: Mapping[str, Paper],
    results: Path,
    root: Path,
    *,
    wanted: Callable[[Artefact, Tier], bool] = lambda artefact, tier: True,
) -> list[Result]:
    """Result of every artefact in every tier of its card, in the order of the cards."""
    return [
        result_of(artefact, tier, results, root)
        for artefact in all_artefacts(papers)
        for tier in artefact.card.tiers
        if wanted(artefact, tier)
    ]
