"""The command `everycell import`: shows what it reads beside the source, and writes it as CSV."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from everycell.cli.named_files import Input, Output
from everycell.cli.options import Force
from everycell.cli.printing import echo, pluralise

#: Largest number of claims, and of emphasised values that suggest none, that are listed.
_LINES = 12
#: COLUMN=MEASURE; an "=" in brackets belongs to a name, such as P(rel=2)@5.
_OF_COLUMN = re.compile(r"((?:[^=()]++|\([^()]*+\))++)=(.++)")


def import_table(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Markdown, LaTeX, HTML, CSV or JSON file with a table."
        ),
        Input(),
    ],
    out: Annotated[
        Path | None,
        typer.Argument(metavar="[OUT]", help="New CSV for `everycell init --table OUT`."),
        Output(),
    ] = None,
    number: Annotated[
        int | None, typer.Option(min=1, help="Which table of the file, if it has several.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure of all values, if only the caption names it, such as nDCG@10; repeated "
            "with COLUMN=MEASURE for a column with another one."
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that names the rows, instead of another one."),
    ] = None,
    force: Force = False,
) -> None:
    """Read published or reproduced values from a table as it is printed.

    It shows each row of the source with the values read from it below.
    """
    import pandas as pd

    from everycell.base.csv_files import csv_text
    from everycell.base.errors import DataError
    from everycell.base.files import write_atomically
    from everycell.cli.importing.grids import read_tables
    from everycell.cli.importing.headings import choose_names, count_head
    from everycell.cli.importing.offers import emphasised_claims
    from everycell.cli.importing.show import print_imported
    from everycell.cli.importing.tidy import import_table
    from everycell.cli.originals import write_original
    from everycell.records.cells import RecordError, key_columns

    tables = read_tables(file)
    if number is None and len(tables) > 1:
        for index, table in enumerate(tables, 1):
            rows = pluralise(len(table.rows) - count_head(table), "row")
            size = f"{rows}, {pluralise(len(table.rows[0]), 'column')}"
            title = table.caption or " | ".join(cell.text for cell in table.rows[0])
            echo(f"{index}: {size}: {title[:100]}", err=True)
        raise DataError(file, fault=f"has {len(tables)} tables", fix="choose one with --number")
    if (number or 1) > len(tables):
        raise DataError(
            file, fault=f"has {pluralise(len(tables), 'table')}", fix="choose another --number"
        )
    matches = {text: _OF_COLUMN.fullmatch(text) for text in measure or ()}
    of_columns = {match[1]: match[2] for match in matches.values() if match}
    of_all = [text for text, match in matches.items() if not match]
    if len(of_all) > 1 or (of_columns and not of_all):
        raise RecordError(
            f"--measure names {len(of_all)} measures of all values, expected one; write others as "
            "COLUMN=MEASURE."
        )
    table = tables[(number or 1) - 1]
    table = choose_names(file, table, names) if names else table
    imported = import_table(file, table, *of_all)
    for column, name in of_columns.items():
        is_column = imported.cells[key_columns(imported.cells)].eq(column).any(axis="columns")
        if not is_column.any():
            raise DataError(
                file, column=column, fault="names no values", fix="correct it in --measure"
            )
        # A deviation remains one of the measure.
        metrics = [f"{name} {position.role}".strip() for position in imported.positions]
        imported.cells["metric"] = imported.cells["metric"].mask(is_column, pd.Series(metrics))
    print_imported(imported)
    for note in imported.notes:
        echo(note)
    claims, faults = emphasised_claims(imported.cells)
    if claims:
        echo("Offered as claims, which `everycell init` writes as comments:")
        _list([f"  {claim.sentence}" for claim in claims])
    _list(faults)
    if out is None:
        options = ["--number", str(number)] * bool(number) + ["--names", names or ""] * bool(names)
        options += [text for name in measure or () for text in ("--measure", name)]
        echo(f"To write it: everycell import {shlex.join([str(file), 'table.csv', *options])}")
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, csv_text(imported.cells))
        original = write_original(out, file, imported.headings, number)
        echo(f"{out}: {pluralise(len(imported.cells), 'value')}; {original} names their source.")


def _list(lines: Sequence[str]) -> None:
    """Print the first lines, and count the others."""
    for line in lines[:_LINES]:
        echo(line)
    if len(lines) > _LINES:
        echo(f"  ... and {len(lines) - _LINES} more")
