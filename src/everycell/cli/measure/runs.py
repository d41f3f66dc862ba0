"""Comparison, interpolation and re-ranking of runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
import typer
from rich.console import Console
from rich.progress import track

from everycell.base.csv_files import csv_text
from everycell.base.files import atomic_path
from everycell.cli.named_files import QRELS, RUN, Input, Output
from everycell.cli.options import (
    Cutoffs,
    Format,
    Level,
    Measures,
    PerQuery,
    Persistence,
    Qrels,
    Run,
    Seed,
)
from everycell.cli.printing import echo, print_measures
from everycell.records.cells import RecordError

if TYPE_CHECKING:
    from everycell.retrieval.interpolated_runs import MissingScore


def compare(
    original: Run,
    reproduced: Annotated[Path, typer.Argument(help="Reproduced run, for the same topics."), RUN],
    qrels: Qrels,
    measure: Measures = None,
    level: Level = 1,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", help="Depth of the rankings, by default 1000; may be repeated."),
    ] = None,
    p: Persistence = 0.9,
    variant: Annotated[
        Literal["ext", "min", "truncated"], typer.Option(help="Variant of the overlap.")
    ] = "ext",
    union: Annotated[
        Literal["original", "ids"],
        typer.Option(help="Order of documents for Kendall's tau: original run, or ids."),
    ] = "original",
    baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the original experiment, for the effect."), RUN
    ] = None,
    reproduced_baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the reproduced experiment."), RUN
    ] = None,
    missing: Annotated[
        Literal["error", "zero", "drop"],
        typer.Option(help="How to treat topics of the qrels that are missing from a run."),
    ] = "error",
    ranks: Annotated[
        Literal["error", "ignore"],
        typer.Option(help="How to treat ranks that disagree with the scores."),
    ] = "error",
    scale: Annotated[
        str | None, typer.Option(help="Lowest and highest grade of the qrels, such as 0,4.")
    ] = None,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Measure how close a reproduced run is to the original.

    It compares the order of documents, the scores of topics, and the effect over a baseline. The
    default measures are MAP and nDCG.
    """
    from everycell.retrieval.reproducibility import compare_runs
    from everycell.trec.runs import read_qrels, read_run

    if (baseline is None) != (reproduced_baseline is None):
        raise RecordError(
            "An effect needs both --baseline and --reproduced-baseline; give both or neither."
        )
    paths = {
        "original": original,
        "reproduced": reproduced,
        "baseline": baseline,
        "reproduced baseline": reproduced_baseline,
    }
    paths = {name: path for name, path in paths.items() if path is not None}
    original_run, reproduced_run, *baselines = (
        read_user_file(path, read_run, ranks=ranks) for path in paths.values()
    )
    labels = None if scale is None else _parse_scale(scale)
    judgements = read_user_file(qrels, read_qrels, scale=labels)
    comparison = compare_runs(
        original_run,
        reproduced_run,
        judgements,
        measure or ["MAP", "nDCG"],
        baselines=(baselines[0], baselines[1]) if baselines else None,
        relevance_level=level,
        missing_topics=missing,
        depths=k or [1000],
        p=p,
        variant=variant,
        union=union,
    )
    settings = {name: str(path) for name, path in paths.items()} | {
        "qrels": str(qrels),
        "topics": len(comparison.by_topic),
        "topics of the qrels": judgements["query"].nunique(),
        "level": level,
        "missing": missing,
        "ranks": ranks,
        "p": p,
        "variant": variant,
        "union": union,
    }
    frames = {"order": comparison.order, "scores": comparison.scores}
    if comparison.effects is not None:
        frames["effects"] = comparison.effects
    if per_query:
        frames = {"queries": comparison.by_topic}
    print_measures({name: frame.reset_index() for name, frame in frames.items()}, form, settings)


