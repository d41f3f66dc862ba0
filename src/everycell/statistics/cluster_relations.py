"""Relations between numbers in clusters, such as the ratings of a worker.

A test that treats such numbers as independent overstates the sample size, and a relation between
the means of clusters may differ from the one within them, even in sign.
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
    """Pearson's correlation of two columns, with an interval that resamples whole clusters.

    Resamples in which a column is constant are left out; p takes rows as independent.
    """
    row = pearson(data[[x, y]], [(x, y)], confidence=confidence).iloc[0]
    values = data[[x, y]].to_numpy(dtype=float)
    if cluster is None:
        members = [np.array([number]) for number in range(len(data))]
    else:
        members = list(data.groupby(cluster, sort=False).indices.values())
    if len(members) < 2:
        raise ValueError(
            f"The column {cluster!r} has {len(members)} cluster: an interval over clusters needs "
            "two or more, so choose a finer one."
        )
    # A sample of clusters is a sum of their counts, sums and products.
    moments = np.array(
        [
            [len(part), *part.sum(axis=0), *(part**2).sum(axis=0), part.prod(axis=1).sum()]
            for part in (values[rows] - values.mean(axis=0) for rows in members)
        ]
    )
    draws = np.random.default_rng(seed).integers(len(members), size=(resamples, len(members)))
    n, sum_x, sum_y, xx, yy, xy = moments[draws].sum(axis=1).T
    spread = (xx - sum_x**2 / n) * (yy - sum_y**2 / n)
    varies = spread > 1e-12 * xx * yy
    if not varies.any():
        raise ValueError(
            f"In none of {resamples} resamples do both columns vary: an interval needs more "
            "clusters or resamples."
        )
    rates = (xy - sum_x * sum_y / n)[varies] / np.sqrt(spread[varies])
    low, high = np.quantile(rates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {
        "n": len(data),
        "r": float(row["r"]),
        "p": float(row["p"]),
        "low": float(low),
        "high": float(high),
    }


def centre_within_groups(data: pd.DataFrame, columns: Sequence[str], group: str) -> pd.DataFrame:
    """Subtract from each number the mean of its group; only differences within groups are left."""
    names = list(columns)
    means = data.groupby(group, sort=False)[names].transform("mean")
    return data.assign(**{name: data[name] - means[name] for name in names})


def nested_spread(data: pd.DataFrame, value: str, levels: Sequence[str]) -> dict[str, float]:
    """Share of a column's sum of squares that each of several nested levels accounts for."""
    above = pd.Series(float(data[value].mean()), index=data.index)
    total = float(((data[value] - above) ** 2).sum())
    if total == 0:
        raise ValueError(f"The column {value!r} does not vary: there is no spread to share out.")
    shares = {}
    for number, level in enumerate(levels, start=1):
        means = data.groupby(list(levels[:number]), sort=False)[value].transform("mean")
        shares[level] = float(((means - above) ** 2).sum()) / total
        above = means
    return shares | {"rest": float(((data[value] - above) ** 2).sum()) / total}
