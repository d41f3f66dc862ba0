"""Comparison of measured and expected values of the synthetic controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.studies.abolghasemi2026.ch5.chapter_tables import MODE, ChapterTable
from everycell.studies.abolghasemi2026.ch5.controls import PlantedControl
from everycell.studies.abolghasemi2026.ch5.marks import NO_CITATION
from everycell.studies.abolghasemi2026.ch5.modes import SETTING, displayed_author

#: Columns of a table of measured and expected values -> digits shown.
KNOWN = {"measured": 3, "low": 3, "high": 3, "expected": 3, "p": 4}


def measured_bias(
    tables: Mapping[str, ChapterTable],
    controls: Mapping[str, PlantedControl],
    depth: Mapping[str, int],
) -> pd.DataFrame:
    """Bias of controls (Tables 5.3 and 5.5), measured and expected."""
    rows = _measured(tables, ["table_5_3", "table_5_5"], controls)
    expected = {name: control.expected_bias(depth[name]) for name, control in controls.items()}
    pairs = zip(rows["generator"], rows["metric"], strict=True)
    preferences = {name: control.preference for name, control in controls.items()}
    return rows.assign(
        expected=[expected[name][part] for name, part in pairs],
        preference=rows["generator"].map(preferences),
    )


def measured_quality(
    tables: Mapping[str, ChapterTable],
    controls: Mapping[str, PlantedControl],
    depth: Mapping[str, int],
) -> pd.DataFrame:
    """Precision, recall, counts and confidence of controls (Tables 5.1, 5.6, 5.12)."""
    rows = _measured(tables, ["table_5_1", "table_5_6", "table_5_12"], controls)
    values = []
    for row in rows.itertuples():
        labels = (
            displayed_author(author, row.rag_mode)
            for author in (row.relevant_author, row.nonrelevant_author)
        )
        sides = dict(zip(("relevant", "nonrelevant"), labels, strict=True))
        expected = controls[row.generator].expected_measures(depth[row.generator], **sides)
        values.append(expected.get(row.metric))
    # The count of relevant documents is the recall.
    return rows.assign(expected=values).dropna(subset="expected").drop(columns="p")


def melt_measures(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Long format of a table of measured and expected values."""
    cells = table.drop(columns="value").rename(columns={"metric": "measure"})
    columns = [name for name in KNOWN if name in cells]
    return cells.melt([*keys, "measure"], columns, var_name="metric").dropna(subset="value")


#: Key columns of the two tables.
QUALITY_KEYS = ["generator", *MODE[2:]]
BIAS_KEYS = ["generator", *SETTING[2:]]


def _measured(
    tables: Mapping[str, ChapterTable], names: Sequence[str], controls: Mapping[str, PlantedControl]
) -> pd.DataFrame:
    """Results of the controls in some tables, as numbers."""
    rows = pd.concat(tables[name].rows for name in names)
    rows = rows[rows["generator"].isin(controls) & (rows["value"] != NO_CITATION)]
    return rows.assign(measured=rows["value"].astype(float))
