"""`everycell why`: readings of the paper that may explain differences from published values."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from everycell.base.arrays import FloatArray
from everycell.base.untrusted import on_one_line
from everycell.cli import project
from everycell.cli.names import Names
from everycell.cli.options import OnlyTier
from everycell.cli.printing import output_console, pluralise
from everycell.receipts.receipts import read_receipt
from everycell.records.cells import SEEDS, RecordError, as_number, is_number, read_spreads
from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.verdicts.audits import audits_of
from everycell.verdicts.cells import is_rounded
from everycell.verdicts.readings import (
    CHANCE_LEVEL,
    Block,
    Reading,
    Search,
    Trial,
    cell_readings,
    replacement,
    search_readings,
)
from everycell.verdicts.reports import Result
from everycell.verdicts.results import find_supplements, read_result, result_of, stem_of

#: Seconds after which progress is shown.
_PATIENCE = 3.0
#: Number of trials, and of cells that still differ, to show.
_MAX_LINES = 5


def why(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A table in any spelling, such as 'Table 1 smith2026'."
        ),
    ],
    tier: OnlyTier = None,
    minutes: Annotated[
        float, typer.Option(min=0, help="Time after which no further reading is tried.")
    ] = 3,
) -> None:
    """Suggest why reproduced numbers of a table differ from published ones.

    Tries other readings of the paper, alone and in pairs:
    relevance from grade 1, 2 or 3; depth of the runs; other cut-offs;
    another order of ties; exponential or linear gain of nDCG;
    topics without results left out; judged documents only; the best seed;
    swapped or repeated rows and columns; a factor of 100; truncation;
    and those that the record declares.
    It changes neither verdicts nor files.
    """
    papers = project.papers()
    selection = Names(papers).find(name)
    if selection.kind != "artefact":
        raise RecordError(
            f"{name!r} is not a table; `everycell list` shows the names of all tables."
        )
    artefact = papers[selection.paper].artefacts[selection.artefact]
    result = _reproduced_result(artefact, tier or selection.tier)
    rows, block = _block_of(result)
    heading = f"{artefact.id} ({result.tier})"
    n_equal = int(block.equal(block.reproduced).sum())
    if not rows:
        raise RecordError(
            f"{heading} has no published numbers that are compared; nothing to explain."
        )
    console = output_console()
    if n_equal == len(rows):
        console.print(f"{heading}: all {len(rows)} compared numbers are equal; nothing to explain.")
        return
    readings, compute = _evaluation_readings(result, block)
    readings += _declared_readings(result, rows)
    # Labels only describe other key columns.
    columns = [key for key in artefact.key_columns if key not in artefact.record.labels]
    readings += cell_readings(block, columns)
    with warnings.catch_warnings():
        # The log of the result has the warnings about its runs.
        warnings.simplefilter("ignore")
        track = _Track(60 * minutes)
        search = search_readings(block, readings, compute, track)
    console.print(Text(f"{heading}: {n_equal} of {len(rows)} numbers are equal", style="bold"))
    _print_search(console, search, track)


def _reproduced_result(artefact: Artefact, tier: Tier | None) -> Result:
    """Result of the deepest tier with compared values."""
    tiers = artefact.record.tiers
    if tier is not None and tier not in tiers:
        raise RecordError(f"{artefact.id} has no tier {tier!r}; its record has {', '.join(tiers)}.")
    results = [
        result_of(artefact, each_tier, project.RESULTS, project.ROOT, audits=audits_of)
        for each_tier in ([tier] if tier else reversed(tiers))
    ]
    for result in results:
        if result.report.state == "reproduced" and result.report.cells:
            return result
    for result in results:
        for fault in result.faults:
            raise RecordError(fault)
    runnable = [r.tier for r in results if tiers[r.tier].state == "reproduced"]
    if not runnable:
        raise RecordError(
            f"{artefact.id} has no values to compare in {', '.join(r.tier for r in results)}; "
            "nothing to explain."
        )
    raise RecordError(
        f"{artefact.id} was not reproduced yet in {', '.join(runnable)}; run "
        f"`everycell make results/{runnable[0]}/{artefact.id}.verdicts.json` first."
    )


def _block_of(result: Result) -> tuple[list[int], Block]:
    """Compared numbers of a result, and their rows in the published table."""
    artefact, cells = result.artefact, result.report.cells
    rows = [
        row
        for row, (cell, precision) in enumerate(zip(cells, artefact.precisions, strict=True))
        if isinstance(cell.reproduced, float)
        and is_number(cell.published)
        and precision.decimals != "text"
    ]
    precisions = [artefact.precisions[row] for row in rows]
    return rows, Block(
        keys=[cells[row].key for row in rows],
        published=np.array([float(cells[row].published) for row in rows]),
        decimals=np.array([precision.decimals for precision in precisions], dtype=float),
        is_rounded=np.array([is_rounded(precision) for precision in precisions], dtype=bool),
        reproduced=np.array([cells[row].reproduced for row in rows], dtype=float),
    )


def _evaluation_readings(result: Result, block: Block) -> tuple[list[Reading], Any]:
    """Readings of the shared rule `evaluation`, and the function that computes their values."""
    stem = stem_of(result.artefact, result.tier, project.RESULTS)
    receipt = read_receipt(stem.with_name(f"{stem.name}.receipt.json"))
    if receipt["code"].get("script") != "evaluate_runs":
        return [], None
    from everycell.jobs.rule_lists import names_of_system
    from everycell.retrieval.readings import EvaluatedRun, Evaluation
    from everycell.trec.runs import read_qrels, read_run

    params: dict[str, Any] = receipt["parameters"]
    files: dict[str, list[str]] = params["files"]["input"]
    for path in (*files["qrels"], *files["runs"]):
        if not Path(path).is_file():
            raise RecordError(
                f"{path} is missing, from which {result.artefact.id} was computed; run "
                f"`everycell make {result.artefact.id}`."
            )
    names = params["judged"] or [""]
    qrels = {name: read_qrels(path) for name, path in zip(names, files["qrels"], strict=True)}
    collections = params["collections"] or [""] * len(params["systems"])
    runs: dict[tuple[str, ...], EvaluatedRun] = {}
    for system, collection, path in zip(params["systems"], collections, files["runs"], strict=True):
        key = (*names_of_system(system), *[collection] * bool(params["judged"]))
        runs[key] = EvaluatedRun(read_run(path), qrels[collection])
    evaluation = Evaluation(runs, params["measures"], params["relevant_from"], params["in_percent"])
    keys = [tuple(key[column] for column in params["columns"]) for key in block.keys]

    def compute(settings: Mapping[Hashable, Any]) -> FloatArray:
        values = evaluation.compute(settings)
        return np.array([values.get(key, np.nan) for key in keys])

    return evaluation.readings(), compute


def _declared_readings(result: Result, rows: list[int]) -> list[Reading]:
    """Readings in the record: its column of readings, causes of errata, and seeds."""
    artefact, cells = result.artefact, result.report.cells
    stem = stem_of(artefact, result.tier, project.RESULTS)
    readings = []
    table, column = read_result(stem.with_name(f"{stem.name}.csv")), artefact.record.readings
    if column in table:
        for reading, part in table.groupby(column, sort=False):
            keys = part[artefact.key_columns].itertuples(index=False, name=None)
            values = dict(zip(keys, map(as_number, part["value"]), strict=True))
            text = f"{column} {reading}"
            readings.append(
                replacement(
                    text,
                    "readings",
                    _array([values.get(tuple(cells[row].key.values())) for row in rows]),
                )
            )
    for erratum in artefact.record.errata:
        yielding = {
            row for entry in erratum.yields for row in np.flatnonzero(artefact.select(entry.cells))
        }
        values = [cells[row].yielded if row in yielding else None for row in rows]
        if any(isinstance(value, float) for value in values):
            text = f"erratum {erratum.id}"
            readings.append(replacement(text, ("erratum", erratum.id), _array(values)))
    seeds = find_supplements(artefact, result.tier, project.RESULTS, project.ROOT)(SEEDS)
    if seeds is not None:
        spreads = read_spreads(seeds, artefact.key_columns, where=f"{artefact.id}.{SEEDS}")
        of_rows = [spreads.get(tuple(cells[row].key.values())) for row in rows]
        for statistic in ("highest", "lowest"):
            values = [spread and getattr(spread, statistic) for spread in of_rows]
            readings.append(replacement(f"{statistic} value of all seeds", "seeds", _array(values)))
    return readings


def _array(values: list[Any]) -> FloatArray:
    """Values as numbers; NaN for text and missing values."""
    return np.array(
        [np.nan if (number := as_number(value)) is None else number for value in values]
    )


class _Track:
    """Iterates over trials until time is up; on a terminal, shows progress if it takes long."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        #: Number of trials for which there was no time.
        self.untried = 0

    def __call__(self, trials: list[Any]) -> Iterator[Any]:
        start = time.monotonic()
        progress = Progress(
            console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
        )
        task = progress.add_task("Trying readings", total=len(trials))
        try:
            for number, trial in enumerate(trials):
                if time.monotonic() > self.end:
                    self.untried += len(trials) - number
                    return
                if time.monotonic() - start > _PATIENCE:
                    progress.start()
                yield trial
                progress.advance(task)
        finally:
            progress.stop()


