"""Tolerances of published cells: declared, or derived from the spread over seeds."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from everycell.records.cells import (
    SEEDS,
    RecordError,
    as_number,
    describe_spread,
    is_number,
    key_columns,
    read_spreads,
    tolerance_of,
)
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, CellPrecision
from everycell.records.tables import Tolerance
from everycell.verdicts.claims import FindTable
from everycell.verdicts.comparisons import Cells, compared_pairs

#: Level of the two-sided sign test of the differences in a block.
SIGN_TEST_LEVEL = 0.1


class AllowedDistance(NamedTuple):
    """Distance within which a cell counts as within tolerance, with the reason.

    `limit` is the largest tolerance that can still judge the cell, `limited_by` says why, and
    `one_sided` why the differences of its block cannot come from seeds.
    """

    within: float = 0.0
    because: str = ""
    derived: bool = False
    limit: float = math.inf
    limited_by: str = ""
    one_sided: str = ""


def is_rounded(precision: CellPrecision) -> bool:
    """Whether a cell is a rounded measurement and not a count, label, rank or text."""
    return precision.decimals != "text" and (precision.decimals > 0 or precision.measured)


def tolerances_by_row(
    artefact: Artefact, tier: Tier, find_table: FindTable, reproduced: Mapping[tuple[str, ...], Any]
) -> dict[int, AllowedDistance]:
    """Tolerances of published cells by their index in `cells`, for reproduced values by key."""
    distances: dict[int, AllowedDistance] = {}
    for tolerance in artefact.record.tolerances:
        indices = artefact.cells.index[artefact.select(tolerance.cells)]
        if tolerance.within is not None:
            distances |= dict.fromkeys(
                indices, AllowedDistance(tolerance.within, tolerance.because)
            )
        elif reproduced and tier in tolerance.from_spread:
            derived = _derive_tolerances(artefact, tolerance, indices, find_table, reproduced)
            distances |= _with_sign_tests(artefact, derived, reproduced)
    limits = limits_by_row(artefact)
    return {
        row: distance._replace(limit=limits[row][0], limited_by=limits[row][1])
        if row in limits
        else distance
        for row, distance in distances.items()
    }


def limits_by_row(artefact: Artefact) -> dict[int, tuple[float, str]]:
    """Largest tolerance that can still judge a published number, with the reason, by row.

    It is half of the published value, or the smallest difference to another cell with which a claim
    of the paper compares it, if that is less. One unit of the last digit is always allowed.
    """
    smallest = _compared_differences(artefact)
    limits = {}
    rows = zip(artefact.cells["value"], artefact.precisions, strict=True)
    for row, (value, precision) in enumerate(rows):
        if precision.decimals == "text" or not is_number(value):
            continue
        unit = 10.0**-precision.decimals if is_rounded(precision) else 0.0
        half = abs(float(value)) / 2
        limit, reason = half, "half of the published value"
        if (difference := smallest.get(row, math.inf)) < half:
            limit, reason = difference, "the smallest difference that a claim reads from it"
        limits[row] = max(limit, unit), f"{limit:.4g}, {reason}"
    return limits


def _compared_differences(artefact: Artefact) -> dict[int, float]:
    """Smallest difference, other than 0, to the cells that claims compare with a cell, by row."""
    table = artefact.drop_labels(artefact.cells)
    cells = Cells.of(table, key_columns(table))
    rows = {key: row for row, key in enumerate(cells.names)}
    smallest: dict[int, float] = {}
    for claim in artefact.record.claims:
        for pair in (pair for part in claim.supported_if for pair in compared_pairs(part, cells)):
            first, second = (as_number(cells.read(key)) for key in pair)
            if first is None or second is None or first == second:
                continue
            difference = abs(first - second)
            for key in pair:
                smallest[rows[key]] = min(difference, smallest.get(rows[key], math.inf))
    return smallest


def _with_sign_tests(
    artefact: Artefact,
    distances: Mapping[int, AllowedDistance],
    reproduced: Mapping[tuple[str, ...], Any],
) -> dict[int, AllowedDistance]:
    """Mark the tolerances of blocks whose differences are one-sided, which seeds do not explain.

    A block is a column of the published table below its first row heading. Cells that seeds move
    by less than one unit of the last digit, such as those of an untrained baseline, tell nothing.
    """
    table, layout = artefact.cells, artefact.record.layout
    columns = ["metric"] if "metric" in table else []
    if layout is not None:
        columns = [*layout.rows[:-1][:1], *layout.columns]
    residuals: dict[tuple[str, ...], dict[int, float]] = {}
    for row, distance in distances.items():
        value = as_number(reproduced.get(tuple(table.loc[row, artefact.key_columns])))
        decimals = artefact.precisions[row].decimals
        is_moved = decimals != "text" and distance.within > 10.0**-decimals
        if value is not None and is_moved:
            block = tuple(table.loc[row, columns])
            residuals.setdefault(block, {})[row] = value - float(table.at[row, "value"])
    marked = dict(distances)
    for by_row in residuals.values():
        if fault := describe_one_sided(list(by_row.values())):
            marked |= {row: marked[row]._replace(one_sided=fault) for row in by_row}
    return marked


def describe_one_sided(residuals: Sequence[float]) -> str:
    """Why differences of a block cannot come from seeds alone; empty if they can.

    Seeds move values up as often as down, so a sign test must not reject this (two-sided, at 0.1:
    five of five differences with the same sign are rejected, four of four are not).
    """
    # Imported here since scipy is slow to import and few records need it.
    from scipy.stats import binomtest

    signs = [residual > 0 for residual in residuals if residual != 0]
    larger = max(sum(signs), len(signs) - sum(signs))
    if not signs or binomtest(larger, len(signs)).pvalue >= SIGN_TEST_LEVEL:
        return ""
    side = "above" if 2 * sum(signs) > len(signs) else "below"
    return (
        f"{larger} of {len(signs)} values in its column and group of rows are {side} the published "
        f"ones, which seeds do not explain (two-sided sign test at {SIGN_TEST_LEVEL}: "
        f"p = {binomtest(larger, len(signs)).pvalue:.2g})."
    )


def _derive_tolerances(
    artefact: Artefact,
    tolerance: Tolerance,
    indices: list[int],
    find_table: FindTable,
    reproduced: Collection[tuple[str, ...]],
) -> dict[int, AllowedDistance]:
    table = find_table(SEEDS)
    if table is None:
        raise RecordError(
            f"{artefact.records_path}: a tolerance of {artefact.name} uses `from_spread`, but the "
            f"supplementary table {artefact.name}.{SEEDS}.csv does not exist; have the rule "
            "write it, or use `within`."
        )
    keys = artefact.key_columns
    spread_by_key = read_spreads(table, keys, where=f"{artefact.id}.{SEEDS}")
    distances = {}
    for index in indices:
        key, precision = tuple(artefact.cells.loc[index, keys]), artefact.precisions[index]
        # Cells that the run omitted (`may_lack`) have neither a spread nor a value to compare.
        if not is_rounded(precision) or (key not in spread_by_key and key not in reproduced):
            continue
        if key not in spread_by_key:
            raise RecordError(
                f"{artefact.id}.{SEEDS}: the table of seeds lacks the cell {' / '.join(key)}, "
                "whose tolerance uses `from_spread`; have the rule add it."
            )
        assert precision.decimals != "text"
        spread = spread_by_key[key]
        cause = describe_spread(spread, precision.decimals, tolerance.published_is_mean_of)
        within = tolerance_of(spread, tolerance.published_is_mean_of) or 0.0
        distances[index] = AllowedDistance(within, f"{cause} {tolerance.because}", derived=True)
    return distances
