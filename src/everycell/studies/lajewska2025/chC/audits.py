"""Published numbers of the appendix on response generation compared with each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from everycell.engine.audits import Cells, Finding, holds_if_any, holds_if_none, published_text
from everycell.statistics.effect_size import omega_squared


def _pilot_votes(cells: Cells) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Votes for each response by pilot, variant and dimension (Table C.2)."""
    votes = {}
    for (row, variant), part in cells("table_C_2").groupby(["row", "response_pair_variant"]):
        for dimension in ("Diversity", "Specificity"):
            pair = (int(published_text(part, metric=f"{dimension} votes R{n}")) for n in (1, 2))
            votes[(row, variant, dimension)] = (next(pair), next(pair))
    return votes


def f_of_votes(first: int, second: int) -> float:
    """F of a one-way ANOVA of two groups of zeros and ones.

    `scipy.stats.f_oneway` gives the same, and takes a second to import, which each page would wait
    for. Here the two groups have one sum of squares.
    """
    if not first or not second:
        return math.inf
    n = first + second
    between = (first - second) ** 2 / (2 * n)
    within = 2 * first * second / n
    return between / (within / (2 * n - 2))


def audit_lajewska2025_table_C_2_scale(cells: Cells) -> Finding:
    """Table C.2: an "S" where the printed votes give an omega squared below 0.01.

    Each vote is one answer; the two responses are compared by a one-way ANOVA of 0 and 1.
    """
    faults = []
    for (row, variant, dimension), (first, second) in _pilot_votes(cells).items():
        key = {"row": row, "response_pair_variant": variant}
        size = published_text(cells("table_C_2"), metric=f"ANOVA {dimension} effect_size", **key)
        n = first + second
        omega = omega_squared(f_of_votes(first, second), df=1, n=2 * n)
        if size == "S" and omega < 0.01:
            faults.append(f"{row} {variant} {dimension}: {first}, {second}, {omega:.4f}")
    return holds_if_any(faults, 'every "S" is at least 0.01')


def audit_lajewska2025_table_C_6_spread(cells: Cells) -> Finding:
    """Tables 6.4 and C.6: cells of the rows that both print."""
    return holds_if_any(_spreads(cells), "the rows agree")


def _spreads(cells: Cells) -> Iterator[str]:
    main, appendix = cells("table_6_4"), cells("table_C_6")
    main = main.assign(input=main["input"].str.lower())
    both = main.merge(appendix, on=["row", "input", "metric"], suffixes=("", "_appendix"))
    for cell in both[both["value"] != both["value_appendix"]].itertuples():
        yield f"{cell.row} {cell.input} {cell.metric}: {cell.value}, {cell.value_appendix}"


def check_lajewska2025_pilot_votes(cells: Cells) -> Finding:
    """Table C.2: the two responses share 30 votes each time (§ C.1)."""
    votes = _pilot_votes(cells)
    return holds_if_none(
        (f"{' '.join(name)}: {sum(pair)}" for name, pair in votes.items() if sum(pair) != 30),
        f"{len(votes)} pairs of votes sum to 30",
    )