def _print_search(console: Console, search: Search, track: _Track) -> None:
    """Print the smallest change that suffices or comes closest, and how it compares with chance."""
    total = len(search.block.published)
    listed = _select_trials(search)
    is_likely_chance = bool(listed) and search.chance(listed[0]) >= CHANCE_LEVEL
    if not listed:
        console.print("No reading makes more of them equal.")
    elif search.complete:
        doubt = ", which may be chance" * is_likely_chance
        console.print(f"All {total} are equal with {listed[0].description}{doubt}.")
        n_others = len(search.complete) - 1
        if n_others:
            noun = "other reading" if len(listed[0].readings) == 1 else "other pair"
            alternatives = pluralise(n_others, noun)
            console.print(f"They are also equal with {alternatives}; the table does not decide.")
    elif is_likely_chance:
        console.print(f"No reading makes all {total} equal, and the closest may be chance.")
    else:
        console.print(f"No reading makes all {total} equal; the closest leaves differences.")
    if listed:
        table = Table(box=None)
        for column in ("equal", "by chance", "reading"):
            table.add_column(column, justify="left" if column == "reading" else "right")
        for trial in listed:
            table.add_row(
                f"{trial.n_equal} of {total}", _in_digits(search.chance(trial)), trial.description
            )
        console.print(table)
        _print_different(console, search.block, listed[0])
    pairs = f" and {pluralise(search.pairs, 'pair')} of them" if search.pairs else ""
    console.print(f"Tried: {pluralise(search.singles, 'reading')}{pairs} that change a value.")
    if track.untried:
        console.print(
            f"{pluralise(track.untried, 'more trial')} had no time; --minutes gives them more."
        )
    if listed:
        console.print(
            "By chance: rough upper bound of the probability that one of these trials gains as "
            "many numbers (for a pair: over the better of its two)."
        )
    console.print("These are suggestions: no verdict and no file was changed.")


