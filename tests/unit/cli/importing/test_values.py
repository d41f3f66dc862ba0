"""Spellings of published values, alone and in their column."""

import pytest

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.tidy import import_table
from everycell.cli.importing.values import SourceCell, split_cell


def cell(text: str) -> SourceCell:
    """Cell with the text before `^` and the superscript after it."""
    text, _, raised = text.partition("^")
    return SourceCell(text, raised)


def column_of(*texts: str):
    """Cells of a table with one column of values."""
    rows = [[SourceCell("System"), SourceCell("MAP")]]
    rows += [[SourceCell(f"s{number}"), cell(text)] for number, text in enumerate(texts)]
    return import_table("paper.md", SourceTable(rows, head=1)).cells


@pytest.mark.parametrize(
    ("text", "value", "unit", "marker"),
    [
        ("0.82", "0.82", "", ""),
        ("0.820", "0.820", "", ""),
        (".301", ".301", "", ""),
        ("1.", "1", "", ""),
        ("55,216", "55216", "", ""),
        ("8,841,823", "8841823", "", ""),
        ("55\u202f216", "55216", "", ""),
        ("55'216", "55216", "", ""),
        ("1,234.5", "1234.5", "", ""),
        ("45.1%", "45.1", "%", ""),
        ("45.1 %", "45.1", "%", ""),
        ("0,58", "0.58", "", ""),
        ("1.234,5", "1234.5", "", ""),
        ("−0.12", "-0.12", "", ""),
        ("–0.12", "-0.12", "", ""),
        ("-.12", "-.12", "", ""),
        ("+2.3", "+2.3", "", ""),
        ("110M", "110", "M", ""),
        ("12 ms", "12", "ms", ""),
        ("2.3×", "2.3", "×", ""),
        ("256px", "256", "px", ""),
        ("256 px†", "256", "px", "†"),
        ("1.2kg", "1.2", "kg", ""),
        ("12 mins", "12", "mins", ""),
        ("12 sec", "12", "sec", ""),
        ("12msec*", "12", "msec", "*"),
        ("3 layers", "3", "layers", ""),
        ("5 steps", "5", "steps", ""),
        ("0.45ms a", "0.45", "", "msa"),
        ("0.45ns", "0.45", "", "ns"),
        ("0.45 ns†", "0.45", "", "ns†"),
        ("0.71ba", "0.71", "", "ba"),
        ("0.71abcij", "0.71", "", "abcij"),
        ("1e-5", "1e-5", "", ""),
        ("1.2 × 10^−5", "1.2e-5", "", ""),
        ("0.71†", "0.71", "", "†"),
        ("0.71 †‡", "0.71", "", "†‡"),
        ("0.71*", "0.71", "", "*"),
        ("†0.71", "0.71", "", "†"),
        ("0.71^†", "0.71", "", "†"),
        ("0.71^a, b", "0.71", "", "ab"),
        ("0.71abc", "0.71", "", "abc"),
        ("0.71▲", "0.71", "", "▲"),
        ("< .001", "< .001", "", ""),
        ("<0.001", "< 0.001", "", ""),
        ("p < .05", "< .05", "", ""),
        ("p = .03", ".03", "", ""),
        ("<= 0.05", "≤ 0.05", "", ""),
        ("<0.1%", "< 0.1", "%", ""),
        ("> 5 ms*", "> 5", "ms", "*"),
        ("> 0,999", "> 0.999", "", ""),
        ("n.s.", "n.s.", "", ""),
        ("–", "–", "", ""),
        ("-", "–", "", ""),
        ("--", "–", "", ""),
        ("OOM", "OOM", "", ""),
        ("N/A", "N/A", "", ""),
        ("OOM^†", "OOM", "", "†"),
        *((text, "–", "", "") for text in ("NaN", "nan", "-nan", "None", "null", "<NA>", "NaT")),
    ],
)
def test_import_table_spellings(text, value, unit, marker):
    """One number keeps its digits; the other cell has the same unit, and no evidence on commas."""
    row = column_of(text, "7").fillna("").iloc[0]
    assert (row["value"], row.get("unit", ""), row.get("marker", "")) == (value, unit, marker)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.82 ± 0.05", {"MAP": "0.82", "MAP ±": "0.05"}),
        ("0.82±.05", {"MAP": "0.82", "MAP ±": ".05"}),
        ("0.82 (±0.05)", {"MAP": "0.82", "MAP ±": "0.05"}),
        ("0.82 [+/- .05]†", {"MAP": "0.82", "MAP ±": ".05"}),
        ("0.82 +/- 0.05", {"MAP": "0.82", "MAP ±": "0.05"}),
        ("82.1 ± 0.5%", {"MAP": "82.1", "MAP ±": "0.5"}),
        ("0.82 (0.05)", {"MAP": "0.82", "MAP (in brackets)": "0.05"}),
        ("0.82 (−3.2%)", {"MAP": "0.82", "MAP (in brackets)": "-3.2"}),
        ("0.82† (0.05)", {"MAP": "0.82", "MAP (in brackets)": "0.05"}),
        ("0.82 [0.79, 0.85]", {"MAP": "0.82", "MAP (low)": "0.79", "MAP (high)": "0.85"}),
        ("0.82 ± nan", {"MAP": "0.82", "MAP ±": "–"}),
        ("nan (nan)", {"MAP": "–", "MAP (in brackets)": "–"}),
        ("0.82 (0.79–0.85)", {"MAP": "0.82", "MAP (low)": "0.79", "MAP (high)": "0.85"}),
    ],
)
def test_import_table_several_numbers(text, values):
    cells = column_of(text, "0.5")
    of_first = cells[cells["system"] == "s0"]
    assert dict(zip(of_first["metric"], of_first["value"], strict=True)) == values


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,234", "98.5"], ["1234", "98.5"]),
        (["1,234", "2,345,678"], ["1234", "2345678"]),
        (["0,583", "1,234"], ["0.583", "1.234"]),
        (["1.234,5", "0,5"], ["1234.5", "0.5"]),
        (["1,234", "5,678"], ["1234", "5678"]),
        # Letters of significance, although d and h may also be units.
        (["0.45d", "0.44a"], ["0.45", "0.44"]),
        (["0.45km", "0.44ab"], ["0.45", "0.44"]),
        (["0.45acji", "0.44a"], ["0.45", "0.44"]),
    ],
)
def test_import_table_column_decides(texts, values):
    cells = column_of(*texts)
    assert cells["value"].to_list() == values and "unit" not in cells


