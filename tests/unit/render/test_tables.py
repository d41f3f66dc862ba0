import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.files import write_atomically
from everycell.render.grid import (
    format_distinct,
    head_rows,
    labels_once,
    lay_out,
    published_mark,
    show_value,
    shown_label,
    shown_name,
    with_headings,
)
from everycell.render.latex import escape_tex
from everycell.render.table_files import escape_markdown, write_table

NASTY = 'a&b <i>100%</i> $x_1$ {y} ~^\\ "q" [z] # | ω ≥'


@pytest.fixture
def frame():
    rows = [
        ("Viewpoints", NASTY, "p_value", 0.1 + 0.2),
        ("Viewpoints", NASTY, "effect", "S"),
        ("Answers", "None", "p_value", -0.00001),
        ("Answers", "None", "effect", "-"),
        ("Answers", "only p", "p_value", 1e-300),
    ]
    return pd.DataFrame(rows, columns=["study", "factor", "metric", "value"])


def write(frame, stem, **more):
    options = {
        "title": f"A table of {NASTY}",
        "layout_rows": ["study", "factor"],
        "layout_columns": ["metric"],
        "decimals": {"p_value": 3, "effect": "text"},
    }
    return {path.suffix: path.read_text() for path in write_table(frame, stem, **options | more)}


def test_write_table_csv_is_exact(frame, tmp_path):
    csv = write(frame, tmp_path / "t")[".csv"]
    assert csv.splitlines()[0] == "study,factor,metric,value"
    assert "\r" not in csv and csv.endswith("1e-300\n")
    back = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert back["factor"].tolist() == frame["factor"].tolist()
    assert float(back["value"][0]) == 0.1 + 0.2


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_write_table_csv_of_any_float(tmp_path_factory, values):
    frame = pd.DataFrame({"row": [str(n) for n in range(len(values))], "value": values})
    stem = tmp_path_factory.mktemp("floats") / "t"
    write(frame, stem, layout_rows=["row"], layout_columns=[])
    back = pd.read_csv(stem.with_suffix(".csv"), dtype=str)["value"]
    assert [float(text) for text in back] == values


def test_write_table_markdown(frame, tmp_path):
    lines = write(frame, tmp_path / "t")[".md"].splitlines()
    cells = [[part.strip() for part in line.replace("\\|", "/").split("|")] for line in lines[2:]]
    assert cells[0] == ["", "Study", "Factor", "p", "Effect", ""]
    assert all(len(row) == len(cells[0]) for row in cells)
    assert cells[3] == ["", "Answers", "None", "0.000", "-", ""]
    # A label that repeats is shown once.
    assert cells[4] == ["", "", "only p", "0.000", "", ""]
    assert "\\<i>" in lines[4] and "0.300" in lines[4]


