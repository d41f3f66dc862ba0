"""Group bias in ranked lists: example lists, curves by cut-off, means, overlaps."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.result_job import ResultJob
from everycell.metrics.awrf import awrf
from everycell.metrics.nfairr import nfairr
from everycell.metrics.ranked_groups import alignments
from everycell.metrics.term_counts import read_counts
from everycell.metrics.texfair import texfair
from everycell.trec.runs import read_run
from papers.shared.term_fairness_figures import (
    document_against_list_fairness,
    documents_in_lists,
    fairness_over_depth,
)
from papers.shared.term_fairness_planted import SYSTEMS
from papers.shared.term_fairness_rankers import (
    MEASURES,
    RankedSystem,
    compare_with_baseline,
    compare_with_truth,
    fairness_at_cutoffs,
    mean_curves,
    measure_rankers,
    most_sensitive,
    overlap_by_query,
    ranker_means,
    restrict_to_common_queries,
    sensitivity,
)

#: Published pattern -> label of such a document.
GROUPS = {"F": "only female terms (she)", "M": "only male terms (he)"}
#: Threshold of NFaiRR -> its meaning in the example.
MEANING = {0: "one term counts", 1: "one term is ignored"}
#: Words per document. The paper does not state it; the measures do not depend on it.
LENGTH = 10


def example(job: ResultJob) -> None:
    """Measures of two example lists of four documents with one gendered word each."""
    (artefact,) = job.params.declared
    published = job.input_cells(artefact)
    values = example_measures(published, job.params.taus)
    figure = documents_in_lists(*example_marks(published, values), GROUPS)
    job.write_figure(example_cells(published, values, job.params.read_with), figure)
    values = values.rename(columns={"measure": "metric"})
    job.write_supplement(values, "measures", dict.fromkeys(values["metric"], 3))
    association = association_measures(job.params.frequencies)
    job.write_supplement(association, "association", dict.fromkeys(association["metric"], 3))


def example_measures(published: pd.DataFrame, taus: Sequence[float]) -> pd.DataFrame:
    """Measures of each list at its last rank."""
    lists = published.assign(rank=published["x"].astype(int)).pivot(
        index="row", columns="rank", values="value"
    )
    counts = np.stack([(lists == group).to_numpy(dtype=float) for group in GROUPS], axis=-1)
    lengths = np.full(counts.shape[:2], LENGTH)
    measures = {measure_name(tau): nfairr(counts, tau=tau)[:, -1] for tau in taus} | {
        "TExFAIR": texfair(counts, lengths)[:, -1]
    }
    values = pd.DataFrame(measures, index=lists.index).melt(ignore_index=False, var_name="measure")
    return values.reset_index(names="list")


def association_measures(frequencies: Sequence[int]) -> pd.DataFrame:
    """AWRF and TExFAIR of a document with one term of a group above one of the other group.

    One list of two equally long documents per number of terms in the second document.
    """
    counts = np.array([[[1, 0], [0, count]] for count in frequencies], dtype=float)
    lengths = np.full(counts.shape[:2], LENGTH)
    measures = {"AWRF": awrf(alignments(counts))[:, -1], "TExFAIR": texfair(counts, lengths)[:, -1]}
    lists = [f"1 term, then {count}" for count in frequencies]
    values = pd.DataFrame(measures, index=lists).melt(ignore_index=False, var_name="metric")
    return values.reset_index(names="list")


def measure_name(tau: float) -> str:
    """Name of NFaiRR with a threshold."""
    return f"NFaiRR, τ = {tau}"


def example_cells(published: pd.DataFrame, values: pd.DataFrame, tau: float) -> pd.DataFrame:
    """Cells of the figure: its documents, and NFaiRR of each list at one threshold."""
    keys = [*KEYS, "value"]
    scores = values[values["measure"] == measure_name(tau)].rename(columns={"list": "row"})
    last = published["x"].astype(int).max()
    scores = scores.assign(series="list", metric="NFaiRR", x_name="rank", x=f"1-{last}")
    return pd.concat([published[keys], scores[keys]], ignore_index=True)


def example_marks(
    published: pd.DataFrame, values: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Documents and bars with the labels of the figure."""
    documents = published[["row", "x", "value"]].astype({"x": int})
    documents = documents.rename(columns={"row": "list", "x": "rank", "value": "group"})
    titles = {name: f"{name} list" for name in values["list"].unique()}
    labels = {
        measure_name(tau): f"{measure_name(tau)}:\n{meaning}" for tau, meaning in MEANING.items()
    }
    return documents.replace({"list": titles}), values.replace({"list": titles, "measure": labels})


