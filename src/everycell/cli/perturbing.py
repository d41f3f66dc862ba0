"""`everycell verify --perturb`: which reproduced values move when their data change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from everycell.cli import project
from everycell.cli.names import Names
from everycell.cli.printing import echo, pluralise
from everycell.config import read_config
from everycell.engine.artefacts import all_artefacts
from everycell.engine.cards import RUNNABLE
from everycell.engine.published_cells import CardError
from everycell.engine.sensitivity import (
    NAME,
    Cell,
    Sensitivity,
    read_sensitivity,
    write_sensitivity,
)

#: Longest run of the jobs of a result, in seconds, that are run again.
LIMIT = 60.0
#: Tiers whose results are perturbed.
TIERS = ("embedded", "released")
#: Differences from the recorded sensitivity that are printed.
SHOWN = 50


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

    With `share`, only a random part of the results is perturbed, in random order, until `minutes`
    have passed.
    """
    from everycell.workflow.perturbed_runs import Plan, Target, measure_sensitivity

    papers = project.papers()
    selection = Names(papers).find(name)
    artefacts = list(all_artefacts(papers))
    order = {artefact.id: number for number, artefact in enumerate(artefacts)}
    targets = [
        Target(artefact, tier)
        for artefact in artefacts
        for tier, declared in artefact.card.tiers.items()
        if tier in TIERS and declared.state in RUNNABLE and selection.has(artefact, tier)
    ]
    targets = [target for target in targets if Path(f"{target.stem}.csv").is_file()]
    if not targets:
        raise CardError(
            f"No result of {name!r} exists in {project.RESULTS}; run `everycell make` first."
        )
    if share < 1:
        seed = random.randrange(10**6) if seed is None else seed
        number = max(1, round(share * len(targets)))
        targets = random.Random(seed).sample(targets, number)
        echo(f"Perturbing {pluralise(number, 'result')}, drawn with --seed {seed}.", err=True)
    cache = Path(read_config(Path("config.yaml")).cache)
    plan = Plan(project.ROOT.resolve(), cache.resolve(), targets, LIMIT)
    measured = measure_sensitivity(
        plan,
        cores,
        seconds=float("inf") if minutes is None else 60 * minutes,
        notify=lambda line: echo(line, err=True),
    )
    done = [target for target in targets if target.name in measured]
    cells: dict[Cell, Sensitivity] = {}
    for target in done:
        values = measured[target.name]
        states = Counter(value.state for value in values.values())
        counts = ", ".join(f"{states[state]} {state}" for state in sorted(states))
        echo(f"{target.name}: {counts}")
        cells |= {(target.tier, target.artefact.id, key): value for key, value in values.items()}
    left_out = len(targets) - len(measured)
    if left_out:
        echo(f"{pluralise(left_out, 'result')} left out, for lack of time.", err=True)
    path = project.PUBLISHED / NAME
    recorded = read_sensitivity(path)
    if update:
        names = {(target.tier, target.artefact.id) for target in done}
        other_cells = {
            cell: value
            for cell, value in recorded.items()
            if cell[:2] not in names and cell[1] in order
        }
        merged = {**other_cells, **cells}
        ordered = sorted(merged, key=lambda cell: (order[cell[1]], cell[0]))
        write_sensitivity(path, {cell: merged[cell] for cell in ordered})
        echo(f"Wrote the sensitivity of {pluralise(len(cells), 'value')} to {path}.")
        return 0
    known = {cell[:2] for cell in recorded}
    unknown = [target for target in done if (target.tier, target.artefact.id) not in known]
    if unknown:
        echo(f"{path} does not have {', '.join(target.name for target in unknown)}.", err=True)
    stable = {
        (target.tier, target.artefact.id)
        for target in done
        if target not in unknown and not target.artefact.card.tiers[target.tier].varies
    }
    return _report_differences(
        {cell: value for cell, value in recorded.items() if cell[:2] in stable},
        {cell: value for cell, value in cells.items() if cell[:2] in stable},
    )


def _report_differences(
    recorded: Mapping[Cell, Sensitivity], measured: Mapping[Cell, Sensitivity]
) -> int:
    """Print the differences from the recorded sensitivity; return 1 if there are any."""
    nothing = Sensitivity(note="not recorded")
    changes = [
        f"{' '.join(cell)}: expected {_describe(recorded.get(cell, nothing))}, "
        f"got {_describe(measured.get(cell, nothing))}"
        for cell in dict.fromkeys([*recorded, *measured])
        if recorded.get(cell) != measured.get(cell)
    ]
    for change in changes[:SHOWN]:
        echo(change)
    if changes:
        echo(
            f"The sensitivity of {pluralise(len(changes), 'value')} changed; use `--update` if "
            "this is intended.",
            err=True,
        )
        return 1
    echo(f"The sensitivity of {pluralise(len(measured), 'value')} is as recorded.")
    return 0


def _describe(sensitivity: Sensitivity) -> str:
    return sensitivity.text or sensitivity.note or "nothing"
