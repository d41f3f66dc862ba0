"""A tidy frame as CSV, Markdown, LaTeX and HTML.

A tidy frame has one row a cell: key columns, which name the cell, then `value`, a number or a
text, and perhaps `marker`, such as letters of significance, which stands raised after the value.
The three shown forms are *laid out*: some key columns run down, the others run across.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from itertools import groupby
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from everycell.engine.files import write_atomically

Decimals = Mapping[str, int | Literal["text"]]

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
        # After \\, at the end of a row, a bracket would be read as its argument and a star as its
        # variant.
        "*": "{*}",
        "[": "{[}",
        "]": "{]}",
        **{letter: f"${name}$" for letter, name in {
            "≤": r"\le", "≥": r"\ge", "≈": r"\approx", "≠": r"\ne", "−": "-", "→": r"\to",
            "←": r"\leftarrow", "∞": r"\infty", "∈": r"\in", "∗": "{*}", "✓": r"\surd",
            "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\epsilon",
            "η": r"\eta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "π": r"\pi",
            "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "χ": r"\chi",
            "ω": r"\omega", "Δ": r"\Delta", "Σ": r"\Sigma",
        }.items()},
    }
)  # fmt: skip
#: What pdflatex sets with T1 fonts and textcomp: no control characters, and not all of Latin
#: Extended-A.
_TEX_KNOWN = re.compile(
    r"[ -~\u00a1-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165\u0168-\u017e"
    r"\u2010-\u2016\u2018-\u201a\u201c-\u201e\u2020-\u2022\u2026\u2030\u20ac\u2122]"
)

# The table can be read into a document that loads booktabs, and also be compiled by itself:
# LaTeX sets \@nodocument to \relax at \begin{document}.
_TEX_HEAD = r"""% Use \input in a document that loads booktabs, or compile this file as it stands.
\expandafter\ifx\csname @nodocument\endcsname\relax\else
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp,booktabs}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\def\everycellalone{}
\begin{document}
\fi
"""
_TEX_TAIL = r"""\ifdefined\everycellalone\expandafter\enddocument\fi
"""


class HeadCell(NamedTuple):
    """A cell of a table's head: a label over `span` columns."""

    label: str
    span: int


@cache
def environment() -> Environment:
    """Templates of this package; all that they print is escaped for HTML."""
    return Environment(
        loader=PackageLoader("everycell.engine.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def lay_out(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], value: str = "value"
) -> pd.DataFrame:
    """Arrange a tidy frame as a reader sees it, in the order in which its keys appear.

    Parameters
    ----------
    frame
        Tidy frame, shape (n, k); each row of it becomes one cell.
    rows, columns
        Key columns that run down (at least one) and across; each key column is in one of them.
    value
        The column whose values are laid out.

    Returns
    -------
    DataFrame
        Index `rows`, columns `columns` (or `value` where nothing runs across), shape
        (different row keys, different column keys). A place that no cell names holds NaN. Rows
        of one group stand together, where the group first appears.

    Raises
    ------
    ValueError
        No `rows`, a key column that the frame has not, an empty key, or two cells in one place.

    Examples
    --------
    >>> tidy = pd.DataFrame({"run": ["b", "b", "a"], "metric": ["P", "R", "P"],
    ...                      "value": [.5, .2, .1]})
    >>> print(lay_out(tidy, ["run"], ["metric"]))
    metric    P    R
    run
    b       0.5  0.2
    a       0.1  NaN
    """
    frame = frame.reset_index(drop=True)
    keys = [*rows, *columns]
    missing = [key for key in [*keys, value] if key not in frame]
    if not rows or missing:
        raise ValueError(
            f"cannot lay out by rows {list(rows)} and columns {list(columns)}: name at least one "
            f"row key, and only columns of the table, which are {list(frame.columns)}."
        )
    for key in keys:
        if frame[key].isna().any():
            raise ValueError(
                f"column {key!r}, row {int(frame[key].isna().argmax())}: a key is empty; read "
                "text such as 'None' with keep_default_na=False."
            )
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two cells for {frame.loc[twice, keys].iloc[0].to_dict()}; name a further key column."
        )
    if columns:
        laid = frame.set_index(keys)[value].astype(object).unstack(list(columns))
        laid = laid[_ordered_keys(frame, columns)]
    else:
        laid = frame.set_index(keys)[[value]].astype(object)
    return laid.loc[_ordered_keys(frame, rows)]


