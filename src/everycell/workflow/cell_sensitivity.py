"""Sensitivity of the cells of results: which change when data are perturbed."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from everycell.records.cells import as_number
from everycell.records.sensitivity import SEPARATOR, WHOLE, Sensitivity
from everycell.render.grid import VALUE_COLUMNS
from everycell.verdicts.claims import no_table
from everycell.verdicts.verdicts import select_reading
from everycell.workflow.perturbation_plan import TOO_LONG, Target

#: Note of a value that moves without any perturbation.
VARIES = "varies from run to run"
#: Relative difference that counts as a difference.
EPSILON = 1e-9


class ComparedCells:
    """Values of a result by the name of the cell, as they are compared."""

    def __init__(self, target: Target, table: pd.DataFrame) -> None:
        """Choose the rows that are compared with published values, or all rows without those."""
        artefact = target.artefact
        self.keys = [column for column in table.columns if column not in VALUE_COLUMNS]
        is_compared = (
            artefact.record.tiers[target.tier].state == "reproduced" and not artefact.cells.empty
        )
        if not is_compared:
            self.names = {key: WHOLE for key in self._values(table)}
        else:
            selected, _, _ = select_reading(artefact, target.tier, table, no_table, surrogate=False)
            names = zip(*(selected[column] for column in artefact.key_columns), strict=True)
            keys = zip(*(table.loc[selected.index, column] for column in self.keys), strict=True)
            self.names = {key: " / ".join(name) for key, name in zip(keys, names, strict=True)}
        self.digits = {}
        if is_compared:
            published = zip(
                artefact.cells[artefact.key_columns].itertuples(index=False, name=None),
                artefact.precisions,
                strict=True,
            )
            self.digits = {" / ".join(key): precision.decimals for key, precision in published}
        self.values = self._values(table)

    def _values(self, table: pd.DataFrame) -> dict[tuple[str, ...], str]:
        keys = zip(*(table[column] for column in self.keys), strict=True)
        return dict(zip(keys, table["value"], strict=True)) if "value" in table else {}

    def changed_cells(self, table: pd.DataFrame) -> set[str]:
        """Names of the cells whose values differ in another table, as published, or are missing."""
        has_keys = {*self.keys} <= {*table.columns}
        other_values = self._values(table) if has_keys else {}
        names = {
            name
            for key, name in self.names.items()
            if key not in other_values
            or _differ(self.values[key], other_values[key], self.digits.get(name))
        }
        is_longer = not other_values.keys() <= self.values.keys()
        return names | ({WHOLE} if is_longer and WHOLE in self.names.values() else set())


def _differ(first: str, second: str, decimals: Any) -> bool:
    """Whether two values differ after rounding to the published decimals, if there are any."""
    numbers = as_number(first), as_number(second)
    if numbers[0] is None or numbers[1] is None:
        return first.strip() != second.strip()
    if math.isclose(numbers[0], numbers[1], rel_tol=EPSILON, abs_tol=EPSILON):
        return False
    if not isinstance(decimals, int):
        return True
    return f"{numbers[0]:.{decimals}f}" != f"{numbers[1]:.{decimals}f}"


@dataclass
class Trial:
    """What the perturbations of an input did to a result."""

    #: Names of the moved cells; None if no perturbation ran.
    moved: set[str] | None = None
    #: Perturbations that the rule refused, with the class of the error.
    refused: dict[str, str] = field(default_factory=dict)
    #: Perturbations on which a job crashed, with the class of the error.
    failed: dict[str, str] = field(default_factory=dict)
    #: Why the input was not perturbed in each way.
    skipped: str = ""

    @property
    def notes(self) -> list[str]:
        """Perturbations that did not run, by the class of the error."""
        by_cause: dict[str, list[str]] = {}
        for verb, causes in (("refused", self.refused), ("failed", self.failed)):
            for name, cause in causes.items():
                by_cause.setdefault(f"{verb} ({cause})", []).append(name)
        return [f"{', '.join(names)} {cause}" for cause, names in by_cause.items()]


@dataclass
class Outcome:
    """What the perturbations of a unit, or a run without one, did to each result, by its name."""

    trials: dict[str, Trial] = field(default_factory=dict)
    #: Messages of the perturbations that did not run.
    failures: list[str] = field(default_factory=list)
    #: Why nothing is known about a result.
    unfinished: dict[str, str] = field(default_factory=dict)
    #: Whether nothing is known because of an error, and not for lack of time.
    is_faulty: bool = False


@dataclass
class ResultSensitivity:
    """How the cells of a result depend on its data."""

    target: Target
    baseline: ComparedCells
    #: Why inputs are not perturbed.
    skipped: Sequence[str]
    tasks: set[Future[Outcome]] = field(default_factory=set)
    #: What was tried with each input.
    trials: dict[str, Trial] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    #: Why nothing is known.
    unfinished: str = ""
    #: Whether the result cannot be made again from unchanged data.
    is_unrepeatable: bool = False
    #: Whether nothing is known because of an error, and not for lack of time.
    is_faulty: bool = False

    @property
    def sensitivity(self) -> dict[str, Sensitivity]:
        """Sensitivity of each cell."""
        return {
            cell: _sensitivity(cell, self.trials, self.skipped, self.varying)
            for cell in dict.fromkeys(self.baseline.names.values())
        }


def _sensitivity(
    cell: str, trials: Mapping[str, Trial], skipped: Sequence[str], varying: Container[str]
) -> Sensitivity:
    """Sensitivity of a cell; it is only insensitive to inputs that were perturbed in each way."""
    if cell in varying:
        return Sensitivity(note=VARIES)
    moving: list[str] = []
    unmoving: list[str] = []
    refused: list[str] = []
    failed: list[str] = []
    reasons, notes = list(skipped), []
    for label, trial in sorted(trials.items()):
        if cell in (trial.moved or ()):
            moving.append(label)
            continue
        notes += [f"{label}: {note}" for note in trial.notes]
        if trial.skipped:
            reasons.append(f"{label}: {trial.skipped}")
        elif trial.moved is not None:
            unmoving.append(label)
        else:
            (failed if trial.failed else refused).append(label)
    return Sensitivity(
        tuple(moving),
        tuple(unmoving),
        tuple(refused),
        tuple(failed),
        tuple(sorted(reasons)),
        SEPARATOR.join(notes) if trials or skipped else "reads no data",
    )


def slow_inputs(sensitivity: Sensitivity) -> set[str]:
    """Inputs whose jobs took too long to be perturbed, which depends on the machine."""
    ending = f": {TOO_LONG}"
    reasons = sensitivity.not_perturbed
    return {reason.removesuffix(ending) for reason in reasons if reason.endswith(ending)}


def without_inputs(sensitivity: Sensitivity, inputs: Collection[str]) -> Sensitivity:
    """Sensitivity to the other inputs."""

    def select_others(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if text.partition(": ")[0] not in inputs)

    return Sensitivity(
        select_others(sensitivity.moves_with),
        select_others(sensitivity.not_with),
        select_others(sensitivity.refused),
        select_others(sensitivity.failed),
        select_others(sensitivity.not_perturbed),
        SEPARATOR.join(select_others(sensitivity.note.split(SEPARATOR))),
    )
