"""`everycell import`: rows without values, and headings that are not simply one per column."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused

#: Two collections with a blank column between them, and a text of some length below each row.
PAGE = """<table><thead>
<tr><th></th><th></th><th></th><th colspan=3><b>TREC 2031</b></th><th colspan=2>dev</th></tr>
<tr><th></th><th></th><th></th><th>AP</th><th>nDCG@10</th><th></th><th>RR@10</th><th>R@1K</th></tr>
</thead><tbody>{rows}</tbody></table>"""
ROW = """<tr><td></td><td>[<a href=#>1</a>]&nbsp;(1{id})</td><td>{name}</td>
<td>.{n}1</td><td>.{n}2</td><td></td><td>.{n}3</td><td>.{n}4</td></tr>"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(name: str, text: str, *options: str) -> tuple[list[str], list[list[str]], str]:
    Path(name).write_text(text, encoding="utf-8")
    code, out, err = call("import", name, "out.csv", *options)
    assert (code, err) == (0, "")
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    return list(cells), cells.to_numpy().tolist(), out


@pytest.mark.parametrize("before", ["", "<td></td>", "<td></td><td></td>"])
@pytest.mark.parametrize("text", ["a command", "a longer command " * 5000])
def test_import_text_below_rows(before, text):
    """A text across columns is no value, wherever it begins, and makes no column a text."""
    across = 8 - before.count("<td>")
    detail = f"<tr>{before}<td colspan={across}><div>{text}</div></td></tr>"
    rows = [ROW.format(id=name[0].lower(), name=name, n=n) for n, name in ((1, "BM25"), (2, "QL"))]
    columns, values, out = imported("a.html", PAGE.format(rows=detail.join([*rows, ""])))
    assert columns == ["system", "collection", "metric", "value"]
    assert len(values) == 8 and ["QL", "dev", "R@1K", ".24"] in values
    assert len(out) < 5000 and "column 2" in out.split("Not imported")[-1]


def test_import_text_below_last_row_of_narrower_span():
    """A text narrower than the table is one too."""
    rows = "<tr><td>A<td>.1<td>.2<td>.3<tr><td><td colspan=2>a text"
    text = f"<table><tr><th>M<th>MAP<th>P@5<th>P@9{rows}</table>"
    assert len(imported("a.html", text)[1]) == 3


@pytest.mark.parametrize("names", [("A", "A"), ("A", "B")])
def test_import_groups_behind_blank_column(names):
    """A heading of a group may begin in the second column; it is used if names repeat."""
    rows = "".join(
        f"<tr><td><td colspan=3>{group}<tr><td><td>{name}<td>.1<td>.2"
        for group, name in zip(("Sparse", "Dense"), names, strict=True)
    )
    columns, values, _ = imported("a.html", f"<table><tr><th><th>M<th>MAP<th>P@5{rows}</table>")
    expected = ["group", "m"] if names == ("A", "A") else ["m"]
    assert columns == [*expected, "metric", "value"] and len(values) == 4


def test_import_group_beside_value():
    """A label over two columns with a value behind it is a row, not a heading."""
    text = r"""\begin{tabular}{lll} Family & Model & MAP \\ \hline
    \multicolumn{2}{l}{BM25} & .1 \\ Dense & E5 & .2 \\ \end{tabular}"""
    assert [row[-1] for row in imported("a.tex", text)[1]] == [".1", ".2"]


@pytest.mark.parametrize("name", ["alias", "GPT-4", "Source"])
def test_import_row_of_words(name):
    """A row of words among numbers is left out, with a note, wherever it is."""
    rows = [f"|{name}|arc_x|see text|\n", "|A|.3|.4|\n", "|B|.5|.6|\n"]
    for order in ((0, 1, 2), (1, 0, 2), (1, 2, 0)):
        text = "|Model|MAP|P@5|\n|-|-|-|\n" + "".join(rows[index] for index in order)
        _, values, out = imported("a.md", text)
        assert len(values) == 4 and f"rows without numbers: {name}." in out
        Path("out.csv").unlink()


@pytest.mark.parametrize("cell", ["R@100", "MRR"])
def test_import_second_heading_refused(cell):
    """Values below a second heading are those of other measures."""
    Path("a.md").write_text(f"|M|MAP|P@5|\n|-|-|-|\n|A|.3|.4|\n|M|{cell}|P@5|\n|B|.5|.6|\n")
    assert "a.md, row 3 of the table" in refused("import", "a.md", "out.csv")


def test_import_heading_repeated():
    text = "|M|MAP|P@5|\n|-|-|-|\n|A|.3|.4|\n|M|MAP|P@5|\n|B|.5|.6|\n"
    assert len(imported("a.md", text)[1]) == 4


def test_import_text_across_values():
    """It is noted; the values of other rows count."""
    rows = "<tr><td>A<td colspan=2>not run<td>.1<tr><td>B<td>.2<td>.3<td>.4"
    _, values, out = imported("a.html", f"<table><tr><th>M<th>MAP<th>P@5<th>P@9{rows}</table>")
    assert len(values) == 4 and "across columns of numbers: not run." in out


def test_import_measure_with_few_numbers():
    """A column of a measure is never text: a value that is not read is refused."""
    Path("a.md").write_text("|M|MAP|P@5|\n|-|-|-|\n|A|.3|.4|\n|B|x|.6|\n|C|y|.6|\n")
    assert "row 3 of the table: MAP is 'x'" in refused("import", "a.md", "out.csv")


def test_import_text_with_numbers():
    """Numbers in a column that is left out are counted."""
    text = "|M|MAP|Remark|\n|-|-|-|\n|A|.3|5|\n|B|.5|slow|\n|C|.5|ours|\n"
    assert "Remark (1 number)." in imported("a.md", text)[2]


@pytest.mark.parametrize(
    ("heading", "measure", "collection"),
    [
        ("nDCG@10, dev queries", "nDCG@10", "dev queries"),
        ("MRR@100 (test)", "MRR@100", "test"),
        ("Test Set B: MAP", "MAP", "Test Set B"),
        ("R@5 on web", "R@5", "web"),
        ("nDCG@10", "nDCG@10", ""),
    ],
)
def test_import_measure_with_collection(heading, measure, collection):
    """In the corner it is that of all values; columns have collections."""
    columns, values, out = imported("a.md", f"|{heading}|ar|bn|\n|-|-|-|\n|BM25|.1|.2|\n")
    assert columns == ["system", "collection", "metric", "value"]
    assert values[1] == ["BM25", "bn", measure, ".2"] and (f": {collection}." in out) == bool(
        collection
    )
    if collection:
        text = f"|M|{heading}|{heading.replace(measure, 'R@7')}|\n|-|-|-|\n|BM25|.1|.2|\n"
        Path("out.csv").unlink()
        columns, values, _ = imported("a.md", text)
        assert columns[1:3] == ["collection", "metric"] and values[1][1:3] == [collection, "R@7"]


@pytest.mark.parametrize("heading", ["P value", "R squared", "S 2", "Recall macro"])
def test_import_heading_that_begins_like_measure(heading):
    columns, values, _ = imported("a.md", f"|M|{heading}|\n|-|-|\n|BM25|.1|\n")
    assert columns == ["m", "metric", "value"] and values == [["BM25", heading, ".1"]]


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        # Below a heading as Markdown writes it, and centred above its block.
        ("| |DL19| |DL20| |", "|M|MAP|P@5|MAP|P@5|"),
        ("| | |DL19| | |DL20| |", "|M|MAP|P@5|R@5| |MAP|P@5|R@5|"),
    ],
)
def test_import_heading_of_block(upper, lower):
    width = lower.count("|") - 1
    row = "|A|" + "|".join("" if name == " " else ".1" for name in lower.split("|")[2:-1]) + "|"
    upper += "|" * (width + 1 - upper.count("|"))
    _, values, _ = imported(
        "a.md", f"{upper}\n{'|-' * width}|\n{lower.replace('M', '', 1)}\n{row}\n"
    )
    assert {row[1] for row in values} == {"DL19", "DL20"}


