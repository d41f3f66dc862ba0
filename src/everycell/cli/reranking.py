"""Re-ranking a run of your own against bias."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from everycell.cli.printing import print_measures
from everycell.cli.project import Format, check_choice, errors_as_sentences
from everycell.cli.user_files import read_run_file, read_user_file
from everycell.engine.printed_cells import CardError


def rerank_fair(
    run: Annotated[Path, typer.Argument(help="Run in TREC format, gzipped or not.")],
    groups: Annotated[
        Path, typer.Option(help="CSV with the columns document and neutrality (0 to 1).")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder to make, for the runs, the table and the plot.")
    ],
    method: Annotated[
        str, typer.Option(help="pufr, fair (FA*IR), assignment, or milp (slow).")
    ] = "pufr",
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            help="Strength, may be repeated: deviations (pufr), minimum share of protected "
            "documents (fair), or of the best fairness (assignment, milp)."
        ),
    ] = None,
    deviations: Annotated[
        Path | None,
        typer.Option(help="pufr: run whose scores are the standard deviations of those of RUN."),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Qrels in TREC format; without them nDCG is not measured.")
    ] = None,
    k: Annotated[list[int] | None, typer.Option("--k", help="Cut-off, 10; may be repeated.")] = (
        None
    ),
    protected_from: Annotated[
        float, typer.Option(help="Minimum neutrality of a protected document.")
    ] = 1.0,
    depth: Annotated[
        int, typer.Option(help="assignment, milp: number of first documents to re-order.")
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
    """Re-rank a run in favour of neutral documents, and measure the cost."""
    from everycell.engine.render.figure_files import save_figure
    from everycell.fair_ranking.reranked_runs import (
        METHODS,
        read_neutralities,
        rerank_run,
        trade_off,
        trade_off_plot,
    )
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import write_run

    with errors_as_sentences(ValueError):
        allowed_method = check_choice("method", method, METHODS)
        if out.exists():
            raise CardError(f"{out} is there already; name a new folder.")
        if not alpha:
            raise CardError("There is no --alpha; give one or more.")
        if len(set(alpha)) < len(alpha):
            raise CardError("An --alpha is given twice; give each once.")
        if method == "pufr" and deviations is None:
            raise CardError(
                "The method pufr needs --deviations: a run with the deviation of each score."
            )
        first = read_run_file(run)
        neutral = read_neutralities(groups)
        spread = None if deviations is None else read_run_file(deviations)
        judged = None if qrels is None else read_user_file(qrels, read_qrels)
        runs = {
            value: rerank_run(
                first,
                neutral,
                allowed_method,
                value,
                deviations=spread,
                protected_from=protected_from,
                depth=depth,
                significance=significance,
                adjusted=adjusted,
            )
            for value in alpha
        }
        table = trade_off(runs, neutral, judged, cutoffs=k or [10])
        # The original run has no strength: its row is the point of comparison.
        before = trade_off({float("nan"): first}, neutral, judged, cutoffs=k or [10])
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        try:
            for value, found in runs.items():
                # All digits: two strengths never share a file.
                name = f"{method}-{str(value).removesuffix('.0')}"
                write_run(found, made / f"{name}.run", tag=name)
            table.to_csv(made / "trade-off.csv", index=False, lineterminator="\n")
            save_figure(trade_off_plot(table), made / "trade-off")
            made.chmod(0o755)
            made.rename(out)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    # Without a strength it is the original run.
    both = pd.concat([before.assign(run="as it was"), table.assign(run="re-ranked")])
    both = both[["run", *table.columns]]
    settings = {"run": str(run), "method": method, "out": str(out)}
    print_measures(both, form, settings)
    typer.echo(f"{out}: {len(runs)} runs, trade-off.csv and its plot.", err=form != "table")
