"""Tables of the reproduction page, as rows of cells that its template writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from everycell.engine.artefacts import Artefact
from everycell.engine.render.tables.digits import format_distinct
from everycell.engine.render.tables.layout import (
    NO_KEYS,
    head_rows,
    label_cells,
    lay_out,
    published_mark,
    show_value,
)
from everycell.engine.render.tables.names import shown_label, with_headings
from everycell.engine.reports import OTHERWISE, Markers

#: A supplementary table that is longer than this is linked, not shown.
_COMPANION_CELLS = 200
#: A table of surrogate data that is longer is linked, not shown; no published table is.
_STAND_IN_CELLS = 600


def verdict_table(artefact: Artefact, tier: Mapping[str, Any]) -> dict[str, Any]:
    """Cells of a reproduced table with their verdicts, laid out as its card says."""
    report, names = tier["report"], artefact.card.names
    reported = report.cells
    cells = []
    published = artefact.cells
    markers = (
        published["marker"].map(published_mark) if "marker" in published else [""] * len(published)
    )
    for number, (cell, (decimals, _), marker) in enumerate(
        zip(reported, artefact.precisions, markers, strict=True)
    ):
        rebuilt = cell.rebuilt
        both = cell.verdict in OTHERWISE
        cells.append(
            {
                "name": " / ".join(
                    str(shown_label(key, label, names)) for key, label in cell.key.items()
                ),
                "printed": cell.printed,
                "marker": marker,
                "rebuilt": format_distinct(rebuilt, cell.printed, decimals) if both else None,
                "finer": None if both else _finer(rebuilt, decimals),
                "exact": f"{rebuilt:.6g}" if isinstance(rebuilt, float) else rebuilt,
                "verdict": cell.verdict,
                "judged": cell,
                "kind": cell.kind,
                "source": cell.source,
                "said": cell.verdict_in_words,
                "why": cell.why,
                "distance": cell.distance_in_words if both else None,
                "markers": _markers(cell.markers),
                "apart": both,
                "number": number + 1,
                "id": f"{artefact.id.replace('/', '-')}-{tier['name']}-{number + 1}",
            }
        )
    frame = pd.DataFrame([cell.key for cell in reported]).assign(value=cells)
    return {
        "tier": tier["name"],
        "cells": cells,
        **_by_layout_of_card(frame, artefact),
    }


def _finer(rebuilt: float | str | None, decimals: int | Literal["text"]) -> str | None:
    """A reproduced value with one digit more than published, to show how it rounds."""
    if isinstance(rebuilt, float) and decimals != "text":
        return show_value(rebuilt, decimals + 1)
    return None if rebuilt is None else str(rebuilt)


def _markers(markers: Markers | None) -> str | None:
    if markers is None:
        return None
    return (
        f"published marker: {published_mark(markers.printed) or 'none'}; "
        f"reproduced marker: {markers.rebuilt or 'none'}"
    )


def stand_in_table(artefact: Artefact, path: Path) -> dict[str, Any] | None:
    """Values on surrogate data, laid out as the published table where its keys are the same."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if table.empty or len(table) > _STAND_IN_CELLS:
        return None
    keys = [column for column in table.columns if column not in NO_KEYS]
    alike = not artefact.cells.empty and set(keys) == set(artefact.key_columns)
    if alike:
        keys = artefact.key_columns
    published = _published_texts(artefact) if alike else {}
    cells = []
    for row in table.to_dict("records"):
        key = tuple(row[name] for name in keys)
        decimals = artefact.decimals(row.get("metric", "all")) if alike else None
        number = pd.to_numeric(row["value"], errors="coerce")
        marker = row.get("marker")
        cells.append(
            {
                "printed": published.get(key),
                "rebuilt": row["value"]
                if pd.isna(number) or decimals == "text"
                else _short_number(float(number), row["value"])
                if decimals is None
                else show_value(float(number), decimals),
                "exact": row["value"] if pd.isna(number) else f"{number:.6g}",
                "verdict": "stand_in",
                "said": f"published: {published.get(key, 'no such cell')}; "
                "not compared: other data",
                "markers": f"marker on surrogate data: {marker}" if marker else None,
                "apart": False,
                "judged": None,
                "number": len(cells) + 1,
            }
        )
    frame = table[keys].assign(value=pd.Series(cells, dtype=object))
    if alike:
        positions = {key: position for position, key in enumerate(published)}
        order = [positions.get(key, len(positions)) for key in frame[keys].itertuples(False, None)]
        frame = frame.iloc[pd.Series(order).argsort(kind="stable")]
        return _by_layout_of_card(frame, artefact)
    split = max(1, len(keys) - 1)
    return _grid(frame, keys[:split], keys[split:], artefact.card.names)


