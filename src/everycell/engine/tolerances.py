"""Tolerances of published cells: declared, or derived from the spread over seeds."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from everycell.engine.artefacts import Artefact, CellPrecision
from everycell.engine.cards import Tolerance
from everycell.engine.conclusions import FindTable
from everycell.engine.published_cells import CardError
from everycell.engine.spread import SEEDS, describe_spread, read_spreads, tolerance_of
from everycell.engine.tiers import Tier


class AllowedDistance(NamedTuple):
    """Distance within which a cell counts as close, with the reason."""

    within: float = 0.0
    because: str = ""
    derived: bool = False


def is_rounded(precision: CellPrecision) -> bool:
    """Whether a cell is a rounded measurement and not a count, label, rank or text.

    Examples
    --------
    >>> [is_rounded(CellPrecision(*precision)) for precision in ((2, False), (0, False), (0, True))]
    [True, False, True]
    """
    return precision.decimals != "text" and (precision.decimals > 0 or precision.measured)


def tolerances_by_row(
    artefact: Artefact, tier: Tier, find_table: FindTable, rebuilt: Collection[tuple[str, ...]]
) -> dict[int, AllowedDistance]:
    """Tolerances of published cells by their index in `cells`."""
    distances: dict[int, AllowedDistance] = {}
    for tolerance in artefact.card.tolerances:
        indices = artefact.cells.index[artefact.select(tolerance.cells)]
        if tolerance.within is not None:
            distances |= dict.fromkeys(
                indices, AllowedDistance(tolerance.within, tolerance.because)
            )
        elif rebuilt and tier in tolerance.from_spread:
            distances |= _derive_tolerances(artefact, tolerance, indices, find_table, rebuilt)
    return distances


def _derive_tolerances(
    artefact: Artefact,
    tolerance: Tolerance,
    indices: list[int],
    find_table: FindTable,
    rebuilt: Collection[tuple[str, ...]],
) -> dict[int, AllowedDistance]:
    table = find_table(SEEDS)
    if table is None:
        raise CardError(
            f"{artefact.card_path}: a tolerance of {artefact.name} uses `from_spread`, but the "
            f"supplementary table {artefact.name}.{SEEDS}.csv does not exist; have the rule "
            "write it, or use `within`."
        )
    keys = artefact.key_columns
    spread_by_key = read_spreads(table, keys, where=f"{artefact.id}.{SEEDS}")
    distances = {}
    for index in indices:
        key, precision = tuple(artefact.cells.loc[index, keys]), artefact.precisions[index]
        # Cells that the run omitted (`may_lack`) have neither a spread nor a value to compare.
        if not is_rounded(precision) or (key not in spread_by_key and key not in rebuilt):
            continue
        if key not in spread_by_key:
            raise CardError(
                f"{artefact.id}.{SEEDS}: the table of seeds lacks the cell {' / '.join(key)}, "
                "whose tolerance uses `from_spread`; have the rule add it."
            )
        assert precision.decimals != "text"
        spread = spread_by_key[key]
        cause = describe_spread(spread, precision.decimals, tolerance.print_is_mean_of)
        within = tolerance_of(spread, tolerance.print_is_mean_of) or 0.0
        distances[index] = AllowedDistance(within, f"{cause} {tolerance.because}", derived=True)
    return distances
