r"""Values that follow from the published means of chapter 5 of abolghasemi2026.

The mean of differences equals the difference of means, so bias tables (CAB) follow from tables of
attribution quality, whether published or reproduced. Sensitivity (CAS) does not. Source of the
tests: abolghasemi2026, section 5.5 (paired t-tests, p < 0.05) and Tables 5.1 to 5.15.

The statistic of a paired test of n values is :math:`t = (S/n) / \sqrt{(Q - S^2/n) / (n (n - 1))}`,
where S is the sum of the n differences and Q the sum of their squares. S follows from the two
means. Q is bounded: above by the means if the values are in [0, 1] (`largest_sum_of_squares`), and
below by S. If all values are 0 or 1, Q is the number of pairs that changed, and a published mean of
absolute differences determines it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from papers.abolghasemi2026.ch5_arms import (
    CITED,
    CONDITION_COLUMNS,
    OTHER_AUTHOR,
    PRECISION,
    RECALL,
    displayed_author,
)

#: Columns of the table of tests -> digits shown.
TESTS: dict[str, Any] = {
    "first": 1,
    "second": 1,
    "absolute": 1,
    "significant": "text",
    "allowed": 1,
    "least": 1,
    "most": 1,
    "p": 4,
}
#: Half a unit of a percentage with one decimal, as a share.
_HALF_UNIT = 0.0005


def bias_cells(quality: pd.DataFrame) -> pd.DataFrame:
    """Attribution bias (CAB) of all settings, from their attribution quality."""
    pairs = with_opposite_labels(quality[quality["metric"].isin([PRECISION, RECALL])])
    return pairs.assign(
        metric=pairs["metric"].str.replace("attribution", "CAB delta"),
        value=pairs["human"] - pairs["machine"],
    )[[*CONDITION_COLUMNS, "metric", "value"]]


def recalls_from_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Recall from the mean number of cited relevant documents.

    With one relevant document per query, the mean number as a percentage is the recall.
    """
    part = counts[counts["metric"] == CITED].drop(columns="value", errors="ignore")
    return part.assign(metric=RECALL, value=100 * counts.loc[part.index, "value"].astype(float))


def counts_from_recalls(quality: pd.DataFrame) -> pd.DataFrame:
    """Mean number of cited relevant documents, the inverse of `recalls_from_counts`."""
    part = quality[quality["metric"] == RECALL].drop(columns="value", errors="ignore")
    return part.assign(metric=CITED, value=quality.loc[part.index, "value"].astype(float) / 100)


def queries_behind(means: Sequence[str], *, largest: int = 1000) -> int | None:
    """Smallest number of queries that is consistent with all published means of counts."""

    def is_possible(mean: str, n: int) -> bool:
        tolerance = 0.5 * 10.0 ** -len(mean.partition(".")[2])
        return abs(round(float(mean) * n) / n - float(mean)) <= tolerance * (1 + 1e-9)

    numbers = range(1, largest + 1)
    return next((n for n in numbers if all(is_possible(mean, n) for mean in means)), None)


def with_opposite_labels(quality: pd.DataFrame) -> pd.DataFrame:
    """Quality under the two labellings with opposite authors, one row per setting and metric.

    The columns `human` and `machine` name the label of the relevant documents; the other documents
    have the opposite label.
    """
    table = _with_labels(quality)
    labelled = table[table["label_relevant"].map(OTHER_AUTHOR) == table["label_nonrelevant"]]
    keys = [*CONDITION_COLUMNS, "metric"]
    sides = (
        labelled.loc[labelled["label_relevant"] == label, [*keys, "value"]].rename(
            columns={"value": name}
        )
        for label, name in (("Human", "human"), ("LLM", "machine"))
    )
    first, second = sides
    return first.merge(second, on=keys, validate="one_to_one")