def _published_texts(artefact: Artefact) -> dict[tuple[str, ...], str]:
    table = artefact.cells
    return dict(
        zip(table[artefact.key_columns].itertuples(False, None), table["value"], strict=True)
    )


def printed_table(artefact: Artefact) -> dict[str, Any]:
    """Published cells with their markers, laid out as the card says."""
    table = artefact.cells
    texts = table["value"]
    # The heading of a metric has its unit; without metrics each row has its own.
    if "unit" in table and "metric" not in table:
        texts = (texts + " " + table["unit"]).str.strip()
    if "marker" in table:
        texts = _raised(texts, table["marker"].map(published_mark))
    return _by_layout_of_card(table[artefact.key_columns].assign(value=texts), artefact)


def _raised(texts: Sequence[str], markers: Sequence[str]) -> pd.Series:
    """Texts of cells; with their markers where there are any."""
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
    """Read a supplementary table; counts are shown whole, else four significant digits.

    `names` are those of its artefact's card.
    """
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if len(table) > _COMPANION_CELLS:
        return None
    keys = [column for column in table.columns if column not in NO_KEYS]
    texts: list[Any] = _short_numbers(table["value"])
    if {"low", "high"} <= set(table.columns):
        ends = zip(_short_numbers(table["low"]), _short_numbers(table["high"]), strict=True)
        texts = [f"{text} ({low} to {high})" for text, (low, high) in zip(texts, ends, strict=True)]
    if "marker" in table:
        texts = _raised(texts, table["marker"])
    table["value"] = pd.Series(texts, dtype=object)
    split = max(1, len(keys) - 1)
    return {"title": title, **_grid(table, keys[:split], keys[split:], names)}


def _short_numbers(column: pd.Series) -> list[str]:
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return [_short_number(number, text) for text, number in zip(column, numbers, strict=True)]


def _short_number(number: float, text: str) -> str:
    # With four digits a count of ten thousands would become 1.234e+04.
    return text if pd.isna(number) else f"{number:.{10 if number.is_integer() else 4}g}"


def _by_layout_of_card(frame: pd.DataFrame, artefact: Artefact) -> dict[str, Any]:
    layout = artefact.card.layout
    keys = artefact.key_columns
    if layout:
        return _grid(frame, layout.rows, layout.columns, artefact.card.names)
    across = [key for key in keys[1:] if key == "metric"]
    down = [key for key in keys if key not in across]
    return _grid(frame, down, across, artefact.card.names)


def _grid(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], names: Mapping[str, str]
) -> dict[str, Any]:
    """Lay a tidy frame out as rows of a table; a label spans the rows of its group."""
    laid = lay_out(frame, rows, columns).astype(object)
    laid = laid.where(laid.notna(), None)
    labelled = with_headings(laid, names)
    body = [
        {"labels": labels, "values": list(values)}
        for labels, values in zip(
            label_cells(laid.index, labelled.index), laid.to_numpy(), strict=True
        )
    ]
    return {
        "names": list(labelled.index.names),
        "head": head_rows(labelled.columns) if columns else [],
        "body": body,
    }
