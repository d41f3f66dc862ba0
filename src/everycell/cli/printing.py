"""Output of text and tables, for readers and for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from everycell.base.untrusted import escape_controls, on_one_line, printable_line
from everycell.receipts.diff import Difference, shorten


def echo(line: str, *, err: bool = False, **style: Any) -> None:
    """Print one line, with control characters escaped and without line breaks."""
    text = printable_line(line)
    typer.echo(typer.style(text, **style) if style else text, err=err)


class _Console(Console):
    """Console that escapes control characters in text, except for its own formatting.

    Line breaks become spaces: text of a record or file begins no line of its own.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(on_one_line(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        if isinstance(renderable, Text) and len(renderable.plain.splitlines()) > 1:
            renderable = Text(on_one_line(renderable.plain), renderable.style)
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=escape_controls(part.text))


def output_console() -> Console:
    """Console for standard output, as wide as the terminal."""
    # A pipe has no width, and tables must not be truncated there.
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return _Console(width=None if has_width else 160, highlight=False, markup=False)


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Show on a terminal that work is under way; nothing may be printed meanwhile."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    bar = Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
        # Standard output may be a file although standard error is a terminal.
        redirect_stdout=False,
    )
    with bar:
        bar.add_task(text)
        yield


def print_paragraph(console: Console, text: str, style: str = "") -> None:
    """Print a text, wrapped so that only its first line begins at the margin."""
    first, *later_lines = Text(on_one_line(text)).wrap(console, console.width - 2) or [Text()]
    for line in (first, *(Text("  ") + line for line in later_lines)):
        console.print(Text(line.plain.rstrip(), style), soft_wrap=True)


def pluralise(number: int, noun: str) -> str:
    """Number and noun, in the plural if needed."""
    return f"{number} {noun}" + "s" * (number != 1)


def list_first(texts: Sequence[str], limit: int = 5) -> str:
    """List the first texts, and count the others."""
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def list_paths(paths: Sequence[str]) -> str:
    """List the first three paths, and count the others."""
    more = f" and {pluralise(len(paths) - 3, 'more file')}" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def print_measures(
    frames: pd.DataFrame | Mapping[str, pd.DataFrame], form: str, settings: dict[str, Any]
) -> None:
    """Print one frame, or several by name: rounded for readers, in full precision for programs."""
    if form != "table":
        print_for_programs(frames, form, {"settings": settings})
        return
    console = output_console()
    print_settings(console, settings)
    frames_by_name = {} if isinstance(frames, pd.DataFrame) else frames
    for frame in frames_by_name.values() or [frames]:
        if frames_by_name:
            console.print()
        print_frame(console, frame)


