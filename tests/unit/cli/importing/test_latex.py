"""Tables of LaTeX as grids: what TeX skips, macros, spans, and limits."""

import pytest

from everycell.base.errors import DataError
from everycell.cli.importing.latex import latex_tables
from everycell.cli.importing.latex_source import read_macros
from everycell.cli.importing.offers import emphasised_claims
from everycell.cli.importing.tidy import import_table

#: Macros that each stand for the next one.
CHAIN = "".join(
    rf"\newcommand{{\m{one}}}{{\m{two}}}"
    for one, two in zip("abcdefghijklmno", "bcdefghijklmnop", strict=True)
)


def rows_of(text: str) -> list[list[str]]:
    (table,) = latex_tables("a.tex", text)
    return [[cell.text for cell in row] for row in table.rows]


def tabular(rows: str) -> str:
    return rf"\begin{{tabular}}{{lr}}{rows}\end{{tabular}}"


@pytest.mark.parametrize(
    "rows",
    [
        r"A & 3 \\\iffalse B & 4 \\ \fi C & 5 \\",
        r"A & 3 \\ \iffalse \ifdraft B & 4 \else B & 1 \fi \\ \fi C & 5 \\",
        r"\iffalse B & \else A & \fi 3 \\ C & \iffalse 4\fi{} 5 \\",
        r"A & 3 \\ C & \iffalse $4 \iff$ \fi 5",
        "A & 3 \\\\ % \\iffalse\nC & 5 % \\fi\n",
        # Macros within macros, and an argument that looks like the parameter of another one.
        r"A & \ma \\ C & \two{5\phantom{#2}}{} \\",
        r"A & 3 \\ C & \multicolumn{ {1} }{c}{5} \\",
    ],
)
def test_latex_tables_source(rows):
    macros = CHAIN + r"\def\mp{3}\newcommand{\two}[2]{#1#2}"
    assert rows_of(macros + tabular(rows)) == [["A", "3"], ["C", "5"]]


@pytest.mark.parametrize(
    "name", [r"\sokrates{}", r"\sokrates", r"$\sokrates$ 2", r"\textsc{\sokrates}"]
)
def test_latex_tables_unknown_command(name):
    """A command that the file does not define stands for its name, and a line says so."""
    rows = rf"Model & Acc. \\ {name} & \textbf{{0.5}} \\ BM25 & 0.4"
    (table,) = latex_tables("a.tex", r"\newcommand{\ours}{Ours}" + tabular(rows))
    imported = import_table("a.tex", table)
    assert "sokrates" in imported.cells["model"][0]
    assert [note.split(": ")[1] for note in imported.notes if "define" in note] == [r"\sokrates."]
    (offer,) = emphasised_claims(imported.cells)[0]
    assert offer.sentence.endswith(" the highest Acc.")


@pytest.mark.parametrize("cell", [r"\shortstack{12\\345}", r"\makecell[c]{12 \\ 345}"])
def test_latex_tables_lines(cell):
    """Numbers of two lines of a cell are two numbers."""
    assert rows_of(tabular(f"A & {cell}")) == [["A", "12 / 345"]]


@pytest.mark.parametrize(
    ("macros", "rows", "message"),
    [
        (r"\newcommand{\x}{\x}", r"\x", "contains itself"),
        # A long text often, and a long argument often.
        (rf"\def\x{{{'y' * 10_000}}}", r"\x" * 1001, "characters"),
        (rf"\def\x#1{{{'#1' * 1001}}}", rf"\x{{{'y' * 10_000}}}", "characters"),
        ("", r"\multicolumn{9999}{c}{1}&" * 2, "at most 10000 of each"),
        ("", r"\multicolumn{9999}{c}{1}\\" + r"a\\" * 100, "1000000 cells"),
        *[("", rf"\multicolumn{{{number}}}{{c}}{{1}}", number) for number in ("²", "0", "10000")],
    ],
)
def test_latex_tables_refused(macros, rows, message):
    with pytest.raises(DataError, match=message):
        rows_of(macros + tabular(rows))


@pytest.mark.parametrize("start", [r"\def\a{", r"\newcommand{\a}[1]{#1", r"\def\a{\b{"])
@pytest.mark.parametrize("end", ["", "}"])
def test_read_macros_many_braces(start, end):
    """Unclosed or nested definitions take linear time; in quadratic time, these take minutes."""
    text = r"\def\ok{1}" + start * 50_000 + end * 50_000
    assert read_macros(text)["ok"] == (0, "1")


def test_read_macros_braces_in_text():
    text = r"\def\a{x{y}\}z}\newcommand{\b}[1]{\def\c{#1}}"
    assert read_macros(text) == {"a": (0, r"x{y}\}z"), "b": (1, r"\def\c{#1}")}
