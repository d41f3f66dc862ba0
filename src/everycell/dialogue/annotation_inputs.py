"""Input files of annotation: rewritings and real dialogues, Parquet or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet

from everycell.collections.errors import CollectionError
from everycell.collections.satisfaction_samples import Sample
from everycell.dialogue.counterfactuals import FAULTS, Rewriting
from everycell.engine.parquet_limits import check_parquet_size
from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes, parse_json
from everycell.text.sheets import SheetError


def read_dialogues(path: Path, *, part: str | None = None) -> list[Sample]:
    """Read dialogues from a file.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> row = {"id": "1", "benchmark": "toy", "turns": [["SYSTEM", "At 8."]], "satisfied": 1}
    >>> _ = path.write_text(json.dumps(row))
    >>> read_dialogues(path)
    [Sample(id='1', benchmark='toy', turns=(('SYSTEM', 'At 8.'),), satisfied=True)]
    """
    return [sample for _, _, sample in _read_samples(path, part)]


def read_rewritings(path: Path) -> list[Rewriting]:
    """Read rewritings of the last utterance of dialogues from a file."""
    rewritings = []
    for where, row, sample in _read_samples(path):
        text, fault, raw = (row.get(name) for name in ("text", "fault", "raw"))
        if not isinstance(text, str):
            raise SheetError(f"{where}: `text` is {in_quotes(text)}; allowed is the new utterance.")
        if fault and fault not in FAULTS:
            raise SheetError(
                f"{where}: `fault` is {in_quotes(fault)}; allowed is none, or one of "
                f"{', '.join(FAULTS)}."
            )
        # On one line: a line that looks like a separate turn would be read as one.
        text = " ".join(text.split())
        rewritings.append(Rewriting(sample, text, fault or ("" if text else "empty"), raw or ""))
    return rewritings


def _read_samples(
    path: Path, part: str | None = None
) -> Iterator[tuple[str, dict[str, Any], Sample]]:
    """Position in the file, content and dialogue of each row."""
    places: dict[tuple[str, str], str] = {}
    rows = list(_read_rows(path))
    if part is not None:
        parts = {str(row.get("part")) for _, row in rows}
        rows = [(where, row) for where, row in rows if row.get("part") == part]
        if not rows:
            raise SheetError(
                f"{path}: no row has the `part` {in_quotes(part)}; found are "
                f"{in_quotes(', '.join(sorted(parts)))}."
            )
    for where, row in rows:
        lacking = [name for name in ("id", "benchmark", "turns", "satisfied") if name not in row]
        if lacking:
            raise SheetError(
                f"{where}: lacks `{lacking[0]}`; each row needs id, benchmark, turns and satisfied."
            )
        name, benchmark, label = row["id"], row["benchmark"], row["satisfied"]
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        for column, value in (("id", name), ("benchmark", benchmark)):
            if not isinstance(value, str) or not value.strip():
                raise SheetError(f"{where}: `{column}` is {in_quotes(value)}; allowed is a name.")
        if not isinstance(label, bool | int) or label not in (0, 1):
            raise SheetError(
                f"{where}: `satisfied` is {in_quotes(label)}; allowed is true or false (or 1 or 0)."
            )
        turns = row["turns"]
        if not isinstance(turns, list) or not all(
            isinstance(turn, list) and len(turn) == 2 and all(isinstance(x, str) for x in turn)
            for turn in turns
        ):
            raise SheetError(
                f"{where}: `turns` is {in_quotes(turns)}; allowed is a list of pairs of speaker "
                "and text."
            )
        try:
            sample = Sample(name, benchmark, tuple((who, text) for who, text in turns), bool(label))
        except CollectionError as error:
            raise SheetError(f"{where}: {error}") from None
        first = places.setdefault((benchmark, name), where)
        if first != where:
            raise SheetError(
                f"{where}: has the id {name!r} of {benchmark}, as {first.rpartition(', ')[2]} "
                "has; allowed is each id once, so rename or remove one of the two."
            )
        yield where, row, sample


def _read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Position and content of each row, with JSON values."""
    try:
        if path.suffix != ".jsonl":
            check_parquet_size(path)
            rows = pyarrow.parquet.ParquetFile(path).read().to_pylist()
            lines = [(f"{path}, row {number}", row) for number, row in enumerate(rows, start=1)]
        else:
            lines = [
                (f"{path}, line {number}", line)
                for number, line in text_lines(path, SheetError)
                if line.strip()
            ]
    except FileNotFoundError:
        raise SheetError(f"There is no file {path}; name Parquet or JSON lines.") from None
    except (OSError, ValueError) as error:
        raise SheetError(
            f"{path}: is neither Parquet nor, as .jsonl, UTF-8 text ({str(error)[:100]}); name "
            "Parquet or JSON lines."
        ) from None
    if not lines:
        raise SheetError(f"{path}: is empty; name a file that has dialogues.")
    for where, row in lines:
        if isinstance(row, str):
            try:
                row = parse_json(row)
            except ValueError:
                raise SheetError(
                    f"{where}: is not JSON ({in_quotes(row)}), or was cut off; restore or "
                    "remove it."
                ) from None
        if not isinstance(row, dict):
            raise SheetError(f"{where}: is {in_quotes(row)}; allowed is a JSON object.")
        yield where, row