@pytest.mark.parametrize(
    ("texts", "row", "value"),
    [
        (["0,58", "1,234"], 3, "1,234"),
        (["0.61", "0,58"], 3, "0,58"),
        (["1,234.5", "0,58"], 3, "0,58"),
        (["0.5", "1,23,4"], 3, "1,23,4"),
        (["0.5", "1.2.3.4"], 3, "1.2.3.4"),
        (["0.5", "0.6", "0.82/0.75"], 4, "0.82/0.75"),
        (["0.5", "0.6", "0.8 ± ?"], 4, "0.8 ± ?"),
        # Values that cannot be read do not make a column of text, nor a row of headings.
        (["1m30s", "2h"], 2, "1m30s"),
        (["0.5", "inf"], 3, "inf"),
        (["0.5", "0.6", "-Infinity"], 4, "-Infinity"),
        (["0.5", "∞", "NaN"], 3, "∞"),
        (["0.5", "0.6", "2026-02-01"], 4, "2026-02-01"),
        (["~0.3", "≈ 0.4", "unknown"], 2, "~0.3"),
        (["0.5", "see text", "3/4", "(1/4)"], 4, "3/4"),
    ],
)
def test_import_table_refused(texts, row, value):
    with pytest.raises(DataError) as error:
        column_of(*texts)
    assert str(error.value.row).startswith(f"row {row} of the table")
    assert (error.value.path, error.value.column, error.value.value) == ("paper.md", "MAP", value)


UNREAD = [
    ["$154", "$56"],
    ["[-2.4, +3.1]", "[0.2, 16.8]"],
    ["~0.3", "≈ 0.4", "unknown"],
    ["0.7", "91% (20/22)", "5 of 8"],
    ["", "0.220 to 0.345"],
]


@pytest.mark.parametrize("texts", UNREAD)
@pytest.mark.parametrize("is_last", [True, False])
def test_import_table_column_not_understood(texts, is_last):
    """It is left out and named with its first such value, and the other column is read."""
    order = (0, 1, 2) if is_last else (0, 2, 1)
    rows = [
        ["System", "Score", "Cost"],
        *([f"s{n}", f".{n}", text] for n, text in enumerate(texts)),
    ]
    table = SourceTable(
        [[SourceCell(row[i], source=row[i]) for i in order] for row in rows], head=1
    )
    imported = import_table("paper.md", table)
    assert imported.cells["value"].tolist() == [f".{n}" for n in range(len(texts))]
    assert set(imported.cells["metric"]) == {"Score"}
    first = next(text for text in texts if text not in ("", "0.7"))
    (note,) = [note for note in imported.notes if "not understood" in note]
    assert f"Cost ('{first}'" in note and ("1 number" in note) == ("0.7" in texts)


