"""Chapter 3 of lajewska2025: two reproduced systems of TREC CAsT, and variants of them.

One function per rule of ``ch3.smk``, and `pipeline`, which measures the runs of
``ch3_pipeline.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import change_ranges, compare_paired_and_unpaired
from everycell.trec.runs import read_qrels, read_run
from papers.lajewska2025.cast_data import PASSAGE, passages_to_documents, shorten_ids
from papers.lajewska2025.ch3_tuning import read_grid, tuned_points

#: Metrics of a test -> decimals.
TESTS = {
    "change_percent": 2,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}
#: Name of a comparison, and the two systems.
Pair = tuple[str, str, str]
#: Measures that the text of section 3.4 compares.
COMPARED = ["recall", "NDCG@3"]


def row_keys(number: str, system: str, year: str) -> dict[str, str]:
    """Key columns of a system's row in Table 3.`number`, without the metric."""
    if number == "2":
        return {"row": system, "source": "this thesis"}
    if number == "3":
        return {"row": system, "cast_year": year}
    first, second = system.split(", ")
    return {"r1_rewriter": first, "r2_rewriter": second, "cast_year": year}


def metric_names(number: str, metrics: Sequence[str]) -> dict[str, str]:
    """Names of metrics in Table 3.`number`; the first metric must be recall.

    Metrics that the table does not have are left out.
    """
    if number == "4":
        return {metrics[0]: "Recall", "NDCG@3": "NDCG@3"}
    return {metric: metric for metric in metrics}