def _with_labels(quality: pd.DataFrame) -> pd.DataFrame:
    """Quality with the labels of the relevant and of the other documents."""
    sides = {
        "relevant": "mode_relevant" if "mode_relevant" in quality else "rag_mode",
        "nonrelevant": "mode_nonrelevant" if "mode_nonrelevant" in quality else "rag_mode",
    }
    labels = {
        f"label_{side}": [
            displayed_author(author, mode)
            for author, mode in zip(quality[f"{side}_author"], quality[column], strict=True)
        ]
        for side, column in sides.items()
    }
    return quality.assign(**labels).astype({"value": float})


class Significance(NamedTuple):
    """Outcome of a paired t-test as far as published means determine it."""

    #: "yes" or "no" if all answers with these means lead to that outcome, else "open".
    significant: Outcome
    #: Largest sum of squared differences at which the test is significant. For recall it is the
    #: largest number of changed queries, with the parity of the sum of changes; 0 if there is none.
    allowed: float
    #: Bounds of the actual sum of squared differences.
    lower: float
    upper: float
    #: p-value, if the two bounds are equal.
    p: float | None


def significance(
    first: float,
    second: float,
    n: int,
    *,
    metric: Literal["precision", "recall"],
    absolute: float | None = None,
    alpha: float = 0.05,
) -> Significance:
    """Whether the difference of two published means can be significant by a paired t-test."""
    shares = first / 100, second / 100
    upper = largest_sum_of_squares(*shares, n)
    if metric == "recall":
        sums = [_query_count(share, n) for share in shares]
        total = float(sums[0] - sums[1])
        difference, lower = (total, total), abs(total)
        if absolute is not None:
            lower = upper = float(_query_count(absolute / 100, n))
    else:
        total = n * (shares[0] - shares[1])
        difference = (total - 2 * n * _HALF_UNIT, total + 2 * n * _HALF_UNIT)
        upper = min(float(n), upper + 2 * n * _HALF_UNIT)
        lower = min(abs(end) for end in difference) ** 2 / n
        if absolute is not None:
            # Differences are at most 1, so squares are at most the absolute values, which gives the
            # upper bound; the lower bound follows from the Cauchy-Schwarz inequality.
            upper = min(upper, n * (absolute / 100 + _HALF_UNIT))
            lower = max(lower, n * max(0.0, absolute / 100 - _HALF_UNIT) ** 2)
    allowed = critical_sum_of_squares(max(difference, key=abs), n, alpha=alpha)
    if metric == "recall":
        # Changes of 1 and -1 sum to `total`, so their number has the same parity and is at
        # least as large as the absolute value of `total`.
        fewest = abs(total)
        allowed = fewest + (allowed - fewest) // 2 * 2 if fewest <= allowed else 0.0
    return Significance(
        decide(difference, (lower, upper), n, alpha=alpha),
        allowed,
        lower,
        upper,
        p_value(paired_t(total, upper, n), n) if lower == upper else None,
    )


def _query_count(share: float, n: int) -> int:
    """Number of queries that corresponds to a share."""
    number = round(share * n)
    if abs(share * n - number) > 1e-6 * n:
        raise ValueError(
            f"{100 * share:g} % of {n} queries is not a whole number. Check the value and the "
            "number of queries."
        )
    return number


def bias_significance(quality: pd.DataFrame, n: int) -> pd.DataFrame:
    """Tests behind a bias table, as far as the means of its quality table determine them."""
    pairs = with_opposite_labels(quality[quality["metric"].isin([PRECISION, RECALL])])
    pairs = pairs.assign(metric=pairs["metric"].str.replace("attribution", "CAB delta"))
    return _tested(pairs.rename(columns={"human": "first", "machine": "second"}), n)


