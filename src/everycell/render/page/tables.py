"""Tables of the reproduction page, as rows of cells for its template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from everycell.records.papers import Artefact
from everycell.render.tables.digits import format_distinct
from everycell.render.tables.layout import (
    VALUE_COLUMNS,
    head_rows,
    label_cells,
    lay_out,
    published_mark,
    show_value,
)
from everycell.render.tables.names import shown_label, with_headings
from everycell.verdicts.reports import UNDECIDED_MARK, UNEQUAL, Markers

#: Longer supplementary tables are linked, not shown.
_MAX_SUPPLEMENT_ROWS = 200
#: Longer tables on surrogate data are linked, not shown; no published table is longer.
_MAX_SURROGATE_ROWS = 600


def verdict_table(artefact: Artefact, tier: Mapping[str, Any]) -> dict[str, Any]:
    """Cells of a reproduced table with their verdicts, in the layout of its record."""
    report, names = tier["report"], artefact.record.names
    cells = []
    published = artefact.cells
    markers = (
        published["marker"].map(published_mark) if "marker" in published else [""] * len(published)
    )
    for number, (cell, (decimals, _), marker) in enumerate(
        zip(report.cells, artefact.precisions, markers, strict=True)
    ):
        reproduced = cell.reproduced
        is_different = cell.verdict in UNEQUAL
        cells.append(
            {
                "name": " / ".join(
                    str(shown_label(key, label, names)) for key, label in cell.key.items()
                ),
                "published": cell.published,
                "marker": marker,
                "reproduced": (
                    format_distinct(reproduced, cell.published, decimals) if is_different else None
                ),
                "extra_digit": None if is_different else _with_extra_digit(reproduced, decimals),
                "exact": f"{reproduced:.6g}" if isinstance(reproduced, float) else reproduced,
                "verdict": cell.verdict,
                "judged": cell,
                "kind": cell.kind,
                "source": cell.source,
                "verdict_text": cell.verdict_and_source,
                "why": cell.why,
                "distance": cell.difference_text if is_different else None,
                "yielded": cell.yielded_text,
                "markers": _markers(cell.markers),
                "reproduced_marker": _reproduced_mark(cell.markers),
                "sensitivity": artefact.sensitivity(tier["name"], cell.key).text,
                "is_different": is_different,
                "number": number + 1,
                "id": f"{artefact.id.replace('/', '-')}-{tier['name']}-{number + 1}",
            }
        )
    frame = pd.DataFrame([cell.key for cell in report.cells]).assign(value=cells)
    return {
        "tier": tier["name"],
        "cells": cells,
        **_lay_out_as_recorded(frame, artefact),
    }


def _with_extra_digit(
    reproduced: float | str | None, decimals: int | Literal["text"]
) -> str | None:
    """Reproduced value with one more digit than published, to show how it rounds."""
    if isinstance(reproduced, float) and decimals != "text":
        return show_value(reproduced, decimals + 1)
    return None if reproduced is None else str(reproduced)


def _reproduced_mark(markers: Markers | None) -> str:
    """Mark of the reproduced value; empty if it has none or the mark is unknown."""
    return "" if markers is None or markers.reproduced == UNDECIDED_MARK else markers.reproduced


def _markers(markers: Markers | None) -> str | None:
    if markers is None:
        return None
    return (
        f"published marker: {published_mark(markers.published) or 'none'}; "
        f"reproduced marker: {markers.reproduced or 'none'}"
    )


def surrogate_table(artefact: Artefact, path: Path) -> dict[str, Any] | None:
    """Values on surrogate data, in the layout of the published table if the keys are the same."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if table.empty or len(table) > _MAX_SURROGATE_ROWS:
        return None
    keys = [column for column in table.columns if column not in VALUE_COLUMNS]
    has_same_keys = not artefact.cells.empty and set(keys) == set(artefact.key_columns)
    if has_same_keys:
        keys = artefact.key_columns
    published = _published_texts(artefact) if has_same_keys else {}
    cells = []
    for row in table.to_dict("records"):
        key = tuple(row[name] for name in keys)
        decimals = artefact.decimals(row.get("metric", "all")) if has_same_keys else None
        number = pd.to_numeric(row["value"], errors="coerce")
        marker = row.get("marker")
        cells.append(
            {
                "published": published.get(key),
                "reproduced": row["value"]
                if pd.isna(number) or decimals == "text"
                else _short_number(float(number), row["value"])
                if decimals is None
                else show_value(float(number), decimals),
                "exact": row["value"] if pd.isna(number) else f"{number:.6g}",
                "verdict": "surrogate",
                "verdict_text": f"published: {published.get(key, 'no such cell')}; "
                "not compared: other data",
                "markers": f"marker on surrogate data: {marker}" if marker else None,
                "yielded": None,
                "is_different": False,
                "judged": None,
                "number": len(cells) + 1,
            }
        )
    frame = table[keys].assign(value=pd.Series(cells, dtype=object))
    if has_same_keys:
        positions = {key: position for position, key in enumerate(published)}
        order = [positions.get(key, len(positions)) for key in frame[keys].itertuples(False, None)]
        frame = frame.iloc[pd.Series(order).argsort(kind="stable")]
        return _lay_out_as_recorded(frame, artefact)
    split = max(1, len(keys) - 1)
    return _grid(frame, keys[:split], keys[split:], artefact.record.names)