def _parse_scale(text: str) -> tuple[int, int]:
    labels = parse_numbers("scale", text, "0,4")
    if len(labels) != 2 or not all(label.is_integer() for label in labels):
        raise RecordError(
            f"--scale is {text!r}; expected the lowest and the highest grade, such as 0,4."
        )
    return int(labels[0]), int(labels[1])


def _track_repetitions(seeds: Iterable[int]) -> Iterable[int]:
    """Show the progress of the noise control of a measure on a terminal."""
    return track(
        list(seeds),
        "Noise control",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def interpolate(
    first: Run,
    second: Annotated[Path, typer.Argument(help="Run for the same topics."), RUN],
    qrels: Qrels,
    measure: Measures = None,
    level: Level = 1,
    folds: Annotated[
        int,
        typer.Option(help="Number of folds; the weight of a topic is tuned on the other folds."),
    ] = 5,
    seed: Seed = 0,
    noise: Annotated[int, typer.Option(help="Repetitions of the noise control.", min=1)] = 20,
    candidates: Annotated[
        Literal["either", "both"],
        typer.Option(
            help="Rank the documents that are in either run, or only those in both, at weights "
            "between 0 and 1."
        ),
    ] = "either",
    missing_score: Annotated[
        str,
        typer.Option(
            help="Score in a run of a document that only the other run has: lowest (the run's "
            "lowest score for the topic), or a number."
        ),
    ] = "lowest",
    scale: Annotated[
        Literal["query", "run"],
        typer.Option(help="Standardise scores per query, or over the entire run."),
    ] = "query",
    missing: Annotated[
        Literal["error", "drop"],
        typer.Option(help="How to treat topics of the qrels that are missing from a run."),
    ] = "error",
    out: Annotated[
        Path | None, typer.Option(help="File to write the tuned run to."), Output()
    ] = None,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Interpolate two runs: tuned weights, oracle, noise control.

    Weights are tuned for the first measure; the default measures are AP and nDCG. An oracle that
    chooses a weight per query always gains something. Compare its gain with that of the noise
    oracle, which interpolates the better run with random scores.
    """
    from everycell.retrieval.interpolated_runs import interpolate_runs
    from everycell.trec.runs import read_qrels, write_run

    interpolated = interpolate_runs(
        read_run_file(first),
        read_run_file(second),
        read_user_file(qrels, read_qrels),
        measure or ["AP", "nDCG"],
        folds=folds,
        seed=seed,
        noise_seeds=noise,
        track=_track_repetitions,
        candidates=candidates,
        missing_score=_parse_missing_score(missing_score),
        over=scale,
        relevance_level=level,
        missing_topics=missing,
    )
    if out is not None:
        write_run(interpolated.run, out, tag="interpolated")
    settings: dict[str, Any] = {
        "first": str(first),
        "second": str(second),
        "qrels": str(qrels),
        "topics": len(interpolated.by_topic),
        "level": level,
        "folds": folds,
        "seed": seed,
        "noise": noise,
        "candidates": candidates,
        "missing score": missing_score,
        "scale": scale,
        "missing": missing,
    }
    rows = interpolated.by_topic.reset_index() if per_query else interpolated.means
    print_measures(rows, form, settings)


def _parse_missing_score(text: str) -> MissingScore:
    if text == "lowest":
        return "lowest"
    numbers = parse_numbers("missing-score", text, "0, or lowest")
    if len(numbers) != 1:
        raise RecordError(f"--missing-score is {text!r}; expected a number, or lowest.")
    return numbers[0]


def rerank(
    run: Run,
    groups: Annotated[
        Path,
        typer.Option(help="CSV with the columns document and neutrality (0 to 1)."),
        Input(("neutralities",)),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder to create for the runs, the table and the plot."), Output()
    ],
    method: Annotated[
        Literal["pufr", "fair", "assignment", "milp"],
        typer.Option(help="How to re-rank: fair is FA*IR; milp is slow."),
    ] = "pufr",
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            help="Strength, may be repeated: number of standard deviations (pufr), minimum share "
            "of protected documents (fair), or share of the best fairness (assignment, milp)."
        ),
    ] = None,
    deviations: Annotated[
        Path | None,
        typer.Option(help="pufr: run whose scores are the standard deviations of RUN's scores."),
        Input(("run",)),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Qrels in TREC format, to measure nDCG."), QRELS
    ] = None,
    k: Cutoffs = None,
    protected_from: Annotated[
        float, typer.Option(help="Minimum neutrality of a protected document.")
    ] = 1.0,
    depth: Annotated[
        int, typer.Option(help="assignment, milp: number of top documents to re-rank.")
    ] = 50,
    significance: Annotated[
        float, typer.Option(help="fair: significance level of the test of each prefix.")
    ] = 0.1,
    adjusted: Annotated[
        bool,
        typer.Option(
            "--adjusted", help="fair: the significance level is for all prefixes together."
        ),
    ] = False,
    form: Format = "table",
) -> None:
    """Re-rank a run in favour of neutral documents."""
    from everycell.fair_ranking.reranked_runs import (
        read_neutralities,
        rerank_run,
        trade_off,
        trade_off_plot,
    )
    from everycell.render.figure_files import save_figure
    from everycell.trec.runs import read_qrels, write_run

    if not alpha:
        raise RecordError("--alpha is missing; give at least one value.")
    if len(set(alpha)) < len(alpha):
        raise RecordError("--alpha has the same value twice; give each value once.")
    if method == "pufr" and deviations is None:
        raise RecordError(
            "The method pufr needs --deviations: a run with the standard deviation of each score."
        )
    original_run = read_run_file(run)
    neutralities = read_neutralities(groups)
    standard_deviations = None if deviations is None else read_run_file(deviations)
    judgements = None if qrels is None else read_user_file(qrels, read_qrels)
    runs = {
        value: rerank_run(
            original_run,
            neutralities,
            method,
            value,
            deviations=standard_deviations,
            protected_from=protected_from,
            depth=depth,
            significance=significance,
            adjusted=adjusted,
        )
        for value in alpha
    }
    table = trade_off(runs, neutralities, judgements, cutoffs=k or [10])
    # The original run has no strength; its row is for comparison.
    original = trade_off({float("nan"): original_run}, neutralities, judgements, cutoffs=k or [10])
    with atomic_path(out) as folder:
        folder.mkdir()
        for value, reranked in runs.items():
            # Strengths are not rounded, so that two of them never share a file.
            name = f"{method}-{str(value).removesuffix('.0')}"
            write_run(reranked, folder / f"{name}.run", tag=name)
        (folder / "trade-off.csv").write_text(csv_text(table), encoding="utf-8", newline="")
        save_figure(trade_off_plot(table), folder / "trade-off")
    rows = pd.concat([original.assign(run="original"), table.assign(run="re-ranked")])
    rows = rows[["run", *table.columns]]
    settings = {"run": str(run), "method": method, "out": str(out)}
    print_measures(rows, form, settings)
    echo(f"{out}: {len(runs)} runs, trade-off.csv and its plot.", err=form != "table")


def read_user_file(
    path: Path, read: Callable[..., pd.DataFrame], **options: object
) -> pd.DataFrame:
    """Read a file; all errors of the file system name it."""
    try:
        return read(path, **options)
    except OSError as error:
        # Errors of decompression do not name the file.
        if str(path) in str(error):
            raise
        raise RecordError(f"{path}: {error}; restore the file.") from None


def read_run_file(path: Path) -> pd.DataFrame:
    """Read a run from a file in TREC format, gzipped or not."""
    from everycell.trec.runs import read_run

    return read_user_file(path, read_run)


def parse_numbers(option: str, text: str, example: str) -> list[float]:
    """Parse the value of an option that is a list of numbers."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise RecordError(f"--{option} is {text!r}; expected numbers, such as {example}.") from None