def mean_cells(number: str, year: str, values: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Cells of a table: the mean over turns per system and metric."""
    return pd.DataFrame(
        row_keys(number, system, year) | {"metric": name, "value": by_turn[metric].mean()}
        for system, by_turn in values.items()
        for metric, name in metric_names(number, list(by_turn.columns)).items()
    )


def compare_pairs(
    values: Mapping[str, pd.DataFrame], pairs: Sequence[Pair], metrics: Sequence[str]
) -> pd.DataFrame:
    """Paired and unpaired t-tests over turns, per metric and pair of systems."""
    parts = []
    for metric in metrics:
        by_system = pd.DataFrame({system: by_turn[metric] for system, by_turn in values.items()})
        tests = compare_paired_and_unpaired(
            by_system, [(a, b) for _, a, b in pairs], comparisons=len(pairs) * len(metrics)
        )
        tests.insert(0, "comparison", [name for name, *_ in pairs])
        parts.append(tests.assign(measure=metric))
    return pd.concat(parts, ignore_index=True)[["comparison", "measure", "a", "b", *TESTS]]


def melt_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """Tests with one row per number; all columns outside `TESTS` are keys."""
    keys = [column for column in tests if column not in TESTS]
    return tests.melt(keys, list(TESTS), var_name="metric")


def table(job: ResultJob) -> None:
    """Tables 3.2, 3.3 and 3.4: measures of the released runs, and tests of the compared rows."""
    number, params = job.wildcards.number, job.params
    systems = params.systems
    pairs = [
        (name, systems[a], systems[b])
        for name, listed in params.comparisons.items()
        for a, b in listed
    ]
    cells, tests = [], []
    # The input lists all runs of the first year, then those of the second.
    for position, (year, measures) in enumerate(params.measures.items()):
        qrels = read_qrels(job.input.qrels[position], scale=params.scale)
        topics = qrels["query"].unique()
        runs = job.input.runs[position * len(systems) : (position + 1) * len(systems)]
        values = {
            # trec_eval -c counts a missing topic as 0.
            system: evaluate(
                read_run(run, queries=topics),
                qrels,
                list(measures.values()),
                relevance_level=params.relevance_level,
                missing_topics=params.missing_topics,
            )[list(measures.values())].set_axis(list(measures), axis="columns")
            for system, run in zip(systems, runs, strict=True)
        }
        cells.append(mean_cells(number, year, values))
        compared = compare_pairs(values, pairs, [next(iter(measures)), "NDCG@3"])
        compared.insert(1, "cast_year", year)
        tests.append(compared)
    job.write_table(pd.concat(cells, ignore_index=True))
    job.write_supplement(melt_tests(pd.concat(tests)), "tests", TESTS)


def distances(job: ResultJob) -> None:
    """Section 3.3.3: relative differences between systems in percent, and their significance."""
    reported = job.input_cells("lajewska2025/table_3_2").astype({"value": float})
    cells = pd.concat([pd.read_csv(job.input.rebuilt), reported])
    means = cells.set_index(["row", "metric"])["value"]
    p = pd.read_csv(job.input.tests).query("metric == 'p_paired'")
    p = p.set_index(["a", "b", "measure"])["value"]
    # Rows that the track reported have no run to test against.
    without_run = set(reported["row"])
    rows = []
    for system, baseline in job.params.pairs:
        for metric in ("NDCG@3", "R@500"):
            change = 100 * (means[system, metric] / means[baseline, metric] - 1)
            rows.append((system, baseline, f"{metric} change", change))
            if baseline not in without_run:
                verdict = "yes" if p[baseline, system, metric] < job.params.alpha else "no"
                rows.append((system, baseline, f"{metric} significant", verdict))
    job.write_table(pd.DataFrame(rows, columns=["row", "than", "metric", "value"]))
    grids = map(read_grid, map(Path, job.input.grids))
    points = tuned_points(dict(zip(job.params.years, grids, strict=True)), job.params.bm25)
    job.write_supplement(points, "tuning", {"b": 2, "k1": 2, "recall": 4})


def significance(job: ResultJob) -> None:
    """Section 3.4: whether any difference is significant, by kind of comparison."""
    tests = pd.concat(pd.read_csv(path, dtype={"cast_year": "str"}) for path in job.input.tests)
    tests = tests.query("metric == 'p_paired'")
    keys = ["comparison", "cast_year", "measure"]
    smallest = tests.groupby(keys, sort=False)["value"].min()
    cells = (smallest < job.params.alpha).map({True: "yes", False: "no"}).reset_index()
    # The two years have recall at different cut-offs.
    measure = cells.pop("measure").str.replace(r"^R@\d+$", "recall", regex=True)
    cells["metric"] = measure + " significant"
    job.write_table(cells[["comparison", "cast_year", "metric", "value"]])


def published_changes(
    ranges: pd.DataFrame, published: Sequence[tuple[str, str, str]]
) -> pd.DataFrame:
    """Ranges of changes that the text reports."""
    keys = ["comparison", "metric", "end"]
    changes = ranges.assign(metric=ranges["measure"] + " change").drop(columns="measure")
    return pd.DataFrame(published, columns=keys).merge(changes, on=keys, validate="1:1")


def changes(job: ResultJob) -> None:
    """Section 3.4: relative changes between rows of Tables 3.3 and 3.4, for both years."""
    params = job.params
    variants, stages = (pd.read_csv(path, dtype={"cast_year": "str"}) for path in job.input.tables)
    stages["row"] = stages["r1_rewriter"] + ", " + stages["r2_rewriter"]
    cells = pd.concat([variants, stages])
    # The two years have recall at different cut-offs.
    cells["metric"] = cells["metric"].str.replace(r"^(R@\d+|Recall)$", "recall", regex=True)
    cells["system"] = cells["cast_year"] + " " + cells["row"]
    means = cells[cells["metric"].isin(COMPARED)].pivot(
        index="system", columns="metric", values="value"
    )
    pairs = {
        name: [(params.systems[a], params.systems[b]) for a, b in listed]
        for name, listed in params.comparisons.items()
    }
    # The last pair of rewriters is compared with all others.
    *further_stages, last_stage = params.stages
    pairs["one rewriter per stage"] = [(last_stage, stage) for stage in further_stages]
    ranges = change_ranges(
        means,
        {
            name: [(f"{year} {a}", f"{year} {b}") for year in params.years for a, b in listed]
            for name, listed in pairs.items()
        },
    )
    job.write_table(published_changes(ranges, params.ranges))


def organisers_readings(
    documents: pd.DataFrame, passages: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    """Document runs for each interpretation of the organisers' run, the thesis's first.

    The track has two files of the same name. In the document file, Washington Post ids are cut at
    the first hyphen; the same cut in the passage file shows what that costs.
    """
    for run, expected in ((documents, "documents"), (passages, "passages")):
        if run is not None and run["document"].str.contains(PASSAGE).any() != (
            expected == "passages"
        ):
            raise ValueError(
                f"The organisers' run of {expected} has ids such as {run['document'].iloc[0]!r}, "
                f"expected ids of {expected} (only passage ids end with a hyphen and a "
                "number). Set cast_systems.organisers_run to document_runs/"
                "org_automatic_results_1000.v1.0.run, and cast_systems.organisers_passages to the "
                "file of the same name in the parent folder."
            )
    readings = {"file of documents": documents}
    if passages is not None:
        best = passages_to_documents(passages)
        readings["file of passages"] = best
        readings["file of passages, ids cut"] = shorten_ids(best, "^(WAPO_[^-]+)-.*", r"\1")
    return readings


def organisers(job: ResultJob) -> None:
    """Section 3.5: the organisers' run from each of its files, in the format of Table 3.2."""
    params = job.params
    qrels = read_qrels(job.input.qrels, scale=params.scale)
    turns = qrels["query"].unique()
    passages = job.input.get("passages")
    readings = organisers_readings(
        read_run(job.input.run, queries=turns),
        read_run(passages, queries=turns) if passages else None,
    )
    rows = []
    for reading, run in readings.items():
        # As with trec_eval -c, a turn without results counts as 0.
        values = evaluate(
            run,
            qrels,
            list(params.measures.values()),
            relevance_level=params.relevance_level,
            missing_topics="zero",
        )
        rows += [
            (reading, metric, values[measure].mean()) for metric, measure in params.measures.items()
        ]
    table = pd.DataFrame(rows, columns=["row", "metric", "value"])
    job.write_supplement(table, "readings", {"all": 3})
    # The thesis reports the first reading.
    job.write_table(table.head(len(params.measures)).assign(row=params.row))


def pipeline(job: ResultJob) -> None:
    """Section 3.4 on surrogate passages: measures, changes and tests."""
    params = job.params
    queries = pd.read_parquet(job.input.queries)
    turns = queries.loc[queries["rewriter"] == "raw", "query"]
    qrels = pd.read_parquet(job.input.qrels)
    qrels = qrels[qrels["query"].isin(turns)]
    values = {}
    for path in map(Path, job.input.runs):
        # As with trec_eval -c, a turn without results counts as 0.
        evaluated = evaluate(
            read_run(path),
            qrels,
            list(params.measures.values()),
            relevance_level=params.relevance_level,
        )
        values[path.stem] = evaluated.set_axis(list(params.measures), axis="columns")
    means = pd.DataFrame({run: evaluated.mean() for run, evaluated in values.items()}).T

    for name, groups in params.shown.items():
        first, second = params.names[name]
        parts = [
            means.loc[list(rows.values())]
            .set_axis(list(rows), axis="index")
            .rename_axis(index=second, columns="metric")
            .stack()
            .rename("value")
            .reset_index()
            .assign(**{first: group})
            for group, rows in groups.items()
        ]
        table = pd.concat(parts)[[first, second, "metric", "value"]]
        job.write_supplement(table, name, dict.fromkeys(params.measures, 4))

    pairs = [(name, a, b) for name, listed in params.comparisons.items() for a, b in listed]
    row_of_run = {
        run: row for rows in params.shown["systems"].values() for row, run in rows.items()
    }
    tests = compare_pairs(values, pairs, COMPARED).replace({"a": row_of_run, "b": row_of_run})
    job.write_supplement(melt_tests(tests), "tests", TESTS)
    ranges = change_ranges(means[COMPARED], params.comparisons)
    job.write_table(published_changes(ranges, params.ranges))