def _published_texts(artefact: Artefact) -> dict[tuple[str, ...], str]:
    table = artefact.cells
    return dict(
        zip(table[artefact.key_columns].itertuples(False, None), table["value"], strict=True)
    )


def published_table(artefact: Artefact) -> dict[str, Any]:
    """Published cells with their markers, in the layout of the record."""
    table = artefact.cells
    texts = table["value"]
    # The heading of a metric contains its unit; without metrics, the unit is in the cell.
    if "unit" in table and "metric" not in table:
        texts = (texts + " " + table["unit"]).str.strip()
    if "marker" in table:
        texts = _with_markers(texts, table["marker"].map(published_mark))
    return _lay_out_as_recorded(table[artefact.key_columns].assign(value=texts), artefact)


def _with_markers(texts: Sequence[str], markers: Sequence[str]) -> pd.Series:
    """Texts of cells, combined with their markers if they have any."""
    return pd.Series(
        [
            {"text": text, "marker": marker} if marker else text
            for text, marker in zip(texts, markers, strict=True)
        ],
        dtype=object,
    )


def supplement_table(
    path: Path, title: str, names: Mapping[str, str] = {}
) -> dict[str, Any] | None:
    """Read a supplementary table; numbers except integers get four significant digits.

    `names` are those in the record of its artefact.
    """
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if len(table) > _MAX_SUPPLEMENT_ROWS:
        return None
    keys = [column for column in table.columns if column not in VALUE_COLUMNS]
    texts: list[Any] = _short_numbers(table["value"])
    if {"low", "high"} <= set(table.columns):
        bounds = zip(_short_numbers(table["low"]), _short_numbers(table["high"]), strict=True)
        texts = [
            f"{text} ({low} to {high})" for text, (low, high) in zip(texts, bounds, strict=True)
        ]
    if "marker" in table:
        texts = _with_markers(texts, table["marker"])
    table["value"] = pd.Series(texts, dtype=object)
    split = max(1, len(keys) - 1)
    return {"title": title, **_grid(table, keys[:split], keys[split:], names)}


def _short_numbers(column: pd.Series) -> list[str]:
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return [_short_number(number, text) for text, number in zip(column, numbers, strict=True)]


def _short_number(number: float, text: str) -> str:
    # With four digits, a count of 12,340 would become 1.234e+04.
    return text if pd.isna(number) else f"{number:.{10 if number.is_integer() else 4}g}"


def _lay_out_as_recorded(frame: pd.DataFrame, artefact: Artefact) -> dict[str, Any]:
    """Table in the layout of the record, or by default with measures in columns."""
    layout = artefact.record.layout
    keys = artefact.key_columns
    if layout:
        return _grid(frame, layout.rows, layout.columns, artefact.record.names)
    columns = [key for key in keys[1:] if key == "metric"]
    rows = [key for key in keys if key not in columns]
    return _grid(frame, rows, columns, artefact.record.names)


def _grid(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], names: Mapping[str, str]
) -> dict[str, Any]:
    """Table of a tidy frame; a label spans the rows of its group."""
    table = lay_out(frame, rows, columns).astype(object)
    table = table.where(table.notna(), None)
    displayed = with_headings(table, names)
    body = [
        {"labels": labels, "values": list(values)}
        for labels, values in zip(
            label_cells(table.index, displayed.index), table.to_numpy(), strict=True
        )
    ]
    return {
        "names": list(displayed.index.names),
        "head": head_rows(displayed.columns) if columns else [],
        "body": body,
    }
