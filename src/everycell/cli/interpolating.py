"""Interpolating the scores of two runs of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everycell.cli.printing import print_measures
from everycell.cli.project import Format, check_choice, errors_as_sentences
from everycell.cli.user_files import read_run_file, read_user_file
from everycell.engine.printed_cells import CardError


def interpolate(
    first: Annotated[Path, typer.Argument(help="Run in TREC format, such as BM25's.")],
    second: Annotated[Path, typer.Argument(help="Run of the same topics.")],
    judgements: Annotated[Path, typer.Argument(metavar="QRELS", help="Qrels in TREC format.")],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="AP, nDCG, RR, P@k or R@k; AP and nDCG. Weights are tuned for the first."
        ),
    ] = None,
    level: Annotated[int, typer.Option(help="Lowest relevance that counts as relevant.")] = 1,
    folds: Annotated[
        int,
        typer.Option(
            help="Number of folds; a topic gets the weight that is best on the other folds."
        ),
    ] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds.", min=0)] = 0,
    noise: Annotated[int, typer.Option(help="Draws of the noise control.", min=1)] = 20,
    candidates: Annotated[
        str, typer.Option(help="Documents to rank: those of either run, or of both.")
    ] = "either",
    scale: Annotated[
        str, typer.Option(help="Scale scores to mean 0 and deviation 1 over each query or the run.")
    ] = "query",
    missing: Annotated[
        str, typer.Option(help="Topics of the qrels that a run does not answer: error or drop.")
    ] = "error",
    out: Annotated[Path | None, typer.Option(help="File to write the tuned run to.")] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="One row per query, not the mean.")
    ] = False,
    form: Format = "table",
) -> None:
    """Interpolate two runs: tuned weight, best weight per query (oracle), and a noise control.

    An oracle always gains something by choosing: its gain means little unless it is well above that
    of the noise oracle, which mixes the better run with random numbers.
    """
    from everycell.retrieval.interpolated_runs import interpolate_runs
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import write_run

    with errors_as_sentences(ValueError):
        allowed_candidates = check_choice("candidates", candidates, ("either", "both"))
        allowed_scale = check_choice("scale", scale, ("query", "run"))
        allowed_missing = check_choice("missing", missing, ("error", "drop"))
        if out is not None and out.exists():
            raise CardError(f"{out} is there already; name another file, or remove it.")
        found = interpolate_runs(
            read_run_file(first),
            read_run_file(second),
            read_user_file(judgements, read_qrels),
            measure or ["AP", "nDCG"],
            folds=folds,
            seed=seed,
            noise_seeds=noise,
            candidates=allowed_candidates,
            over=allowed_scale,
            relevance_level=level,
            missing_topics=allowed_missing,
        )
        if out is not None:
            write_run(found.run, out, tag="interpolated")
    settings = {
        "first": str(first),
        "second": str(second),
        "qrels": str(judgements),
        "topics": len(found.by_topic),
        "level": level,
        "folds": folds,
        "seed": seed,
        "noise": noise,
        "candidates": candidates,
        "scale": scale,
        "missing": missing,
    }
    print_measures(found.by_topic.reset_index() if per_query else found.means, form, settings)
