"""Words and tables in the terminal, and the same rows for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from everycell.engine.differences import Difference
from everycell.engine.lineage import NAME as LINEAGE


def output_console() -> Console:
    """Console for standard output, as wide as the terminal."""
    # A pipe has no width; a table there must not be cut.
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)


def with_noun(number: int, what: str) -> str:
    """Number with its noun.

    Examples
    --------
    >>> with_noun(1, "cell"), with_noun(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number} {what}" + "s" * (number != 1)


def first_three(paths: Sequence[str]) -> str:
    """Names of the first three files, and how many there are more.

    Examples
    --------
    >>> first_three(["a", "b", "c", "d"])
    'a, b, c and 1 more file'
    """
    more = f" and {with_noun(len(paths) - 3, 'more file')}" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def shortened(text: str | None) -> str:
    """Text in at most 80 characters, of a hash the first twelve.

    Examples
    --------
    >>> shortened(None), shortened(""), shortened("c0ffee" * 10 + "abcd")
    ('nothing', '(empty)', 'c0ffeec0ffee')
    """
    if not text:
        return "nothing" if text is None else "(empty)"
    is_hash = len(text) == 64 and not set(text) - set("0123456789abcdef")
    return text[:12] if is_hash else text if len(text) <= 80 else f"{text[:77]}..."


def print_measures(frame: pd.DataFrame, form: str, settings: dict[str, Any]) -> None:
    """Print a frame: rounded for readers, in full for programs."""
    if form == "csv":
        typer.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    if form == "json":
        typer.echo(json.dumps({"settings": settings, "rows": records(frame)}, indent=1))
        return
    console = output_console()
    print_settings(console, settings)
    print_frame(console, frame)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, which has no name for what is not a number."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def print_settings(console: Console, settings: dict[str, Any]) -> None:
    """Print a line a setting."""
    for name, value in settings.items():
        if isinstance(value, dict):
            value = ", ".join(f"{share:g} {group}" for group, share in value.items())
        console.print(f"{name}: {value}")


def print_frame(console: Console, frame: pd.DataFrame) -> None:
    """Print a table, numbers with four digits after the point."""
    table = Table(box=None)
    for column in frame.columns:
        left = column in ("query", "measure")
        table.add_column(column, justify="left" if left else "right")
    for row in frame.itertuples(index=False):
        table.add_row(
            *(
                ("-" if value != value else f"{value:.4f}")
                if isinstance(value, float)
                else str(value)
                for value in row
            )
        )
    console.print(table)


def difference_lines(result: Difference, first: Path, second: Path, limit: int) -> list[str]:
    """Lines on one result that differs."""
    if result.only_in:
        return [f"{result.name}: is only in {first if result.only_in == 'first' else second}"]
    lines = [
        f"{result.name}: {with_noun(len(result.cells), 'cell')} moved, "
        f"{with_noun(len(result.verdicts), 'verdict')} and "
        f"{with_noun(len(result.conclusions), 'conclusion')} changed"
        + f"; other bytes in {first_three(result.files)}"
        * bool(result.files)
    ]
    for what, moved in (
        ("", result.cells),
        ("verdict of ", result.verdicts),
        ("conclusion ", result.conclusions),
    ):
        lines += [
            f"  {what}{cell.key}: {shortened(cell.old)} -> {shortened(cell.new)}"
            for cell in moved[:limit]
        ]
        if len(moved) > limit:
            lines.append(f"  ... and {len(moved) - limit} more (--json has all)")
    if not result.causes:
        lines.append("  nothing in the receipts explains it")
    for cause in result.causes:
        what = cause.kind if cause.name == cause.kind else f"{cause.kind} {cause.name}"
        if cause.kind == "file":
            side = second if cause.old is None else first
            lines.append(f"  because {side}/.../{cause.name} was changed after it was made")
        elif cause.kind == cause.name == "card":
            lines.append("  card: the table is the same, its tolerance or the code that judges not")
        else:
            lines.append(f"  {what}: {shortened(cause.old)} -> {shortened(cause.new)}")
    if result.unexplained:
        lines.append(
            f"  nothing in the receipts and in {LINEAGE} explains {first_three(result.unexplained)}"
        )
    if result.unrecorded:
        lines.append(
            f"  {LINEAGE} of a folder does not say all that {first_three(result.unrecorded)} "
            "came from"
        )
    return lines
