"""Correlation and variance of clustered values, such as the ratings of each worker.

A test that treats such values as independent overstates the sample size. The correlation between
the means of clusters may differ from the correlation within them, even in sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.statistics.hypothesis_tests import pearson


def clustered_correlation(
    data: pd.DataFrame,
    x: str,
    y: str,
    cluster: str | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> dict[str, float]:
    """Pearson's correlation of two columns, with a bootstrap interval over clusters.

    Bootstrap samples in which a column is constant are excluded; p treats rows as independent.
    """
    row = pearson(data[[x, y]], [(x, y)], confidence=confidence).iloc[0]
    values = data[[x, y]].to_numpy(dtype=float)
    if cluster is None:
        members = [np.array([number]) for number in range(len(data))]
    else:
        members = list(data.groupby(cluster, sort=False).indices.values())
    if len(members) < 2:
        raise ValueError(
            f"The column {cluster!r} has fewer than two clusters: the bootstrap needs at least "
            "two, so choose a different column."
        )
    # The moments of a bootstrap sample are the sums of the moments of its clusters.
    moments = np.array(
        [
            [len(cells), *cells.sum(axis=0), *(cells**2).sum(axis=0), cells.prod(axis=1).sum()]
            for cells in (values[rows] - values.mean(axis=0) for rows in members)
        ]
    )
    draws = np.random.default_rng(seed).integers(len(members), size=(resamples, len(members)))
    n, sum_x, sum_y, xx, yy, xy = moments[draws].sum(axis=1).T
    spread = (xx - sum_x**2 / n) * (yy - sum_y**2 / n)
    varies = spread > 1e-12 * xx * yy
    if not varies.any():
        raise ValueError(
            f"At least one column is constant in all {resamples} bootstrap samples: use more "
            "clusters or resamples."
        )
    correlations = (xy - sum_x * sum_y / n)[varies] / np.sqrt(spread[varies])
    low, high = np.quantile(correlations, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {
        "n": len(data),
        "r": float(row["r"]),
        "p": float(row["p"]),
        "low": float(low),
        "high": float(high),
    }


def centre_within_groups(data: pd.DataFrame, columns: Sequence[str], group: str) -> pd.DataFrame:
    """Subtract the group mean from each value, which leaves only differences within groups."""
    names = list(columns)
    means = data.groupby(group, sort=False)[names].transform("mean")
    return data.assign(**{name: data[name] - means[name] for name in names})


def nested_variance_shares(
    data: pd.DataFrame, value: str, levels: Sequence[str]
) -> dict[str, float]:
    """Share of a column's sum of squares that each of several nested levels accounts for."""
    parent_means = pd.Series(float(data[value].mean()), index=data.index)
    total = float(((data[value] - parent_means) ** 2).sum())
    if total == 0:
        raise ValueError(f"The column {value!r} is constant: it has no variance to partition.")
    shares = {}
    for number, level in enumerate(levels, start=1):
        means = data.groupby(list(levels[:number]), sort=False)[value].transform("mean")
        shares[level] = float(((means - parent_means) ** 2).sum()) / total
        parent_means = means
    return shares | {"rest": float(((data[value] - parent_means) ** 2).sum()) / total}