def test_import_heading_beside_others():
    """A blank heading beside another is no continuation if the headings below differ."""
    text = "| |Dev| | |\n|-|-|-|-|\n| |MAP|P@5|Size|\n|A|.1|.2|.3|\n"
    _, values, _ = imported("a.md", text)
    assert [row[1:3] for row in values] != [["Dev", name] for name in ("MAP", "P@5", "Size")]


@pytest.mark.parametrize("dashes", ["-", "---", "----", "–––––"])
def test_import_dashes(dashes):
    text = f"|M|MAP|P@5|\n|-|-|-|\n|A|.1|.2|\n|B|.1|{dashes}|\n|C|.1|{dashes}|\n"
    assert [row[-1] for row in imported("a.md", text)[1]].count("–") == 2


@pytest.mark.parametrize("cell", ["td", "th"])
def test_import_two_rows_of_heading(cell):
    """Without `th` and `thead`, words below headings across columns go on with the heading."""
    text = (
        f"<table><tbody><tr><{cell}><{cell} colspan=2>BM25<{cell} colspan=2>PL2<{cell}>DFRee"
        f"<tr><{cell}>Collection and tasks<{cell}>b<{cell}>MAP<{cell}>c<{cell}>MAP<{cell}>MAP"
        "<tr><td>WT9, small task<td>.1<td>.2<td>3.1<td>.4<td>.5"
        "<tr><td>Disk 7<td>.1<td>.2<td>3.1<td>.4<td>.6</table>"
    )
    columns, values, _ = imported("a.html", text)
    assert columns == ["collection", "system", "metric", "value"]
    assert len(values) == 10 and values[-1] == ["Disk 7", "DFRee", "MAP", ".6"]


