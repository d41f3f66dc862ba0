"""Audits of the published tables of appendix C of lajewska2025 (response generation)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from everycell.statistics.effect_size import omega_squared
from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_text,
    rows_where,
)

#: Responses in Table C.8: two for each query, or those of one method, or those to three inputs.
RESPONSES, OTHER_NUMBERS = 88, (44, 264)


def _pilot_votes(cells: Cells) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Votes for each response by pilot, variant and dimension (Table C.2)."""
    votes = {}
    for (row, variant), part in cells("table_C_2").groupby(["row", "response_pair_variant"]):
        for dimension in ("Diversity", "Specificity"):
            pair = (int(published_text(part, metric=f"{dimension} votes R{n}")) for n in (1, 2))
            votes[(row, variant, dimension)] = (next(pair), next(pair))
    return votes


def f_statistic(first: int, second: int) -> float:
    """F of a one-way ANOVA between votes for two responses, each coded as 0 or 1.

    `scipy.stats.f_oneway` returns the same value, but takes a second to import. Both groups have
    the same sum of squares.
    """
    if not first or not second:
        return math.inf
    n = first + second
    between = (first - second) ** 2 / (2 * n)
    within = 2 * first * second / n
    return between / (within / (2 * n - 2))


def audit_lajewska2025_table_C_2_scale(cells: Cells) -> Finding:
    """Table C.2 has an "S" where its votes give an omega squared below 0.01."""
    faults = []
    for (row, variant, dimension), (first, second) in _pilot_votes(cells).items():
        key = {"row": row, "response_pair_variant": variant}
        size = published_text(cells("table_C_2"), metric=f"ANOVA {dimension} effect_size", **key)
        n = first + second
        omega = omega_squared(f_statistic(first, second), df=1, n=2 * n)
        if size == "S" and omega < 0.01:
            votes = f"votes {first} and {second}"
            faults.append(f"{row} {variant} {dimension}: {votes}, omega squared {omega:.4f}")
    return holds_if_any(faults, 'every "S" is at least 0.01')


def audit_lajewska2025_table_C_6_spread(cells: Cells) -> Finding:
    """Tables 6.4 and C.6 differ in the deviation of answer relevance, in rows that both have."""
    return holds_if_any(_differing_cells(cells), "the rows agree")


def _differing_cells(cells: Cells) -> Iterator[str]:
    main = rows_where(cells("table_6_4"), metric="Answer rel sd")
    appendix = cells("table_C_6")
    main = main.assign(input=main["input"].str.lower())
    shared = main.merge(appendix, on=["row", "input", "metric"], suffixes=("", "_appendix"))
    for cell in shared[shared["value"] != shared["value_appendix"]].itertuples():
        yield (
            f"{cell.row} {cell.input} {cell.metric}: {cell.value} in Table 6.4, "
            f"{cell.value_appendix} in Table C.6"
        )


def check_lajewska2025_pilot_votes(cells: Cells) -> Finding:
    """Table C.2: the votes for two responses sum to 30 (§ C.1)."""
    votes = _pilot_votes(cells)
    return holds_if_none(
        (f"{' '.join(name)}: {sum(pair)}" for name, pair in votes.items() if sum(pair) != 30),
        f"{len(votes)} pairs of votes sum to 30",
    )


def tau_p(tau: float, n: int) -> float:
    """P of Kendall's tau of n pairs without ties, by its normal approximation."""
    deviation = math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))
    return math.erfc(abs(tau) / deviation / math.sqrt(2))


def differing_correlation_marks(cells: Cells, n: int) -> Iterator[str]:
    """Correlations whose mark does not fit n pairs, for any value that rounds to the published."""
    for cell in cells("table_C_8").itertuples():
        tau = abs(float(cell.value))
        p_values = [tau_p(max(tau + change, 0.0), n) for change in (-0.005, 0.005)]
        if all((p < 0.05) != (cell.marker == "*") for p in p_values):
            yield f"{cell.row} and {cell.automatic_metric} {cell.value}{cell.marker}"


def check_lajewska2025_correlation_marks(cells: Cells) -> Finding:
    """Table C.8: marks follow from Kendall's tau of 88 responses, without ties."""
    differing = (
        f"with {n}: {', '.join(differing_correlation_marks(cells, n)) or 'none'}"
        for n in OTHER_NUMBERS
    )
    return holds_if_none(
        differing_correlation_marks(cells, RESPONSES),
        f"all marks fit {RESPONSES} responses; marks that differ {'; '.join(differing)}",
    )
