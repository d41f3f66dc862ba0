"""Options of `everycell init` and `everycell paper new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from everycell.cli.named_files import QRELS, RUN, Input

Runs = Annotated[
    list[str] | None,
    typer.Option(
        help="One or more runs in TREC format; NAME=FILE if the file name differs from the name of "
        "the system in the table, NAME@COLLECTION=FILE if the collection is unclear.",
    ),
    RUN,
]
QrelsOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Relevance judgements in TREC format; NAME=FILE for each collection of the table."
    ),
    QRELS,
]
Table = Annotated[
    Path | None,
    typer.Option(
        help="Published values: a CSV with key columns, such as system and metric, then value."
    ),
    Input(("values",)),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        help="Instead of runs: one or more files of reproduced values, in the format of --table or "
        "another one that `everycell import` reads; NAME=FILE if all values of a file are those of "
        "one system, with its name in the table. Other systems are not run."
    ),
    Input(("values",)),
]
Script = Annotated[
    Path | None,
    typer.Option(
        help="Instead of runs: a script in Python or R that writes the reproduced values, in the "
        "format of --table, to the file named by its first argument; or a Jupyter notebook that "
        "writes them to the file named by the variable EVERYCELL_VALUES."
    ),
    Input(),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(help="PUBLISHED=MEASURE, if ir_measures has another name for the measure."),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        "--rename",
        help="NAME=PUBLISHED: a column or name in files of --values, and what the table calls it.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="COLUMN=VALUE: rows of --values to keep; COLUMN!=VALUE: rows to leave out.",
    ),
]
MeanOver = Annotated[
    str | None,
    typer.Option(
        "--mean-over",
        help="Column of --values that numbers repetitions, such as seed; `file` if each file is "
        "one. Their means are compared, and their standard deviations with published ±.",
    ),
]
LeaveOutOthers = Annotated[
    bool,
    typer.Option(
        "--leave-out-others", help="Leave out values of --values that the table does not have."
    ),
]
#: Options that take all arguments up to the next option.
GREEDY = ("--runs", "--qrels", "--measures", "--values", "--only", "--rename")


class GreedyOptions(TyperCommand):
    """Command with options that take several values: ``--runs a.run b.run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values."""
        repeated, option = [], None
        for argument in args:
            if argument.startswith("-"):
                option = argument if argument in GREEDY else None
            elif repeated and repeated[-1] == option:
                pass
            # A key or folder may follow a single file of judgements, or files of values.
            elif "=" not in argument and (
                option in ("--qrels", "--only", "--rename")
                or (
                    option == "--values"
                    and not (argument.endswith(".csv") or Path(argument).is_file())
                )
            ):
                option = None
            elif option:
                repeated.append(option)
            repeated.append(argument)
        return super().parse_args(ctx, repeated)
