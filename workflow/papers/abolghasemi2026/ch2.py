"""Chapter 2 of abolghasemi2026: effectiveness of rankers and of their combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.result_job import ResultJob
from everycell.records.cells import SEEDS, summarise_seeds
from everycell.retrieval.encoded import read_encoded
from everycell.retrieval.evaluation import evaluate
from everycell.trec.runs import read_run
from papers.abolghasemi2026.ch2_checks import combination_checks, gain_checks, weight_checks
from papers.abolghasemi2026.ch2_combinations import (
    ORACLE_ROWS,
    add_control,
    curve_marks,
    curves_by_weight,
    effective_weights,
    gain_marks,
    interpolation_table,
    name_combinations,
    oracle_table,
    plotted_cells,
    published_cells,
    round_counts,
)
from papers.abolghasemi2026.ch2_figures import (
    interpolation_curves,
    oracle_gains,
    short_against_long,
)
from papers.abolghasemi2026.ch2_quality import (
    expansion_means,
    learning_gains,
    letters_note,
    mean_over_seeds,
    means_by_seed,
    quality_table,
    runs_by_seed,
    short_and_long,
    task_reports,
)
from papers.abolghasemi2026.ch2_runs import MEASURES, RankingRuns

DECIMALS = {"MAP": 2, "nDCG": 4}
KEYS = ["row", "model", "detail", "task", "metric"]
#: Level of the quantile of lengths that the text states.
QUANTILE = 0.9


def quality(job: ResultJob) -> None:
    """Tables 2.1 and 2.2: effectiveness on all tasks, with significance letters."""
    params, outputs = job.params, job.output.keys()
    rows = {row: (model, detail) for row, model, detail, _ in params.systems}
    runs = {
        collection: {
            row: Path("work", collection, "runs", f"{run}.run") for row, *_, run in params.systems
        }
        for collection in params.lists
    }
    # One collection has candidate lists, the others are searched.
    ((reranked, lists),) = ((name, lists) for name, lists in params.lists.items() if lists)
    by_seed = [
        RankingRuns(job.input.candidates, selection, **lists)
        for selection in runs_by_seed(runs.pop(reranked), params.seeds)
    ]
    trainings = [{task: training.values(task) for task in training.tasks} for training in by_seed]
    # Everything except the means and the spread uses only the first training run.
    first_training = by_seed[0]
    values = mean_over_seeds(trainings)
    for collection, files in runs.items():
        qrels = pd.read_parquet(f"work/{collection}/qrels.parquet")
        values[collection] = {
            row: evaluate(read_run(file), qrels, MEASURES) for row, file in files.items()
        }
    table = quality_table(values, level=params.alpha, letters={row: row for row in rows})
    table = name_systems(published_units(table), rows)
    job.write_table(table[[*KEYS, "value", "marker"]], note=letters_note(table))
    if params.seeds:
        spread = means_by_seed(trainings, list(trainings[-1][first_training.tasks[0]]))
        spread = name_systems(published_units(spread), rows)
        decimals = {metric: digits + 1 for metric, digits in DECIMALS.items()}
        job.write_supplement(summarise_seeds(spread, KEYS), SEEDS, decimals)
    if "comparison_md" in outputs:
        ranked = {task: first_training.ranked(task) for task in first_training.tasks}
        names = {row: " ".join(name) for row, name in rows.items()}
        reports = task_reports(ranked, names, MEASURES, params.alpha)
        Path(job.output.comparison_md).write_text(reports["markdown"], encoding="utf-8")
        Path(job.output.comparison_tex).write_text(reports["latex"], encoding="utf-8")
    if "expansion_csv" in outputs:
        new_terms = {
            str(m): pd.read_csv(file)
            for m, file in zip(params.expansion, job.input.new_terms, strict=True)
        }
        job.write_supplement(expansion_means(new_terms), "expansion", {"found": 1, "added": 1})
    if "validation_csv" in outputs:
        baselines = params.baselines
        selection = {
            row: first_training.runs[row]
            for row in dict.fromkeys([*baselines, *baselines.values()])
        }
        trained = RankingRuns(job.input.candidates, selection, **lists)
        by_task = {task: trained.values(task, "validation") for task in trained.tasks}
        gains = learning_gains(by_task, baselines, level=params.alpha)
        digits = {"gain in nDCG": 4, "low": 4, "high": 4, "p": 4, "topics": 0}
        job.write_supplement(gains, "validation", digits)
    if "checks_csv" in outputs:
        encoded = {"TILDE": job.input.tilde, "TILDEv2": job.input.tildev2}
        checks = [
            weight_checks(
                {name: read_encoded(Path(file)) for name, file in encoded.items()},
                pd.read_parquet(job.input.mentions),
            ),
            gain_checks(values, params.expansion, job.params.seed),
            combination_checks(first_training, params.scaling, job.params.seed),
        ]
        digits = dict.fromkeys(("value", "low", "high", "share of the planted gap"), 3)
        job.write_supplement(pd.concat(checks, ignore_index=True), "checks", digits)
    if "lengths_csv" in outputs:
        files = dict(zip(params.short_and_long, job.input.pydocs_runs, strict=True))
        tasks = list(params.query_kinds)
        pydocs = RankingRuns(
            job.input.pydocs_candidates, files, setting=params.pydocs_setting, tasks=tasks
        )
        by_task = {task: pydocs.values(task) for task in tasks}
        marks = short_and_long(by_task, params.query_kinds, job.params.seed)
        job.write_figure(marks, short_against_long(marks), "lengths")


def name_systems(table: pd.DataFrame, rows: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Add the model and the detail of each row."""
    models, details = zip(*table["row"].map(rows), strict=True)
    return table.assign(model=models, detail=details)


