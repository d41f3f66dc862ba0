"""Audits of the published tables of chapter 3 of abolghasemi2026 (user satisfaction, CAUSE)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

from everycell.metrics.satisfaction import Confusion, fitting_confusions, scores
from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_number,
    rows_where,
)

_SATISFIED, _DISSATISFIED = "Satisfaction", "Dissatisfaction"
#: Columns of Table 3.6 -> their names in the library.
_MEASURES = {"Acc": "accuracy", "P": "precision", "R": "recall", "F1": "f1"}


class _Size(NamedTuple):
    """Number of samples of each class."""

    satisfied: int
    dissatisfied: int


def _sizes(cells: Cells, dataset: str, test_data: str) -> _Size:
    """Satisfied and dissatisfied samples of a test set (Table 3.5; Mixed is Main and CF)."""
    table = cells("table_3_5")
    parts = ["Main", "CF"] if test_data == "Mixed" else [test_data]
    return _Size(
        *(
            int(
                sum(
                    published_number(table, row=row, dataset=dataset, collection=part)
                    for part in parts
                )
            )
            for row in (_SATISFIED, _DISSATISFIED)
        )
    )


def _fitting(published: dict[str, float], size: _Size) -> list[Confusion]:
    """Confusion matrices consistent with the four measures of a row."""
    return fitting_confusions({_MEASURES[name]: value for name, value in published.items()}, *size)


def _table_rows(
    cells: Cells,
) -> Iterator[tuple[tuple[str, str, str, str], dict[str, float], _Size]]:
    """Rows of Table 3.6: key (test data, model, setup, data set), measures, size."""
    key = ["test_data", "model", "setup", "dataset"]
    size = cache(partial(_sizes, cells))
    for name, row in cells("table_3_6").groupby(key, sort=False):
        published = dict(zip(row["metric"], row["value"].astype(float), strict=True))
        yield name, published, size(dataset=name[3], test_data=name[0])


def check_abolghasemi2026_one_confusion_matrix(cells: Cells) -> Finding:
    """Each row of Table 3.6 fits exactly one confusion matrix with the sizes of Table 3.5."""
    counts = {name: len(_fitting(published, size)) for name, published, size in _table_rows(cells)}
    return holds_if_none(
        (f"{' '.join(name)}: {n} matrices" for name, n in counts.items() if n != 1),
        f"{len(counts)} rows fit one matrix each",
    )


def audit_abolghasemi2026_mixed_is_not_the_sum(cells: Cells) -> Finding:
    """Table 3.6: rows of the mixed set whose correct answers are not the sum of Main and CF."""
    matrices = {name: _fitting(published, size) for name, published, size in _table_rows(cells)}
    faults, mixed = [], [name for name in matrices if name[0] == "Mixed"]
    for name in mixed:
        unions = [
            Confusion(*map(sum, zip(main, cf, strict=True)))
            for main in matrices[("Main", *name[1:])]
            for cf in matrices[("CF", *name[1:])]
        ]
        if not set(unions) & set(matrices[name]):
            sums, published = (
                [(fit.satisfied_right, fit.dissatisfied_right) for fit in fits]
                for fits in (unions, matrices[name])
            )
            faults.append(f"{' '.join(name[1:])}: sum {sums}, published {published}")
    return holds_if_any(faults, f"all {len(mixed)} mixed rows are sums of Main and CF")


def audit_abolghasemi2026_cut_not_rounded(cells: Cells) -> Finding:
    """Table 3.6: measures that are truncated to two decimals instead of rounded."""
    faults = []
    for name, published, size in _table_rows(cells):
        for matrix in _fitting(published, size):
            for metric, exact in zip(_MEASURES, scores(matrix), strict=True):
                if abs(exact - published[metric]) > 0.005 + 1e-9:
                    label = f"{' '.join(name)} {metric}"
                    faults.append(f"{label}: {exact:.3f} published {published[metric]:.2f}")
    return holds_if_any(faults, "all measures are rounded")


def audit_abolghasemi2026_main_claim(cells: Cells) -> Finding:
    """§ 3.6.2: on Main, BERT and ASAP beat both language models; macro F1 of Table 3.6."""
    main = rows_where(cells("table_3_6"), test_data="Main", metric="F1")
    faults = []
    for dataset, column in main.groupby("dataset", sort=False):
        best = rows_where(column, setup="Few-shot")["value"].astype(float).max()
        for cell in rows_where(column, model=["BERT", "ASAP"]).itertuples():
            if float(cell.value) <= best:
                faults.append(f"{dataset} {cell.model} {cell.setup}: {cell.value} against {best:g}")
    return holds_if_any(faults, "every BERT and ASAP row is above both language models")


def audit_abolghasemi2026_no_integer_overlap(cells: Cells) -> Finding:
    """Table 3.7: overlaps that no whole number of common samples can produce.

    With M and C correctly labelled samples of Main and CF, of which n are common, the overlap is
    n / (M + C - n) (§ 3.6.2). M and C follow from the accuracies of Table 3.6, for each setup of
    the model.
    """
    correct: dict[tuple[str, str, str], dict[str, int]] = {}
    for (part, model, setup, dataset), published, size in _table_rows(cells):
        number = round(published["Acc"] * sum(size) / 100)
        correct.setdefault((model, setup, dataset), {})[part] = number
    faults = []
    for cell in cells("table_3_7").itertuples():
        overlap = float(cell.value)
        possible = False
        for (model, _, dataset), by_part in correct.items():
            if (model, dataset) == (cell.row, cell.dataset):
                total = by_part["Main"] + by_part["CF"]
                common = round(overlap * total / (1 + overlap))
                possible |= abs(common / (total - common) - overlap) <= 0.00005 + 1e-9
        if not possible:
            faults.append(f"{cell.row} {cell.dataset} {cell.value}")
    return holds_if_any(faults, "every overlap is a ratio of whole numbers")


def audit_abolghasemi2026_main_ratio(cells: Cells) -> Finding:
    """§ 3.6.2: Main has a ratio of about 95 to 5; shares of dissatisfaction in Table 3.5."""
    main = rows_where(cells("table_3_5"), collection="Main", row=[_SATISFIED, _DISSATISFIED])
    shares = {
        dataset: 100 * published_number(part, row=_DISSATISFIED) / part["value"].astype(float).sum()
        for dataset, part in main.groupby("dataset", sort=False)
    }
    ratios = ", ".join(f"{name} {100 - share:.1f}:{share:.1f}" for name, share in shares.items())
    # "About 95:5" includes all shares that round to it in the experiment's steps of 5 points.
    differs = any(abs(share - 5) > 2.5 for share in shares.values())
    return Finding(differs, f"{ratios}; the text says 95:5")


def check_abolghasemi2026_rating_sums(cells: Cells) -> Finding:
    """Table 3.1: dissatisfaction counts ratings 1 and 2, satisfaction the others."""
    table = cells("table_3_1")
    groups = {_DISSATISFIED: "12", _SATISFIED: "345"}
    faults = []
    for dataset, (row, ratings) in itertools.product(("MultiWOZ", "SGD"), groups.items()):
        parts = sum(published_number(table, row=f"rating {n}", dataset=dataset) for n in ratings)
        if parts != published_number(table, row=row, dataset=dataset):
            faults.append(f"{dataset} {row}: ratings sum to {parts:g}")
    return holds_if_none(faults, "4 sums of ratings are as published")


def check_abolghasemi2026_split_sums(cells: Cells) -> Finding:
    """Tables 3.2 and 3.5: totals are sums, and the test split of 3.2 equals Main in 3.5."""
    splits, sets = cells("table_3_2"), cells("table_3_5")
    faults = []
    for table, part in ((splits, "split"), (sets, "collection")):
        for (dataset, name), column in table.groupby(["dataset", part], sort=False):
            total = published_number(column, row=_SATISFIED) + published_number(
                column, row=_DISSATISFIED
            )
            if total != published_number(column, row="Total"):
                faults.append(f"{dataset} {name}: parts sum to {total:g}")
    for cell in rows_where(splits, split="Test").itertuples():
        if float(cell.value) != published_number(
            sets, row=cell.row, dataset=cell.dataset, collection="Main"
        ):
            faults.append(f"{cell.dataset} {cell.row}: test part is not Main")
    return holds_if_none(
        faults, "10 totals equal the sums of their parts, and the test parts agree"
    )


def check_abolghasemi2026_success_rates(cells: Cells) -> Finding:
    """Table 3.4: flipped shares follow from the sizes of Table 3.5."""
    sets, faults = cells("table_3_5"), []
    # Satisfied samples become dissatisfied in CF, so the opposite row of CF counts them.
    flipped_rows = {_SATISFIED: _DISSATISFIED, _DISSATISFIED: _SATISFIED, "Overall": "Total"}
    for cell in cells("table_3_4").itertuples():
        before = "Total" if cell.row == "Overall" else cell.row
        flipped = published_number(
            sets, row=flipped_rows[cell.row], dataset=cell.dataset, collection="CF"
        )
        share = (
            100
            * flipped
            / published_number(sets, row=before, dataset=cell.dataset, collection="Main")
        )
        if abs(share - float(cell.value)) > 0.05:
            faults.append(f"{cell.dataset} {cell.row}: {share:.2f}, published {cell.value}")
    return holds_if_none(faults, "6 shares follow from the sizes")