#: Measures and cut-off whose values are published as numbers.
PUBLISHED_MEASURES, CUTOFF = ("NFaiRR", "TExFAIR (with RBDF)"), 10
#: Key columns of a plotted point.
KEYS = ["row", "series", "metric", "x_name", "x"]
#: Metrics of `recovered_table` -> decimals. The difference has enough to show that it is only a
#: rounding error.
RECOVERED = {
    f"planted, k = {CUTOFF}": 4,
    f"measured, k = {CUTOFF}": 4,
    "largest difference": 12,
}


def depth(job: ResultJob) -> None:
    """Measures at every cut-off, and how much each changes with it.

    On planted rankings also measured against planted values, and a case that one of the measures
    cannot detect.
    """
    systems = [
        RankedSystem(
            query_set,
            name,
            Path("work", collection, "counts.parquet"),
            Path("work", collection, "runs", f"{run}.run"),
        )
        for query_set, collection, run, name in job.params.systems
    ]
    fairness = fairness_at_cutoffs(systems, range(1, job.params.cutoffs + 1), job.params.tau)
    curves = mean_curves(fairness)
    changes = sensitivity(curves)
    points = curve_points(curves)
    if "points" in job.output.keys():
        text = points.to_csv(index=False, lineterminator="\n")
        write_atomically(Path(job.output.points), text)
        points = published_points(points)
    plotted = [points.astype({"value": object}), sensitivity_points(changes)]
    figure = fairness_over_depth(curves, cutoff=CUTOFF)
    job.write_figure(pd.concat(plotted, ignore_index=True), figure)
    changes = changes.rename(columns={"measure": "metric"})
    job.write_supplement(changes, "sensitivity", dict.fromkeys(MEASURES.values(), 4))
    if "recovered_csv" in job.output.keys():
        truth = pd.read_parquet(job.input.truth)
        recovered = compare_with_truth(fairness, truth, cutoff=CUTOFF)
        job.write_supplement(recovered_table(recovered, SYSTEMS), "recovered", RECOVERED)
        marks = balance_marks(recovered)
        figure = document_against_list_fairness(label_systems(marks, SYSTEMS))
        job.write_figure(marks, figure, "balance")


def curve_points(curves: pd.DataFrame) -> pd.DataFrame:
    """Points of the mean curves, as cells: columns `KEYS` and `value`."""
    points = curves.rename(columns={"query_set": "row", "system": "series", "measure": "metric"})
    return points.assign(x_name="k", x=points["k"])[[*KEYS, "value"]]


def published_points(points: pd.DataFrame) -> pd.DataFrame:
    """Points whose values are published as numbers."""
    return points[points["metric"].isin(PUBLISHED_MEASURES) & (points["x"] == CUTOFF)]


def sensitivity_points(changes: pd.DataFrame) -> pd.DataFrame:
    """Which measure is the most sensitive, per query set, as cells: `KEYS` and `value`."""
    measures = most_sensitive(changes).rename(columns={"query_set": "row", "measure": "x"})
    measures = measures.assign(series="all rankers", metric="sensitivity to k", x_name="measure")
    return measures[[*KEYS, "value"]]


