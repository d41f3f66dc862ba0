"""Sheets for annotators: blind, checked when they come back, settled by two equal answers.

A folder has a key (what each item is; not for annotators), guidelines, a sheet for each of two
annotators and, on disagreement, one for a third. A sheet is a CSV file in the form that
spreadsheets open well (UTF-8 with a byte order mark, CRLF), in another order for each annotator. A
`Form` and rows define its content.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import pandas as pd

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes, parse_json, text_of

#: File that says what each item of the sheets is.
KEY = "key.jsonl"
GUIDELINES = "guidelines.md"
#: The first two answer every question; the third answers those they disagree on.
ANNOTATORS = (1, 2, 3)
#: Name of an item -> its content on a sheet, by column.
Rows = Mapping[str, Mapping[str, str]]


class SheetError(Exception):
    """A sheet or its folder cannot be used; the message names the file, row and item."""


class Named(Protocol):
    """An item of a key."""

    @property
    def name(self) -> str:
        """Its name on the sheets."""


_Item = TypeVar("_Item", bound=Named)


class Form(NamedTuple):
    """Content and questions of a sheet.

    Attributes
    ----------
    shown : tuple of str
        Columns that must come back unchanged.
    questions : mapping of str to str
        Column -> question, answered by 0 (no) or 1 (yes).
    command : str
        Command that makes the sheets.
    """

    shown: tuple[str, ...]
    questions: Mapping[str, str]
    command: str

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in their order."""
        return ("item", *self.shown, *self.questions, "comment")


def sheet_path(folder: Path, annotator: int) -> Path:
    """File of an annotator's sheet.

    Examples
    --------
    >>> sheet_path(Path("mine"), 3).as_posix()
    'mine/annotator-3.csv'
    """
    return folder / f"annotator-{annotator}.csv"


