"""Audits of the published tables of chapter 2 of abolghasemi2026 (query by example)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_number,
    rows_where,
)


def _letters(marker: str) -> set[str]:
    """Letters of a published marker, with ranges expanded ("a-c" is a, b, c)."""
    expanded = re.sub(
        r"([a-z])-([a-z])",
        lambda span: "".join(map(chr, range(ord(span[1]), ord(span[2]) + 1))),
        marker,
    )
    return set(re.findall(r"[a-z]", expanded))


def _bad_letters(table: pd.DataFrame) -> Iterator[tuple[str, str, str, str]]:
    """Row, task, metric and letters of rows that a cell does not beat."""
    for (task, metric), column in table.groupby(["task", "metric"], sort=False):
        values = dict(zip(column["row"], column["value"].astype(float), strict=True))
        for cell in column.itertuples():
            bad = {
                letter
                for letter in _letters(cell.marker)
                if values.get(letter, float("inf")) >= values[cell.row]
            }
            if bad:
                yield cell.row, task, metric, "".join(sorted(bad))


def audit_abolghasemi2026_impossible_letters(cells: Cells) -> Finding:
    """Table 2.1: letters of unknown rows, of their own row, or of rows that are not worse."""
    faults = [
        f"{row} {task} {metric}: {bad}"
        for row, task, metric, bad in _bad_letters(cells("table_2_1"))
    ]
    return holds_if_any(faults, "every letter names a row with a lower value")


def audit_abolghasemi2026_tildev2_claim(cells: Cells) -> Finding:
    """§ 2.4: TILDEv2 with BERT (row f) beats TILDE with BERT (row c); columns of Table 2.1."""
    pairs = rows_where(cells("table_2_1"), row=["c", "f"]).pivot(
        index=["task", "metric"], columns="row", values="value"
    )
    against = pairs[pairs["f"].astype(float) <= pairs["c"].astype(float)]
    return holds_if_any(
        (f"{task} {metric}: {row.f} against {row.c}" for (task, metric), row in against.iterrows()),
        f"TILDEv2 is higher in all {len(pairs)} columns",
    )


def audit_abolghasemi2026_own_row_letter(cells: Cells) -> Finding:
    """Table 2.3: a significance letter that names its own row."""
    return holds_if_any(
        (
            f"{row} {task} {metric}: {bad}"
            for row, task, metric, bad in _bad_letters(cells("table_2_3"))
            if row in bad
        ),
        "no letter names its own row",
    )


def audit_abolghasemi2026_token_quantiles(cells: Cells) -> Finding:
    """§ 2.3.4: the tokeniser with the lower mean has the higher 90 % quantile."""
    text = cells("text_2")
    mean = [
        published_number(text, claim=f"mean tokens of abstract+title, {name} tokenizer")
        for name in ("BERT", "SciBERT")
    ]
    tail = [
        published_number(text, claim=f"90% quantile of tokens, {name} (in printed order)")
        for name in ("BERT", "SciBERT")
    ]
    return Finding(
        (mean[0] - mean[1]) * (tail[0] - tail[1]) < 0,
        f"means {mean[0]:g} and {mean[1]:g}, 90 % quantiles {tail[0]:g} and {tail[1]:g}",
    )


def check_abolghasemi2026_repeated_rows(cells: Cells) -> Finding:
    """Rows repeated in Tables 2.1, 2.2 and 2.3 agree in every column."""
    tables = {name: cells(f"table_{name}") for name in ("2_1", "2_2", "2_3")}
    repeats = [("2_2", "h", "a"), ("2_2", "j", "b")]
    repeats += [("2_3", "a", "a"), ("2_3", "b", "e"), ("2_3", "c", "h")]
    faults, compared = [], 0
    for name, row, first_row in repeats:
        for cell in rows_where(tables[name], row=row).itertuples():
            compared += 1
            first = published_number(
                tables["2_1"], row=first_row, task=cell.task, metric=cell.metric
            )
            if first != float(cell.value):
                faults.append(f"{name} {row} {cell.task} {cell.metric}: {cell.value}, {first:g}")
    return holds_if_none(faults, f"{compared} repeated cells are equal")


def check_abolghasemi2026_oracle_bound(cells: Cells) -> Finding:
    """The best weight per query (Table 2.4) is never worse than one tuned weight (Table 2.3)."""
    tuned, faults = cells("table_2_3"), []
    oracle = rows_where(cells("table_2_4"), row="ranking quality")
    for cell in oracle.itertuples():
        model = cell.combination.replace("oracle ", "")
        tuned_value = published_number(tuned, model=model, task=cell.task, metric=cell.metric)
        if float(cell.value) < tuned_value:
            faults.append(f"{model} {cell.task} {cell.metric}: {cell.value} below {tuned_value:g}")
    return holds_if_none(faults, f"{len(oracle)} oracle values are not below the tuned ones")
