"""Annotators' confidence and their agreement, in chapter 5 of lajewska2025 (section 5.4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from everycell.base.csv_files import read_columns
from everycell.base.untrusted import parse_literal
from everycell.jobs.result_job import ResultJob
from everycell.render.figure_files import MARKERS, TEXT_WIDTH, style
from everycell.render.figures import check_intervals, check_numbers
from everycell.render.palette import BLUE, VERMILION
from everycell.statistics.hypothesis_tests import pearson
from papers.lajewska2025.cast_snippets_data import mark_texts, paths, read_annotations
from papers.lajewska2025.spans import mean_jaccard

X, Y = "confidence", "agreement"
#: Interpretation of the released file, with which the published sentence is compared.
AS_RELEASED = "passages, as released"
DECIMALS = {"n": 0, "r": 3, "p": 4, "low": 3, "high": 3, "single p < 0.05": 0, "of": 0}


def read_released(path: Path) -> pd.DataFrame:
    """Agreement and mean confidence of each passage, as computed by the authors."""
    raw = read_columns(path, ["QueryPassage", "Jaccard", "Confidence"])
    rows = [
        (*parse_literal(name), float(jaccard), float(confidence))
        for name, jaccard, confidence in raw.itertuples(index=False)
    ]
    return pd.DataFrame(rows, columns=["turn_id", "text_id", Y, X])


def add_agreement(annotations: pd.DataFrame) -> pd.DataFrame:
    """Add the agreement on the passage, its team, and how many annotators marked no snippet."""
    keys = ["turn_id", "text_id"]
    texts = mark_texts(annotations)
    passages = annotations.groupby(keys, sort=False)
    names = pd.MultiIndex.from_frame(annotations[keys])
    return annotations.assign(
        agreement=names.map({name: mean_jaccard({name: people}) for name, people in texts.items()}),
        without=names.map(
            {name: int((~people.any(axis=1)).sum()) for name, people in texts.items()}
        ),
        team=passages["worker"].transform(lambda workers: " ".join(sorted(workers))),
    )


def mean_passages(annotations: pd.DataFrame) -> pd.DataFrame:
    """Passages with their agreement and the mean confidence of their annotators."""
    constants = {"agreement": "first", "batch": "first", "team": "first", "without": "first"}
    passages = annotations.groupby(["turn_id", "text_id"], sort=False, as_index=False)
    return passages.agg({X: "mean"} | constants)


def confidence_relations(
    annotations: pd.DataFrame, released: pd.DataFrame, *, resamples: int, seed: int
) -> pd.DataFrame:
    """Correlation of confidence and agreement for several units of observation."""
    passages = mean_passages(annotations)
    batches = passages[["turn_id", "text_id", "batch"]]
    by_worker = annotations.groupby("worker", sort=False)[[X, Y]].mean()
    with_snippet = passages[passages["without"] < passages["without"].max()]
    observations = {
        AS_RELEASED: (released.merge(batches, validate="one_to_one"), "batch"),
        "passages": (passages, "batch"),
        "passages with a snippet": (with_snippet, "batch"),
        "passages marked by all three": (passages[passages["without"] == 0], "batch"),
        "passages of one question": (centre_within_groups(passages, [X, Y], "turn_id"), "batch"),
        "annotations of one worker": (centre_within_groups(annotations, [X, Y], "worker"), "batch"),
        "means of questions": (_means(passages, ["turn_id", "batch"]), "batch"),
        "means of batches": (_means(passages, ["batch"]), None),
        "means of teams": (_means(passages, ["team"]), None),
        "means of workers": (by_worker, None),
    }
    rows = []
    for name, (data, cluster) in observations.items():
        relation = clustered_correlation(data, X, Y, cluster, resamples=resamples, seed=seed)
        rows += [(name, metric, value) for metric, value in relation.items()]
    for name, data, group in (
        ("each worker alone", annotations, "worker"),
        ("each batch alone", passages, "batch"),
    ):
        p_values = [
            pearson(part[[X, Y]], [(X, Y)])["p"].item()
            for _, part in data.groupby(group, sort=False)
        ]
        rows += [
            (name, "single p < 0.05", sum(p < 0.05 for p in p_values)),
            (name, "of", len(p_values)),
        ]
    return pd.DataFrame(rows, columns=["reading", "metric", "value"])


def _means(passages: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return passages.groupby(by, sort=False)[[X, Y]].mean().reset_index()


def confidence_spread(annotations: pd.DataFrame) -> pd.DataFrame:
    """Spread of confidence by worker, batch, question and passage."""
    levels = {
        "worker": "between workers",
        "batch": "between batches of a worker",
        "turn_id": "between questions of a batch",
        "rest": "between passages of a question",
    }
    shares = nested_variance_shares(annotations, X, [level for level in levels if level != "rest"])
    rows = [(levels[level], "share of spread", share) for level, share in shares.items()]
    return pd.DataFrame(rows, columns=["level", "metric", "value"])


def figure_marks(annotations: pd.DataFrame) -> pd.DataFrame:
    """Figure data: mean agreement per mean confidence, and means per worker."""
    passages = mean_passages(annotations)
    levels = passages.assign(level=passages[X].round(6)).groupby("level")[Y]
    by_level = levels.agg(value="mean", sd="std", n="size").reset_index()
    half_width = 1.96 * by_level["sd"].fillna(0) / by_level["n"] ** 0.5
    workers = annotations.groupby("worker", sort=False)
    means = pd.DataFrame(
        {"level": workers[X].mean(), "value": workers[Y].mean(), "n": workers[Y].size()}
    )
    means = means.reset_index(names="name")
    return pd.concat(
        [
            by_level.drop(columns="sd").assign(
                part="passages",
                low=(by_level["value"] - half_width).clip(0, 1),
                high=(by_level["value"] + half_width).clip(0, 1),
            ),
            means.assign(part="workers", low=means["value"], high=means["value"]),
        ],
        ignore_index=True,
    )[["part", "name", "level", "n", "value", "low", "high"]]


def draw_relation(plotted: pd.DataFrame) -> Figure:
    """Agreement on passages by their annotators' confidence, and by worker."""
    check_numbers(plotted, ["level", "n"])
    check_intervals(plotted)
    parts = dict(iter(plotted.groupby("part")))
    passages, workers = parts["passages"], parts["workers"]
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, 2.8), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.vlines(passages["level"], passages["low"], passages["high"], color=BLUE)
        left.scatter(
            passages["level"],
            passages["value"],
            s=12 + 0.2 * passages["n"],
            color=BLUE,
            marker=MARKERS[0],
            zorder=3,
        )
        for _, mark in passages.iterrows():
            left.annotate(
                f"{mark['n']:.0f}",
                (mark["level"], mark["high"]),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
        left.set(
            xlabel="Mean confidence of annotators (1 to 5)",
            ylabel="Mean agreement (J)",
            ylim=(-0.04, 1.04),
            title="Passages (number, 95 % interval)",
        )
        right.scatter(
            workers["level"], workers["value"], s=36, color=VERMILION, marker=MARKERS[1], zorder=3
        )
        right.set(xlabel="Mean confidence of a worker (1 to 5)", title="Workers (mean of passages)")
        for axes in (left, right):
            axes.set_xlim(0.9, 5.1)
            axes.set_xticks(range(1, 6))
    return figure


def confidence(job: ResultJob) -> None:
    """Section 5.4.3: confidence and agreement of annotators."""
    params = job.params
    batches = [
        read_annotations([path]).assign(batch=f"{path.parent.name} {path.stem}")
        for path in paths(job.input.dataset)
    ]
    annotations = add_agreement(pd.concat(batches, ignore_index=True))
    released = read_released(Path(job.input.released))
    results = confidence_relations(
        annotations, released, resamples=params.resamples, seed=params.seed
    )
    p = results.set_index(["reading", "metric"])["value"][AS_RELEASED, "p"]
    cell = ("confidence and agreement", "significant", "yes" if p < params.alpha else "no")
    job.write_table(pd.DataFrame([cell], columns=["relation", "metric", "value"]))
    job.write_supplement(results, "readings", DECIMALS)
    job.write_supplement(confidence_spread(annotations), "spread", {"share of spread": 3})
    marks = figure_marks(annotations)
    job.write_figure(marks, draw_relation(marks), name="relation")


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
    shares = {}
    for number, level in enumerate(levels, start=1):
        means = data.groupby(list(levels[:number]), sort=False)[value].transform("mean")
        shares[level] = float(((means - parent_means) ** 2).sum()) / total
        parent_means = means
    return shares | {"rest": float(((data[value] - parent_means) ** 2).sum()) / total}
