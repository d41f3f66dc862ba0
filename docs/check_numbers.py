"""Check numbers in the pages of this folder against results.

Run ``python docs/check_numbers.py``. A hidden comment below a passage on results gives the sources
of its numbers:

    <!-- numbers
    released/lajewska2025/table_6_8.tests.csv:
      - {metric: difference, clustering: LSA, ranking: BM25, is: -0.017}
      - {metric: p_paired, is: < 0.05}
    -->

Each entry selects cells of a tidy file by its key columns (a value, or a list of values). `is` has
their expected value: a number with the decimals of the passage (`-7.0`, `1,855`; `28 %` of a
share), text, or `<`, `<=`, `>`, `>=` and a bound of all cells (YAML requires quotes for the latter
two). For several cells it is a list in the order of the file. A file without a column `value` needs
`reads`, the name of the column. The passage must contain each number, where the sign does not count
("lower by 0.017"). A passage begins after the preceding heading or comment.

The rule `site` runs this before it builds the pages. Files that do not exist are skipped.
"""

import operator
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pandas as pd
import yaml

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "results"
COMMENT = re.compile(r"<!-- numbers\n(.*?)-->", re.DOTALL)
NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Entry:
    """Expected values of some cells."""

    #: Path below ``results``.
    file: str
    #: Key column -> selected values.
    cells: dict[str, list[str]]
    #: Column with the values.
    reads: str
    #: Expected values as in the passage.
    expected: list[str]
    #: Text above the comment.
    passage: str

    def __str__(self) -> str:
        selection = ", ".join(
            f"{column} {' or '.join(values)}" for column, values in self.cells.items()
        )
        return f"{self.file} ({selection})"


def entries(page: str) -> Iterator[Entry]:
    """Entries of all comments of a page, in order."""
    end = 0
    for comment in COMMENT.finditer(page):
        above = page[end : comment.start()]
        passage = re.split(r"^#+ .*$", above, flags=re.MULTILINE)[-1]
        end = comment.end()
        # Values remain text, since the decimals of numbers matter.
        for file, selections in yaml.load(comment[1], yaml.BaseLoader).items():
            for cells in selections:
                expected, reads = _as_list(cells.pop("is")), cells.pop("reads", "value")
                keys = {column: _as_list(values) for column, values in cells.items()}
                yield Entry(file, keys, reads, expected, passage)


def missing_numbers(page: str) -> Iterator[str]:
    """Messages on numbers of a comment that are not in the passage above it."""
    for entry in entries(page):
        numbers = {number.replace(",", "") for number in NUMBER.findall(entry.passage)}
        for expected in entry.expected:
            for number in NUMBER.findall(expected):
                if number.replace(",", "") not in numbers:
                    yield f"{entry}: the passage does not contain {number}; use its number."


def wrong_values(page: str, results: Path) -> Iterator[str]:
    """Messages on entries of a page that disagree with existing results."""
    for entry in entries(page):
        path = results / entry.file
        if not path.exists():
            continue
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        is_selected = pd.Series(data=True, index=table.index)
        for column, values in (entry.cells | {entry.reads: None}).items():
            if column not in table:
                yield f"{entry}: unknown column {column!r}, expected one of {', '.join(table)}."
                break
            if values is not None:
                is_selected &= table[column].isin(values)
        else:
            yield from _disagreements(entry, table.loc[is_selected, entry.reads].tolist())


def _disagreements(entry: Entry, values: list[str]) -> Iterator[str]:
    expected = entry.expected
    is_bound = expected[0].partition(" ")[0] in COMPARISONS
    if is_bound and len(expected) == 1:
        expected = expected * len(values)
    if not values or len(values) != len(expected):
        yield f"{entry}: {len(values)} cells for {len(expected)} expected; change the selection."
        return
    for value, stated in zip(values, expected, strict=True):
        if not agrees(value, stated):
            yield f"{entry}: the page has {stated}, but the result is {value}. Update the page."


def agrees(value: str, stated: str) -> bool:
    """Whether a cell agrees with the value that a page states.

    >>> agrees("-0.01681", "-0.017"), agrees("0.0345", "< 0.05"), agrees("0.2818", "28 %")
    (True, True, True)
    >>> agrees("0.10347", "< 0.05"), agrees("0.5", "0.50"), agrees("yes", "no")
    (False, True, False)
    """
    sign, _, limit = stated.partition(" ")
    if sign in COMPARISONS:
        return COMPARISONS[sign](Decimal(value), Decimal(limit.replace(",", "")))
    number = stated.removesuffix(" %").replace(",", "")
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", number):
        return value == stated
    scale = 100 if stated.endswith(" %") else 1
    rounded = (Decimal(value) * scale).quantize(Decimal(number), ROUND_HALF_EVEN)
    return rounded == Decimal(number)


def _as_list(values: str | list[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def main() -> int:
    """Print the faults of all pages; return 1 if there are any."""
    has_faults = False
    for path in sorted(FOLDER.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        for fault in (*missing_numbers(page), *wrong_values(page, RESULTS)):
            print(f"{path.relative_to(FOLDER.parent)}: {fault}", file=sys.stderr)
            has_faults = True
    return int(has_faults)


if __name__ == "__main__":
    sys.exit(main())
