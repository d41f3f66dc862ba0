"""Tables of a file as grids of cells: HTML and Markdown; others are in `latex` and `exports`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from everycell.base.errors import DataError
from everycell.base.file_kinds import KINDS, recognise_file
from everycell.base.text_files import read_text_file
from everycell.cli.importing.emphasis import emphasis_of
from everycell.cli.importing.values import SourceCell

#: Largest number of rows or columns of a table; spans of cells may claim more.
LARGEST = 10_000
#: Largest number of cells of a table.
MOST_CELLS = 1_000_000
#: End of a line within a cell; numbers of two lines are two numbers.
LINE_BREAK = "\u2028"
_FORMATS = {
    ".md": "markdown", ".markdown": "markdown", ".tex": "latex", ".html": "html", ".htm": "html",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".tsv": "csv",
}  # fmt: skip

#: Files that have no tables, by their suffix.
_OTHER_FILES = {
    ".py": "Python code", ".r": "R code", ".ipynb": "a Jupyter notebook", ".sh": "a shell script",
    ".yaml": "settings (YAML)", ".yml": "settings (YAML)", ".toml": "settings (TOML)",
    ".bib": "a bibliography", ".log": "a log",
}  # fmt: skip


@dataclass
class SourceTable:
    """A table as printed; a cell that spans rows or columns stands at each of its positions."""

    rows: list[list[SourceCell]] = field(default_factory=list)
    #: Number of rows that the format declares as heading.
    head: int = 0
    caption: str = ""
    #: Number of first columns that all are keys; 0 if the fewest that name the rows are.
    keys: int = 0
    #: Columns that name the rows, if the user chose them.
    names: tuple[int, ...] = ()
    #: Seed of each row, heading included, if rows of the same names differ in it.
    seeds: Sequence[str] = ()
    #: What was left out of the source, for the user.
    notes: list[str] = field(default_factory=list)


@dataclass
class Pieces:
    """Text of a cell in pieces, with their style."""

    pieces: list[tuple[str, str, bool, bool]] = field(default_factory=list)
    #: Commands of LaTeX that stand for their names.
    unknown: list[str] = field(default_factory=list)

    def add(
        self, text: str, position: str = "", *, bold: bool = False, underlined: bool = False
    ) -> None:
        """Add a piece; its position is `raised`, `lowered` or empty."""
        self.pieces.append((text, position, bold, underlined))

    def to_cell(self, source: str) -> SourceCell:
        """Cell with the style of its text; signs beside the text do not count."""
        text, raised = "", ""
        bold = underlined = False
        previous = ""
        for piece, position, is_bold, is_underlined in self.pieces:
            if position == "raised" and "±" not in piece:
                raised += piece
                continue
            if position == "lowered" and previous != "lowered" and text.strip():
                text = text.rstrip() + "_" * (piece.lstrip()[:1] not in "±(+")
            text += piece
            if re.search(r"\w", piece):
                bold, underlined = bold or is_bold, underlined or is_underlined
            previous = position
        text = re.sub(rf"(?<=\d)\s*{LINE_BREAK}\s*(?=\d)", " / ", text)
        text, raised, source = map(squeeze, (text, raised, source))
        return SourceCell(text, raised, bold, underlined, source, tuple(self.unknown))


def squeeze(text: str) -> str:
    """Text with single spaces."""
    # Narrow spaces separate thousands, so they stay.
    return re.sub(rf"[ \t\r\n\f\v{LINE_BREAK}]+", " ", text).strip()


def check_size(path: object, rows: int, columns: int, cells: int = 0) -> None:
    """Refuse a table that would need much memory, whose spans claim more than it has."""
    if max(rows, columns) > LARGEST or max(rows * columns, cells) > MOST_CELLS:
        raise DataError(
            path,
            fault=f"has a table with {columns} columns and {rows} rows",
            expected=f"at most {LARGEST} of each, and {MOST_CELLS} cells",
        )


def read_tables(path: Path) -> list[SourceTable]:
    """Read the tables of a file, whose name or first characters tell its format."""
    text = read_text_file(path)
    known = _FORMATS.get(path.suffix.lower()) or _recognise(text)
    if other := _describe_other_file(path, known):
        raise DataError(
            path,
            fault=f"is {other}, not a table",
            fix="give Markdown, LaTeX, HTML, CSV or JSON with a table",
        )
    if known == "latex":
        from everycell.cli.importing.latex import latex_tables

        tables = latex_tables(path, text)
    elif known == "json":
        from everycell.cli.importing.json_results import json_tables

        tables = json_tables(path, text)
    elif known in ("csv", "trec_eval"):
        from everycell.cli.importing.exports import csv_table, trec_eval_table

        tables = [csv_table(path, text) if known == "csv" else trec_eval_table(path, text)]
    else:
        from everycell.cli.importing.markdown import markdown_to_html

        tables = html_tables(path, text if known == "html" else markdown_to_html(text))
    for table in tables:
        # Blank rows only separate groups.
        blank = [not any(cell.text for cell in row) for row in table.rows]
        table.head -= sum(blank[: table.head])
        table.rows = [row for row, is_blank in zip(table.rows, blank, strict=True) if not is_blank]
    tables = [table for table in tables if len(table.rows) > 1]
    if not tables:
        raise DataError(
            path,
            fault=f"has no table in {known}",
            fix="give Markdown, LaTeX, HTML, CSV or JSON with a heading and at least one row",
        )
    return tables


def _describe_other_file(path: Path, known: str) -> str:
    """What a file without a table is, such as code or a run."""
    kind = recognise_file(path) if known == "csv" else None
    return _OTHER_FILES.get(path.suffix.lower()) or (
        KINDS[kind] if kind != "values" and kind else ""
    )


def _recognise(text: str) -> str:
    """Format of a text without a telling file name."""
    if re.search(r"\\begin\{\w*tab", text):
        return "latex"
    if re.search(r"<table\b", text, re.IGNORECASE):
        return "html"
    # The row below the head: dashes, then a line between columns.
    rules = (re.match(r"[\s:|-]*", line) for line in text.splitlines())
    is_ruled = any(rule and "|" in rule[0].partition("-")[2] for rule in rules)
    if is_ruled:
        return "markdown"
    from everycell.cli.importing.exports import is_trec_eval

    return "trec_eval" if is_trec_eval(text) else "csv"


#: Elements that begin and end a line.
_BLOCKS = set(
    "address article blockquote center dd div dl dt fieldset figure footer h1 h2 h3 h4 h5 h6 "
    "header hr li ol p pre section table tbody td tfoot th thead tr ul br caption".split()
)
#: Elements whose text is not shown, or deleted; an annotation is LaTeX beside equal MathML.
_UNSEEN = {"script", "style", "template", "del", "s", "strike", "annotation"}
#: Elements of an outer table itself.
_STRUCTURE = {"thead", "tbody", "tfoot", "tr", "td", "th", "caption"}
_WITHOUT_END = {"br", "hr", "img", "input", "wbr", "col", "embed", "source", "link", "meta"}


def _style_of(attributes: dict[str, str]) -> str:
    return re.sub(r"\s", "", attributes.get("style", "").lower())


def _is_absent(attributes: dict[str, str]) -> bool:
    """Whether an element has no place on the page."""
    return "hidden" in attributes or "display:none" in _style_of(attributes)


class _Tables(HTMLParser):
    """Collects the outer tables of a page."""

    def __init__(self, path: object) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.tables: list[SourceTable] = []
        self.depth = 0
        self.cells: list[list[tuple[SourceCell, int, int, bool]]] = []
        self.cell: Pieces | None = None
        self.spans, self.is_heading, self.in_head = (1, 1), False, False
        self.source: list[str] = []
        #: Tag and styles of each open element of the cell.
        self.styles: list[tuple[str, Sequence[str]]] = []
        self.caption: list[str] | None = None
        self.declared = 0
        #: Row -> its section, such as a `tbody`, in which spans end.
        self.sections: list[int] = []
        self.section, self.is_section_absent, self.is_row_absent = 0, False, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self.tables.append(SourceTable())
                self.cells, self.declared, self.in_head = [], 0, False
                self.sections, self.is_row_absent, self.is_section_absent = [], False, False
        if self.depth > 1 or tag not in _STRUCTURE:
            self._open(tag, attributes)
            return
        self._end_cell()
        if tag in ("thead", "tbody", "tfoot"):
            self.in_head, self.is_section_absent = tag == "thead", _is_absent(attributes)
            self.section += 1
        elif tag == "caption":
            self.caption = []
        elif tag == "tr":
            self.is_row_absent = self.is_section_absent or _is_absent(attributes)
            if not self.is_row_absent:
                self._add_row()
        elif tag in ("td", "th") and not (self.is_row_absent or _is_absent(attributes)):
            if not self.cells:
                self._add_row()
            self.cell, self.source, self.styles = Pieces(), [], []
            self.is_heading = tag == "th"
            self.spans = (self._span(attributes, "rowspan"), self._span(attributes, "colspan"))
            self._add_style("", attributes)

    def _add_row(self) -> None:
        self.cells.append([])
        self.sections.append(self.section)
        self.declared += self.in_head

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element within a cell."""
        if tag in _BLOCKS:
            self._break_line()
        if self.cell is None or tag in _WITHOUT_END:
            return
        self._add_style(tag, attributes)
        if tag in ("b", "strong", "u", "ins", "sup", "sub"):
            self.source.append(f"<{tag}>")

    def _break_line(self) -> None:
        if self.cell is not None:
            self.cell.add(LINE_BREAK)
            self.source.append(" ")
        elif self.caption is not None:
            self.caption.append(" ")

    def _add_style(self, tag: str, attributes: dict[str, str]) -> None:
        style = _style_of(attributes)
        if tag in _UNSEEN or _is_absent(attributes) or "visibility:hidden" in style:
            self.styles.append((tag, ["hidden"]))
            return
        position = {"sup": ["raised"], "sub": ["lowered"]}.get(tag, [])
        if styles := emphasis_of(tag, attributes, style) + position:
            self.styles.append((tag, styles))

    def _span(self, attributes: dict[str, str], name: str) -> int:
        """Span of a cell; as in browsers, 0 rows are the rest of the section."""
        text = attributes.get(name, "").strip() or "1"
        if not re.fullmatch(r"[0-9]{1,4}", text):
            raise DataError(
                self.path,
                f"line {self.getpos()[0]}",
                name,
                text,
                expected="a number from 1 to 9999",
            )
        return int(text) if name == "rowspan" else int(text) or 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self.depth:
            self.depth -= 1
            if self.depth == 0:
                self._end_cell()
                _fill_spans(self.path, self.tables[-1], self.cells, self.declared, self.sections)
                return
            self._close(tag)
        elif self.depth > 1 or (self.depth and tag not in _STRUCTURE):
            self._close(tag)
        elif self.depth:
            self._end_cell()
            if tag in ("thead", "tbody", "tfoot"):
                self.in_head, self.is_section_absent = False, False
                self.section += 1

    def _close(self, tag: str) -> None:
        """End an element within a cell."""
        if tag in _BLOCKS:
            self._break_line()
        if any(name == tag for name, _ in self.styles):
            while self.styles.pop()[0] != tag:
                pass
        if self.cell is not None and tag in ("b", "strong", "u", "ins", "sup", "sub"):
            self.source.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.caption is not None:
            self.caption.append(data)
        styles = [style for _, styles in self.styles for style in styles]
        if self.cell is None or "hidden" in styles:
            return
        weights = [style for style in styles if style in ("bold", "regular")]
        bold, underlined = weights[-1:] == ["bold"], "underlined" in styles
        self.source.append(data)
        # One sign, in a heading or as in $/hour, is the currency.
        is_currency = data.count("$") == 1 and (self.is_heading or "$/" in data)
        if ("$" in data and not is_currency) or "\\(" in data:
            from everycell.cli.importing.latex import add_inline

            add_inline(self.path, self.cell, data, bold=bold, underlined=underlined)
            return
        position = "raised" if "raised" in styles else "lowered" if "lowered" in styles else ""
        self.cell.add(data, position, bold=bold, underlined=underlined)

    def _end_cell(self) -> None:
        if self.cell is not None:
            cell = self.cell.to_cell("".join(self.source))
            self.cells[-1].append((cell, *self.spans, self.is_heading))
            self.cell = None
        if self.caption is not None:
            self.tables[-1].caption, self.caption = squeeze("".join(self.caption)), None


