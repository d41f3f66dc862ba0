"""Comparison of two runs, and their interpolation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from everycell.cli.measure.files import parse_numbers, read_run_file, read_user_file
from everycell.cli.named_files import RUN, Output
from everycell.cli.options import Format, Level, Measures, PerQuery, Persistence, Qrels, Run, Seed
from everycell.cli.printing import print_measures
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
