"""Rows of values computed elsewhere that the user chooses with `--only`."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pandas as pd

from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import (
    count_head,
    is_measure_heading,
    is_system_heading,
    key_of_heading,
    label_of_column,
)
from everycell.cli.importing.rows import is_spanning
from everycell.cli.importing.values import split_cell
from everycell.cli.printing import pluralise
from everycell.cli.value_renames import split_pairs, suggest_names
from everycell.records.cells import RecordError, is_number, key_columns
from everycell.trec.runs import normalise_name

#: Words in headings of parts of a data set, none of which a published column is.
_PARTS = {"split", "subset", "partition", "part", "fold", "seed", "trial", "topic", "query"}


@dataclass
class ChosenTable:
    """The chosen rows of a table, without columns that then have one name for all."""

    table: SourceTable
    #: Row of the file of each row, from 0.
    numbers: Sequence[int]
    #: Names of each row that the published table may know, by column, if import leaves them out.
    names: dict[str, Sequence[str]]
    #: Whether a column was removed.
    is_narrower: bool = False


class Choices:
    """Choices COLUMN=VALUE and COLUMN!=VALUE; records how many rows they leave out."""

    def __init__(self, texts: Sequence[str], cells: pd.DataFrame) -> None:
        self.texts = [*dict.fromkeys(texts)]
        self._keys = key_columns(cells)
        self._published = {normalise_name(name) for key in self._keys for name in cells[key]}
        #: Choice -> its value, the column and its names in all files.
        self._names: dict[str, tuple[str, str, set[str]]] = {}
        #: Choices of one column -> rows that they leave out.
        self._counts: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        """Lines for the user."""
        counts = self._counts.items()
        return [
            f"Left out: {pluralise(number, 'row')}, by --only {text}." for text, number in counts
        ]

    @property
    def changes(self) -> list[str]:
        """What was chosen, for the registry."""
        return [
            f"only {text} (without {pluralise(number, 'other row')})"
            for text, number in self._counts.items()
        ]

    def choose_rows(self, path: Path, table: SourceTable, mean_over: str | None) -> ChosenTable:
        """Chosen rows of a table, with headings of groups, and without constant columns."""
        head, headings = count_head(table), headings_of(table)
        body = [row for row in range(head, len(table.rows)) if not is_spanning(table.rows[row])]
        if not self.texts:
            names_of_rows = self._published_names(table, body, mean_over)
            return ChosenTable(table, range(len(table.rows)), names_of_rows)
        lines = [f"{path}, row {row + 1}" for row in body]
        texts = [[cell.text for cell in table.rows[row]] for row in body]
        selection, constant = self._choose(path, headings, texts, lines)
        numbers = {body[index] for index in selection}
        left_out = {*body} - numbers
        seeds = find_heading(headings, mean_over) if mean_over else None
        names = {column: texts[selection[0]][column] for column in constant if column != seeds}
        # Import needs names of systems and measures to tell what the others are.
        surplus = {
            column
            for column in names
            if not (is_system_column(headings[column]) or is_measure_heading(headings[column]))
        }
        _refuse_blank_names(path, table, body, left_out, {*surplus, seeds}, {*constant})
        rows = [row for row in range(len(table.rows)) if row not in left_out]
        part = replace(
            table,
            head=head,
            keys=table.keys - sum(column < table.keys for column in surplus),
            rows=[
                [cell for column, cell in enumerate(table.rows[row]) if column not in surplus]
                for row in rows
            ],
        )
        if count_head(part) > head:
            raise RecordError(
                f"{path}, row {rows[head] + 1} reads as a heading without the columns of --only; "
                "fill in its blanks, or remove it."
            )
        body = [row for row in range(len(rows)) if rows[row] in numbers]
        names_of_rows = self._published_names(part, body, mean_over)
        for column, name in names.items():
            is_measure = is_measure_heading(headings[column])
            if not is_measure and self._may_be_published(headings[column], name):
                names_of_rows[self._key_of(headings[column])] = [name] * len(rows)
        return ChosenTable(part, rows, names_of_rows, is_narrower=bool(surplus))

    def _published_names(
        self, table: SourceTable, body: Sequence[int], mean_over: str | None
    ) -> dict[str, Sequence[str]]:
        """Texts in columns that the published table has too, which may not need to name rows."""
        headings = headings_of(table)
        seeds = find_heading(headings, mean_over) if mean_over else None
        names: dict[str, Sequence[str]] = {}
        for column, heading in enumerate(headings):
            texts = [row[column] for row in table.rows]
            has_words = any(split_cell(texts[row]) is None for row in body)
            is_full = all(texts[row].text for row in body)
            key = self._key_of(heading)
            if key in self._keys and key != "metric" and column != seeds and has_words and is_full:
                names[key] = [cell.text for cell in texts]
        return names

    def choose_cells(
        self, path: Path, cells: pd.DataFrame, lines: Sequence[str], mean_over: str | None
    ) -> tuple[pd.DataFrame, list[str]]:
        """Chosen cells without constant columns that the published table lacks, and their lines."""
        if not self.texts:
            return cells, [*lines]
        columns = key_columns(cells)
        rows = cells[columns].to_numpy().tolist()
        selection, constant = self._choose(path, columns, rows, lines)
        seeds = find_heading(columns, mean_over) if mean_over else None
        surplus = [
            columns[column]
            for column in constant
            if column != seeds
            and not self._may_be_published(columns[column], rows[selection[0]][column])
        ]
        cells = cells.iloc[selection].reset_index(drop=True).drop(columns=surplus)
        return cells, [lines[index] for index in selection]

    def check_values(self) -> None:
        """Refuse a choice of a value that no file has, or that files spell in several ways."""
        for text, (value, column, names) in self._names.items():
            if value not in names:
                raise RecordError(
                    f"--only {shlex.quote(text)}: no row has {value!r} as {column}; "
                    f"{suggest_names(value, names)}."
                )
            values = {value for value, other, _ in self._names.values() if other == column}
            alike = [name for name in names - values if _spelling(name) == _spelling(value)]
            if alike:
                raise RecordError(
                    f"--only {shlex.quote(text)}: {column} is also {min(alike)!r}; write both in "
                    "one way in the files, or give a choice for each."
                )

    def _choose(
        self,
        path: Path,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        lines: Sequence[str],
    ) -> tuple[list[int], list[int]]:
        """Indices of the chosen rows, and of columns of choices that then have one name."""
        choices: dict[int, list[str]] = {}
        inclusions: dict[int, set[str]] = {}
        exclusions: dict[int, set[str]] = {}
        for text in self.texts:
            column, value, is_inclusion = _read(path, text, headings)
            names = {row[column] for row in rows}
            _, _, known = self._names.setdefault(text, (value, headings[column], set()))
            known |= names
            choices.setdefault(column, []).append(text)
            (inclusions if is_inclusion else exclusions).setdefault(column, set()).add(value)
        selection = [*range(len(rows))]
        for column, texts in choices.items():
            for row, line in zip(rows, lines, strict=True):
                if not row[column].strip():
                    raise RecordError(
                        f"{line}: {headings[column]} is blank, so that --only cannot decide on "
                        "this row; fill it in."
                    )
            names = {row[column] for row in rows}
            targets = (inclusions.get(column) or names) - exclusions.get(column, set())
            left = [index for index in selection if rows[index][column] in targets]
            if not left:
                written = " ".join(map(shlex.quote, texts))
                value = next(iter(inclusions.get(column, ())), "")
                reason = (
                    suggest_names(value, names)
                    if inclusions.get(column) and not inclusions[column] & names
                    else "the choices exclude each other"
                )
                raise RecordError(
                    f"{path}: --only {written} leaves no row; {reason}; correct the choices, or "
                    "leave out the file."
                )
            self._counts[" ".join(texts)] += len(selection) - len(left)
            selection = left
        constant = [
            column for column in choices if len({rows[row][column] for row in selection}) == 1
        ]
        return selection, constant

    def _key_of(self, heading: str) -> str:
        return heading if heading in self._keys else key_of_heading(heading) or heading

    def _may_be_published(self, heading: str, name: str) -> bool:
        """Whether a published column may have a name, which must not become the published one."""
        return (
            self._key_of(heading) in self._keys
            or _PARTS.isdisjoint(re.split(r"[\W_]+", heading.lower()))
            or normalise_name(name) in self._published
        )


def headings_of(table: SourceTable) -> list[str]:
    """Lowest heading of each column."""
    head = count_head(table)
    return [label_of_column(table, head, column) for column in range(len(table.rows[0]))]


def find_heading(headings: Sequence[str], label: str) -> int | None:
    """Column with a heading, or with the key that it becomes, if it is the only one.

    Capitals count only if several headings differ in nothing else.
    """
    keys = [*map(key_of_heading, headings)]
    for names in (headings, keys):
        if names.count(label) == 1:
            return names.index(label)
    for names in ([name.casefold() for name in headings], keys):
        if names.count(label.casefold()) == 1:
            return names.index(label.casefold())
    return None


def _spelling(name: str) -> object:
    """What spellings of one name have in common, such as 1 and 1.0, or Dev and dev."""
    return Decimal(name) if is_number(name) else " ".join(name.casefold().split())


def is_system_column(column: str) -> bool:
    """Whether a column of results has names of systems, as `run_name` and `name` too."""
    column = column.lower()
    return column == "name" or is_system_heading(column.removesuffix("name").removesuffix("_"))


def _read(path: Path, text: str, headings: Sequence[str]) -> tuple[int, str, bool]:
    """Column and value of a choice, and whether it includes rows."""
    pairs = split_pairs(text)
    if not pairs:
        raise RecordError(
            f"--only {shlex.quote(text)}: expected COLUMN=VALUE, or COLUMN!=VALUE to leave a value "
            "out."
        )
    for own, value in pairs:
        column = find_heading(headings, own.removesuffix("!"))
        if column is not None:
            return column, value, not own.endswith("!")
    own = pairs[0][0].removesuffix("!")
    number = headings.count(own)
    fault = f"{number} columns" if number else "no column"
    advice = suggest_names(own, {*headings})
    raise RecordError(f"--only {shlex.quote(text)}: {path} has {fault} {own!r}; {advice}.")


def _refuse_blank_names(
    path: Path,
    table: SourceTable,
    body: Sequence[int],
    left_out: set[int],
    absent: set[int | None],
    constant: set[int],
) -> None:
    """Refuse a chosen row whose name stands above, in a row that is left out."""
    present = [column for column in range(len(table.rows[0])) if column not in absent]
    # The first column names the rows, even by numbers.
    columns = [
        column
        for column in present
        if column not in constant
        and (
            column == present[0]
            or any(
                (cell := table.rows[row][column]).text and split_cell(cell) is None for row in body
            )
        )
    ]
    above: dict[int, int] = {}
    for row in body:
        cells = table.rows[row]
        for column in columns if row not in left_out else ():
            if cells[column].text:
                break
            if above.get(column) in left_out:
                label = headings_of(table)[column]
                raise RecordError(
                    f"{path}, row {row + 1}: {label} is blank below a row that --only leaves out; "
                    "fill it in."
                )
        above |= {column: row for column in columns if cells[column].text}
