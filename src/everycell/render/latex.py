"""LaTeX tables, which can be included in a document or compiled by themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby

from everycell.render.grid import Cell, Grid, head_rows, labels_once

_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        # After \\ at the end of a row, a bracket would be read as its argument, and a star as part
        # of the command.
        "*": "{*}",
        "[": "{[}",
        "]": "{]}",
        **{letter: f"${name}$" for letter, name in {
            "≤": r"\le", "≥": r"\ge", "≈": r"\approx", "≠": r"\ne", "−": "-", "→": r"\to",
            "←": r"\leftarrow", "↑": r"\uparrow", "↓": r"\downarrow", "✗": r"\times",
            "↔": r"\leftrightarrow", "↮": r"\not\leftrightarrow", "≫": r"\gg", "∿": r"\sim",
            "∞": r"\infty", "∈": r"\in", "∗": "{*}", "✓": r"\surd",
            "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\epsilon",
            "η": r"\eta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "π": r"\pi",
            "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "χ": r"\chi",
            "ω": r"\omega", "Δ": r"\Delta", "Σ": r"\Sigma",
        }.items()},
    }
)  # fmt: skip
#: Characters that pdflatex can set with T1 fonts and textcomp, such as most of Latin Extended-A.
_TEX_KNOWN = re.compile(
    r"[ -~\u00a1-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165\u0168-\u017e"
    r"\u2010-\u2016\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u2030\u20ac\u2122]"
)
#: First characters of those that T1 fonts would replace by a dash or another mark.
_LIGATURE = re.compile("-(?=-)|'(?=')|,(?=,)|[`?!](?=`)")

# The table can be included in a document that loads these packages, or compiled by itself: LaTeX
# sets \@nodocument to \relax at \begin{document}.
_TEX_HEAD = r"""% To be compiled, or read by \input; needs array, booktabs, graphicx and rotating.
\expandafter\ifx\csname @nodocument\endcsname\relax\else
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp,array,booktabs,graphicx,rotating}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\def\everycellalone{}
\begin{document}
\fi
"""
#: Width and height of the text on a page, and height of a line, in points (article at 10 pt).
_LINE, _PAGE, _LINE_HEIGHT = 345, 550, 13
#: Smallest scale: 6 pt instead of 10 pt.
_MIN_SCALE = 0.6
#: Text with more characters than this is wrapped.
_MAX_LINE_LENGTH = 36
#: Letters much narrower or wider than a digit, whose width is 5 pt.
_NARROW, _WIDE = set("iljtfrI.,:;'!|()[]/- "), set("mwMW%@—…≈✗↔↮" + "ABCDEFGHKLNOPQRSTUVXYZ")
_PART = r"""\begin{{{float}}}[ht]
\centering
{numbering}\caption{{{caption}}}{label}
\setbox0\hbox{{\begin{{tabular}}{{{columns}}}
\toprule
{head}
\midrule
{rows}
\bottomrule
\end{{tabular}}}}
\ifdim\wd0>\linewidth\resizebox{{\linewidth}}{{!}}{{\box0}}\else\box0\fi{note}
\end{{{float}}}
"""
#: Later parts keep the table number of the first part.
_CONTINUED = "\\addtocounter{table}{-1}\n"
_TEX_TAIL = r"""\ifdefined\everycellalone\expandafter\enddocument\fi
"""


def escape_tex(text: str) -> str:
    r"""Escape a text for LaTeX; characters that pdflatex cannot set become code points."""
    settable = "".join(
        letter if _TEX_KNOWN.match(letter) or ord(letter) in _TEX else f"[U+{ord(letter):04X}]"
        for letter in re.sub(r"[\t\n\v\f\r\u0085\u2028\u2029]", " ", text)
    )
    return _LIGATURE.sub(r"\g<0>{}", settable.translate(_TEX))


def latex_document(body: str, packages: str = "") -> str:
    """Content to include in a document or to compile by itself, with additional `packages`."""
    comment = f"% Also needs {packages}\n" if packages else ""
    head = _TEX_HEAD.replace(
        r"\def\everycellalone", packages + "\n" * bool(packages) + r"\def\everycellalone"
    )
    return comment + head + body + _TEX_TAIL


def latex_table(
    grid: Grid[Cell],
    title: str,
    label: str,
    *,
    colours: Mapping[str, str] = {},
    note: str = "",
    max_pages: int | None = None,
) -> str:
    """LaTeX code of a table with a `label` for references.

    A table wider than the text is scaled down to at least 6 pt, and beyond that split between
    groups of columns or rotated. A table longer than a page is split between rows. Each part
    repeats the row labels and the header. `colours` has the name of the colour of each verdict, and
    `note` is LaTeX code to put below the table. Rows that do not fit on `max_pages` are left out,
    and the caption states their number.
    """
    cells = [[cell or Cell() for cell in row] for row in grid.rows]
    headings = [column or ("",) for column in grid.columns]
    widths = _column_widths(headings, cells)
    label_widths = [
        _width([name, *(labels[depth] for labels in grid.labels)])
        for depth, name in enumerate(grid.names)
    ]
    folded_levels, is_rotated, column_parts = _arrangement(headings, label_widths, widths)
    height, width = (_LINE, _PAGE) if is_rotated else (_PAGE, _LINE)
    head_names = [escape_tex(name) for name in grid.names[folded_levels:]]
    # The outer labels of each row as one text, followed by its other labels.
    labels = [
        [_heading(grid.names, texts[:folded_levels]), *texts[folded_levels:]]
        for texts in grid.labels
    ]
    first_headings = labels_once([texts[:1] for texts in labels])
    body = ""
    for columns in column_parts:
        part = [[row[column] for column in columns] for row in cells]
        part_headings = [headings[column] for column in columns]
        natural_width = sum(label_widths[folded_levels:]) + sum(_column_widths(part_headings, part))
        heading_width = max(round(0.9 * natural_width), _LINE)
        # The title takes about three lines, which are not scaled.
        scale = min(1, width / natural_width)
        space = (height - 60) / (_LINE_HEIGHT * scale) - 2 * len(part_headings[0])
        texts = [
            [*row_labels[1:], *(cell.text for cell in row)]
            for row_labels, row in zip(labels, part, strict=True)
        ]
        lines = [
            _lines(row) + math.ceil(_text_width(heading) / heading_width)
            for row, (heading,) in zip(texts, first_headings, strict=True)
        ]
        for page, rows in enumerate(_row_parts(lines, space), start=1):
            omitted_rows = len(cells) - rows.stop if page == max_pages else 0
            omission = f"; {omitted_rows} more rows are in its CSV file" * (omitted_rows > 0)
            body += _PART.format(
                float="sidewaystable" if is_rotated else "table",
                columns="".join(
                    rf">{{\raggedright\arraybackslash}}p{{{_MAX_LINE_LENGTH * 5}pt}}"
                    if any(map(_is_long, column))
                    else "lr"[number >= len(head_names)]
                    for number, column in enumerate(zip(*texts, strict=True))
                ),
                caption=escape_tex(title) + " (continued)" * bool(body) + omission,
                numbering=_CONTINUED * bool(body),
                label="" if body else rf"\label{{{label}}}",
                head="\n".join(_head(part_headings, head_names)),
                rows="\n".join(
                    _rows(labels_once(labels[rows]), part[rows], colours, heading_width)
                ),
                note=rf"\par\medskip{{\footnotesize {note}}}" if note else "",
            )
            if page == max_pages:
                break
    return body


def _arrangement(
    columns: Sequence[tuple[str, ...]], label_widths: Sequence[float], widths: Sequence[float]
) -> tuple[int, bool, list[list[int]]]:
    """Number of outer label levels to put in heading rows, whether to rotate, and column parts.

    The arrangement has the fewest parts that fit at 6 pt. Rotation counts each part twice, and
    splitting a group of columns counts as an additional part.
    """
    groups = [column[0] if len(column) > 1 else None for column in columns]
    candidates = []
    for folded_levels in range(len(label_widths)):
        for is_rotated, width in ((False, _LINE), (True, _PAGE)):
            space = 0.97 * width / _MIN_SCALE - sum(label_widths[folded_levels:])
            parts = _column_parts(groups, widths, space)
            splits = sum(groups[part[0]] == groups[part[0] - 1] for part in parts[1:])
            is_too_wide = any(sum(widths[column] for column in part) > space for part in parts)
            cost = len(parts) * (1 + is_rotated) + splits
            candidates.append((is_too_wide, cost, folded_levels, is_rotated, parts))
    return min(candidates)[2:]


def _column_parts(
    groups: Sequence[Hashable], widths: Sequence[float], space: float
) -> list[list[int]]:
    """Columns of each part of a table; a group is split only if it is too wide by itself."""
    parts: list[list[int]] = []
    for _, group in groupby(range(len(groups)), lambda column: groups[column]):
        columns = list(group)
        if sum(widths[column] for column in columns) > space:
            pieces = [[column] for column in columns]
        else:
            pieces = [columns]
        for piece in pieces:
            if parts and sum(widths[column] for column in [*parts[-1], *piece]) <= space:
                parts[-1] += piece
            else:
                parts.append(piece)
    return parts


def _row_parts(lines: Sequence[int], space: float) -> Iterator[slice]:
    """Rows of each part of a table, which fit on a page."""
    start, used = 0, 0
    for row, number in enumerate(lines):
        if row > start and used + number > space:
            yield slice(start, row)
            start, used = row, 0
        used += number
    yield slice(start, len(lines))


def _is_long(text: str) -> bool:
    longest_word = max(map(len, text.split()), default=0)
    return len(text) > _MAX_LINE_LENGTH >= longest_word


def _lines(texts: Sequence[str]) -> int:
    """Estimated number of lines of a row."""
    return max(
        math.ceil(len(text) / (0.9 * _MAX_LINE_LENGTH)) if _is_long(text) else 1 for text in texts
    )


def _text_width(text: str) -> float:
    """Estimated width of a text in points at 10 pt."""
    return sum(3.2 if sign in _NARROW else 7.2 if sign in _WIDE else 5.1 for sign in text)


def _width(texts: Sequence[str]) -> float:
    """Estimated width of a column, with the space around it."""
    return 12 + max(
        5.0 * _MAX_LINE_LENGTH if _is_long(text) else _text_width(text) for text in texts
    )


def _column_widths(
    columns: Sequence[tuple[str, ...]], cells: Sequence[Sequence[Cell]]
) -> list[float]:
    """Widths of columns, including their labels; a label may span and widen several columns."""
    widths = [
        _width(["", *(row[column].text for row in cells)])
        + 0.7 * (_width(["", *(row[column].mark for row in cells)]) - 12)
        for column in range(len(columns))
    ]
    for heads in reversed(head_rows(columns)):
        start = 0
        for head in heads:
            span = slice(start, start + head.span)
            extra = max(0, _width([head.label]) - sum(widths[span])) / head.span
            widths[span] = [width + extra for width in widths[span]]
            start += head.span
    return widths


def _heading(names: Sequence[str], labels: Sequence[str]) -> str:
    """Outer labels of a row as one text, with the names of their levels."""
    return "; ".join(
        f"{name}: {text}" if name else text
        for name, text in zip(names, labels, strict=False)
        if text
    )


def _rows(
    labels: Sequence[Sequence[str]],
    cells: Sequence[Sequence[Cell]],
    colours: Mapping[str, str],
    heading_width: int,
) -> list[str]:
    """Lines of the body; the first of the `labels` is a heading above its rows."""
    width = len(labels[0]) - 1 + len(cells[0])
    lines = []
    for (heading, *texts), row in zip(labels, cells, strict=True):
        if heading:
            text = rf"{{\itshape {escape_tex(heading)}}}"
            lines.append(rf"\multicolumn{{{width}}}{{p{{{heading_width}pt}}}}{text} \\")
        values = [_cell(cell, colours.get(cell.verdict)) for cell in row]
        lines.append(" & ".join([*map(escape_tex, texts), *values]) + r" \\")
    return lines


def _cell(cell: Cell, colour: str | None) -> str:
    fill = rf"\cellcolor{{{colour}}}" if colour else ""
    # Superscript text, not mathematics, so that a marker may contain any character.
    mark = rf"\textsuperscript{{{escape_tex(cell.mark)}}}" if cell.mark else ""
    return fill + escape_tex(cell.text) + mark


def _head(columns: Sequence[tuple[str, ...]], names: list[str]) -> list[str]:
    """Lines of the header, with a rule below each label that spans several columns."""
    lines = []
    levels = head_rows(columns)
    for level, heads in enumerate(levels):
        is_last = level == len(levels) - 1
        parts, rules, column = names if is_last else [""] * len(names), [], len(names) + 1
        for cell in heads:
            text = escape_tex(cell.label)
            if cell.span > 1 and text:
                text = rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}"
                rules.append(rf"\cmidrule(lr){{{column}-{column + cell.span - 1}}}")
            parts = [*parts, text]
            column += cell.span
        lines.append(" & ".join(parts) + r" \\")
        if rules and not is_last:
            lines.append(" ".join(rules))
    return lines
