"""Text and tables in the terminal, and the same rows for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from everycell.engine.conclusions import OUTCOME_NAMES
from everycell.engine.differences import Difference
from everycell.engine.lineage import NAME as LINEAGE
from everycell.engine.untrusted import printable


def echo(text: str, *, err: bool = False) -> None:
    """Print text, with control characters of files and names spelled out."""
    typer.echo(printable(text), err=err)


class _Console(Console):
    """Console that spells out the control characters of what it is given, and adds its own."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=printable(part.text))


def output_console() -> Console:
    """Console for standard output, as wide as the terminal."""
    # A pipe has no width; a table there must not be cut.
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _Console(width=None if has_width else 160, highlight=False, markup=False)


def with_noun(number: int, what: str) -> str:
    """Number with its noun.

    Examples
    --------
    >>> with_noun(1, "cell"), with_noun(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number} {what}" + "s" * (number != 1)


def first_three(paths: Sequence[str]) -> str:
    """Names of the first three files, and the number of further ones.

    Examples
    --------
    >>> first_three(["a", "b", "c", "d"])
    'a, b, c and 1 more file'
    """
    more = f" and {with_noun(len(paths) - 3, 'more file')}" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def shortened(text: str | None) -> str:
    """Text in at most 80 characters; of a hash, the first twelve.

    Examples
    --------
    >>> shortened(None), shortened(""), shortened("c0ffee" * 10 + "abcd")
    ('nothing', '(empty)', 'c0ffeec0ffee')
    """
    if not text:
        return "nothing" if text is None else "(empty)"
    is_hash = len(text) == 64 and not set(text) - set("0123456789abcdef")
    return text[:12] if is_hash else text if len(text) <= 80 else f"{text[:77]}..."


def print_measures(
    frames: pd.DataFrame | Mapping[str, pd.DataFrame], form: str, settings: dict[str, Any]
) -> None:
    """Print one frame, or some by name: rounded for readers, in full for programs."""
    if form != "table":
        print_for_programs(frames, form, {"settings": settings})
        return
    console = output_console()
    print_settings(console, settings)
    several = {} if isinstance(frames, pd.DataFrame) else frames
    for frame in several.values() or [frames]:
        if several:
            console.print()
        print_frame(console, frame)


def print_for_programs(
    frames: pd.DataFrame | Mapping[str, pd.DataFrame],
    form: str,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Print one frame, or some by name, as CSV, JSON or LaTeX.

    Examples
    --------
    >>> depths = pd.DataFrame({"k": [5, 10], "tau": [0.25, None]})
    >>> print_for_programs(depths, "csv")
    k,tau
    5,0.25
    10,
    >>> print_for_programs({"order": depths.head(1)}, "csv")
    table,k,tau
    order,5,0.25
    """
    tables = {"rows": frames} if isinstance(frames, pd.DataFrame) else frames
    if form == "csv":
        table = frames
        if not isinstance(table, pd.DataFrame):
            # A count that other tables lack stays a whole number.
            integers = {name: frame.select_dtypes("int").columns for name, frame in tables.items()}
            parts = [
                frame.astype(dict.fromkeys(integers[name], "Int64")).assign(table=name)
                for name, frame in tables.items()
            ]
            table = pd.concat(parts, ignore_index=True)
            table.insert(0, "table", table.pop("table"))
        typer.echo(table.to_csv(index=False, lineterminator="\n"), nl=False)
    elif form == "json":
        print_json(dict(more or {}) | {name: records(frame) for name, frame in tables.items()})
    else:
        typer.echo("\n\n".join(frame_as_tex(frame) for frame in tables.values()))


def print_json(value: Any) -> None:
    """Print output for a program."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def frame_as_tex(frame: pd.DataFrame) -> str:
    r"""Table for LaTeX (booktabs), numbers rounded as in the terminal.

    Examples
    --------
    >>> print(frame_as_tex(pd.DataFrame({"run": ["a_b"], "tau": [0.25]})))
    \begin{tabular}{lr}
    \toprule
    run & tau \\
    \midrule
    a\_b & 0.2500 \\
    \bottomrule
    \end{tabular}
    """
    from everycell.engine.render.tables.latex import escape_tex

    lines = [[str(column) for column in frame.columns], *map(format_values, rows_of(frame))]
    head, *body = (" & ".join(map(escape_tex, line)) + r" \\" for line in lines)
    sides = "".join("r" if is_number(frame[column]) else "l" for column in frame.columns)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def rows_of(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Rows of a frame, each value with the type of its column."""
    return frame.itertuples(index=False, name=None)


