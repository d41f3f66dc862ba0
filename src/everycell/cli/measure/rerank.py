"""Re-ranking in favour of neutral documents: `everycell measure rerank`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer

from everycell.base.files import atomic_path
from everycell.cli.measure.files import read_run_file, read_user_file
from everycell.cli.named_files import QRELS, Input, Output
from everycell.cli.options import Cutoffs, Format, Run
from everycell.cli.printing import print_measures
from everycell.records.cells import RecordError


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
        table.to_csv(folder / "trade-off.csv", index=False, lineterminator="\n")
        save_figure(trade_off_plot(table), folder / "trade-off")
    rows = pd.concat([original.assign(run="original"), table.assign(run="re-ranked")])
    rows = rows[["run", *table.columns]]
    settings = {"run": str(run), "method": method, "out": str(out)}
    print_measures(rows, form, settings)
    typer.echo(f"{out}: {len(runs)} runs, trade-off.csv and its plot.", err=form != "table")
