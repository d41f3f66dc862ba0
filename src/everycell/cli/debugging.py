"""`everycell debug`: run the function of one rule alone."""

from __future__ import annotations

import tempfile
import traceback
from pathlib import Path
from typing import Annotated

import typer

from everycell.cli import project
from everycell.cli.printing import echo, pluralise
from everycell.config import read_config


def debug(
    name: Annotated[
        str,
        typer.Argument(
            help="Rule, such as lajewska2025_ch4_simulation, or one of its outputs if it has "
            "several jobs: results/released/lajewska2025/table_4_8.csv."
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option(help="New folder for the outputs. Default: a temporary one."),
    ] = None,
) -> None:
    """Run one rule in this process, where a debugger can stop.

    The function gets the inputs, parameters and wildcards that Snakemake would give. Its outputs
    and its log go to a folder of their own, so results do not change. Inputs must exist.
    """
    from everycell.workflow.debugging import check_inputs, find_job, run_here
    from everycell.workflow.scratch import Scratch

    root, cache = project.ROOT.resolve(), Path(read_config(Path("config.yaml")).cache)
    if into is not None:
        project.refuse_existing(into)
    job = find_job(root, name)
    check_inputs(job, root, cache.resolve())
    folder = into or Path(tempfile.mkdtemp(prefix="everycell-debug-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run_here(job, Scratch(folder.resolve(), root, cache))
    except Exception:
        for line in traceback.format_exc().splitlines():
            echo(line, err=True)
        raise typer.Exit(1) from None
    echo(f"{job.rule}: {pluralise(len(job.outputs), 'output')} in {folder}")
    for path in job.outputs:
        echo(f"  {path}")