def test_write_table_latex(frame, tmp_path):
    tex = write(frame, tmp_path / "table_1")[".tex"]
    for part in (r"\begin{table}", r"\caption{", r"\toprule", r"\midrule", r"\bottomrule"):
        assert tex.count(part) == 1
    assert rf"\label{{tab:{tmp_path.name.replace('_', '-')}-table-1}}" in tex
    assert r"a\&b \textless{}i\textgreater{}100\%" in tex
    assert r"\$x\_1\$ \{y\} \textasciitilde{}\textasciicircum{}\textbackslash{}" in tex
    body = [line for line in tex.splitlines() if line.endswith(r"\\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {3}
    assert body[2].startswith("Answers &") and body[3].startswith(" & only p")


@given(st.text(max_size=20))
def test_escape_tex_any_text(text):
    output = escape_tex(text)
    for safe in (r"\textbackslash{}", r"\&", r"\%", r"\$", r"\#", r"\_", r"\{", r"\}"):
        output = output.replace(safe, "")
    assert not set(output) & set("&%#_^~")


@pytest.mark.parametrize("text", ["--", "---", "''", "``", ",,", "?`", "!`"])
def test_escape_tex_ligature(text):
    """Fonts would make one mark of these."""
    output = escape_tex(f"a{text}b")
    assert text not in output and output.replace("{}", "") == f"a{text}b"


class Shape(HTMLParser):
    """Collects tags with their attributes, and the text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_write_table_html(frame, tmp_path):
    shape = Shape(write(frame, tmp_path / "t")[".html"])
    assert {tag for tag, _ in shape.tags} == {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert all(
        attrs["scope"] in ("col", "row", "rowgroup") for tag, attrs in shape.tags if tag == "th"
    )
    assert NASTY in shape.texts and f"A table of {NASTY}" in shape.texts


def test_write_table_headings_span_columns(frame, tmp_path):
    wide = frame.iloc[:4].assign(factor="f")
    texts = write(wide, tmp_path / "t", layout_rows=["factor"], layout_columns=["study", "metric"])
    spans = [attrs for tag, attrs in Shape(texts[".html"]).tags if "colspan" in attrs]
    assert spans == [{"scope": "colgroup", "colspan": "2"}] * 2
    assert texts[".tex"].count(r"\multicolumn{2}{c}") == 2
    assert texts[".tex"].count(r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}") == 1
    assert "Viewpoints · p " in texts[".md"]


def test_write_table_names(frame, tmp_path):
    texts = write(frame, tmp_path / "t", names={"p_value": "p (F test)", "factor": "what varied"})
    assert "| what varied " in texts[".md"] and "| p (F test) " in texts[".md"]
    assert ">p (F test)</th>" in texts[".html"] and "& p (F test) &" in texts[".tex"]
    assert "study,factor,metric,value" in texts[".csv"] and "p_value" in texts[".csv"]


def test_write_table_name_with_bar(tmp_path):
    rows = [("Dense", "a", 1), ("Dense", "b", 2), ("Sparse", "a", 3)]
    frame = pd.DataFrame(
        [
            (family, row, metric, value)
            for family, row, value in rows
            for metric in ("P", "R", "EM", "nDCG")
        ],
        columns=["family", "row", "metric", "value"],
    )
    names = {"P": "Quality (%) | Precision", "R": "Quality (%) | Recall", "nDCG": "nDCG"}
    texts = write(frame, tmp_path / "t", layout_rows=["family", "row"], names=names)
    head = [part.strip() for part in texts[".md"].splitlines()[2].split("|")]
    assert head[1:5] == ["Family", "", "Quality (%) · Precision", "Quality (%) · Recall"]
    tex = texts[".tex"].splitlines()
    assert r"\cmidrule(lr){3-4}" in tex
    assert r"Family &  & Precision & Recall & EM & nDCG \\" in tex
    shape = Shape(texts[".html"])
    spans = [(tag, attrs) for tag, attrs in shape.tags if {"colspan", "rowspan"} & set(attrs)]
    assert spans == [
        ("th", {"scope": "colgroup", "colspan": "2"}),
        ("td", {"colspan": "2"}),
        ("th", {"scope": "rowgroup", "rowspan": "2"}),
    ]
    assert shape.texts.count("Dense") == 1


def test_write_table_bar_above_columns(tmp_path):
    frame = pd.DataFrame(
        [("a", metric, reading, 1) for metric in ("P", "R") for reading in ("x", "y")],
        columns=["row", "metric", "reading", "value"],
    )
    names = {"P": "Quality | P", "R": "Quality | R"}
    across = {"layout_rows": ["row"], "layout_columns": ["metric", "reading"]}
    shape = Shape(write(frame, tmp_path / "t", names=names, **across)[".html"])
    assert [attrs["colspan"] for _, attrs in shape.tags if "colspan" in attrs] == ["4", "2", "2"]


@pytest.mark.parametrize("names", [{}, {"count": "Samples"}])
def test_write_table_single_metric(tmp_path, names):
    frame = pd.DataFrame({"row": ["a", "a"], "split": ["x", "y"], "metric": "count", "value": 1})
    across = {"layout_rows": ["row"], "layout_columns": ["split", "metric"]}
    texts = write(frame, tmp_path / "t", names=names, **across)
    for form in (".md", ".tex", ".html"):
        assert "ount" not in texts[form] and ("Samples" in texts[form]) == bool(names)
    assert "count" in texts[".csv"]


def compile_tex(folder):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    return subprocess.run(
        [*command, "t.tex"], cwd=folder, capture_output=True, text=True, errors="replace"
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_pdflatex_warns_of_wide_tables(tmp_path):
    """The warnings that other tests look for are those of this TeX."""
    (tmp_path / "t.tex").write_text(
        r"\documentclass{article}\begin{document}\hbox to 1pt{wide}"
        r"\begin{table}\rule{1pt}{2\textheight}\end{table}\end{document}"
    )
    output = compile_tex(tmp_path).stdout
    assert "Overfull" in output and "Float too large" in output


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    ("rows", "groups", "columns", "upright", "turned"),
    [
        (3, 1, 6, 1, 0),
        (3, 1, 12, 0, 1),
        (3, 1, 40, 0, 3),
        (90, 1, 3, 3, 0),
        (45, 1, 8, 1, 0),
        (4, 6, 3, 2, 0),
        (4, 2, 12, 0, 2),
    ],
)
def test_write_table_wide_and_long(tmp_path, rows, groups, columns, upright, turned):
    keys = [
        (f"row {row}", f"group {group}", f"column {column}")
        for row in range(rows)
        for group in range(groups)
        for column in range(columns)
    ]
    frame = pd.DataFrame(keys, columns=["row", "group", "metric"]).assign(value=0.5)
    across = ["group", "metric"] if groups > 1 else ["metric"]
    tex = write(
        frame[["row", *across, "value"]],
        tmp_path / "t",
        layout_rows=["row"],
        layout_columns=across,
        decimals={"all": 3},
    )[".tex"]
    assert (tex.count(r"\begin{table}"), tex.count(r"\begin{sidewaystable}")) == (upright, turned)
    assert tex.count("(continued)") == upright + turned - 1
    # No group is cut.
    assert groups == 1 or tex.count(rf"\multicolumn{{{columns}}}{{c}}") == groups
    measured = tex.replace(
        r"\resizebox", r"\typeout{scaled [\the\wd0] to \the\linewidth}\resizebox"
    )
    (tmp_path / "t.tex").write_text(measured)
    done = compile_tex(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout and "Float too large" not in done.stdout
    scales = re.findall(r"scaled \[([0-9.]+)pt\] to ([0-9.]+)pt", done.stdout)
    assert scales or groups * columns < 9
    for natural, width in scales:
        assert float(width) / float(natural) >= 0.6


def test_write_table_wide_labels(tmp_path):
    names = [f"an outer label of {letter}" for letter in "abcdef"]
    frame = pd.DataFrame(
        [(*names, f"row {row}", "m", 0.5) for row in range(3)],
        columns=[*names, "row", "metric", "value"],
    )
    tex = write(frame, tmp_path / "t", layout_rows=[*names, "row"])[".tex"]
    headings = [line for line in tex.splitlines() if "itshape" in line]
    assert len(headings) == 1
    assert all(name in tex for name in names) and tex.count(r"\begin{table}") == 1


def test_write_table_many_pages(tmp_path):
    frame = pd.DataFrame({"row": range(400), "metric": "AP", "value": 0.5})
    frame = frame.assign(row="r" + frame["row"].astype(str))
    texts = write(frame, tmp_path / "t", layout_rows=["row"], layout_columns=["metric"])
    drawn = texts[".tex"].count(r" & 0.5")
    assert (
        texts[".tex"].count(r"\begin{table}") == 3 and f"; {400 - drawn} more rows" in texts[".tex"]
    )
    assert texts[".md"].count("r399") == texts[".html"].count("r399") == 1


def test_write_table_long_text(tmp_path):
    claim = "a claim of many words " * 8
    frame = pd.DataFrame({"claim": [claim.strip()], "value": ["yes"]})
    tex = write(frame, tmp_path / "t", layout_rows=["claim"], layout_columns=[])[".tex"]
    assert r"\begin{tabular}{>{\raggedright\arraybackslash}p{180pt}r}" in tex


MARKS = ["bcd", "", NASTY, "†*", "α"]


def test_write_table_markers(frame, tmp_path):
    texts = write(frame.assign(marker=MARKS), tmp_path / "t")
    assert texts[".csv"].splitlines()[0] == "study,factor,metric,value,marker"
    back = pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False)
    assert back["marker"].tolist() == MARKS
    assert (
        " 0.300^bcd^ " in texts[".md"]
        and r" -^†\*^ " in texts[".md"]
        and re.search(r"\^{2}", texts[".md"]) is None
    )
    assert r"0.300\textsuperscript{bcd} & S \\" in texts[".tex"]
    assert texts[".tex"].count("textsuperscript") == 4
    assert "<td>0.300<sup>bcd</sup></td><td>S</td>" in texts[".html"]
    shape = Shape(texts[".html"])
    assert NASTY in shape.texts and sum(tag == "sup" for tag, _ in shape.tags) == 4


def test_write_table_empty_markers(frame, tmp_path):
    plain, blank = (
        write(one, tmp_path / "t") for one in (frame, frame.assign(marker=["", None, "", "", ""]))
    )
    assert plain.pop(".csv") != blank.pop(".csv")
    assert plain == blank


def test_write_table_markers_without_column_keys(tmp_path):
    frame = pd.DataFrame({"row": ["a", "b"], "value": [0.5, 1], "marker": ["b", ""]})
    texts = write(frame, tmp_path / "t", layout_rows=["row"], layout_columns=[])
    assert "0.5^b^" in texts[".md"] and "<sup>b</sup>" in texts[".html"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("labels", [[1, 1, 2], [0.5, 0.5, 2.0], [True, True, False]])
def test_write_table_numbers_as_labels(tmp_path, labels):
    frame = pd.DataFrame({"k": labels, "part": [1, 2, 1], "value": 0.25})
    texts = write(frame, tmp_path / "t", layout_rows=["k", "part"], layout_columns=[])
    rows = [f"{labels[0]} & 1 & 0.25", " & 2 & 0.25", f"{labels[2]} & 1 & 0.25"]
    assert [
        line.removesuffix(r" \\") for line in texts[".tex"].splitlines() if "0.25" in line
    ] == rows
    assert f"| {labels[2]}" in texts[".md"] and f">{labels[2]}</" in texts[".html"]
    across = write(frame, tmp_path / "u", layout_rows=["k"], layout_columns=["part"])
    assert r"k & 1 & 2 \\" in across[".tex"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_write_table_markers_compile(frame, tmp_path):
    write(frame.assign(marker=MARKS), tmp_path / "t")
    done = compile_tex(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]


HOSTILE = {
    "commands": r"\input{/etc/passwd}\write18{id}\end{document}",
    "rows": "a \\\\ b & c",
    "a star": "* p < .05",
    "a comment": "50% of all",
    "ligatures": "--- ``x'' ?` !` <<>>",
    "script": "<script>alert(1)</script>&lt;b&gt;",
    "links": "[x](javascript:alert(1)) ![x](http://x/) <http://x/> `code` ~~no~~",
    "cells": "a | b || c",
    "others": "漢😀\u202e\ufeff",
}
_LETTERS = "".join(map(chr, [*range(0x180), *range(0x2010, 0x2027)]))
# In parts: TeX knows no width above five metres.
HOSTILE |= {f"letters {start}": _LETTERS[start : start + 48] for start in range(0, 0x180 + 23, 48)}


def hostile_texts(folder):
    """A table that has each of these texts as title, row, column, value and marker."""
    frame = pd.DataFrame(
        [(row, column, row + column, row) for row in HOSTILE.values() for column in ("P", "R_$")],
        columns=["run", "metric", "value", "marker"],
    )
    title = " ".join(HOSTILE.values())
    return write(frame, folder / "t", title=title, layout_rows=["run"], layout_columns=["metric"])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_write_table_hostile_texts_compile(tmp_path):
    hostile_texts(tmp_path)
    done = compile_tex(tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]
    # TeX names each file that it opens, behind a bracket.
    assert "(./t.aux" in done.stdout and "(/etc/passwd" not in done.stdout
    (tmp_path / "t.tex").write_text(r"\input{/etc/passwd}")
    assert "(/etc/passwd" in compile_tex(tmp_path).stdout


def test_write_table_hostile_texts_are_escaped(tmp_path):
    texts = hostile_texts(tmp_path)
    table = [line for line in texts[".md"].split("\n") if line.startswith("|")]
    assert len(table) == 2 + len(HOSTILE)
    cuts = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table]
    assert set(cuts) == {4}
    for live in ("<script", "](", "<http", "&lt;", "~~no"):
        assert not re.search(rf"(?<!\\){re.escape(live)}", texts[".md"])
    assert not [form for form in (".md", ".html", ".tex") if "\u202e" in texts[form]]
    tags = {tag for tag, _ in Shape(texts[".html"]).tags}
    assert tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "sup"}
    starts = [line for line in texts[".tex"].splitlines() if line.endswith(r"\\")]
    assert not [line for line in starts if line.startswith(("*", "["))]


def test_write_table_same_bytes(frame, tmp_path):
    assert write(frame, tmp_path / "a" / "t") == write(frame.copy(), tmp_path / "a" / "t")
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == [
        "t.csv",
        "t.html",
        "t.md",
        "t.tex",
    ]


def test_write_table_name_with_dot(frame, tmp_path):
    write(frame, tmp_path / "table_4_8.supported")
    assert (tmp_path / "table_4_8.supported.csv").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: pd.concat([f, f.iloc[[0]]]), "two cells for .*Viewpoints"),
        (lambda f: f.assign(study=None), "column 'study', row 0: a key is empty"),
        (lambda f: f.drop(columns="metric"), "cannot lay out by rows"),
    ],
)
def test_write_table_invalid_frame(frame, tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        write(change(frame), tmp_path / "t")
    assert list(tmp_path.iterdir()) == []


def test_lay_out_order_within_groups():
    keys = [("b", "2"), ("a", "1"), ("b", "1"), ("a", "2")]
    frame = pd.DataFrame(keys, columns=["x", "y"]).assign(metric="m", value=range(4))
    laid = lay_out(frame, ["x", "y"], ["metric"])
    assert laid.index.tolist() == [("b", "2"), ("b", "1"), ("a", "1"), ("a", "2")]
    assert laid["m"].tolist() == [0, 2, 1, 3]


def test_show_value_numpy_and_missing():
    assert show_value(np.float64(2.5), 0) == "2" and show_value(np.int64(3), 2) == "3"
    assert show_value(float("nan"), 2) == "" and show_value("0.10", 3) == "0.10"


def test_write_atomically_failure(tmp_path, monkeypatch):
    path = write_atomically(tmp_path / "a", "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("everycell.base.files.os.replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_write_atomically_permissions(tmp_path):
    usual = tmp_path / "usual"
    subprocess.run(["touch", usual], check=True)
    assert write_atomically(tmp_path / "a", "x").stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.25, "0.25"), (12345678.9, "12345679"), (1e-13, "0"), (1234567.4, "1234567")],
)
def test_show_value_of_either_sign(value, expected):
    """Without decimals: six significant digits, or all digits of the integer part."""
    assert show_value(value) == expected
    assert show_value(-value) == ("0" if expected == "0" else f"-{expected}")


def test_format_distinct_more_digits():
    assert format_distinct(0.47, ".45", 2) == "0.47"
    assert format_distinct(0.47, ".45", 2, added=1) == "0.470"
    assert format_distinct(0.45004, ".45", 2) == "0.45004"


def test_head_rows_spans():
    rows = head_rows([("a", "p"), ("a", "r"), ("b", "p")])
    spans = [[(cell.label, cell.span) for cell in row] for row in rows]
    assert spans == [[("a", 2), ("b", 1)], [("p", 1), ("r", 1), ("p", 1)]]


def test_labels_once_per_group():
    labels = labels_once([("a", "1"), ("a", "2"), ("b", "2")])
    assert labels == [["a", "1"], ["", "2"], ["b", "2"]]


@pytest.mark.parametrize("mark", ["✓", "✗"])
def test_labels_once_check_marks(mark):
    """A blank would be read as no."""
    rows = [("a", mark, "–"), ("a", mark, mark), ("a", "–", "–"), ("b", "–", "–")]
    assert labels_once(rows) == [
        ["a", mark, "–"], ["", mark, mark], ["", "–", "–"], ["b", "–", "–"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        (0.01449, 3, "0.014"),
        (-0.0001, 3, "0.000"),
        ("<.001", 3, "<.001"),
        (27, 3, "27"),
        (0.1 + 0.2, "text", "0.30000000000000004"),
        (0.1 + 0.2, None, "0.3"),
        (0.1 + 0.2 - 0.3, None, "0"),
        (12345678.9, None, "12345679"),
    ],
)
def test_show_value_decimals(value, decimals, expected):
    assert show_value(value, decimals) == expected


def test_published_mark():
    texts = ["bcd;_f-j", "†", "not_reported"]
    assert [published_mark(text) for text in texts] == ["bcd,f-j", "†", ""]


def test_escape_markdown_underscore_in_a_word():
    assert escape_markdown("a|b *c* p_value <i>") == r"a\|b \*c\* p_value \<i>"


def test_shown_name_of_record_or_derived():
    names = ["p_value", "row", "avg_list_size", "nDCG@10", "k"]
    expected = ["p", "", "Avg list size", "nDCG@10", "k"]
    assert [shown_name(name) for name in names] == expected
    assert shown_name("J_4", {"J_4": "J (4 annotators)"}) == "J (4 annotators)"


def test_shown_label_bar_and_number():
    assert shown_label("metric", "p_value") == "p"
    assert shown_label("run", "bm25_k1") == "bm25_k1" and shown_label("run", 5) == 5
    name = {"AC": "Confidence | Relevant"}
    assert shown_label("metric", "AC", name) == "Confidence Relevant"


def test_with_headings_bar_gives_two_rows():
    table = pd.DataFrame({"p_value": [0.5]}, index=pd.Index(["a_b"], name="run_tag"))
    assert with_headings(table, {"a_b": "A and B"}).to_dict("index") == {"A and B": {"p": 0.5}}
    table = pd.DataFrame([[1, 2]], columns=pd.Index(["P", "R"], name="metric"))
    headings = list(with_headings(table, {"P": "Quality | P", "R": "Quality | R"}))
    assert headings == [("Quality", "P"), ("Quality", "R")]


@pytest.mark.parametrize("cell", [[0.3], np.array([0.3, 0.4]), {"mean": 0.3}, pd.Series([0.3])])
def test_write_table_cells_that_are_no_scalars(tmp_path, cell):
    frame = pd.DataFrame({"row": ["a", "b"], "metric": "AP", "value": [0.3, None]}).astype(object)
    frame.at[1, "value"] = cell
    layout = {"layout_rows": ["row"], "layout_columns": ["metric"]}
    with pytest.raises(ValueError, match=r"table_1, row 2.*'value'"):
        write_table(frame, tmp_path / "table_1", title="A", decimals={"all": 2}, **layout)
    assert not any(tmp_path.iterdir())
