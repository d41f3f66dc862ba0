"""`everycell import`: blank cells among the names of rows, which mean "as above" or "no"."""

from pathlib import Path

import pytest
from command_line import call

from everycell.cli.importing.grids import read_tables
from everycell.cli.importing.tidy import import_table

LATEX = "\\begin{{tabular}}{{lllr}} {0} \\\\ \\midrule {1} \\end{{tabular}}"


def keys_of(path: Path, text: str) -> list[list[str]]:
    """Names of the rows that are read, in the order of the columns."""
    path.write_text(text, encoding="utf-8")
    cells = import_table(path, read_tables(path)[0]).cells
    return cells.drop(columns=["metric", "value"]).to_numpy().tolist()


def write(suffix: str, heading: list[str], rows: list[list[str]]) -> str:
    """A table with the same texts in one of three formats."""
    if suffix == ".md":
        lines = [heading, ["-"] * len(heading), *rows]
        return "".join(f"|{'|'.join(line)}|\n" for line in lines)
    if suffix == ".tex":
        return LATEX.format(" & ".join(heading), "".join(f"{' & '.join(r)} \\\\ " for r in rows))
    cells = ["".join(f"<td>{text}</td>" for text in row) for row in rows]
    head = "".join(f"<th>{text}</th>" for text in heading)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
@pytest.mark.parametrize("mark", ["✓", "✔️", "x", "×", "+", "yes", "True", "•"])
def test_import_blank_among_marks(tmp_path, suffix, mark):
    """It means no, also where the name of the system is blank or all marks are."""
    rows = [
        ["Ours", "", "", ".1"], ["", mark, "", ".2"], ["", "", mark, ".3"],
        ["Theirs", "", mark, ".4"], ["Theirs", mark, "", ".5"],
    ]  # fmt: skip
    text = write(suffix, ["Model", "CE", "KD", "MAP"], rows)
    assert keys_of(tmp_path / f"a{suffix}", text) == [
        ["Ours", "–", "–"], ["Ours", mark, "–"], ["Ours", "–", mark],
        ["Theirs", "–", mark], ["Theirs", mark, "–"],
    ]  # fmt: skip


@pytest.mark.parametrize("mark", ["\\checkmark", "\\cmark", "\\ding{51}"])
def test_import_rows_of_marks_only(tmp_path, mark):
    """Without another name, all columns of marks name the rows, also a row without any."""
    rows = [["", "", ".1"], [mark, "", ".2"], ["", mark, ".3"], [mark, mark, ".4"]]
    text = write(".tex", ["BM25", "Dense", "MAP"], rows)
    assert keys_of(tmp_path / "a.tex", text) == [["–", "–"], ["✓", "–"], ["–", "✓"], ["✓", "✓"]]


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
@pytest.mark.parametrize(
    ("rows", "names"),
    [
        # Names of groups that stand once.
        ("A,web,x A,news,x B,web,x", "A,web,x A,news,x B,web,x"),
        ("A,web,x -,news,x -,wiki,x B,web,x", "A,web,x A,news,x A,wiki,x B,web,x"),
        ("A,web,x -,-,y B,web,x -,-,y", "A,web,x A,web,y B,web,x B,web,y"),
        # No name of another system, nor of a row before one without a name.
        ("A,mixup,x A,-,x", "A,mixup,x A,–,x"),
        ("A,mixup,x B,-,x -,-,y", "A,mixup,x B,–,x B,–,y"),
    ],
)
def test_import_blank_among_names(tmp_path, suffix, rows, names):
    cells = [row.replace("-", "").split(",") for row in rows.split()]
    heading = ["Model", "Data", "Field", "MAP"]
    text = write(suffix, heading, [[*row, f".{n}"] for n, row in enumerate(cells, 1)])
    expected = [name.split(",") for name in names.split()]
    # The fewest columns that name the rows are keys.
    keys = keys_of(tmp_path / f"a{suffix}", text)
    assert keys in (expected, [row[:2] for row in expected])


@pytest.mark.parametrize("suffix", [".tex", ".html"])
def test_import_blank_behind_name_across_rows(tmp_path, suffix):
    """A name across rows is no name of the second row's own."""
    first = "\\multirow{2}{*}{A}" if suffix == ".tex" else "A"
    rows = [[first, "web", "x", ".1"], ["", "", "y", ".2"], ["B", "web", "x", ".3"]]
    text = write(suffix, ["M", "D", "F", "MAP"], rows)
    text = text.replace("<td>A", "<td rowspan=2>A").replace("<tr><td></td>", "<tr>")
    assert keys_of(tmp_path / f"a{suffix}", text)[:2] == [["A", "web", "x"], ["A", "web", "y"]]


def test_import_blank_names_shown(tmp_path):
    """The line of the source has no name that the source does not have."""
    rows = [["Ours", "✓", "", ".1"], ["", "", "✓", ".2"]]
    path = tmp_path / "a.md"
    path.write_text(write(".md", ["Model", "CE", "KD", "MAP"], rows))
    _, out, _ = call("import", str(path))
    source, read = [line.split() for line in out.splitlines() if ".2" in line]
    assert source == ["source", "✓", ".2"] and read == ["read", "Ours", "–", "✓", ".2"]
    assert '"as above": CE, KD.' in out