def _select_trials(search: Search) -> list[Trial]:
    """Trials to show: the complete ones, or the best single readings and better pairs.

    Those that may be chance are left out if any is not.
    """
    singles = [trial for trial in search.trials if len(trial.readings) == 1]
    if search.complete:
        pairs = [trial for trial in search.complete if len(trial.readings) == 2]
        return [*search.complete[:_MAX_LINES], *(singles[:1] if pairs else [])]
    best = singles[0].n_equal if singles else 0
    listed = [t for t in search.trials if len(t.readings) == 1 or t.n_equal > best]
    listed = listed[: 4 * _MAX_LINES]
    beyond_chance = [trial for trial in listed if search.chance(trial) < CHANCE_LEVEL]
    return (beyond_chance or listed)[:_MAX_LINES]


def _in_digits(probability: float) -> str:
    return "<0.0001" if probability < 0.0001 else f"{probability:.1g}"


def _print_different(console: Console, block: Block, trial: Trial) -> None:
    """List numbers that still differ with a trial."""
    different = np.flatnonzero(~trial.is_equal)
    if not len(different):
        return
    console.print(f"Still different with {trial.description}:")
    for row in different[:_MAX_LINES]:
        decimals = int(block.decimals[row])
        name = on_one_line(" / ".join(block.keys[row].values()))
        console.print(
            f"  {name}: published {block.published[row]:.{decimals}f}, "
            f"then {trial.values[row]:.{decimals + 1}f}"
        )
    if len(different) > _MAX_LINES:
        console.print(f"  ... and {len(different) - _MAX_LINES} more")
