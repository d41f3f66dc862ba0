"""A laid out table in LaTeX, to be read into a document or compiled by itself."""

from __future__ import annotations

import re

import pandas as pd

from everycell.engine.render.tables.layout import head_rows, raised

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

# The table can be read into a document that loads these packages, and also be compiled by itself:
# LaTeX sets \@nodocument to \relax at \begin{document}.
_TEX_HEAD = r"""% Use \input in a document with booktabs and graphicx, or compile it as it stands.
\expandafter\ifx\csname @nodocument\endcsname\relax\else
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp,booktabs,graphicx}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\def\everycellalone{}
\begin{document}
\fi
"""
#: Rows that fit on a page below their head and caption.
ROWS_OF_A_PAGE = 40
_PART = r"""\begin{{table}}[ht]
\centering
\caption{{{caption}}}
{numbering}
\setbox0\hbox{{\begin{{tabular}}{{{columns}}}
\toprule
{head}
\midrule
{rows}
\bottomrule
\end{{tabular}}}}
\ifdim\wd0>\linewidth\resizebox{{\linewidth}}{{!}}{{\box0}}\else\box0\fi
\end{{table}}
"""
#: Further parts keep the number of the first.
_CONTINUED = r"\addtocounter{table}{-1}"
_TEX_TAIL = r"""\ifdefined\everycellalone\expandafter\enddocument\fi
"""


def escape_tex(text: str) -> str:
    r"""Escape a text for LaTeX; a character that pdflatex cannot set shows as its code point."""
    known = "".join(
        letter if _TEX_KNOWN.match(letter) or ord(letter) in _TEX else f"[U+{ord(letter):04X}]"
        for letter in re.sub(r"[\t\n\v\f\r\u0085\u2028\u2029]", " ", text)
    )
    return known.translate(_TEX)


def latex_document(body: str) -> str:
    """Content that can be read into a document or be compiled by itself."""
    return _TEX_HEAD + body + _TEX_TAIL


def latex_table(laid: pd.DataFrame, marks: pd.DataFrame, title: str, label: str) -> str:
    """Return a laid out table, with raised `marks` after its values; `label` is for references.

    A table that is wider than the text is scaled to its width. One that is longer than a page is
    cut into parts, each with the head and, where it starts in a group of rows, the group's label.
    """
    head = "\n".join(_head(laid.columns, [escape_tex(str(name)) for name in laid.index.names]))
    body = ""
    for start in range(0, max(len(laid), 1), ROWS_OF_A_PAGE):
        part = slice(start, start + ROWS_OF_A_PAGE)
        body += _PART.format(
            columns="l" * laid.index.nlevels + "r" * laid.shape[1],
            caption=escape_tex(title) + " (continued)" * (start > 0),
            numbering=_CONTINUED if start else rf"\label{{{label}}}",
            head=head,
            rows="\n".join(_rows(laid.iloc[part], marks.iloc[part])),
        )
    return body


def _rows(laid: pd.DataFrame, marks: pd.DataFrame) -> list[str]:
    """Lines of the body; a label that repeats in its group is left out."""
    names = laid.index.to_frame()
    # Texts from the start: a column of numbers takes none.
    labels = names.map(str).map(escape_tex)
    for depth in range(labels.shape[1]):
        repeated = names.iloc[:, : depth + 1].duplicated()
        labels.iloc[:, depth] = labels.iloc[:, depth].mask(repeated, "")
    # A raised text, not mathematics, so that a marker may hold anything that a cell may.
    cells = laid.map(escape_tex) + raised(marks, r"\textsuperscript{{{}}}", escape_tex)
    flat = pd.concat([labels.reset_index(drop=True), cells.reset_index(drop=True)], axis=1)
    return [" & ".join(row) + r" \\" for row in flat.itertuples(index=False, name=None)]


def _head(columns: pd.Index, names: list[str]) -> list[str]:
    """Lines of the head: a rule below each label that stands over several columns."""
    lines = []
    levels = head_rows(columns)
    for level, heads in enumerate(levels):
        last = level == len(levels) - 1
        parts, rules, column = names if last else [""] * len(names), [], len(names) + 1
        for cell in heads:
            text = escape_tex(cell.label)
            if cell.span > 1:
                text = rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}"
                rules.append(rf"\cmidrule(lr){{{column}-{column + cell.span - 1}}}")
            parts = [*parts, text]
            column += cell.span
        lines.append(" & ".join(parts) + r" \\")
        if rules and not last:
            lines.append(" ".join(rules))
    return lines