def print_for_programs(
    frames: pd.DataFrame | Mapping[str, pd.DataFrame],
    form: str,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Print one frame, or several by name, as CSV, JSON (with `extra` keys) or LaTeX."""
    tables = {"rows": frames} if isinstance(frames, pd.DataFrame) else frames
    if form == "csv":
        from everycell.base.csv_files import csv_text

        table = frames
        if not isinstance(table, pd.DataFrame):
            # Integer columns that other tables lack stay integers.
            integers = {name: frame.select_dtypes("int").columns for name, frame in tables.items()}
            parts = [
                frame.astype(dict.fromkeys(integers[name], "Int64")).assign(table=name)
                for name, frame in tables.items()
            ]
            table = pd.concat(parts, ignore_index=True)
            table.insert(0, "table", table.pop("table"))
        typer.echo(csv_text(table), nl=False)
    elif form == "json":
        print_json(dict(extra or {}) | {name: records(frame) for name, frame in tables.items()})
    else:
        typer.echo("\n\n".join(frame_as_tex(frame) for frame in tables.values()))


def print_document(text: str) -> None:
    """Print LaTeX or HTML, in which names are already escaped, unchanged."""
    typer.echo(text, nl=False)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # Half a surrogate pair, which JSON may contain, has the same escape in JSON and in Python.
    typer.echo(text.encode(errors="backslashreplace").decode())


def frame_as_tex(frame: pd.DataFrame) -> str:
    """LaTeX table (booktabs), with numbers rounded as in the terminal."""
    from everycell.render.latex import escape_tex

    lines = [[str(column) for column in frame.columns], *map(format_values, rows_of(frame))]
    head, *body = (" & ".join(map(escape_tex, line)) + r" \\" for line in lines)
    alignment = "".join("r" if is_number(frame[column]) else "l" for column in frame.columns)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{alignment}}}",
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
    """Format values: floats with four decimals, and tiny ones as <0.0001, not 0."""
    return [_format_number(value) if isinstance(value, float) else str(value) for value in row]


def _format_number(value: float) -> str:
    if value != value:
        return "-"
    return "<0.0001" if 0 < value < 0.00005 else f"{value:.4f}"


def is_number(column: pd.Series) -> bool:
    """Whether a column is numeric, and therefore right-aligned."""
    return pd.api.types.is_numeric_dtype(column)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame for JSON, with None instead of NaN."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def print_settings(console: Console, settings: dict[str, Any]) -> None:
    """Print one line per setting."""
    for name, value in settings.items():
        if isinstance(value, dict):
            value = ", ".join(f"{share:g} {group}" for group, share in value.items())
        console.print(f"{name}: {value}")


def print_frame(console: Console, frame: pd.DataFrame) -> None:
    """Print a table, with numbers to four decimals."""
    table = Table(box=None)
    for column in frame.columns:
        table.add_column(str(column), justify="right" if is_number(frame[column]) else "left")
    for row in rows_of(frame):
        table.add_row(*format_values(row))
    console.print(table)


#: Minimum width of a column whose text may be wrapped.
_MIN_WRAPPED_WIDTH = 12


def print_list(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    wrapped: Sequence[str],
    dispensable: Sequence[str],
) -> None:
    """Print a list as wide as the terminal, without ever cutting a name.

    Text of the columns `wrapped` may be wrapped. Where the terminal is too narrow for all columns,
    those of `dispensable` are left out, the first of them first, and named below the list.
    """
    console = output_console()
    if not rows:
        console.print("No matches; `everycell list` without options lists everything.")
        return
    lines = [dict(zip(columns, row, strict=True)) for row in rows]
    widths = {
        column: 2 + max(len(column), *(len(line[column]) for line in lines)) for column in columns
    }
    for column in wrapped:
        widths[column] = min(widths[column], 2 + max(len(column), _MIN_WRAPPED_WIDTH))
    left_out = []
    for column in dispensable:
        if sum(widths.values()) <= console.width:
            break
        del widths[column]
        left_out.append(column)
    table = Table(box=None)
    for column in widths:
        table.add_column(column, no_wrap=column not in wrapped, overflow="fold")
    for line in lines:
        table.add_row(*(line[column] for column in widths))
    console.print(table)
    if left_out:
        console.print(f"Too wide for this terminal: {', '.join(left_out)} (--format csv has all).")


def difference_frame(differences: Iterable[Difference]) -> pd.DataFrame:
    """One row per changed cell, verdict or claim, and per result without a counterpart."""
    rows = []
    for result in differences:
        if result.only_in:
            sides = ["present" if side == result.only_in else "" for side in ("first", "second")]
            rows.append([result.name, "result", "", *sides])
        for what in ("cell", "verdict", "claim"):
            changes = getattr(result, f"{what}s")
            rows += [
                [result.name, what, change.key, change.old or "", change.new or ""]
                for change in changes
            ]
    return pd.DataFrame(rows, columns=["result", "what", "key", "first", "second"])


def difference_lines(result: Difference, first: Path, second: Path, limit: int) -> list[str]:
    """Lines that describe one result that differs."""
    if result.only_in:
        return [f"{result.name} is only in {first if result.only_in == 'first' else second}"]
    lines = [
        f"{result.name}: {pluralise(len(result.cells), 'cell')}, "
        f"{pluralise(len(result.verdicts), 'verdict')} and "
        f"{pluralise(len(result.claims), 'claim')} changed"
        + f"; the bytes of {list_paths(result.files)} differ"
        * bool(result.files)
    ]
    for what, changes in (
        ("", result.cells),
        ("verdict of ", result.verdicts),
        ("claim ", result.claims),
    ):
        for change in changes[:limit]:
            old, new = change.old, change.new
            lines.append(f"  {what}{change.key}: {shorten(old)} -> {shorten(new)}")
        if len(changes) > limit:
            lines.append(f"  ... and {len(changes) - limit} more (--format json has all)")
    if not result.causes:
        lines.append("  the receipts do not explain this")
    for cause in result.causes:
        what = cause.kind if cause.name == cause.kind else f"{cause.kind} {cause.name}"
        if cause.kind == "file":
            side = second if cause.old is None else first
            lines.append(f"  because {side}/.../{cause.name} was edited after the run")
        elif cause.kind == cause.name == "record":
            lines.append(
                "  record: the table is unchanged; its tolerance or the code that computes "
                "verdicts changed"
            )
        else:
            lines.append(f"  {what}: {shorten(cause.old)} -> {shorten(cause.new)}")
    return [on_one_line(line) for line in lines]
