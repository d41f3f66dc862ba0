"""`everycell import`: names of rows, numbers across columns, and a second heading."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused

from everycell.base.errors import DataError
from everycell.cli.importing.grids import read_tables
from everycell.cli.importing.tidy import Imported, import_table

LATEX = "\\begin{{tabular}}{{lllr}} {0} \\\\ \\midrule {1} \\end{{tabular}}"


def read(path: Path, text: str) -> Imported:
    path.write_text(text, encoding="utf-8")
    return import_table(path, read_tables(path)[0])


def keys_of(path: Path, text: str) -> list[list[str]]:
    """Names of the rows that are read, in the order of the columns."""
    cells = read(path, text).cells
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


def across(suffix: str, text: str) -> str:
    """A cell across two columns, whose next cell is removed by `write_across`."""
    return f"\\multicolumn{{2}}{{c}}{{{text}}}" if suffix == ".tex" else f"<across>{text}"


def write_across(suffix: str, heading: list[str], rows: list[list[str]]) -> str:
    return write(suffix, heading, rows).replace("<td><across>", "<td colspan=2>")


@pytest.mark.parametrize("suffix", [".tex", ".html"])
@pytest.mark.parametrize("number", ["12k", ".3", "1,866k", "0.3 ± 0.1"])
@pytest.mark.parametrize("beside", [[".9"], ["–"], [""]])
def test_import_number_across_columns(tmp_path, suffix, number, beside):
    """One published number is not a value of each column; others of its row are read."""
    rows = [
        ["A", ".1", ".2", ".5"],
        ["B", across(suffix, number), *beside],
        ["C", ".3", ".4", ".6"],
    ]
    text = write_across(suffix, ["Task", "Dev", "Test", "Size"], rows)
    imported = read(tmp_path / f"a{suffix}", text)
    values = imported.cells.set_index([*imported.cells.columns[:2]])["value"]
    assert values.loc["A"].tolist() == [".1", ".2", ".5"]
    assert dict(values.get("B", {})) == ({"Size": beside[0]} if beside[0] else {})
    assert any(f"across columns of numbers: B {number}" in note for note in imported.notes)


@pytest.mark.parametrize("suffix", [".tex", ".html"])
@pytest.mark.parametrize("word", ["–", "OOM", "n.s."])
def test_import_word_across_columns(tmp_path, suffix, word):
    """A missing value is missing in each column."""
    rows = [["A", ".1", ".2"], ["B", across(suffix, word)]]
    cells = read(tmp_path / f"a{suffix}", write_across(suffix, ["M", "Dev", "Test"], rows)).cells
    assert cells["value"].tolist() == [".1", ".2", word, word]


@pytest.mark.parametrize("suffix", [".tex", ".html"])
def test_import_column_across_columns(tmp_path, suffix):
    """Two columns of the source that always are one are one column."""
    rows = [["A", across(suffix, ".1"), ".2"], ["B", across(suffix, ".3"), ".4"]]
    text = write_across(suffix, ["M", across(suffix, "MAP"), "P@5"], rows)
    text = text.replace("<th><across>", "<th colspan=2>")
    cells = read(tmp_path / f"a{suffix}", text).cells
    assert cells["value"].tolist() == [".1", ".2", ".3", ".4"]


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
@pytest.mark.parametrize(
    "second",
    [
        ["Task", "Queries", "Corpus"],
        ["Task", "7B", "13B"],
        ["Task", "Dev", "Corpus"],
        ["", "Queries", "Corpus"],
        ["*Name", "*Queries", "*Corpus"],
    ],
    ids="/".join,
)
@pytest.mark.parametrize("group", [[], [["Retrieval", "", ""]]])
def test_import_second_heading_with_other_columns(tmp_path, suffix, second, group):
    """Values below it are not those of the first heading."""
    bold = {".md": "**{}**", ".tex": "\\textbf{{{}}}", ".html": "<b>{}</b>"}[suffix]
    heading, second = (
        [bold.format(name.strip("*")) if name else "" for name in names]
        for names in (["Task", "Dev", "Test"], second)
    )
    rows = [["Web", "132k", "7k"], ["News", "38k", "8k"], *group, second, ["Law", "33k", "37k"]]
    with pytest.raises(DataError) as error:
        read(tmp_path / f"a{suffix}", write(suffix, heading, rows))
    assert error.value.row == f"row {4 + len(group)} of the table"


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
@pytest.mark.parametrize("names", [["Dev", "Test"], ["2031", "2032"]])
def test_import_heading_again(tmp_path, suffix, names):
    """It is no row, even if its names are numbers."""
    rows = [["Web", ".1", ".2"], ["Task", *names], ["News", ".3", ".4"]]
    imported = read(tmp_path / f"a{suffix}", write(suffix, ["Task", *names], rows))
    assert imported.cells["value"].tolist() == [".1", ".2", ".3", ".4"]
    assert "Not imported: 1 row with the heading again." in imported.notes


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html"])
@pytest.mark.parametrize(
    "row", [["Kind", "MoE", "dense"], ["Dense models"] * 3, ["", "see text", ""]], ids="/".join
)
def test_import_row_of_words_is_no_heading(tmp_path, suffix, row):
    rows = [["Web", ".1", ".2"], row, ["News", ".3", ".4"]]
    text = write(suffix, ["Task", "Dev", "Test"], rows)
    assert read(tmp_path / f"a{suffix}", text).cells["value"].tolist() == [".1", ".2", ".3", ".4"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "Id,Method,Acc\nA1,BERT,0.9\n??,Ensemble,\nB1,Hard,0.7\n",
            "1 row without values: Ensemble",
        ),
        ("Method,Acc,F1\nBERT,0.9,1\nEnsemble,,\nMean,,\nHard,0.7,1\n", "2 rows without values"),
        ("Method,Data,Acc\nA,x,0.9\n,y,\nB,x,0.7\n,y,0.1\n", "1 row without values: A / y"),
        ("Method,Acc\nBERT,0.9\nEnsemble,–\n", ""),
    ],
)
def test_import_rows_without_values(tmp_path, text, note):
    """No row of the source disappears without a word."""
    notes = " ".join(read(tmp_path / "a.csv", text).notes)
    assert note in notes and (note == "") == ("Not imported" not in notes)


LONG_AND_SHORT = [["org/a-base", "E", ".1", "Base-A"], ["org/b-base", "E", ".2", "Base-B"]]


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".csv"])
@pytest.mark.parametrize(
    ("options", "key", "first"),
    [([], "model", "org/a-base"), (["--names", "Short name"], "short_name", "Base-A")],
)
def test_import_names(tmp_path, suffix, options, key, first):
    """One of several columns that name the rows, wherever it is."""
    heading, path = ["Model", "Kind", "MAP", "Short name"], tmp_path / f"a{suffix}"
    lines = "".join(",".join(line) + "\n" for line in [heading, *LONG_AND_SHORT])
    text = lines if suffix == ".csv" else write(suffix, heading, LONG_AND_SHORT)
    path.write_text(text)
    code, out, _ = call("import", str(path), str(tmp_path / "out.csv"), *options)
    written = (tmp_path / "out.csv").read_text().splitlines()
    assert code == 0 and written[:2] == [f"{key},metric,value", f"{first},MAP,.1"]
    assert ("add --names 'Short name'" in out) == (not options)


SPANS = (
    "<table><tr><th>Year<th>System<th>MAP<th>P@5</tr><tr><td>2019<td>BM25<td>.1<td>.2</tr>"
    "<tr><td>2020<td>QL<td>.3<td>.4</tr>{}</table>"
)


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("Year,System,MAP\n2019,BM25,.1\n2020,QL,.2\n", "MAP"),
        ("alpha,k,System,MAP\n.1,a,BM25,.1\n.2,b,QL,.2\n", "MAP"),
        ("seed,System,value\n1,BM25,.1\n2,QL,.2\n", "value"),
        # Measures may stand first.
        ("P@5,System,MAP\n.3,BM25,.1\n.4,QL,.2\n", "P@5 MAP"),
        ("F1,System,Time\n.3,BM25,.1\n.4,QL,.2\n", "F1 Time"),
        ("Share,System\n.3,BM25\n.4,QL\n", "Share"),
        (SPANS.format(""), "MAP P@5"),
        (SPANS.format("<tr><td>2021<td colspan=2>not run<td>.5</tr>"), "MAP P@5"),
        (SPANS.format("").replace("<th>System", "<th colspan=2>System")
         .replace("<td>BM25", "<td colspan=2>BM25").replace("<td>QL", "<td colspan=2>QL"),
         "MAP P@5"),
    ],
)  # fmt: skip
def test_import_names_after_numbers(tmp_path, text, metrics):
    """A column before the chosen one does not become one of values."""
    path = tmp_path / ("a.html" if text.startswith("<") else "a.csv")
    path.write_text(text)
    code, _, err = call("import", str(path), str(tmp_path / "out.csv"), "--names", "System")
    cells = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert (code, err) == (0, "") and [*cells["system"].unique()][:2] == ["BM25", "QL"]
    assert [*cells["metric"].unique()] == metrics.split()


@pytest.mark.parametrize(("name", "fault"), [("Kind", "same name"), ("Names", "of 0 columns")])
def test_import_names_refused(tmp_path, name, fault):
    path = tmp_path / "a.md"
    path.write_text(write(".md", ["Model", "Kind", "MAP", "Short name"], LONG_AND_SHORT))
    assert fault in refused("import", str(path), "--names", name)
