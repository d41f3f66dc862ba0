"""Tables of attribution quality, and what they alone determine: bias, counts, significance.

A mean of differences is the difference of means, so bias tables (CAB) follow from tables of
quality, whoever made those: printed ones, or a run's own. Sensitivity (CAS) does not.

Frames are tidy, one row a value: `SETTING`, a mode (`rag_mode`, or `mode_relevant` and
`mode_nonrelevant` for the mixed mode), `metric` ("attribution precision", "attribution recall")
and `value` in percent.

Source: abolghasemi2026, section 5.3 (modes, Eqs. 5.1 to 5.5) and Tables 5.1 to 5.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import pandas as pd

from everycell.statistics.paired_summaries import (
    Outcome,
    decide,
    most_squares,
    p_value,
    paired_t,
    squares_allowed,
)

SETTING = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
PRECISION, RECALL = "attribution precision", "attribution recall"
#: Mean number of cited documents that are relevant, and of all cited documents.
CITED, TOTAL = "avg cited relevant", "avg cited total"
#: A mode tells the true authors, the false ones, or none.
MODES = ("Vanilla", "Informed", "CF-informed")
_OTHER = {"Human": "LLM", "LLM": "Human"}
#: Half a unit of a percentage with one decimal, as a share.
_HALF_UNIT = 0.0005


def told_author(author: str, mode: str) -> str:
    """Author that a prompt names of a document.

    Parameters
    ----------
    author : {"Human", "LLM"}
        Who wrote it.
    mode : str
        One of `MODES`.

    Returns
    -------
    str
        "Human", "LLM", or "" where none is named.

    Raises
    ------
    ValueError
        An unknown author or mode.

    Examples
    --------
    >>> [told_author("LLM", mode) for mode in MODES]
    ['', 'LLM', 'Human']
    """
    if author not in _OTHER or mode not in MODES:
        raise ValueError(
            f"The author is {author!r} and the mode {mode!r}; an author is one of "
            f"{', '.join(_OTHER)}, a mode one of {', '.join(MODES)}."
        )
    return {"Vanilla": "", "Informed": author, "CF-informed": _OTHER[author]}[mode]


def _with_labels(quality: pd.DataFrame) -> pd.DataFrame:
    """Quality with the labels that were told of relevant and of other documents."""
    sides = {
        "relevant": "mode_relevant" if "mode_relevant" in quality else "rag_mode",
        "nonrelevant": "mode_nonrelevant" if "mode_nonrelevant" in quality else "rag_mode",
    }
    labels = {
        f"label_{side}": [
            told_author(author, mode)
            for author, mode in zip(quality[f"{side}_author"], quality[column], strict=True)
        ]
        for side, column in sides.items()
    }
    return quality.assign(**labels).astype({"value": float})


def _labelled(quality: pd.DataFrame) -> pd.DataFrame:
    """Each setting and metric once: quality with people named on either side.

    Columns `human` and `machine`: the label of the relevant documents. Other documents have the
    other label.
    """
    table = _with_labels(quality)
    told = table[table["label_relevant"].map(_OTHER) == table["label_nonrelevant"]]
    keys = [*SETTING, "metric"]
    sides = (
        told.loc[told["label_relevant"] == label, [*keys, "value"]].rename(columns={"value": name})
        for label, name in (("Human", "human"), ("LLM", "machine"))
    )
    first, second = sides
    return first.merge(second, on=keys, validate="one_to_one")


def bias_cells(quality: pd.DataFrame) -> pd.DataFrame:
    """Attribution bias (CAB) of each setting from its attribution quality.

    Parameters
    ----------
    quality
        As the module says. Modes that tell both sides alike, or nothing, take no part.

    Returns
    -------
    pandas.DataFrame
        `SETTING`, metric ("CAB delta precision", "CAB delta recall") and value in points, from
        -100 to 100: quality with [Human] on relevant and [LLM] on other documents, less quality
        with the labels exchanged. A setting that lacks one of the two is left out.

    Raises
    ------
    ValueError
        An unknown author or mode.

    Examples
    --------
    >>> columns = [*SETTING, "rag_mode", "metric", "value"]
    >>> rows = [("NQ", "toy", "LLM", "Human", mode, RECALL, value)
    ...         for mode, value in (("Vanilla", 60), ("Informed", 50), ("CF-informed", 65))]
    >>> bias_cells(pd.DataFrame(rows, columns=columns))[["metric", "value"]].values.tolist()
    [['CAB delta recall', 15.0]]
    """
    pairs = _labelled(quality[quality["metric"].isin([PRECISION, RECALL])])
    return pairs.assign(
        metric=pairs["metric"].str.replace("attribution", "CAB delta"),
        value=pairs["human"] - pairs["machine"],
    )[[*SETTING, "metric", "value"]]


class Significance(NamedTuple):
    """What printed means determine of a paired t-test.

    Attributes
    ----------
    significant : Outcome
        "yes" or "no" where any answers with these means give it, else "open".
    allowed : float
        Largest sum of squared differences that is significant. For recall it is the number of
        queries that may have changed, a whole number that is even where the sum of changes is even
        and odd where that is odd; 0 where no number is small enough.
    least, most : float
        Bounds of that sum.
    p : float or None
        Where the two bounds are one.
    """

    significant: Outcome
    allowed: float
    least: float
    most: float
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
    """Whether the difference of two printed means can be significant by a paired t-test.

    Parameters
    ----------
    first, second : float
        Means in percent with one decimal, from 0 to 100.
    n : int
        Queries of the sample, 2 or more, each with one relevant document: a recall is 0 or 1, so
        the sum of a recall is a whole number and each change counts 1. A precision is rounded.
    metric : {"precision", "recall"}
    absolute : float, optional
        Mean absolute difference in percent (CAS), where printed. For recall it is the share of
        queries that changed, so the test is determined.
    alpha : float
        Level of the two-sided test.

    Returns
    -------
    Significance

    Raises
    ------
    ValueError
        A recall that is no whole number of n queries.

    Examples
    --------
    Recalls of 77.8 and 78.4 of 500 queries, 17.0 percent of which changed; and without that:

    >>> found = significance(77.8, 78.4, 500, metric="recall", absolute=17.0)
    >>> found.significant, round(found.p, 2)
    ('no', 0.75)
    >>> significance(76.4, 79.6, 500, metric="recall").significant
    'open'

    Six more of 500 are significant where at most 8 changed, 7 up and 1 down:

    >>> significance(77.8, 76.6, 500, metric="recall").allowed
    8.0
    """
    shares = first / 100, second / 100
    most = most_squares(*shares, n)
    if metric == "recall":
        sums = [_whole(share, n) for share in shares]
        total = float(sums[0] - sums[1])
        difference, least = (total, total), abs(total)
        if absolute is not None:
            least = most = float(_whole(absolute / 100, n))
    else:
        total = n * (shares[0] - shares[1])
        difference = (total - 2 * n * _HALF_UNIT, total + 2 * n * _HALF_UNIT)
        most = min(float(n), most + 2 * n * _HALF_UNIT)
        least = min(abs(end) for end in difference) ** 2 / n
        if absolute is not None:
            # No difference is above 1, so its square is not above its size; and by Cauchy-Schwarz.
            most = min(most, n * (absolute / 100 + _HALF_UNIT))
            least = max(least, n * max(0.0, absolute / 100 - _HALF_UNIT) ** 2)
    allowed = squares_allowed(max(difference, key=abs), n, alpha=alpha)
    if metric == "recall":
        # Changes of 1 and -1 sum to `total`: their number has its parity, and is not below it.
        fewest = abs(total)
        allowed = fewest + (allowed - fewest) // 2 * 2 if fewest <= allowed else 0.0
    return Significance(
        decide(difference, (least, most), n, alpha=alpha),
        allowed,
        least,
        most,
        p_value(paired_t(total, most, n), n) if least == most else None,
    )


def _whole(share: float, n: int) -> int:
    """Number of queries that a share is, where it is one."""
    number = round(share * n)
    if abs(share * n - number) > 1e-6 * n:
        raise ValueError(
            f"{100 * share:g} % is no whole number of {n} queries; check the value, or the number "
            "of queries."
        )
    return number


def bias_significance(quality: pd.DataFrame, n: int) -> pd.DataFrame:
    """What the means of a quality table determine of the tests behind its bias table.

    Parameters
    ----------
    quality
        As the module says, percents with one decimal.
    n : int
        Queries of each sample.

    Returns
    -------
    pandas.DataFrame
        `SETTING`, metric, first, second (the two means) and the fields of `Significance`.

    Examples
    --------
    >>> columns = [*SETTING, "rag_mode", "metric", "value"]
    >>> rows = [("NQ", "toy", "Human", "LLM", mode, RECALL, value)
    ...         for mode, value in (("Informed", 65.0), ("CF-informed", 50.0))]
    >>> bias_significance(pd.DataFrame(rows, columns=columns), 500)["significant"].tolist()
    ['yes']
    """
    pairs = _labelled(quality[quality["metric"].isin([PRECISION, RECALL])])
    pairs = pairs.assign(metric=pairs["metric"].str.replace("attribution", "CAB delta"))
    return _tested(pairs.rename(columns={"human": "first", "machine": "second"}), n)


def sensitivity_significance(
    quality: pd.DataFrame, sensitivity: pd.DataFrame, n: int
) -> pd.DataFrame:
    """What printed means and absolute differences determine of the tests of Informed on Vanilla.

    Parameters
    ----------
    quality
        As the module says, with `rag_mode`.
    sensitivity
        `SETTING`, metric ("CAS delta precision", "CAS delta recall") and value in points.
    n : int
        Queries of each sample.

    Returns
    -------
    pandas.DataFrame
        As `bias_significance`, one row a cell of `sensitivity` and in its order, with `absolute`.

    Examples
    --------
    >>> rows = [("NQ", "toy", "Human", "LLM", mode, RECALL, value)
    ...         for mode, value in (("Vanilla", 68.8), ("Informed", 72.2))]
    >>> quality = pd.DataFrame(rows, columns=[*SETTING, "rag_mode", "metric", "value"])
    >>> cas = pd.DataFrame([("NQ", "toy", "Human", "LLM", "CAS delta recall", 9.0)],
    ...                    columns=[*SETTING, "metric", "value"])
    >>> found = sensitivity_significance(quality, cas, 500)
    >>> found[["significant", "p"]].round(3).values.tolist()
    [['yes', 0.011]]
    """
    keys = [*SETTING, "metric"]
    pairs = sensitivity[[*keys, "value"]].astype({"value": float})
    pairs = pairs.rename(columns={"value": "absolute"})
    for name, mode in (("first", "Informed"), ("second", "Vanilla")):
        means = quality.loc[quality["rag_mode"] == mode, [*keys, "value"]].astype({"value": float})
        means = means.assign(metric=means["metric"].str.replace("attribution", "CAS delta"))
        pairs = pairs.merge(means.rename(columns={"value": name}), on=keys, validate="one_to_one")
    return _tested(pairs, n)


def _tested(pairs: pd.DataFrame, n: int) -> pd.DataFrame:
    found = [
        significance(
            row["first"],
            row["second"],
            n,
            metric="recall" if row["metric"].endswith("recall") else "precision",
            absolute=row.get("absolute"),
        )
        for _, row in pairs.iterrows()
    ]
    return pd.concat([pairs, pd.DataFrame(found, index=pairs.index)], axis=1)


def recalls_from_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Recall from the mean number of cited relevant documents, and nothing else.

    With one relevant document a query the two are one number: a share, and a percentage.

    Parameters
    ----------
    counts
        `SETTING`, a mode, metric and value; of the metrics "avg cited relevant" is read.

    Returns
    -------
    pandas.DataFrame
        The same keys with the metric "attribution recall", in percent.

    Examples
    --------
    >>> columns = [*SETTING, "rag_mode", "metric", "value"]
    >>> row = ("NQ", "toy", "LLM", "Human", "Vanilla", CITED, "0.766")
    >>> recalls_from_counts(pd.DataFrame([row], columns=columns))["value"].round(9).tolist()
    [76.6]
    """
    part = counts[counts["metric"] == CITED].drop(columns="value", errors="ignore")
    return part.assign(metric=RECALL, value=100 * counts.loc[part.index, "value"].astype(float))


