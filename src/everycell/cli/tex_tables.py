"""LaTeX tables of an artefact and macros of a paper, for `everycell show --format tex`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from everycell.cli import project
from everycell.records.cells import RecordError
from everycell.records.papers import Artefact
from everycell.render.latex import escape_tex, latex_document, latex_table
from everycell.render.verdict_tables import published_grid, verdict_cells, verdict_table_as_tex
from everycell.render.vocabulary import VERDICTS, page_of_chapter
from everycell.verdicts.reports import Result
from everycell.verdicts.results import stem_of


def is_reproduced(result: Result) -> bool:
    """Whether any cell has a reproduced value."""
    return any(cell.reproduced is not None for cell in result.report.cells)


def verdicts_as_tex(artefact: Artefact, results: Sequence[Result]) -> str:
    """LaTeX table of the deepest tier with reproduced values."""
    reports = [result.report for result in results if is_reproduced(result)]
    if not reports:
        raise RecordError(
            f"{artefact.id} has no reproduced values and thus no verdicts; "
            f"`everycell show {artefact.id}` explains how to reproduce it."
        )
    return verdict_table_as_tex(artefact, reports[-1])


def table_as_tex(artefact: Artefact, results: Sequence[Result]) -> str:
    """LaTeX table as published: of the deepest tier with reproduced values, else published ones."""
    for result in reversed(results):
        if is_reproduced(result):
            return stem_of(artefact, result.tier, project.RESULTS).with_suffix(".tex").read_text()
    if artefact.cells.empty:
        raise RecordError(f"{artefact.id} has no published values, and none were reproduced.")
    name = f"{artefact.paper}-{artefact.name}".replace("_", "-")
    title = f"Published values: {artefact.record.title}"
    return latex_document(latex_table(published_grid(artefact), title, f"tab:published-{name}"))


#: Characters that LaTeX, or a language of babel, treats specially in the name of a macro.
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 .@+/()*=,<>|_-]+")
_MACROS = r"""% To be read by \input in the preamble, after hyperref.
% \everycellvalue{table_1/KEY/...}: a reproduced number, with the decimals of the published one.
% \everycellmark{table_1}: verdicts in the margin, at the beginning of a table or figure.
\providecommand{\everycellpage}{results}% address of the page
\providecommand{\href}[2]{#2}
\newcommand{\everycellget}[2]{\ifcsname everycell#1:#2\endcsname
  \csname everycell#1:#2\endcsname\else\PackageError{everycell}{no #1 `#2'}%
  {This file has all names.}\fi}
\newcommand{\everycellvalue}[1]{\everycellget{value}{#1}}
\newcommand{\everycellmark}[1]{\par\vbox to 0pt{\hbox to \hsize{\hfill\rlap{\hskip\marginparsep
  \parbox[t]{\marginparwidth}{\raggedright\footnotesize\everycellget{mark}{#1}}}}\vss}%
  \nointerlineskip}
"""


def macros_as_tex(results: Sequence[Result]) -> str:
    """LaTeX macros of a paper: its reproduced numbers, and a mark of the verdicts per artefact."""
    deepest = {result.artefact.id: result for result in results if is_reproduced(result)}
    if not deepest:
        raise RecordError("No value was reproduced; run `everycell make` first.")
    lines = [line for result in deepest.values() for line in _definitions(result)]
    return _MACROS + "\n".join(lines) + "\n"


def _definitions(result: Result) -> Iterator[str]:
    artefact = result.artefact
    counts = [
        f"{VERDICTS[verdict][0]} {count} {verdict}"
        for verdict, count in result.report.verdicts.items()
        if count
    ]
    address = rf"\everycellpage/{page_of_chapter(artefact.paper, artefact.chapter)}"
    link = rf"{address}\#{artefact.id.replace('/', '-')}"
    yield _define("mark", artefact.name, rf"\href{{{link}}}{{{escape_tex(', '.join(counts))}}}")
    names: set[str] = set()
    for cell in verdict_cells(artefact, result.report):
        if cell.judged.reproduced is None:
            continue
        key = "/".join([artefact.name, *cell.judged.key.values()])
        name = " ".join(_NOT_IN_NAMES.sub("-", key).split())
        while name in names:  # keys that differ in other characters
            name += "'"
        names.add(name)
        yield _define("value", name, escape_tex(cell.reproduced or cell.published))


def _define(kind: str, name: str, text: str) -> str:
    return rf"\expandafter\def\csname everycell{kind}:{name}\endcsname{{{text}}}"
