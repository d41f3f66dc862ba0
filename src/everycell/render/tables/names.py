"""Published headings for the internal names of columns, metrics and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

#: Separator of a heading over several columns and that of one column, as in "Quality | Recall".
_BAR = " | "
#: The same separator in labels, as a character that no label contains.
_SPLIT = "\x1f"
#: Names with the same meaning in every table; records add their own (`Record.names`).
COMMON = {
    "acceptance_rate_pct": "Acceptance rate (%)",
    "change_percent": "Change (%)",
    "cost_usd": "Cost (USD)",
    "kendall_tau": "Kendall's τ",
    "median_time_s": "Median time (s)",
    "n_annotators": "Annotators",
    "n_workers": "Workers",
    "p_paired": "p (paired)",
    "p_paired_corrected": "p (paired, corrected)",
    "p_unpaired": "p (unpaired)",
    "p_unpaired_corrected": "p (unpaired, corrected)",
    "p_value": "p",
    "query_sha256": "Query (SHA-256)",
    "rag_mode": "RAG mode",
    "rerank_time_s": "Re-ranking time (s)",
    "row": "",
    "trec_id": "TREC ID",
}


def shown_name(name: str, names: Mapping[str, str] = {}) -> str:
    """Heading of a column or metric, from the record or derived from its name."""
    if name in names:
        return names[name]
    if name in COMMON:
        return COMMON[name]
    text = name.replace("_", " ")
    return re.sub(r"^[a-z]{3,}(?=[ -]|$)", lambda word: word[0].capitalize(), text)


def shown_label(
    level: str | None, label: Any, names: Mapping[str, str] = {}, between: str = " "
) -> Any:
    """Displayed label of a cell; `between` replaces the bar in a name."""
    if str(label) in names:
        return names[str(label)].replace(_BAR, between)
    return shown_name(str(label)) if level is None or level == "metric" else label


def with_headings(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Replace internal names in a laid-out table by the published, or else readable, headings.

    A name with a bar gives two header rows, the upper one for all columns that share it. A metric
    that all columns share is left out, unless the record has a name for it.
    """
    columns = table.columns
    last = columns.get_level_values(-1)
    if columns.nlevels > 1 and last.nunique() == 1 and last.name == "metric":
        columns = columns if str(last[0]) in names else columns.droplevel(-1)
    return table.set_axis(_with_headings(table.index, names, " "), axis="index").set_axis(
        _in_groups(_with_headings(columns, names, _SPLIT)), axis="columns"
    )


def _with_headings(index: pd.Index, names: Mapping[str, str], between: str) -> pd.Index:
    heads = [None if name is None else shown_name(str(name), names) for name in index.names]
    levels = []
    for level, name in enumerate(index.names):
        labels = index.get_level_values(level)
        texts = [shown_label(name, label, names, between) for label in labels]
        # Labels without new names keep their types: pandas would turn the 1 next to 0.5 into 1.0.
        levels.append(labels if texts == labels.tolist() else pd.Index(texts))
    if index.nlevels == 1:
        return levels[0].rename(heads[0])
    # Not set level by level, because different labels may get the same name.
    return pd.MultiIndex.from_arrays(levels, names=heads)


def _in_groups(columns: pd.Index) -> pd.Index:
    """Columns, with labels that contain a bar split into two levels."""
    levels: list[Any] = []
    for level in range(columns.nlevels):
        labels = columns.get_level_values(level)
        if any(_SPLIT in str(label) for label in labels):
            pairs = [("", *str(label).split(_SPLIT))[-2:] for label in labels]
            levels += zip(*pairs, strict=True)
        else:
            levels.append(labels)
    return columns if len(levels) == columns.nlevels else pd.MultiIndex.from_arrays(levels)