def published_units(table: pd.DataFrame, columns: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Convert MAP to percent and add the column ``unit``."""
    percent = table["metric"].str.startswith("MAP")
    if "row" in table:
        percent &= ~table["row"].isin(list(ORACLE_ROWS)[1:])
    result = table.assign(unit=np.where(percent, "percent", ""))
    for column in columns:
        result[column] = table[column].where(~percent, table[column] * 100)
    return result


def interpolation(job: ResultJob) -> None:
    """Table 2.3: BM25 combined with TILDE and TILDEv2, with tuned weights."""
    main_table = combined_quality(job)
    job.write_table(main_table[[*KEYS, "value", "marker"]], note=letters_note(main_table))
    weights = (
        main_table.dropna(subset="alpha").drop(columns="value").rename(columns={"alpha": "value"})
    )
    job.write_supplement(weights[[*KEYS, "value"]], "weights", {"MAP": 1, "nDCG": 1})


def combined_quality(job: ResultJob) -> pd.DataFrame:
    """Single systems, and combinations of the first one with every other."""
    runs, params = RankingRuns.of_job(job), job.params
    details = {model: detail for _, model, detail, _ in params.systems}
    first, pairings = next(iter(runs.runs)), runs.pairings(params.scaling)
    combinations, details = name_combinations(first, pairings, details)
    singles = {task: runs.values(task) for task in runs.tasks}
    table = published_units(interpolation_table(singles, combinations, level=params.alpha))
    return table.assign(model=table["system"], detail=table["system"].map(details))


def oracle(job: ResultJob) -> None:
    """Table 2.4: the best weight per topic, and the same oracle with random scores."""
    params, runs = job.params, RankingRuns.of_job(job)
    first = next(iter(runs.runs))
    singles = {task: runs.values(task) for task in runs.tasks}
    pairings = runs.pairings(params.scaling)
    noise = runs.noise(params.scaling, params.noise_seeds)

    combinations = {
        f"{first}+oracle {second_name}": {task: pairing.test for task, pairing in by_task.items()}
        for second_name, by_task in pairings.items()
    }
    details = {f"{first}+oracle {model}": detail for _, model, detail, _ in params.systems}
    table = published_units(
        oracle_table(combinations, singles, noise, level=params.alpha, letters=params.letters),
        ("value", "noise_value"),
    )
    cells = round_counts(add_control(table, first) if params.control else table)
    cells["detail"] = cells["combination"].map(details).fillna("random scores")
    job.write_table(
        cells[["row", "combination", "detail", "task", "metric", "value", "marker"]],
        note=letters_note(table),
    )
    plotted = gain_marks(first, pairings, singles, noise, job.params.seed)
    job.write_figure(plotted, oracle_gains(plotted), "gains")


def curves(job: ResultJob) -> None:
    """Figure 2.3: effectiveness by weight, and the levels of the oracle and the noise oracle."""
    params, runs = job.params, RankingRuns.of_job(job)
    first = next(iter(runs.runs))
    sweeps = {
        second_name: {task: pairing.test for task, pairing in by_task.items()}
        for second_name, by_task in runs.pairings(params.scaling).items()
    }
    noise = runs.noise(params.scaling, params.noise_seeds)
    points = curves_by_weight(sweeps, noise)
    marks = curve_marks(published_units(points, ("value", "oracle", "noise")))
    details = {model: detail for _, model, detail, _ in params.systems}
    plotted = plotted_cells(marks, first, details)
    if "points" in job.output.keys():
        csv = plotted.to_csv(index=False, lineterminator="\n")
        write_atomically(Path(job.output.points), csv)
        plotted = published_cells(plotted, first)
    figure = interpolation_curves(marks.assign(first=first, second=marks["combination"]))
    job.write_figure(plotted, figure)
    job.write_supplement(effective_weights(points, first), "ranges", dict.fromkeys(MEASURES, 0))


def stated_sizes(job: ResultJob) -> None:
    """Sizes and settings stated in the text: lists, tokens, expansions, and the tuned BM25."""
    candidates = pd.read_parquet(job.input.candidates)
    terms = {
        "BERT": pd.read_parquet(job.input.bert),
        "SciBERT": pd.read_parquet(job.input.scibert),
    }
    new_terms = {
        size: [pd.read_csv(path) for path in job.input[f"m{size}"]]
        for size in job.params.expansions
    }
    grid = pd.read_csv(job.input.grid)
    job.write_table(text_sizes(candidates, terms, new_terms, grid))
    job.write_supplement(list_sizes(candidates), "lists", {"all": 0})


def list_sizes(candidates: pd.DataFrame) -> pd.DataFrame:
    """Number of queries, and maximum positives and negatives of a list, by split."""
    rows = []
    for (task, split), part in candidates.groupby(["task", "split"], sort=False):
        by_query = part.groupby("query")["relevance"]
        positives = by_query.sum()
        rows += [
            (task, split, "queries", len(positives)),
            (task, split, "positives", int(positives.max())),
            (task, split, "negatives", int((by_query.size() - positives).max())),
        ]
    return pd.DataFrame(rows, columns=["task", "split", "metric", "value"])


def text_sizes(
    candidates: pd.DataFrame,
    terms: Mapping[str, pd.DataFrame],
    new_terms: Mapping[str, Sequence[pd.DataFrame]],
    grid: pd.DataFrame,
) -> pd.DataFrame:
    """Values of the numbers stated in the text, by claim."""
    sizes = list_sizes(candidates)
    test = sizes[sizes["split"] == "test"].groupby("metric")["value"].agg(list)
    papers = set(candidates["document_id"]) | set(candidates["query"])
    best_parameters = grid.loc[grid["nDCG"].idxmax()]
    numbers = {
        "SciDocs papers over the four tasks": f"about {round(len(papers), -4)}",
        "query papers per task": _span(test["queries"]),
        "candidates per query: positives up to": _span(test["positives"]),
        "candidates per query: negatives": _span(test["negatives"]),
        "BM25 k": f"{best_parameters['k1']:g}",
        "BM25 b": f"{best_parameters['b']:g}",
    }
    for name, frame in terms.items():
        paper_terms = frame[frame["document_id"].isin(papers)]
        lengths = paper_terms["terms"].str.split().str.len()
        numbers[f"mean tokens of abstract+title, {name} tokenizer"] = str(lengths.mean())
        quantile = np.quantile(lengths, QUANTILE)
        numbers[f"90% quantile of tokens, {name} (in printed order)"] = str(quantile)
    for size, frames in new_terms.items():
        mean = np.mean([frame["added"].mean() for frame in frames])
        numbers[f"new tokens appended on average with m={size}"] = str(mean)
    return pd.DataFrame(numbers.items(), columns=["claim", "value"])


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low}-{high}"