def test_import_row_of_words_below_heading_across():
    """A row that is narrower than the heading is no heading."""
    text = (
        "<table><tr><td><td colspan=2>MAP<td>P@5<tr><td><td>dev<td>test<td>dev"
        "<tr><td>A<td>x<td>y<tr><td>B<td>.1<td>.2<td>.3</table>"
    )
    assert "without numbers: A." in imported("a.html", text)[2]


@pytest.mark.parametrize(
    ("heading", "cells", "names"),
    [
        ("Dev / Test", ["65.3 / 72.4", "1 / 2"], ["Dev", "Test"]),
        ("R@1/5/10", ["**65.3**/72.4/81", "1/2/3"], ["R@1", "R@5", "R@10"]),
        ("MAP/P@5", ["65.3/72.4", "–"], ["MAP", "P@5"]),
        ("EM/F1", ["65.3/72.4 ± 0.1", "OOM"], ["EM", "F1"]),
        ("Test EM/F1", ["65.3/72.4", "1/2"], ["Test EM", "Test F1"]),
        (
            "Queries (GPU / CPU) per s",
            ["653/724", "1/2"],
            ["Queries (GPU) per s", "Queries (CPU) per s"],
        ),
    ],
)
def test_import_several_values_of_cell(heading, cells, names):
    text = f"|M|{heading}|\n|-|-|\n|A|{cells[0]}|\n|B|{cells[1]}|\n"
    _, values, out = imported("a.md", text)
    of_first = [row for row in values if row[0] == "A" and "±" not in row[1]]
    assert [(row[1], row[2]) for row in of_first] == [
        (name, cell.strip(" *").split(" ")[0])
        for name, cell in zip(names, cells[0].split("/"), strict=True)
    ]
    assert ("bold and underline" in out) == ("**" in cells[0])


@pytest.mark.parametrize(
    ("heading", "cell"), [("MAP", "65.3 / 72.4"), ("A/B", "1/2/3"), ("A/B", "1/x"), ("A/B", "12")]
)
def test_import_several_values_refused(heading, cell):
    Path("a.md").write_text(f"|M|{heading}|\n|-|-|\n|A|{cell}|\n|B|1/2|\n")
    assert heading in refused("import", "a.md", "out.csv")


@pytest.mark.parametrize("rule", ["|-|-|", "|:-|-|-|-|-|", "--|--", "|-|-|-|"])
@pytest.mark.parametrize("heading", ["|M|MAP|P@5|", "M | MAP | P@5"])
def test_import_markdown_rule_of_other_width(heading, rule):
    _, values, _ = imported(
        "a.md", f"text\n\n{heading}\n{rule}\n|A|.1|.2|\n|B|.3|.4|\n\ntext | text\n"
    )
    assert values[-1] == ["B", "P@5", ".4"] and len(values) == 4


