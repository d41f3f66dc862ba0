"""Tables of the reproduction page, as rows of cells that its template writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.artefacts import Artefact
from everycell.engine.render.tables.layout import NO_KEYS, head_rows, lay_out, show_value
from everycell.engine.reports import OTHERWISE, Markers

#: A table beside an artefact that is longer than this is linked, not shown.
_COMPANION_CELLS = 200


def verdict_table(artefact: Artefact, tier: Mapping[str, Any]) -> dict[str, Any]:
    """Cells of a rebuilt table with their verdicts, laid out as its card says."""
    reported = tier["report"].cells
    cells = []
    for number, (cell, (decimals, _)) in enumerate(zip(reported, artefact.precisions, strict=True)):
        rebuilt = cell.rebuilt
        both = cell.verdict in OTHERWISE
        cells.append(
            {
                "name": " / ".join(cell.key.values()),
                "printed": cell.printed,
                "rebuilt": show_value(rebuilt, decimals) if both else None,
                "exact": f"{rebuilt:.6g}" if isinstance(rebuilt, float) else rebuilt,
                "verdict": cell.verdict,
                "source": cell.source,
                "said": cell.verdict_and_source,
                "why": cell.why,
                "markers": _markers(cell.markers),
                "id": f"{artefact.id.replace('/', '-')}-{tier['name']}-{number + 1}"
                if both
                else None,
            }
        )
    frame = pd.DataFrame([cell.key for cell in reported]).assign(value=cells)
    return {
        "tier": tier["name"],
        "cells": cells,
        "rmse": tier["report"].rmse,
        "tau": tier["report"].kendall_tau,
        **_by_layout_of_card(frame, artefact),
    }


def _markers(markers: Markers | None) -> str | None:
    if markers is None:
        return None
    return (
        f"printed marker: {markers.printed or 'none'}; rebuilt marker: {markers.rebuilt or 'none'}"
    )


def printed_table(artefact: Artefact) -> dict[str, Any]:
    """Printed cells with their units and markers, laid out as the card says."""
    table = artefact.cells
    texts = table["value"]
    for extra in ("unit", "marker"):
        if extra in table:
            texts = (texts + " " + table[extra]).str.strip()
    return _by_layout_of_card(table[artefact.key_columns].assign(value=texts), artefact)


def companion_table(path: Path, title: str) -> dict[str, Any] | None:
    """Read a table that stands beside; counts are shown whole, else four significant digits."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    if len(table) > _COMPANION_CELLS:
        return None
    keys = [column for column in table.columns if column not in NO_KEYS]
    texts: list[Any] = _short_numbers(table["value"])
    if {"low", "high"} <= set(table.columns):
        ends = zip(_short_numbers(table["low"]), _short_numbers(table["high"]), strict=True)
        texts = [f"{text} ({low} to {high})" for text, (low, high) in zip(texts, ends, strict=True)]
    if "marker" in table:
        texts = [
            {"text": text, "marker": marker} if marker else text
            for text, marker in zip(texts, table["marker"], strict=True)
        ]
    table["value"] = pd.Series(texts, dtype=object)
    split = max(1, len(keys) - 1)
    return {"title": title, **_grid(table, keys[:split], keys[split:])}


def _short_numbers(column: pd.Series) -> list[str]:
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return [
        # With four digits a count of ten thousands would become 1.234e+04.
        text if pd.isna(number) else f"{number:.{10 if number.is_integer() else 4}g}"
        for text, number in zip(column, numbers, strict=True)
    ]


def _by_layout_of_card(frame: pd.DataFrame, artefact: Artefact) -> dict[str, Any]:
    layout = artefact.card.layout
    keys = artefact.key_columns
    if layout:
        return _grid(frame, layout.rows, layout.columns)
    across = [key for key in keys[1:] if key == "metric"]
    return _grid(frame, [key for key in keys if key not in across], across)


def _grid(frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """Lay a tidy frame out as rows of a table; a label spans the rows of its group."""
    laid = lay_out(frame, rows, columns).astype(object)
    laid = laid.where(laid.notna(), None)
    keys = [key if isinstance(key, tuple) else (key,) for key in laid.index]
    sizes = [Counter(key[: depth + 1] for key in keys) for depth in range(len(rows))]
    seen: set[tuple] = set()
    body = []
    for key, values in zip(keys, laid.to_numpy(), strict=True):
        labels = []
        for depth, size in enumerate(sizes):
            group = key[: depth + 1]
            if group not in seen:
                seen.add(group)
                labels.append({"label": group[-1], "span": size[group]})
        body.append({"labels": labels, "values": list(values)})
    return {
        "names": [str(name).replace("_", " ") for name in rows],
        "head": head_rows(laid.columns) if columns else [],
        "body": body,
    }
