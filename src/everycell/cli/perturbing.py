"""`everycell verify --perturb`: which reproduced values move when their data change."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from everycell.base.files import sha256, write_json
from everycell.base.untrusted import read_json
from everycell.cli import project
from everycell.cli.names import Names
from everycell.cli.printing import echo, pluralise
from everycell.config import read_config
from everycell.receipts.receipts import content_hash, read_receipt
from everycell.records.cells import RecordError
from everycell.records.papers import all_artefacts
from everycell.records.sensitivity import (
    NAME,
    Cell,
    Sensitivity,
    read_sensitivity,
    write_sensitivity,
)
from everycell.records.tables import RUNNABLE

if TYPE_CHECKING:
    from everycell.workflow.perturbation_plan import Target

#: Longest run of the jobs of a result, in seconds, that are run again.
LIMIT = 60.0
#: Tiers whose results are perturbed.
TIERS = ("embedded", "released")
#: Number of differences from the recorded sensitivity that are printed.
MAX_DIFFERENCES = 50
#: Hashes of what the recorded sensitivity was measured from, by the name of the result.
HASHES = Path("work/sensitivity.json")


def perturb_and_compare(
    name: str,
    cores: int,
    *,
    update: bool = False,
    share: float = 1.0,
    seed: int | None = None,
    minutes: float | None = None,
) -> int:
    """Perturb the data of results and compare with the recorded sensitivity; return the exit code.

    It is 1 if a value changed, if an error prevented a measurement, or if nothing was compared.
    With `share`, only a random part of the results is perturbed. Results that are unfinished after
    some `minutes` are left out. With `update`, each result is recorded as soon as it is finished,
    and a result is measured again only if it, its recorded sensitivity or the perturbations have
    changed.
    """
    from everycell.workflow.cell_sensitivity import slow_inputs
    from everycell.workflow.perturbation_plan import Plan, Target
    from everycell.workflow.perturbed_runs import measure_sensitivity

    end = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    papers = project.papers()
    selection = Names(papers).find(name)
    artefacts = list(all_artefacts(papers))
    order = {artefact.id: number for number, artefact in enumerate(artefacts)}
    targets = [
        Target(artefact, tier)
        for artefact in artefacts
        for tier, declared in artefact.record.tiers.items()
        if tier in TIERS and declared.state in RUNNABLE and selection.has(artefact, tier)
    ]
    targets = [target for target in targets if Path(f"{target.stem}.csv").is_file()]
    if not targets:
        raise RecordError(
            f"No result of {name!r} exists in {project.RESULTS}; run `everycell make` first."
        )
    path = project.PUBLISHED / NAME
    recorded = read_sensitivity(path)
    results_with_rows = {cell[:2] for cell in recorded}
    if share < 1:
        seed = random.randrange(10**6) if seed is None else seed
        if not update:
            comparable = [target for target in targets if _is_comparable(target, results_with_rows)]
            left_out = len(targets) - len(comparable)
            if left_out:
                echo(
                    f"{pluralise(left_out, 'result')} left out, which {path} does not have or "
                    "whose records declare that they vary.",
                    err=True,
                )
            targets = comparable
        number = min(len(targets), max(1, round(share * len(targets))))
        targets = random.Random(seed).sample(targets, number)
        echo(f"Perturbing {pluralise(number, 'result')}, drawn with --seed {seed}.", err=True)
    # Files may change during the run, which uses the code that it has imported.
    code = _hashes_of_code()
    hashes = read_json(HASHES) if update and HASHES.is_file() else {}
    if hashes:
        number = len(targets)
        targets = [
            target
            for target in targets
            if target.result not in results_with_rows
            or hashes.get(target.name) != _hash_of_measurement(target, recorded, code)
        ]
        if number > len(targets):
            echo(
                f"{pluralise(number - len(targets), 'result')} left out, which did not change "
                f"since they were recorded; delete {HASHES} to perturb them again.",
                err=True,
            )
    cache = Path(read_config(Path("config.yaml")).cache)
    plan = Plan(project.ROOT.resolve(), cache.resolve(), targets, LIMIT)
    done: list[Target] = []
    unrepeatable: list[Target] = []
    faulty: list[Target] = []
    cells: dict[Cell, Sensitivity] = {}
    measurements = closing(
        measure_sensitivity(plan, cores, end=end, notify=lambda line: echo(line, err=True))
    )
    with measurements as finished:
        for number, measurement in enumerate(finished, start=1):
            target = measurement.target
            line = f"{number} of {len(plan.targets)}: {target.name}"
            if measurement.unfinished:
                echo(f"{line} is left out; {measurement.unfinished.removesuffix('.')}.", err=True)
                unrepeatable += [target] * measurement.is_unrepeatable
                faulty += [target] * measurement.is_faulty
                continue
            values = measurement.sensitivity
            states = Counter(value.state for value in values.values())
            counts = ", ".join(f"{states[state]} {state}" for state in sorted(states))
            slow = sorted({name for value in values.values() for name in slow_inputs(value)})
            echo(f"{line}: {counts}" + f"; too slow: {', '.join(slow)}" * bool(slow))
            done.append(target)
            new_cells = {(*target.result, key): value for key, value in values.items()}
            cells |= new_cells
            if update:
                recorded = {
                    cell: value
                    for cell, value in recorded.items()
                    if cell[:2] != target.result and cell[1] in order
                } | new_cells
                ordered = sorted(recorded, key=lambda cell: (order[cell[1]], cell[0]))
                write_sensitivity(path, {cell: recorded[cell] for cell in ordered})
                hashes[target.name] = _hash_of_measurement(target, recorded, code)
                write_json(HASHES, hashes)
    if unrepeatable:
        echo(
            f"{pluralise(len(unrepeatable), 'result')} cannot be made again from the files on "
            "disk; run snakemake, then this command, again.",
            err=True,
        )
    if faulty:
        names = ", ".join(target.name for target in faulty)
        echo(f"Not measured, because of the errors above: {names}.", err=True)
    has_error = bool(unrepeatable or faulty)
    if update:
        if plan.targets and not done:
            echo("Nothing was measured.", err=True)
            return 1
        echo(f"Wrote the sensitivity of {pluralise(len(cells), 'value')} to {path}.")
        return int(has_error)
    without_rows = [target for target in done if target.result not in results_with_rows]
    if without_rows:
        echo(f"{path} does not have {', '.join(target.name for target in without_rows)}.", err=True)
    compared = {target.result for target in done if _is_comparable(target, results_with_rows)}
    exit_code = _report_differences(
        {cell: value for cell, value in recorded.items() if cell[:2] in compared},
        {cell: value for cell, value in cells.items() if cell[:2] in compared},
    )
    return max(exit_code, int(has_error))


def _hashes_of_code() -> list[str]:
    from everycell.workflow import (
        cell_sensitivity,
        perturbation,
        perturbation_plan,
        perturbed_files,
        perturbed_runs,
        scratch,
    )

    modules = (
        perturbation,
        perturbation_plan,
        cell_sensitivity,
        perturbed_files,
        perturbed_runs,
        scratch,
    )
    return [sha256(Path(module.__file__)) for module in modules]


def _hash_of_measurement(
    target: Target, recorded: Mapping[Cell, Sensitivity], code: Sequence[str]
) -> str:
    """Hash of a result, its recorded sensitivity, and the code that perturbs it."""
    receipt = read_receipt(Path(f"{target.stem}.receipt.json"))
    rows = [[*cell, *value] for cell, value in recorded.items() if cell[:2] == target.result]
    content = json.dumps([content_hash(receipt), rows, code])
    return hashlib.sha256(content.encode()).hexdigest()


def _is_comparable(target: Target, results_with_rows: Container[tuple[str, str]]) -> bool:
    """Whether the sensitivity of a result was recorded and is the same on each machine."""
    varies = target.artefact.record.tiers[target.tier].varies
    return not varies and target.result in results_with_rows


def _report_differences(
    recorded: Mapping[Cell, Sensitivity], measured: Mapping[Cell, Sensitivity]
) -> int:
    """Print the differences from the recorded sensitivity; return 1 if there are any.

    It also returns 1 if nothing was compared, as then nothing was shown.
    Inputs that take too long here, or took too long when they were recorded, are not compared, and
    neither are the notes: which of several changes of an input a rule refuses does not matter.
    """
    from everycell.workflow.cell_sensitivity import VARIES, slow_inputs, without_inputs

    ignored: dict[tuple[str, str], set[str]] = {}
    for cell, value in [*recorded.items(), *measured.items()]:
        ignored.setdefault(cell[:2], set()).update(slow_inputs(value))
    for result, inputs in ignored.items():
        if inputs:
            names = ", ".join(sorted(inputs))
            echo(f"{'/'.join(result)}: not compared, for lack of time: {names}.", err=True)
    nothing = Sensitivity(note="not recorded")
    changes, compared = [], 0
    for cell in dict.fromkeys([*recorded, *measured]):
        expected, got = recorded.get(cell, nothing), measured.get(cell, nothing)
        inputs = ignored[cell[:2]]
        parts = [without_inputs(value, inputs)._replace(note="") for value in (expected, got)]
        if VARIES in (expected.note, got.note) or parts == [Sensitivity(), Sensitivity()]:
            continue
        compared += 1
        if parts[0] != parts[1]:
            changes.append(
                f"{' '.join(cell)}: expected {_describe(expected)}, got {_describe(got)}"
            )
    for change in changes[:MAX_DIFFERENCES]:
        echo(change)
    if changes:
        echo(
            f"The sensitivity of {pluralise(len(changes), 'value')} changed; use `--update` if "
            "this is intended.",
            err=True,
        )
        return 1
    if not compared:
        echo("Nothing was compared: no value was both recorded and measured.", err=True)
        return 1
    echo(f"The sensitivity of {pluralise(compared, 'value')} is as recorded.")
    return 0


def _describe(sensitivity: Sensitivity) -> str:
    parts = (sensitivity.text, *sensitivity.not_perturbed, sensitivity.note)
    return "; ".join(filter(None, parts)) or "nothing"