@pytest.mark.parametrize("heading", ["|M|MAP|", "M|MAP"])
def test_import_markdown_row_wider_than_heading(heading):
    """Cells beyond the heading, which GitHub hides, are named as left out."""
    _, values, out = imported("a.md", f"{heading}\n|-|-|\n|A|.1|\n|B|.3|**.4**|.56|\n|C|.2||\n")
    assert values == [["A", "MAP", ".1"], ["B", "MAP", ".3"], ["C", "MAP", ".2"]]
    assert ".4, .56" in out.split("beyond the heading")[-1]


@pytest.mark.parametrize(
    "text",
    [
        "|M|MAP||\n|-|-|-|\n|A|.1|**.4**|\n|B|**.3**|.2|\n",
        "<table><tr><th>M<th>MAP<th><tr><td>A<td>.1<td><b>.4</b><tr><td>B<td><b>.3</b><td>.2</table>",
    ],
    ids=["Markdown", "HTML"],
)
def test_import_empty_heading(text):
    """Numbers below an empty heading are imported, and no claim is offered for them."""
    _, values, out = imported("a.md", text)
    assert values[-1][:3] == ["B", "column 3", ".2"]
    assert "B has the highest MAP" in out and out.count("has the highest") == 1


@pytest.mark.parametrize(
    "text",
    [
        "2031-05-06",
        "31.05.06",
        "06/05/2031",
        "1/ A first stage",
        "0123abcd4567",
        "3-shot",
        "[1] (2a)",
        "444067daf65d982533ea17ebd59501e4",
    ],
)
def test_import_names_with_digits(text):
    """A column of dates or hashes is text, which is named and left out."""
    rows = f"|A|.1|{text}|\n|B|.2|{text}|\n"
    assert "does not name the rows: Id." in imported("a.md", f"|M|MAP|Id|\n|-|-|-|\n{rows}")[2]


def test_import_numbered_rows():
    """Names, also of two columns together, come before numbers of rows."""
    text = "|#|Index|Field|MAP|\n|-|-|-|-|\n|1|web|title|.1|\n|2|web|body|.2|\n|3|news|body|.3|\n"
    columns, values, out = imported("a.md", text)
    assert columns == ["index", "field", "metric", "value"] and "# (3 numbers)" in out


@pytest.mark.parametrize("rows", [1, 2])
def test_import_first_column_of_measure_refused(rows):
    """The values of a first column of a measure are no names."""
    Path("a.md").write_text("|dev MRR@10|R@50|\n|-|-|\n" + "|41.1|87.8|\n|42.1|88|\n"[: rows * 13])
    assert "without names of rows" in refused("import", "a.md", "out.csv")


def test_import_measures_and_others():
    """Columns of no collection are those of "–"."""
    text = "|M|nDCG@10 (DL 31)|WEB MRR@10 dev set|Docs / s|\n|-|-|-|-|\n|A|.1|.2|300|\n"
    columns, values, _ = imported("a.md", text)
    assert columns == ["m", "collection", "metric", "value"]
    assert [row[1:3] for row in values] == [
        ["DL 31", "nDCG@10"], ["WEB dev set", "MRR@10"], ["–", "Docs / s"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "form"), [("Task/Metric", "{}/{}"), ("Benchmark (Metric)", "{} ({})")]
)
def test_import_rows_of_tasks_and_measures(heading, form):
    rows = [form.format("arc_x", "acc"), form.format("arc_x", "acc_norm"), "Average"]
    text = f"|{heading}|A|B|\n|-|-|-|\n" + "".join(f"|{row}|.1|.2|\n" for row in rows)
    columns, values, _ = imported("a.md", text)
    assert columns == ["collection", "metric", "system", "value"]
    assert ["arc_x", "acc_norm", "B", ".2"] in values and ["Average", "–", "A", ".1"] in values


