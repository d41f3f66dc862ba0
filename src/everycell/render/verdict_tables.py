"""Grids of an artefact: published values, values with verdicts, and values on surrogate data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from everycell.base.errors import DataError
from everycell.records.papers import Artefact
from everycell.render.grid import (
    VALUE_COLUMNS,
    Cell,
    Grid,
    format_distinct,
    make_grid,
    published_mark,
    show_value,
    shown_label,
)
from everycell.render.latex import escape_tex, latex_document, latex_table
from everycell.render.vocabulary import TINTS, VERDICTS, css_class, label
from everycell.verdicts.reports import UNDECIDED_MARK, UNEQUAL, JudgedCell, Report, Verdict

#: Longer supplementary tables are linked, not shown.
_MAX_SUPPLEMENT_ROWS = 200
#: Longer tables on surrogate data are linked, not shown; no published table is longer.
_MAX_SURROGATE_ROWS = 600


@dataclass(frozen=True)
class VerdictCell:
    """A cell with its verdict, and how its values are shown."""

    judged: JudgedCell
    #: Labels of its row and column.
    name: str
    #: Mark of the published value.
    mark: str
    #: Decimals of the published value.
    decimals: int | Literal["text"]
    #: What the perturbation of its data showed.
    sensitivity: str
    #: Number in the table, from 1, and id on the page.
    number: int
    id: str

    @property
    def published(self) -> str:
        """Published value."""
        return self.judged.published

    @property
    def verdict(self) -> Verdict:
        """Verdict on the reproduced value."""
        return self.judged.verdict

    @property
    def verdict_text(self) -> str:
        """Verdict with the cause of an explained difference."""
        return self.judged.verdict_and_source

    @property
    def is_empty(self) -> bool:
        """Whether it has a dash for a value that the paper does not report."""
        return self.judged.kind == "empty"

    @property
    def is_different(self) -> bool:
        """Whether the values are not equal."""
        return self.judged.verdict in UNEQUAL

    @property
    def reproduced(self) -> str | None:
        """Reproduced value, with the digits that tell it from the published one; None if equal."""
        if not self.is_different:
            return None
        return format_distinct(self.judged.reproduced, self.published, self.decimals)

    @property
    def extra_digit(self) -> str | None:
        """Equal reproduced value with one more digit than published, to show how it rounds."""
        value = self.judged.reproduced
        if self.is_different or value is None:
            return None
        if isinstance(value, float) and self.decimals != "text":
            return show_value(value, self.decimals + 1)
        return str(value)

    @property
    def exact(self) -> str | None:
        """Reproduced value with six digits."""
        value = self.judged.reproduced
        return f"{value:.6g}" if isinstance(value, float) else value

    @property
    def distance(self) -> str | None:
        """Text on difference and tolerance; None if the values are equal."""
        return self.judged.difference_text if self.is_different else None

    @property
    def markers(self) -> str | None:
        """Text on the markers of both values, if there are any."""
        markers = self.judged.markers
        if markers is None:
            return None
        return (
            f"published marker: {published_mark(markers.published) or 'none'}; "
            f"reproduced marker: {markers.reproduced or 'none'}"
        )

    @property
    def reproduced_mark(self) -> str:
        """Mark of the reproduced value; empty if it has none or the mark is unknown."""
        markers = self.judged.markers
        if markers is None or markers.reproduced == UNDECIDED_MARK:
            return ""
        return markers.reproduced


@dataclass(frozen=True)
class SurrogateCell:
    """A value on surrogate data; `published` is None if no published cell has its key."""

    published: str | None
    reproduced: str
    exact: str
    marker: str
    number: int

    #: Attributes that it shares with `VerdictCell`.
    judged = None
    verdict = "surrogate"
    is_empty = is_different = False

    @property
    def verdict_text(self) -> str:
        """Published value, which is not compared."""
        published = "no such cell" if self.published is None else self.published
        return f"published: {published}; not compared: other data"

    @property
    def markers(self) -> str | None:
        """Text on its marker, if it has one."""
        return f"marker on surrogate data: {self.marker}" if self.marker else None


def verdict_cells(artefact: Artefact, report: Report) -> list[VerdictCell]:
    """Cells of a reproduced table with their verdicts, in the order of the published ones."""
    published, names = artefact.cells, artefact.record.names
    marks = (
        published["marker"].map(published_mark) if "marker" in published else [""] * len(published)
    )
    identifier = f"{artefact.id.replace('/', '-')}-{report.tier}"
    return [
        VerdictCell(
            judged=cell,
            name=" / ".join(str(shown_label(key, text, names)) for key, text in cell.key.items()),
            mark=mark,
            decimals=decimals,
            sensitivity=artefact.sensitivity(report.tier, cell.key).text,
            number=number,
            id=f"{identifier}-{number}",
        )
        for number, (cell, (decimals, _), mark) in enumerate(
            zip(report.cells, artefact.precisions, marks, strict=True), start=1
        )
    ]


def verdict_grid(artefact: Artefact, cells: Sequence[VerdictCell]) -> Grid[VerdictCell]:
    """Cells with verdicts in the layout of the record."""
    return _grid_of_record(artefact, pd.DataFrame([cell.judged.key for cell in cells]), cells)


#: What to do if a table of a result cannot be displayed.
_FIX = "write one row per value in the rule, and run snakemake again"


def _read_result(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path, keep_default_na=False, dtype=str)
    except ValueError as error:
        raise DataError(path, fault=f"is not a CSV file ({str(error).strip()})", fix=_FIX) from None


def _checked_keys(table: pd.DataFrame, path: Path) -> list[str]:
    """Key columns of a table, which must have a value for each key; no job writes others."""
    keys = [column for column in table.columns if column not in VALUE_COLUMNS]
    if "value" not in table:
        raise DataError(
            path,
            column="value",
            fault=f"is missing from the columns {[*table.columns]}",
            fix=_FIX,
        )
    if not keys:
        raise DataError(path, fault=f"has no key column but {[*table.columns]}", fix=_FIX)
    if (repeated := table.duplicated(keys)).any():
        row = int(repeated.to_numpy().argmax())
        raise DataError(path, row + 2, fault="has the keys of another line", fix=_FIX)
    return keys


def surrogate_grid(artefact: Artefact, path: Path) -> Grid[SurrogateCell] | None:
    """Values on surrogate data, in the layout of the published table if the keys are the same."""
    table = _read_result(path)
    if table.empty or len(table) > _MAX_SURROGATE_ROWS:
        return None
    keys = _checked_keys(table, path)
    has_same_keys = not artefact.cells.empty and set(keys) == set(artefact.key_columns)
    if has_same_keys:
        keys = artefact.key_columns
    published = published_texts(artefact) if has_same_keys else {}
    numbers = pd.to_numeric(table["value"], errors="coerce").astype(float)
    cells = []
    for position, (row, number) in enumerate(zip(table.to_dict("records"), numbers, strict=True)):
        text = row["value"]
        if not pd.isna(number) and not has_same_keys:
            text = _short_number(number, text)
        elif not pd.isna(number):
            decimals = artefact.decimals(row.get("metric", "all"))
            text = text if decimals == "text" else show_value(number, decimals)
        cells.append(
            SurrogateCell(
                published=published.get(tuple(row[name] for name in keys)),
                reproduced=text,
                exact=row["value"] if pd.isna(number) else f"{number:.6g}",
                marker=row.get("marker", ""),
                number=position + 1,
            )
        )
    if not has_same_keys:
        return _grid_by_last_key(table[keys], cells, artefact.record.names)
    positions = {key: position for position, key in enumerate(published)}
    order = [positions.get(key, len(positions)) for key in table[keys].itertuples(False, None)]
    rows = pd.Series(order).argsort(kind="stable").tolist()
    return _grid_of_record(artefact, table[keys].iloc[rows], [cells[row] for row in rows])


def published_texts(artefact: Artefact) -> dict[tuple[str, ...], str]:
    """Published value by key."""
    table = artefact.cells
    if table.empty:
        return {}
    return dict(
        zip(table[artefact.key_columns].itertuples(False, None), table["value"], strict=True)
    )


def published_grid(artefact: Artefact) -> Grid[Cell]:
    """Published cells with their markers, in the layout of the record."""
    table = artefact.cells
    texts = table["value"]
    # The heading of a metric contains its unit; without metrics, the unit is in the cell.
    if "unit" in table and "metric" not in table:
        texts = (texts + " " + table["unit"]).str.strip()
    marks = table["marker"].map(published_mark) if "marker" in table else [""] * len(table)
    return _grid_of_record(artefact, table[artefact.key_columns], _cells(texts, marks))


def supplement_grid(path: Path, names: Mapping[str, str] = {}) -> Grid[Cell] | None:
    """Read a supplementary table; numbers except integers get four significant digits.

    `names` are those in the record of its artefact.
    """
    table = _read_result(path)
    if len(table) > _MAX_SUPPLEMENT_ROWS:
        return None
    keys = _checked_keys(table, path)
    texts = _short_numbers(table["value"])
    if {"low", "high"} <= set(table.columns):
        bounds = zip(_short_numbers(table["low"]), _short_numbers(table["high"]), strict=True)
        texts = [
            f"{text} ({low} to {high})" for text, (low, high) in zip(texts, bounds, strict=True)
        ]
    marks = table["marker"] if "marker" in table else [""] * len(table)
    return _grid_by_last_key(table[keys], _cells(texts, marks), names)


def _cells(texts: Sequence[str], marks: Sequence[str]) -> list[Cell]:
    return [Cell(text, mark) for text, mark in zip(texts, marks, strict=True)]


def _short_numbers(column: pd.Series) -> list[str]:
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return [_short_number(number, text) for text, number in zip(column, numbers, strict=True)]


def _short_number(number: float, text: str) -> str:
    # With four digits, a count of 12,340 would become 1.234e+04.
    return text if pd.isna(number) else f"{number:.{10 if number.is_integer() else 4}g}"


def _grid_of_record(artefact: Artefact, keys: pd.DataFrame, cells: Sequence[Any]) -> Grid[Any]:
    """Cells in the layout of the record, or by default with measures in columns."""
    layout, names = artefact.record.layout, artefact.record.names
    frame = _with_cells(keys, cells)
    if layout:
        return make_grid(frame, layout.rows, layout.columns, names)
    columns = [key for key in artefact.key_columns[1:] if key == "metric"]
    rows = [key for key in artefact.key_columns if key not in columns]
    return make_grid(frame, rows, columns, names)


def _grid_by_last_key(
    keys: pd.DataFrame, cells: Sequence[Any], names: Mapping[str, str]
) -> Grid[Any]:
    """Cells with the last key in columns, unless it is the only one."""
    rows, columns = list(keys)[:-1] or list(keys), list(keys)[1:][-1:]
    return make_grid(_with_cells(keys, cells), rows, columns, names)


def _with_cells(keys: pd.DataFrame, cells: Sequence[Any]) -> pd.DataFrame:
    return keys.assign(value=pd.Series(cells, keys.index, dtype=object))


def verdict_table_as_tex(artefact: Artefact, report: Report) -> str:
    """Published values in colours, with reproduced ones after a slash where they differ."""
    cells = verdict_cells(artefact, report)
    title = (
        f"{label(artefact.name)} of {artefact.paper}: {artefact.record.title}. Published values, "
        "with the reproduced ones after a slash where they are not equal"
    )
    colours: dict[str, str] = {verdict: f"everycell-{css_class(verdict)}" for verdict in VERDICTS}
    counts = Counter(cell.verdict for cell in cells if not cell.is_empty)
    legend = (
        rf"\colorbox{{{colours[verdict]}}}{{{escape_tex(_sign(verdict))}\strut}}"
        rf"~{verdict} ({counts[verdict]})"
        for verdict in VERDICTS
        if counts[verdict]
    )
    body = latex_table(
        verdict_grid(artefact, cells).map(_tex_cell),
        title,
        f"tab:verdicts-{artefact.paper}-{artefact.name}".replace("_", "-"),
        colours=colours,
        note=r"\quad ".join(legend),
    )
    definitions = [
        rf"\providecolor{{{colours[verdict]}}}{{HTML}}{{{TINTS[verdict].light[1:].upper()}}}"
        for verdict in VERDICTS
        if report.verdicts.get(verdict)
    ]
    packages = r"\usepackage[table]{xcolor}"
    return latex_document("\n".join([*definitions, body]), packages)


def _tex_cell(cell: VerdictCell) -> Cell:
    if cell.is_empty:
        return Cell(cell.published, cell.mark)
    values = "/".join([cell.published, *([str(cell.reproduced)] if cell.is_different else [])])
    return Cell(f"{values} {_sign(cell.verdict)}".rstrip(), cell.mark, cell.verdict)


def _sign(verdict: Verdict) -> str:
    return "" if verdict == "equal" else VERDICTS[verdict][0]