def sheet(form: Form, rows: Rows, annotator: int, seed: int) -> bytes:
    """Content of an annotator's sheet, in an order of its own.

    A text that a spreadsheet would read as a formula gets a blank before it.

    Examples
    --------
    >>> form = Form(("text",), {"good": "Is it good?"}, "make")
    >>> sheet(form, {"d1": {"text": "=1+1"}}, 1, seed=0).decode("utf-8-sig").splitlines()
    ['item,text,good,comment', 'd1, =1+1,,']
    """
    names = sorted(rows)
    random.Random(f"{seed} {annotator}").shuffle(names)
    text = io.StringIO()
    writer = csv.DictWriter(text, form.columns, restval="", lineterminator="\r\n")
    writer.writeheader()
    for name in names:
        shown = {
            column: f" {cell}" if cell.startswith(("=", "+", "-", "@")) else cell
            for column, cell in rows[name].items()
        }
        writer.writerow({"item": name} | shown)
    # Without the mark, Excel reads UTF-8 as an older encoding.
    return text.getvalue().encode("utf-8-sig")


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a"
    >>> replace_file(path, b"b"); path.read_bytes()
    b'b'
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def write_folder(
    folder: Path,
    form: Form,
    rows: Rows,
    key: Sequence[Mapping[str, object]],
    *,
    guidelines: str,
    seed: int,
) -> list[Path]:
    """Write key, guidelines and the sheets of the first two annotators.

    Examples
    --------
    >>> import tempfile
    >>> form = Form(("text",), {"good": "Is it good?"}, "make")
    >>> folder, rows = Path(tempfile.mkdtemp()), {"d1": {"text": "So it is."}}
    >>> [path.name for path in write_folder(folder, form, rows, [], guidelines="Read.", seed=1)]
    ['annotator-1.csv', 'annotator-2.csv']
    """
    made = {
        sheet_path(folder, number): sheet(form, rows, number, seed) for number in ANNOTATORS[:2]
    }
    # Without a key, either a run was stopped here and its sheets are not filled in, or the key
    # was lost.
    filled = [path for path, own in made.items() if path.exists() and path.read_bytes() != own]
    if (folder / KEY).exists() or filled or sheet_path(folder, 3).exists():
        raise SheetError(
            f"{folder} has sheets already, which may be filled in; name another folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in made.items():
        replace_file(path, content)
    replace_file(folder / GUIDELINES, guidelines.encode())
    lines = [json.dumps({**row, "seed": seed}) + "\n" for row in key]
    # Last, since a folder with a key counts as complete.
    replace_file(folder / KEY, "".join(lines).encode())
    return list(made)


def read_key(
    folder: Path, form: Form, parse: Callable[[dict[str, Any]], _Item]
) -> tuple[list[_Item], int]:
    """Items of a folder's key, and the seed of its sheets.

    Examples
    --------
    >>> import tempfile
    >>> class Text(NamedTuple):
    ...     name: str
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / KEY).write_text('{"name": "d1", "seed": 7}')
    >>> read_key(folder, Form((), {}, "make"), lambda row: Text(**row))
    ([Text(name='d1')], 7)
    """
    path = folder / KEY
    if not path.is_file():
        raise SheetError(f"{folder} has no {KEY}; name the folder that `{form.command}` wrote.")
    edited = "the key must stay as it was written, so restore it"
    try:
        lines = text_of(path).split("\n")
    except (OSError, ValueError) as error:
        raise SheetError(f"{path}: cannot be read ({error}); {edited}.") from None
    items: dict[str, _Item] = {}
    seed = 0
    for number, line in enumerate(filter(str.strip, lines), start=1):
        try:
            row = parse_json(line)
            seed = row.pop("seed")
            item = parse(row)
            if not isinstance(seed, int) or not isinstance(item.name, str):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SheetError(f"{path}, line {number}: is not an item; {edited}.") from None
        if item.name in items:
            raise SheetError(f"{path}, line {number}: has the item {item.name} again; {edited}.")
        items[item.name] = item
    if not items:
        raise SheetError(f"{path}: has no item; {edited}.")
    return list(items.values()), seed


def read_sheet(path: Path, form: Form, rows: Rows) -> pd.DataFrame:
    """Read a completed sheet, and check that it is complete."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    for number, row in _rows(path, form):
        name = row["item"].strip()
        where = f"{path}, row {number}"
        if name not in rows:
            raise SheetError(
                f"{where}: has the item {in_quotes(name)}, which is not among this sheet's "
                f"{len(rows)}; restore the name that was there."
            )
        if name in found:
            raise SheetError(
                f"{where}: has the item {name}, as row {found[name][0]} has; keep one of the two."
            )
        for column in form.shown:
            if row[column].split() != rows[name][column].split():
                raise SheetError(
                    f"{where}: the {column} of item {name} was changed; restore it (the sheet is "
                    f"made anew by `{form.command}` with the same seed, in another folder)."
                )
        answers = {question: row[question].strip() for question in form.questions}
        for question, answer in answers.items():
            if answer not in ("0", "1"):
                told = f"is {in_quotes(answer)}" if answer else "is empty"
                raise SheetError(
                    f"{where}: `{question}` of item {name} {told}; allowed is 0 (no) or 1 (yes)."
                )
        found[name] = number, {question: int(answer) for question, answer in answers.items()}
    missing = [name for name in rows if name not in found]
    if missing:
        raise SheetError(
            f"{path}: lacks {len(missing)} of {len(rows)} items ({', '.join(missing[:5])}"
            f"{', ...' if len(missing) > 5 else ''}); restore their rows."
        )
    frame = pd.DataFrame([found[name][1] for name in rows], index=list(rows), dtype=int)
    return frame.rename_axis("item")


def _rows(path: Path, form: Form) -> list[tuple[int, dict[str, str]]]:
    """Rows that are not empty, with their numbers as in a spreadsheet."""
    try:
        check_regular(path, SheetError)
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise SheetError(f"There is no sheet {path}; put the annotator's file there.") from None
    except UnicodeDecodeError:
        raise SheetError(
            f"{path}: is not UTF-8 text; save it in the spreadsheet as CSV UTF-8."
        ) from None
    header = re.split(r"[\r\n]", text, maxsplit=1)[0]
    separator = max(",;\t", key=header.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise SheetError(
            f"{path}: is not CSV ({error}); open it in a spreadsheet and save it as CSV UTF-8."
        ) from None
    names = [name.strip() for name in rows[0]] if rows else []
    lacking = [column for column in form.columns[:-1] if column not in names]
    if lacking:
        raise SheetError(
            f"{path}: lacks the column {lacking[0]!r}; the first row must name the columns "
            f"{', '.join(form.columns)}."
        )
    twice = [column for column in form.columns if names.count(column) > 1]
    if twice:
        raise SheetError(f"{path}: has the column {twice[0]!r} twice; keep one of the two.")
    return [
        (number, dict.fromkeys(names, "") | dict(zip(names, row, strict=False)))
        for number, row in enumerate(rows[1:], start=2)
        if any(cell.strip() for cell in row)
    ]