def sensitivity_significance(
    quality: pd.DataFrame, sensitivity: pd.DataFrame, n: int
) -> pd.DataFrame:
    """Tests of Informed against Vanilla, as far as published means determine them."""
    keys = [*CONDITION_COLUMNS, "metric"]
    pairs = sensitivity[[*keys, "value"]].astype({"value": float})
    pairs = pairs.rename(columns={"value": "absolute"})
    for name, mode in (("first", "Informed"), ("second", "Vanilla")):
        means = quality.loc[quality["rag_mode"] == mode, [*keys, "value"]].astype({"value": float})
        means = means.assign(metric=means["metric"].str.replace("attribution", "CAS delta"))
        pairs = pairs.merge(means.rename(columns={"value": name}), on=keys, validate="one_to_one")
    return _tested(pairs, n)


def mark_bias(bias: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Add daggers to the bias, or "?" if published means do not determine the test."""
    keys = [*CONDITION_COLUMNS, "metric"]
    markers = {"yes": "†", "open": "?", "no": ""}
    outcomes = tests.set_index(keys)["significant"].map(markers)
    return bias.assign(marker=[outcomes[tuple(row)] for row in bias[keys].itertuples(index=False)])


def tests_table(table: str, tests: pd.DataFrame) -> pd.DataFrame:
    """Tests behind a published table, one row per number."""
    columns = [name for name in TESTS if name in tests]
    cells = tests.melt([*CONDITION_COLUMNS, "metric"], columns, var_name="quantity").dropna()
    renamed = cells.rename(columns={"metric": "measure", "quantity": "metric"})
    return renamed.assign(table=table)[["table", *CONDITION_COLUMNS, "measure", "metric", "value"]]


def _tested(pairs: pd.DataFrame, n: int) -> pd.DataFrame:
    results = [
        significance(
            row["first"],
            row["second"],
            n,
            metric="recall" if row["metric"].endswith("recall") else "precision",
            absolute=row.get("absolute"),
        )
        for _, row in pairs.iterrows()
    ]
    bounds = {"lower": "least", "upper": "most"}
    frame = pd.DataFrame(results, index=pairs.index).rename(columns=bounds)
    return pd.concat([pairs, frame], axis=1)


#: Whether the test is significant: for every set of pairs with these means, for none, or for some.
Outcome = Literal["yes", "no", "open"]


def paired_t(total: float, squares: float, n: int) -> float:
    """Statistic of the paired t-test from the sums of differences and of their squares."""
    spread = squares - total**2 / n
    if total == 0:
        return 0.0
    if spread <= 1e-12 * squares:
        return math.copysign(math.inf, total)
    return total / n / math.sqrt(spread / (n * (n - 1)))


def p_value(statistic: float, n: int) -> float:
    """Two-sided p-value of the paired t-test of n pairs."""
    # Audits import this module, and loading scipy.stats would take a second.
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -abs(statistic)))


def largest_sum_of_squares(first: float, second: float, n: int) -> float:
    """Largest sum of squared differences of pairs in [0, 1] with these means.

    It is reached if all values are 0 or 1 and as few pairs as possible agree.
    """
    return n * min(first + second, 2 - first - second)


def critical_sum_of_squares(total: float, n: int, *, alpha: float = 0.05) -> float:
    """Largest sum of squares at which differences with this sum are still significant.

    For values of 0 and 1, this is the largest number of pairs that may have changed.
    """
    from scipy.special import stdtrit

    critical_t = float(stdtrit(n - 1, alpha / 2))
    return total**2 / n * (1 + (n - 1) / critical_t**2)


def decide(
    difference: tuple[float, float],
    squares: tuple[float, float],
    n: int,
    *,
    alpha: float = 0.05,
) -> Outcome:
    """Decide whether a paired t-test is significant, as far as the bounds determine it.

    `difference` has the bounds on the sum of differences, `squares` those on the sum of squares.
    """
    low, high = sorted(map(abs, difference))
    smallest = 0.0 if difference[0] * difference[1] <= 0 else low
    if smallest > 0 and squares[1] <= critical_sum_of_squares(smallest, n, alpha=alpha):
        return "yes"
    if high == 0 or squares[0] > critical_sum_of_squares(high, n, alpha=alpha):
        return "no"
    return "open"