def format_values(row: Iterable[Any]) -> list[str]:
    """Values as readers see them: numbers with four decimals, so that no p is shown as 0.

    Examples
    --------
    >>> format_values(["q1", 10, 0.25, 2e-12, float("nan")])
    ['q1', '10', '0.2500', '<0.0001', '-']
    """
    return [_format_number(value) if isinstance(value, float) else str(value) for value in row]


def _format_number(value: float) -> str:
    if value != value:
        return "-"
    return "<0.0001" if 0 < value < 0.00005 else f"{value:.4f}"


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, which are right-aligned."""
    return pd.api.types.is_numeric_dtype(column)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, which has no NaN."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def print_settings(console: Console, settings: dict[str, Any]) -> None:
    """Print a line per setting."""
    for name, value in settings.items():
        if isinstance(value, dict):
            value = ", ".join(f"{share:g} {group}" for group, share in value.items())
        console.print(f"{name}: {value}")


def print_frame(console: Console, frame: pd.DataFrame) -> None:
    """Print a table, numbers with four decimals."""
    table = Table(box=None)
    for column in frame.columns:
        side = "right" if is_number(frame[column]) else "left"
        table.add_column(str(column), justify=side)
    for row in rows_of(frame):
        table.add_row(*format_values(row))
    console.print(table)


def moved_values(differences: Iterable[Difference]) -> pd.DataFrame:
    """Differences: a row per cell, verdict and conclusion, and per result without a counterpart.

    Examples
    --------
    >>> moved_values([Difference(name="released/toy/table_1", only_in="first")]).iloc[0].tolist()
    ['released/toy/table_1', 'result', '', 'there', '']
    """
    rows = []
    for result in differences:
        if result.only_in:
            sides = ["there" if side == result.only_in else "" for side in ("first", "second")]
            rows.append([result.name, "result", "", *sides])
        for what in ("cell", "verdict", "conclusion"):
            moved = getattr(result, f"{what}s")
            rows += [[result.name, what, one.key, one.old or "", one.new or ""] for one in moved]
    return pd.DataFrame(rows, columns=["result", "what", "key", "first", "second"])


def difference_lines(result: Difference, first: Path, second: Path, limit: int) -> list[str]:
    """Lines about one result that differs."""
    if result.only_in:
        return [f"{result.name}: is only in {first if result.only_in == 'first' else second}"]
    lines = [
        f"{result.name}: {with_noun(len(result.cells), 'cell')} moved, "
        f"{with_noun(len(result.verdicts), 'verdict')} and "
        f"{with_noun(len(result.conclusions), 'claim')} changed"
        + f"; other bytes in {first_three(result.files)}"
        * bool(result.files)
    ]
    for what, moved in (
        ("", result.cells),
        ("verdict of ", result.verdicts),
        ("claim ", result.conclusions),
    ):
        for cell in moved[:limit]:
            old, new = cell.old, cell.new
            if what == "claim ":
                old, new = OUTCOME_NAMES.get(old or "", old), OUTCOME_NAMES.get(new or "", new)
            lines.append(f"  {what}{cell.key}: {shortened(old)} -> {shortened(new)}")
        if len(moved) > limit:
            lines.append(f"  ... and {len(moved) - limit} more (--format json has all)")
    if not result.causes:
        lines.append("  nothing in the receipts explains it")
    for cause in result.causes:
        what = cause.kind if cause.name == cause.kind else f"{cause.kind} {cause.name}"
        if cause.kind == "file":
            side = second if cause.old is None else first
            lines.append(f"  because {side}/.../{cause.name} was changed after it was made")
        elif cause.kind == cause.name == "card":
            lines.append("  card: the table is the same; its tolerance or the judging code changed")
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