def recovered_table(means: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """Planted and measured means, and the largest difference of any value, one row per cell."""
    columns = dict(zip(("value_planted", "value", "difference"), RECOVERED, strict=True))
    return (
        means.assign(ranking=means["system"].map(rankings))
        .rename(columns=columns)
        .melt(["system", "ranking", "measure"], list(RECOVERED), var_name="metric")
    )


def balance_marks(means: pd.DataFrame) -> pd.DataFrame:
    """Means of the two measures that the figure compares."""
    marks = means[means["measure"].isin(PUBLISHED_MEASURES)].rename(
        columns={"value_planted": "planted"}
    )
    return marks[["system", "measure", "value", "planted"]]


def label_systems(marks: pd.DataFrame, rankings: Mapping[str, str]) -> pd.DataFrame:
    """Marks with wrapped labels that describe the rankings of each system."""
    labels = {
        system: textwrap.fill(f"{system}: {ranking}", 58) for system, ranking in rankings.items()
    }
    return marks.replace({"system": labels})


#: Measures whose correlation over queries is reported.
CORRELATED = ("TExFAIR", "NFaiRR")


def means(job: ResultJob) -> None:
    """Effectiveness and group fairness of rankers, with tests and a negative control."""
    params, control = job.params, job.params.get("control", {})
    measured, left_out = {}, {}
    for query_set, (folder, suffix, relevant_from) in {**params.query_sets, **control}.items():
        folder = Path(folder)
        qrels = None
        if "qrels" in job.input.keys():
            qrels = pd.read_parquet(folder / f"qrels{suffix}.parquet")
        values = measure_rankers(
            (
                (name, read_run(folder / "runs" / f"{run}{suffix}.run"))
                for _, name, run in params.systems
            ),
            read_counts(folder / "counts.parquet"),
            k=params.k,
            qrels=qrels,
            relevant_from=relevant_from,
        )
        measured[query_set], left_out[query_set] = restrict_to_common_queries(values)
    job.facts["queries_left_out"] = left_out

    def tables_of(query_sets: Iterable[str]) -> FairnessTables:
        return fairness_tables(
            {query_set: measured[query_set] for query_set in query_sets},
            families={name: family for family, name, _ in params.systems},
            baseline=params.baseline,
            level=params.alpha,
            names=params.names,
        )

    tables = tables_of(params.query_sets)
    job.write_table(tables.means, note=tables.note)
    if "tests_csv" in job.output.keys():
        job.write_supplement(tables.tests, "tests", dict.fromkeys(tables.tests["metric"], 4))
    if control:
        frame = tables_of(control).means.drop(columns=["family", "query_set"])
        job.write_supplement(frame, "control", dict.fromkeys(frame["metric"], 4))


class FairnessTables(NamedTuple):
    """The table of means and its supplementary tables, one row per cell."""

    means: pd.DataFrame
    #: Numbers of queries and of judged queries per set.
    note: str
    tests: pd.DataFrame


def fairness_tables(
    measured: Mapping[str, dict[str, pd.DataFrame]],
    *,
    families: Mapping[str, str],
    baseline: str,
    level: float,
    names: Mapping[str, str],
) -> FairnessTables:
    """Means of effectiveness and fairness per query set, with markers of tests."""
    means = pd.concat(
        ranker_means(rankers, baseline=baseline, correlated=CORRELATED, level=level).assign(
            query_set=query_set
        )
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    means["family"] = means["row"].map(families)
    means["metric"] = means["metric"].replace(names)
    tests = pd.concat(
        compare_with_baseline(rankers, baseline, level=level).assign(query_set=query_set)
        for query_set, rankers in measured.items()
    ).rename(columns={"system": "row"})
    return FairnessTables(
        means[["row", "family", "query_set", "metric", "value", "marker"]],
        describe_query_counts(means),
        tests[["query_set", "row", "measure", "metric", "value"]],
    )


def describe_query_counts(means: pd.DataFrame) -> str:
    """Note on queries and judged queries per set, from `query_set` and `n`."""
    queries = means.groupby("query_set", sort=False)["n"].agg(["min", "max"])
    return ", ".join(
        f"{name}: {total} queries" + f" ({judged} judged)" * (judged < total)
        for name, judged, total in queries.itertuples()
    )


def overlap(job: ResultJob) -> None:
    """Overlap of rankings before and after swapping genders, together with fairness."""
    k, persistence = job.params.k, job.params.persistence
    values = {}
    for query_set, (folder, counterfactual, suffix) in job.params.query_sets.items():
        counts = read_counts(Path(folder, "counts.parquet"))
        values[query_set] = {
            name: overlap_by_query(
                read_run(Path(folder, "runs", f"{run}{suffix}.run")),
                read_run(Path(counterfactual, "runs", f"{run}{suffix}.run")),
                counts,
                k=k,
                p=persistence,
            )
            for name, run in job.params.systems
        }
    note = f"first {k} results, persistence {persistence}, extrapolated"
    job.write_table(overlap_table(values), note=note)


def overlap_table(values: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """Means of overlap and fairness per query set."""
    table = pd.concat(
        ranker_means(rankers).assign(query_set=query_set) for query_set, rankers in values.items()
    ).rename(columns={"system": "row"})
    return table[["row", "query_set", "metric", "value", "marker"]]