@pytest.mark.parametrize("texts", UNREAD)
def test_import_table_measure_not_understood(texts):
    """A column of a measure is refused all the same."""
    rows = [["System", "Score", "MAP"], *([f"s{n}", f".{n}", text] for n, text in enumerate(texts))]
    table = SourceTable([[SourceCell(text, source=text) for text in row] for row in rows], head=1)
    with pytest.raises(DataError) as error:
        import_table("paper.md", table)
    assert error.value.column == "MAP"


def test_import_table_commas_of_other_columns():
    """Beside decimal commas, neither 1,234 nor 1.234 is a number of thousands by itself."""
    head = [[SourceCell(name) for name in ("System", "MAP", "Seconds")]]
    rows = [[SourceCell("a"), SourceCell("0,58"), SourceCell("1,234")]]
    cells = import_table("t.md", SourceTable(head + rows, head=1)).cells
    assert cells["value"].to_list() == ["0.58", "1.234"]
    rows = [[SourceCell("a"), SourceCell("0,58"), SourceCell("1.234")]]
    with pytest.raises(DataError) as error:
        import_table("t.md", SourceTable(head + rows, head=1))
    assert (error.value.column, error.value.value) == ("Seconds", "1.234")


TIMES = [
    "2026-02-01T10:56:45-08:00",
    "2026-02-01T10:56:45.123456Z",
    "2026-02-01 10:56",
    "2026-02-01 10:56:45+00:00",
    "20260201-105645",
    "01/02/2026",
    "1/2/26",
    "1.2.2026",
    "2026/2/1",
    "1 Feb 2026",
    "Feb 1, 2026",
    "12:30:01",
    "9:05 pm",
    "0:00:12.345",
    "0 days 00:01:02.5",
    "1h 20m",
    "1h20min30s",
    "3 days ago",
]


def with_column(*texts: str):
    """A table with a column of measures and one of these texts."""
    rows = [["System", "MAP", "Other"]]
    rows += [[f"s{number}", f".{number}", text] for number, text in enumerate(texts)]
    return SourceTable([[SourceCell(text) for text in row] for row in rows], head=1)


@pytest.mark.parametrize("more", ["", "–", "text"])
@pytest.mark.parametrize("time", TIMES)
def test_import_table_times(time, more):
    """A column of dates or times is text, in whatever form."""
    imported = import_table("a.csv", with_column(time, time, more))
    assert list(imported.cells["value"]) == [".0", ".1", ".2"]
    assert "does not name the rows: Other." in imported.notes[0]


def test_import_table_durations():
    """Beside `1h 20m`, also `45s` is a time."""
    imported = import_table("a.csv", with_column("1h 20m", "45s", "2h"))
    assert "metric" in imported.cells and set(imported.cells["metric"]) == {"MAP"}
    assert "Other (2 numbers)" in imported.notes[0]


@pytest.mark.parametrize("text", ["", "–", "NaN", "None"])
def test_import_table_empty_column(text):
    imported = import_table("a.csv", with_column(text, text, ""))
    assert set(imported.cells["metric"]) == {"MAP"}
    assert imported.notes == ["Not imported, since it is empty: Other."]


@pytest.mark.parametrize("number", ["7", "0.5"])
@pytest.mark.parametrize("missing", [["NaN"], ["nan", "None", "NaN"]])
def test_import_table_few_numbers(number, missing):
    """One number makes a column of values, however many others are missing."""
    imported = import_table("a.csv", with_column(*missing, number))
    values = imported.cells.query("metric == 'Other'")["value"]
    assert list(values) == ["–"] * len(missing) + [number]
    assert f"{missing[0]}" in imported.notes[0]


@pytest.mark.parametrize("text", ["BM25", "0.82/0.75", "a0.5", "0.5 0.6", "✓"])
def test_split_cell_text(text):
    assert split_cell(SourceCell(text)) is None


def test_split_cell_blank():
    assert split_cell(SourceCell(" \u00a0")) == []
