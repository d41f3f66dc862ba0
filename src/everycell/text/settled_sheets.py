"""Completed sheets: disagreements, a third sheet, settled answers, agreement."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.statistics.agreement import cohens_kappa, percent_agreement
from everycell.text.sheets import (
    ANNOTATORS,
    Form,
    Rows,
    SheetError,
    read_sheet,
    replace_file,
    sheet,
    sheet_path,
)


def disagreements(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Items that two annotators answer differently, for any question.

    Examples
    --------
    >>> first = pd.DataFrame({"satisfied": [1, 0], "coherent": [1, 1]}, index=["d1", "d2"])
    >>> disagreements(first, first.assign(coherent=[1, 0]))
    ['d2']
    """
    differ = (first != second.loc[first.index, first.columns]).any(axis=1)
    return list(first.index[differ])


def third_sheet(folder: Path, form: Form, rows: Rows, seed: int) -> Path | None:
    """Write the third annotator's sheet: what the first two disagree on; None where they agree."""
    path = sheet_path(folder, 3)
    if path.exists():
        raise SheetError(
            f"{path} is there already and may be filled in; remove it to make it anew."
        )
    open_ = disagreements(*(read_sheet(sheet_path(folder, n), form, rows) for n in ANNOTATORS[:2]))
    if not open_:
        return None
    replace_file(path, sheet(form, {name: rows[name] for name in open_}, 3, seed))
    return path


def settled_answers(folder: Path, form: Form, rows: Rows) -> pd.DataFrame:
    """Answers of the first two annotators, and the majority of three."""
    first, second = (read_sheet(sheet_path(folder, n), form, rows) for n in ANNOTATORS[:2])
    open_ = disagreements(first, second)
    path = sheet_path(folder, 3)
    if open_ and not path.is_file():
        raise SheetError(
            f"The annotators disagree on {len(open_)} items and there is no {path}; make it with "
            f"`{form.command.rpartition(' ')[0]} third` and have it filled in."
        )
    settled = first.copy()
    if open_:
        third = read_sheet(path, form, {name: rows[name] for name in open_})
        # With a majority of three, the third annotator settles what the first two disagree on.
        differ = first.loc[open_] != second.loc[open_]
        settled.loc[open_] = first.loc[open_].where(~differ, third)
    parts = {}
    for question in form.questions:
        parts |= {
            f"{question}_1": first[question],
            f"{question}_2": second[question],
            question: settled[question],
        }
    return pd.DataFrame(parts, index=first.index)


def agreement_on(labels: pd.DataFrame, question: str) -> dict[str, float]:
    """Agreement of the first two annotators on a question.

    Examples
    --------
    >>> agreement_on(pd.DataFrame({"good_1": [0, 0, 1, 1], "good_2": [0, 1, 1, 1]}), "good")
    {'items': 4, 'percent agreement': 75.0, 'Cohen kappa': 0.5}
    """
    pair = [labels[f"{question}_{number}"].astype(int).tolist() for number in ANNOTATORS[:2]]
    return {
        "items": len(labels),
        "percent agreement": percent_agreement(*pair),
        "Cohen kappa": cohens_kappa(*pair),
    }