def _ordered_keys(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Return the distinct keys, each level in the order of first appearance in its group."""
    ranks = [
        frame.groupby(list(keys[: depth + 1]), sort=False).ngroup() for depth in range(len(keys))
    ]
    order = pd.concat(ranks, axis=1, ignore_index=True).sort_values(list(range(len(keys)))).index
    distinct = frame.loc[order, list(keys)].drop_duplicates()
    if len(keys) == 1:
        return pd.Index(distinct[keys[0]], name=keys[0])
    return pd.MultiIndex.from_frame(distinct)


def head_rows(columns: pd.Index) -> list[list[HeadCell]]:
    """Rows of a table's head: equal labels side by side under one parent become one cell.

    Examples
    --------
    >>> head_rows(pd.MultiIndex.from_tuples([("a", "p"), ("a", "r"), ("b", "p")]))
    ... # doctest: +ELLIPSIS
    [[HeadCell(label='a', span=2), HeadCell(label='b', span=1)], [HeadCell(label='p', span=1), ...
    """
    keys = [column if isinstance(column, tuple) else (column,) for column in columns]
    levels = range(columns.nlevels)
    return [
        [
            HeadCell(str(prefix[-1]), len(list(group)))
            for prefix, group in groupby(keys, key=lambda key, level=level: key[: level + 1])
        ]
        for level in levels
    ]


def show_value(value: Any, decimals: int | Literal["text"] | None = None) -> str:
    """Return one value as a reader sees it.

    Parameters
    ----------
    value
        A number, a text, or nothing (None or NaN).
    decimals
        Digits after the point of a number that is not whole by type; "text" or None leaves a
        number as Python writes it. A text is never changed.

    Returns
    -------
    str
        Empty for nothing. Rounding is Python's: the double's exact value, ties to even, and no
        negative zero.

    Examples
    --------
    >>> show_value(0.01449, 3), show_value(-0.0001, 3), show_value("<.001", 3), show_value(27, 3)
    ('0.014', '0.000', '<.001', '27')
    >>> show_value(None, 3), show_value(0.1 + 0.2)
    ('', '0.30000000000000004')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{value:z.{decimals}f}" if isinstance(decimals, int) else repr(float(value))
    return str(value)


def escape_tex(text: str) -> str:
    r"""Escape a text for LaTeX; a character that pdflatex cannot set shows as its code point.

    Examples
    --------
    >>> print(escape_tex("50% of p_value ≥ {0.1} \\ 漢"))
    50\% of p\_value $\ge$ \{0.1\} \textbackslash{} {[}U+6F22{]}
    """
    known = "".join(
        letter if _TEX_KNOWN.match(letter) or ord(letter) in _TEX else f"[U+{ord(letter):04X}]"
        for letter in re.sub(r"[\t\n\v\f\r\u0085\u2028\u2029]", " ", text)
    )
    return known.translate(_TEX)


def escape_markdown(text: str) -> str:
    r"""Escape a text for a cell of a Markdown pipe table.

    Underscores inside a word mark nothing and stay, so that `p_value` is readable as it is.

    Examples
    --------
    >>> print(escape_markdown("a|b *c* p_value <i>"))
    a\|b \*c\* p_value \<i>
    """
    flat = re.sub(r"\s*[\n\v\f\r\u0085\u2028\u2029]\s*", " ", text).replace("\0", "\ufffd")
    marks = r"[\\`*<\[\]|$~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)"
    return re.sub(marks, lambda mark: "\\" + mark[0], flat)


def write_table(
    frame: pd.DataFrame,
    stem: Path,
    *,
    title: str,
    layout_rows: Sequence[str],
    layout_columns: Sequence[str],
    decimals: Decimals,
) -> list[Path]:
    r"""Write a tidy frame as ``stem.csv``, ``stem.md``, ``stem.tex`` and ``stem.html``.

    Parameters
    ----------
    frame
        Key columns, then `value` (numbers, or texts), shape (n, k). All columns go to the CSV
        in their order and with full precision: what is read back is bit for bit the same. A
        column `marker` (texts, empty or missing for none) stands raised after the values:
        ``^bcd^`` in Markdown, a superscript in LaTeX and HTML.
    stem
        Path without suffix, as in ``results/released/lajewska2025/table_4_8``. A dot in its
        name is kept.
    title
        Caption, in plain text.
    layout_rows, layout_columns
        Key columns that run down and across in the three shown forms (see `lay_out`).
    decimals
        Digits after the point by metric (the frame's column `metric`); the key "all" holds for
        the others. "text", or no entry, shows a number as it is.

    Returns
    -------
    list of Path
        The four files. The same frame gives the same bytes.

    Raises
    ------
    ValueError
        The layout does not fit the frame; nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> tidy = pd.DataFrame({"run": ["a", "b"], "metric": "P@5", "value": [1 / 3, "n/a"]})
    >>> stem = Path(tempfile.mkdtemp()) / "table_1"
    >>> files = write_table(tidy, stem, title="Precision", layout_rows=["run"],
    ...                     layout_columns=["metric"], decimals={"P@5": 2})
    >>> print(files[0].read_text(), files[1].read_text(), sep="\n")
    run,metric,value
    a,P@5,0.3333333333333333
    b,P@5,n/a
    <BLANKLINE>
    Precision
    <BLANKLINE>
    | run   | P@5   |
    |:------|:------|
    | a     | 0.33  |
    | b     | n/a   |
    >>> _ = write_table(tidy.assign(marker=["b", ""]), stem, title="Precision",
    ...                 layout_rows=["run"], layout_columns=["metric"], decimals={"P@5": 2})
    >>> files[1].read_text().splitlines()[4]
    '| a     | 0.33^b^ |'
    """
    metrics: Sequence[Hashable] = frame["metric"] if "metric" in frame else [None] * len(frame)
    shown = frame.assign(
        value=[
            show_value(value, decimals.get(str(metric), decimals.get("all")))
            for value, metric in zip(frame["value"], metrics, strict=True)
        ]
    )
    laid = lay_out(shown, layout_rows, layout_columns).fillna("")
    if "marker" in frame:
        marks = lay_out(frame, layout_rows, layout_columns, "marker").fillna("")
        marks.columns = laid.columns
    else:
        marks = laid.map(lambda _: "")
    texts = {
        ".csv": frame.to_csv(index=False, lineterminator="\n"),
        ".md": _markdown(laid, marks, title),
        ".tex": _tex(laid, marks, title, f"tab:{stem.parent.name}-{stem.name}".replace("_", "-")),
        ".html": _html(laid, marks, title),
    }
    return [
        write_atomically(stem.with_name(stem.name + suffix), text) for suffix, text in texts.items()
    ]


def _raised(marks: pd.DataFrame, form: str, escape: Callable[[str], str]) -> pd.DataFrame:
    return marks.map(lambda mark: form.format(escape(mark)) if mark else "")


def _markdown(laid: pd.DataFrame, marks: pd.DataFrame, title: str) -> str:
    flat = laid.map(escape_markdown) + _raised(marks, "^{}^", escape_markdown)
    # Pipe tables have one row of heads, so the levels of a column are joined.
    flat.columns = [
        escape_markdown(" · ".join(map(str, key if isinstance(key, tuple) else (key,))))
        for key in laid.columns
    ]
    for depth, name in enumerate(laid.index.names):
        labels = laid.index.get_level_values(depth).map(lambda key: escape_markdown(str(key)))
        flat.insert(depth, escape_markdown(str(name)), labels, allow_duplicates=True)
    table = flat.to_markdown(index=False, disable_numparse=True)
    return f"{escape_markdown(title)}\n\n{table}\n"


def _tex(laid: pd.DataFrame, marks: pd.DataFrame, title: str, label: str) -> str:
    levels = laid.columns.nlevels
    labels = laid.index.to_frame()
    # Rows of one group stand together, so a label that repeats in its group is left out.
    for depth in range(labels.shape[1]):
        repeated = laid.index.to_frame().iloc[:, : depth + 1].duplicated()
        labels.iloc[:, depth] = labels.iloc[:, depth].map(str).map(escape_tex).mask(repeated, "")
    # A raised text, not mathematics, so that a marker may hold anything that a cell may.
    cells = laid.map(escape_tex) + _raised(marks, r"\textsuperscript{{{}}}", escape_tex)
    flat = pd.concat([labels, cells], axis=1)
    heads = [("",) * (levels - 1) + (name,) for name in labels.columns]
    heads += [key if isinstance(key, tuple) else (key,) for key in laid.columns]
    heads = [tuple(escape_tex(str(part)) for part in head) for head in heads]
    flat.columns = pd.MultiIndex.from_tuples(heads) if levels > 1 else [head[0] for head in heads]
    body = (
        flat.reset_index(drop=True)
        .style.hide(axis="index")
        .to_latex(
            environment="table",
            position="ht",
            position_float="centering",
            hrules=True,
            caption=escape_tex(title),
            label=label,
            column_format="l" * labels.shape[1] + "r" * laid.shape[1],
            multicol_align="c",
        )
    )
    return _TEX_HEAD + body + _TEX_TAIL


def _html(laid: pd.DataFrame, marks: pd.DataFrame, title: str) -> str:
    head = head_rows(laid.columns)
    names = [str(name) for name in laid.index.names]
    corner = [[""] * len(names)] * (len(head) - 1) + [names]
    body = [
        {
            "labels": key if isinstance(key, tuple) else (key,),
            "cells": list(zip(values, raised, strict=True)),
        }
        for key, values, raised in zip(laid.index, laid.to_numpy(), marks.to_numpy(), strict=True)
    ]
    return (
        environment()
        .get_template("table.html.j2")
        .render(
            title=title,
            head=[
                {"corner": blanks, "cells": cells}
                for blanks, cells in zip(corner, head, strict=True)
            ],
            body=body,
        )
    )
