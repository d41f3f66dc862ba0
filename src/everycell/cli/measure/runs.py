"""Two runs: how close a reproduction is, and what their interpolation gains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from everycell.cli.measure.files import parse_numbers, read_run_file, read_user_file
from everycell.cli.options import Format, Level, Measures, PerQuery, Persistence, Qrels, Run, Seed
from everycell.cli.printing import print_measures
from everycell.cli.project import refuse_existing
from everycell.engine.published_cells import CardError


def compare(
    original: Run,
    reproduced: Annotated[Path, typer.Argument(help="Reproduced run, of the same topics.")],
    qrels: Qrels,
    measure: Measures = None,
    level: Level = 1,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", help="Depth of the order, by default 1000; may be repeated."),
    ] = None,
    p: Persistence = 0.9,
    variant: Annotated[
        Literal["ext", "min", "truncated"], typer.Option(help="Variant of the overlap.")
    ] = "ext",
    union: Annotated[
        Literal["original", "ids"],
        typer.Option(help="Numbering of documents for Kendall's tau."),
    ] = "original",
    baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the original experiment, for the effect.")
    ] = None,
    reproduced_baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the reproduced experiment.")
    ] = None,
    missing: Annotated[
        Literal["error", "zero", "drop"],
        typer.Option(help="How to treat topics of the qrels that a run lacks."),
    ] = "error",
    ranks: Annotated[
        Literal["error", "ignore"],
        typer.Option(help="How to treat ranks that disagree with the scores."),
    ] = "error",
    scale: Annotated[
        str | None, typer.Option(help="Lowest and highest relevance of the qrels, as 0,4.")
    ] = None,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Measure how close a reproduced run is to the original.

    The levels are the order of documents, the scores of topics, and the effect over a baseline.
    Measures are MAP and nDCG by default.
    """
    from everycell.retrieval.reproduction import compare_runs
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import read_run

    if (baseline is None) != (reproduced_baseline is None):
        raise CardError(
            "An effect needs both --baseline and --reproduced-baseline; give both or neither."
        )
    paths = {
        "original": original,
        "reproduced": reproduced,
        "baseline": baseline,
        "reproduced baseline": reproduced_baseline,
    }
    paths = {name: path for name, path in paths.items() if path is not None}
    first, second, *baselines = (
        read_user_file(path, read_run, ranks=ranks) for path in paths.values()
    )
    labels = None if scale is None else _parse_scale(scale)
    judgements = read_user_file(qrels, read_qrels, scale=labels)
    comparison = compare_runs(
        first,
        second,
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
        raise CardError(f"--scale is {text!r}; give the lowest and the highest label, as 0,4.")
    return int(labels[0]), int(labels[1])


def interpolate(
    first: Run,
    second: Annotated[Path, typer.Argument(help="Run of the same topics.")],
    qrels: Qrels,
    measure: Measures = None,
    level: Level = 1,
    folds: Annotated[
        int,
        typer.Option(
            help="Number of folds; a topic gets the weight that is best on the other folds."
        ),
    ] = 5,
    seed: Seed = 0,
    noise: Annotated[int, typer.Option(help="Draws of the noise control.", min=1)] = 20,
    candidates: Annotated[
        Literal["either", "both"], typer.Option(help="Rank documents of either run, or of both.")
    ] = "either",
    scale: Annotated[
        Literal["query", "run"],
        typer.Option(help="Scale scores to mean 0 and deviation 1 over each query, or the run."),
    ] = "query",
    missing: Annotated[
        Literal["error", "drop"],
        typer.Option(help="How to treat topics of the qrels that a run does not answer."),
    ] = "error",
    out: Annotated[Path | None, typer.Option(help="File to write the tuned run to.")] = None,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Interpolate two runs: tuned weights, oracle, noise control.

    Weights are tuned for the first measure; AP and nDCG are the default. An oracle always gains
    something by choosing a weight per query: its gain means little unless it is well above that of
    the noise oracle, which mixes the better run with random numbers.
    """
    from everycell.retrieval.interpolated_runs import interpolate_runs
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import write_run

    if out is not None:
        refuse_existing(out)
    interpolated = interpolate_runs(
        read_run_file(first),
        read_run_file(second),
        read_user_file(qrels, read_qrels),
        measure or ["AP", "nDCG"],
        folds=folds,
        seed=seed,
        noise_seeds=noise,
        candidates=candidates,
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
        "scale": scale,
        "missing": missing,
    }
    rows = interpolated.by_topic.reset_index() if per_query else interpolated.means
    print_measures(rows, form, settings)