def counts_from_recalls(quality: pd.DataFrame) -> pd.DataFrame:
    """Mean number of cited relevant documents from recall: `recalls_from_counts` the other way.

    Parameters
    ----------
    quality
        As the module says; of the metrics "attribution recall" is read.

    Returns
    -------
    pandas.DataFrame
        The same keys with the metric "avg cited relevant", in documents.

    Examples
    --------
    >>> columns = [*SETTING, "rag_mode", "metric", "value"]
    >>> row = ("NQ", "toy", "LLM", "Human", "Vanilla", RECALL, "76.6")
    >>> counts_from_recalls(pd.DataFrame([row], columns=columns))["value"].round(9).tolist()
    [0.766]
    """
    part = quality[quality["metric"] == RECALL].drop(columns="value", errors="ignore")
    return part.assign(metric=CITED, value=quality.loc[part.index, "value"].astype(float) / 100)


def marked(bias: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Bias with the daggers that its means allow.

    Parameters
    ----------
    bias, tests
        What `bias_cells` and `bias_significance` give for one table of quality.

    Returns
    -------
    pandas.DataFrame
        `bias` with `marker`: a dagger where the test is significant whatever the answers were, a
        dagger in brackets where that depends on them, "" where it cannot be.

    Examples
    --------
    >>> columns = [*SETTING, "rag_mode", "metric", "value"]
    >>> rows = [("NQ", "toy", "Human", "LLM", mode, RECALL, value)
    ...         for mode, value in (("Informed", 74.0), ("CF-informed", 70.6))]
    >>> quality = pd.DataFrame(rows, columns=columns)
    >>> marked(bias_cells(quality), bias_significance(quality, 500))["marker"].tolist()
    ['(†)']
    """
    keys = [*SETTING, "metric"]
    markers = {"yes": "†", "open": "(†)", "no": ""}
    outcomes = tests.set_index(keys)["significant"].map(markers)
    return bias.assign(marker=[outcomes[tuple(row)] for row in bias[keys].itertuples(index=False)])


def queries_behind(means: Sequence[str], *, most: int = 1000) -> int | None:
    """Fewest queries of which every printed mean of counts can be the mean.

    Parameters
    ----------
    means
        Means of whole numbers as printed; each may be off by half a unit of its last digit.
    most : int
        Where to stop: with as many queries as a unit has parts, every mean fits.

    Returns
    -------
    int or None
        None where no number of queries up to `most` fits.

    Examples
    --------
    >>> queries_behind(["0.33", "0.5"]), queries_behind(["0.766", "0.682", "2.190"])
    (6, 274)
    """

    def fits(mean: str, n: int) -> bool:
        half = 0.5 * 10.0 ** -len(mean.partition(".")[2])
        return abs(round(float(mean) * n) / n - float(mean)) <= half * (1 + 1e-9)

    return next((n for n in range(1, most + 1) if all(fits(mean, n) for mean in means)), None)