def html_tables(path: object, text: str) -> list[SourceTable]:
    """Read the tables of an HTML page; a table within a cell is part of its text."""
    parser = _Tables(path)
    # A tag without an end is text; the parser would search for the end of each from there.
    parser.feed(text[: text.rfind(">") + 1])
    parser.close()
    return parser.tables


def _fill_spans(
    path: object,
    table: SourceTable,
    cells: Sequence[Sequence[tuple[SourceCell, int, int, bool]]],
    declared: int,
    sections: Sequence[int],
) -> None:
    """Put cells at all positions that they span; spans of rows end with their section."""
    last = {section: index for index, section in enumerate(sections)}
    claimed = 0
    grid: list[dict[int, SourceCell]] = [{} for _ in cells]
    for index, row in enumerate(cells):
        column = 0
        for cell, down, across, _ in row:
            while column in grid[index]:
                column += 1
            end = last[sections[index]] + 1
            end = min(index + down, end) if down else end
            claimed += (end - index) * across
            check_size(path, len(grid), column + across, claimed)
            for below in grid[index:end]:
                below.update(dict.fromkeys(range(column, column + across), cell))
            column += across
    width = max((max(row, default=-1) + 1 for row in grid), default=0)
    check_size(path, len(grid), width)
    blank = SourceCell("")
    filled = [index for index, row in enumerate(grid) if row]
    table.rows = [[grid[index].get(column, blank) for column in range(width)] for index in filled]
    # Without a thead, the first rows that have only headings are the head.
    headings = [
        all(is_heading for *_, is_heading in cells[index]) and bool(cells[index])
        for index in filled
    ]
    leading = headings.index(False) if False in headings else len(headings)
    table.head = declared or leading
