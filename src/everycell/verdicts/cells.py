"""Kinds of published cells, and origins and tolerances of their reproduced values.

No record is believed on an origin: the receipt of a result and the records of its upstream jobs
name every file that entered. Registered or configured files are data; files of ``published/`` are
published values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from everycell.receipts.provenance import job_finder
from everycell.receipts.receipts import ReceiptError, input_path, read_receipt
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
from everycell.records.papers import Artefact, CellPrecision, Paper, load_paper
from everycell.records.sensitivity import State
from everycell.records.spellings import split_bound
from everycell.records.tables import Tolerance
from everycell.verdicts.claims import FindTable
from everycell.verdicts.comparisons import Cells, compared_pairs
from everycell.verdicts.reports import CellFlag, CellKind, CellOrigin, Verdict

#: Origin of values that only follow from other published results.
DERIVED: CellOrigin = "other cells"
#: Parameter in the receipts of values that were computed elsewhere, or from undeclared data.
GIVEN = "given"
#: Names of measures of retrieval effectiveness.
_EFFECTIVENESS = re.compile(
    r"(n?dcg|m?ap|m?rr|recall|success|err|bpref|rprec)(\(rel=\d+\))?(@\d+)?"
    r"|[pr](\(rel=\d+\))?@\d+",
    re.IGNORECASE,
)
#: Names of p-values; a capital `P` alone is precision.
_P_VALUE = re.compile(r"(.* )?(p|[Pp][_-]value)")
#: Level of the two-sided sign test of the differences in a block.
SIGN_TEST_LEVEL = 0.1


class CellClass(NamedTuple):
    """Kind, origin and flag of a cell, its verdict, and whether it moves with its data."""

    kind: CellKind
    origin: CellOrigin
    flag: CellFlag | None = None
    verdict: Verdict = "not run"
    sensitivity: State = "not perturbed"

    def with_verdict(self, verdict: Verdict) -> CellClass:
        """Set the verdict, and the origin if the verdict means that no value was computed."""
        uncomputed: dict[Verdict, CellOrigin] = {"quoted": "quoted", "not run": "none"}
        return self._replace(origin=uncomputed.get(verdict, self.origin), verdict=verdict)


def classify_cells(
    artefact: Artefact, origins: Sequence[CellOrigin] | None = None
) -> list[CellClass]:
    """Classify the published cells, in the order of `cells`.

    `origins` are those of the values that a tier computes, from
    `origins_of_cells`; without them, no value is computed.
    """
    table, record = artefact.cells, artefact.record
    if table.empty:
        return []
    kinds: list[CellKind] = [
        "category" if digits == "text" and not is_number(split_bound(value)[1]) else "number"
        for value, (digits, _) in zip(table["value"], artefact.precisions, strict=True)
    ]
    for kind, selectors in record.kinds.items():
        for selector in selectors:
            for row in artefact.select(selector).to_numpy().nonzero()[0]:
                kinds[row] = kind
    for row in artefact.empty_rows:
        kinds[row] = "empty"
    metrics = table["metric"] if "metric" in table else [""] * len(table)
    origins = ["none"] * len(table) if origins is None else origins
    return [
        CellClass(kind, origin, _flag(kind, metric, value))
        for kind, origin, metric, value in zip(kinds, origins, metrics, table["value"], strict=True)
    ]


def _flag(kind: CellKind, metric: str, value: str) -> CellFlag | None:
    if kind != "number":
        return None
    if _EFFECTIVENESS.fullmatch(metric):
        return "effectiveness"
    saturated = _P_VALUE.fullmatch(metric) and is_number(value) and float(value) in (0, 1)
    return "saturated" if saturated else None


class Sources(NamedTuple):
    """Files that entered a result, directly or through upstream jobs, by their kind."""

    data: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    #: Files with the values themselves, which were computed elsewhere, or from undeclared data.
    given_values: tuple[str, ...] = ()
    #: Files of the workflow whose jobs are not recorded.
    unknown: tuple[str, ...] = ()


def sources_of(receipt: Path, results: Path, project: Path) -> Sources:
    """Files that entered the result of a receipt."""
    find_job = job_finder(results, project)
    kinds: dict[str, set[str]] = {name: set() for name in Sources._fields}
    visited: set[str] = set()

    def read(path: Path) -> list[str]:
        content = read_receipt(path)
        inputs = [source["path"] for source in content["inputs"]]
        if content.get("parameters", {}).get(GIVEN):
            # A script that declares no data is its own source.
            kinds["given_values"].update(inputs or [input_path(path, project)])
            return []
        return inputs

    pending = read(receipt)
    while pending:
        path = pending.pop()
        if path in visited:
            continue
        visited.add(path)
        if path.startswith("published/"):
            kinds["published"].add(path)
        elif path.startswith("results/"):
            name = PurePosixPath(path)
            other = results.joinpath(
                *name.parts[1:-1], f"{name.name.partition('.')[0]}.receipt.json"
            )
            pending += read(other)
        elif path.startswith("work/"):
            inputs = find_job(path)
            if inputs is None:
                kinds["unknown"].add(path)
            else:
                pending += inputs
        else:
            kinds["data"].add(path)
    return Sources(**{name: tuple(sorted(paths)) for name, paths in kinds.items()})


def origin_of(artefact: Artefact, tier: Tier, sources: Sources) -> CellOrigin:
    """Best origin that the files behind a result allow for its values."""
    if sources.data:
        return "data"
    if sources.unknown:
        raise ReceiptError(
            f"{artefact.id} ({tier}): the job that made {sources.unknown[0]} is not recorded, so "
            "the origin of the values cannot be derived; remove the file and run snakemake again."
        )
    if sources.given_values:
        return "given"
    if not sources.published:
        return "constants"
    papers: dict[Path, Paper] = {}
    are_observations = [
        _are_observations(artefact.folder.parent, path, tier, papers) for path in sources.published
    ]
    return "published inputs" if all(are_observations) else DERIVED


def _are_observations(published: Path, path: str, tier: Tier, papers: dict[Path, Paper]) -> bool:
    """Whether the values that rules may read from a published file are data and not results."""
    folder, name = published / PurePosixPath(path).parent.name, PurePosixPath(path)
    if folder not in papers:
        papers[folder] = load_paper(folder)
    owner = papers[folder].artefacts.get(name.stem)
    if owner is None:
        return name.name in papers[folder].facts
    inputs = [entry for entry in owner.record.quoted if entry.is_input and tier in entry.tiers]
    return bool(inputs) and all(entry.observations for entry in inputs)


def origins_of_cells(
    artefact: Artefact, tier: Tier, origin: CellOrigin, sources: Sources | None = None
) -> list[CellOrigin]:
    """Origins of the cells of a result, in the order of `cells`, from the origin of its values.

    A record may declare that some cells are derived from other published cells although the job
    also reads data; with `sources`, any other declaration must agree with the files.
    """
    origins = [origin] * len(artefact.cells)
    for entry in artefact.record.derived:
        if tier not in entry.tiers:
            continue
        is_part = bool(entry.cells and sources and sources.published)
        if sources is not None and origin != DERIVED and not is_part:
            raise RecordError(
                f"{artefact.records_path}: `derived` of {artefact.name} says that cells follow "
                f"from published values, but by the files that the job read in tier {tier} their "
                f"origin is {origin!r}; correct or remove `derived`."
            )
        if not artefact.cells.empty:
            for row in artefact.select(entry.cells).to_numpy().nonzero()[0]:
                origins[row] = DERIVED
    return origins


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
        if not tolerance.from_spread:
            for index in indices:
                within = tolerance.distance_from(artefact.cells.at[index, "value"])
                if within is not None:
                    distances[index] = AllowedDistance(within, tolerance.because)
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
