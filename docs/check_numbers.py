"""Check numbers in the pages of this folder against results: `python docs/check_numbers.py`.

Below a passage that tells what a run gave stands a comment, which a reader of the page does not
see. It says where the numbers of the passage come from:

    <!-- numbers
    released/lajewska2025/table_6_8.tests.csv:
      - {metric: difference, clustering: LSA, ranking: BM25, is: -0.017}
      - {metric: p_paired, is: < 0.05}
    -->

Each entry selects cells of a tidy file by its key columns (a value, or a list of values). `is` has
what they come to: a number of as many decimals as the passage gives it (`-7.0`, `1,855`; `28 %` of
a share), a list of them for several cells in the order of the file, words, or `<`, `<=`, `>`, `>=`
and a number that holds of every cell (the latter two in quotes, as YAML wants it). A file without a
column `value` needs `reads`, the column that is read. Each number stands in the passage too, where
its sign does not count ("lower by 0.017"). A passage begins at the heading or comment before it.

The rule `site` runs this before it builds the pages. A file that no run has made is not looked at.
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
    """What a comment says of some cells.

    Attributes
    ----------
    file
        Below ``results``.
    cells
        Key column -> the values that are chosen.
    reads
        Column that is read.
    expected
        What these cells come to, as the passage writes it.
    passage
        The text above the comment.
    """

    file: str
    cells: dict[str, list[str]]
    reads: str
    expected: list[str]
    passage: str

    def __str__(self) -> str:
        chosen = ", ".join(
            f"{column} {' or '.join(values)}" for column, values in self.cells.items()
        )
        return f"{self.file} ({chosen})"


def entries(page: str) -> Iterator[Entry]:
    """What the comments of a page say, in its order."""
    end = 0
    for comment in COMMENT.finditer(page):
        above = page[end : comment.start()]
        passage = re.split(r"^#+ .*$", above, flags=re.MULTILINE)[-1]
        end = comment.end()
        # Every value stays text: of a number the decimals count.
        for file, chosen in yaml.load(comment[1], yaml.BaseLoader).items():
            for cells in chosen:
                expected, reads = _many(cells.pop("is")), cells.pop("reads", "value")
                of = {column: _many(values) for column, values in cells.items()}
                yield Entry(file, of, reads, expected, passage)


def faults_of_wording(page: str) -> Iterator[str]:
    """A sentence for each number of a comment that the passage above it does not have."""
    for entry in entries(page):
        said = {number.replace(",", "") for number in NUMBER.findall(entry.passage)}
        for expected in entry.expected:
            for number in NUMBER.findall(expected):
                if number.replace(",", "") not in said:
                    yield f"{entry}: the passage does not have {number}; write the one it gives."


def faults_of_values(page: str, results: Path) -> Iterator[str]:
    """A sentence for each entry of a page that does not agree with the results that are there."""
    for entry in entries(page):
        path = results / entry.file
        if not path.exists():
            continue
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        chosen = pd.Series(data=True, index=table.index)
        for column, values in (entry.cells | {entry.reads: None}).items():
            if column not in table:
                yield f"{entry}: there is no column {column!r}; name one of {', '.join(table)}."
                break
            if values is not None:
                chosen &= table[column].isin(values)
        else:
            yield from _disagreements(entry, table.loc[chosen, entry.reads].tolist())


def _disagreements(entry: Entry, found: list[str]) -> Iterator[str]:
    expected = entry.expected
    compared = expected[0].partition(" ")[0] in COMPARISONS
    if compared and len(expected) == 1:
        expected = expected * len(found)
    if not found or len(found) != len(expected):
        yield f"{entry}: there are {len(found)} such cells for {len(expected)}; choose others."
        return
    for value, said in zip(found, expected, strict=True):
        if not agrees(value, said):
            yield f"{entry}: the page has {said}, and the run gave {value}; write that."


def agrees(value: str, said: str) -> bool:
    """Whether a cell comes to what a page says of it.

    >>> agrees("-0.01681", "-0.017"), agrees("0.0345", "< 0.05"), agrees("0.2818", "28 %")
    (True, True, True)
    >>> agrees("0.10347", "< 0.05"), agrees("0.5", "0.50"), agrees("yes", "no")
    (False, True, False)
    """
    sign, _, limit = said.partition(" ")
    if sign in COMPARISONS:
        return COMPARISONS[sign](Decimal(value), Decimal(limit.replace(",", "")))
    number = said.removesuffix(" %").replace(",", "")
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", number):
        return value == said
    share = 100 if said.endswith(" %") else 1
    rounded = (Decimal(value) * share).quantize(Decimal(number), ROUND_HALF_EVEN)
    return rounded == Decimal(number)


def _many(values: str | list[str]) -> list[str]:
    return [values] if isinstance(values, str) else list(values)


def main() -> int:
    """Print what is wrong in each page; 1 if anything is."""
    wrong = 0
    for path in sorted(FOLDER.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        for fault in (*faults_of_wording(page), *faults_of_values(page, RESULTS)):
            print(f"{path.relative_to(FOLDER.parent)}: {fault}", file=sys.stderr)
            wrong += 1
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
