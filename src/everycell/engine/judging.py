"""How close rebuilt values are to printed ones: comparisons of single cells, and per metric."""

from __future__ import annotations

import math
import re
from typing import Literal

import pandas as pd

from everycell.engine.artefacts import Artefact
from everycell.engine.printed_cells import as_number, is_number
from everycell.engine.reports import JudgedCell

#: Slack for the binary form of a decimal fraction, in units of the last printed digit.
_SLACK = 1e-6


def judge(
    printed: str,
    rebuilt: object,
    decimals: int | Literal["text"],
    tolerance: float = 0.0,
    *,
    measured: bool = False,
) -> Literal["equal", "close", "differs"]:
    """Compare a printed value with a rebuilt one.

    Examples
    --------
    >>> judge("0.014", 0.0139, 3), judge("0.0", 0.0004, 3), judge("0.0", 0.0006, 3)
    ('equal', 'equal', 'close')
    >>> judge("12", 13, 0), judge("12", 12.4, 0, measured=True), judge("12", 13, 0, 1)
    ('differs', 'equal', 'close')
    >>> judge("0.014", 0.016, 3), judge("0.4493", 0.44922, 4), judge("S", "M", "text")
    ('differs', 'close', 'differs')
    """
    if decimals == "text" or not is_number(printed):
        same = str(rebuilt).strip() == printed.strip()
        return "equal" if same else "differs"
    value = as_number(rebuilt)
    if value is None:
        return "differs"
    distance = abs(value - float(printed))
    unit = 10.0**-decimals
    is_rounded = decimals > 0 or measured
    if distance <= unit * (0.5 * is_rounded + _SLACK):
        return "equal"
    if distance <= max(unit * is_rounded, tolerance) + unit * _SLACK:
        return "close"
    return "differs"


#: Names of metrics that are p-values.
P_VALUE = re.compile(r"p([_ ].*)?")


def closeness(
    artefact: Artefact, cells: list[JudgedCell]
) -> tuple[dict[str, float], dict[str, float]]:
    """RMSE and Kendall's tau-b by metric, over rebuilt cells whose printed value is a number."""
    by_metric: dict[str, list[tuple[float, float]]] = {}
    rounded: dict[str, list[tuple[float, float]]] = {}
    # A stand-in has no cells to compare.
    precisions = artefact.precisions if cells else []
    for cell, (digits, _) in zip(cells, precisions, strict=True):
        if cell.verdict in ("consistent", "inconsistent"):
            continue
        if isinstance(cell.rebuilt, float) and is_number(cell.printed):
            metric, printed = cell.key.get("metric", "value"), float(cell.printed)
            if P_VALUE.fullmatch(metric):  # Distances and orders of p-values say nothing.
                continue
            by_metric.setdefault(metric, []).append((printed, cell.rebuilt))
            # Rounded as printed: values that look the same in print are tied on both sides.
            rounded.setdefault(metric, []).append((printed, round(cell.rebuilt, digits)))
    rmse: dict[str, float] = {}
    tau: dict[str, float] = {}
    for metric, pairs in by_metric.items():
        rmse[metric] = math.sqrt(math.fsum((p - r) ** 2 for p, r in pairs) / len(pairs))
        correlation = pd.DataFrame(rounded[metric]).corr(method="kendall").iloc[0, 1]
        if not math.isnan(correlation):
            tau[metric] = float(correlation)
    return rmse, tau