@pytest.mark.parametrize("second", ["Llama", ""])
def test_import_rows_named_by_sizes(second):
    """Sizes name the rows if the texts do not suffice; measures never do."""
    text = f"|Model|Size|MAP|\n|-|-|-|\n|Llama|7B|.1|\n|{second}|13B|.2|\n"
    columns, values, out = imported("a.md", text)
    assert values[1] == ["Llama", "13B", "MAP", ".2"] and "numbers: Size." in out
    Path("a.md").write_text("|Model|MAP|P@5|\n|-|-|-|\n|A|1|2|\n|A|3|4|\n")
    assert "same name" in refused("import", "a.md", "other.csv")


def test_import_known_collections_above_settings():
    text = "| |MMLU|GSM8K|\n|-|-|-|\n| |5-shot|8-shot|\n|A|.1|.2|\n"
    assert imported("a.md", text)[0] == ["system", "collection", "metric", "value"]


def test_import_row_of_words_and_dashes():
    text = "|M|MAP|P@5|P@9|\n|-|-|-|-|\n|Kind|MoE|MoE|-|\n|A|.1|.2|.3|\n|B|-|-|-|\n"
    _, values, out = imported("a.md", text)
    assert len(values) == 6 and "without numbers: Kind." in out


def test_import_many_offers():
    """Of many claims that emphasis suggests, the first are listed."""
    heading = "".join(f"|m{number}" for number in range(40))
    text = f"|M{heading}|\n" + "|-" * 41 + "|\n|A" + "|**2**" * 40 + "|\n|B" + "|1" * 40 + "|\n"
    out = imported("a.md", text)[2]
    assert out.count("A has the highest") == 12 and "and 28 more" in out


def test_import_rows_of_groups_tasks_and_measures():
    """A label before them is a key too, also where it is blank."""
    rows = "| |Size|1|2|\n|Web|arc_x (acc)|.1|.2|\n| |arc_y (acc)|.3|.4|\n"
    text = f"| |Benchmark (Metric)|A|B|\n|-|-|-|-|\n{rows}"
    columns, values, _ = imported("a.md", text)
    assert columns[:4] == ["group", "collection", "metric", "system"]
    assert values[0][:3] == ["–", "Size", "–"] and values[-1][:3] == ["Web", "arc_y", "acc"]


@pytest.mark.parametrize("fence", ["```", "~~~text"])
def test_import_markdown_fenced_table(fence):
    """A table within a fence is read, and other code is not."""
    code = "```\na | b\nc | d\n```\n"
    text = f"{code}GPT4All:\n{fence}\n|Task|MAP|\n|-|-|\n|A|.1|\n{fence[:3]}\nAverage: .1\n"
    assert imported("a.md", text)[1] == [["A", "MAP", ".1"]]


def test_import_harness_with_aliases():
    """Rows of aliases are words, and NumPy's spelling of a number is one."""
    text = (
        "|Task|Version|Metric|Value| |Stderr|\n|-|-|-|-|-|-|\n"
        "|x|N/A|acc|0.5|±|np.float64(0.25)|\n| | |alias|x| | |\n"
        "|x_law|0|alias| - law| | |\n| | |acc|0.6| | |\n"
    )
    _, values, _ = imported("a.md", text)
    assert values == [["x", "acc", "0.5"], ["x", "acc ±", "0.25"], ["x_law", "acc", "0.6"]]


def test_import_names_of_systems_first():
    text = "|Benchmark|Model|MAP|\n|-|-|-|\n|web|BM25|.1|\n|news|QL|.2|\n"
    assert imported("a.md", text)[0] == ["model", "metric", "value"]


def test_import_repeated_additions():
    """A repeated addition belongs to the name before it, in columns and in rows."""
    text = "|MAP|BM25|+RM3|QL|+RM3|\n|-|-|-|-|-|\n|DL31|.1|.2|.3|.4|\n"
    _, values, _ = imported("a.md", text)
    assert [row[1] for row in values] == ["BM25", "BM25 +RM3", "QL", "QL +RM3"]
    Path("out.csv").unlink()
    text = "|M|MAP|\n|-|-|\n|BM25|.1|\n|+RM3|.2|\n|QL|.3|\n|+RM3|.4|\n|+Axiom|.5|\n"
    names = [row[0] for row in imported("a.md", text)[1]]
    assert names == ["BM25", "BM25 +RM3", "QL", "QL +RM3", "QL +Axiom"]
