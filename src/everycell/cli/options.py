"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from everycell.cli.named_files import QRELS, RUN
from everycell.records.folders import Tier

Form = Literal["table", "csv", "json", "tex"]
Format = Annotated[
    Form,
    typer.Option(
        "--format", help="table for readers, the others for programs (json: full precision)."
    ),
]
OnlyTier = Annotated[Tier | None, typer.Option(help="Only this tier.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Seed = Annotated[int, typer.Option(help="Seed of all random draws.", min=0)]
Run = Annotated[Path, typer.Argument(help="Run in TREC format, gzipped or not."), RUN]
Qrels = Annotated[Path, typer.Argument(metavar="QRELS", help="Qrels in TREC format."), QRELS]
PerQuery = Annotated[bool, typer.Option("--per-query", help="One row per query instead of means.")]
Cutoffs = Annotated[
    list[int] | None, typer.Option("--k", help="Cut-off, by default 10; may be repeated.")
]
Persistence = Annotated[float, typer.Option("--p", help="Persistence of rank-biased overlap.")]
Level = Annotated[int, typer.Option(help="Lowest grade that counts as relevant.")]
Measures = Annotated[
    list[str] | None,
    typer.Option(help="Measure of ir_measures, such as AP or nDCG@3; may be repeated."),
]
