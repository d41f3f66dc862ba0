"""`everycell import`: words in columns of numbers."""

from pathlib import Path

import pytest
from command_line import call, refused
from unit.cli.importing.examples import imported


def table_of(*values: str, heading: str = "Cost") -> str:
    rows = [f"|s{number}|.{number}|{value}|" for number, value in enumerate(values, 1)]
    return "\n".join([f"|Model|MAP|{heading}|", "|-|-|-|", *rows]) + "\n"


@pytest.mark.parametrize(
    "word", ["(baseline)", "baseline", "ref.", "see text", "**ref.**", "unknown†", "to appear"]
)
@pytest.mark.parametrize("heading", ["Cost", "RR"])
def test_import_word_among_numbers(folder, word, heading):
    """A word is a cell without a number, and a line names it with row and column."""
    values = imported("t.md", table_of(word, "2", "3.5", heading=heading))
    assert values["s1", heading].startswith("–") and values["s1", "MAP"] == ".1"
    assert [values[f"s{row}", heading] for row in (2, 3)] == ["2", "3.5"]
    (line,) = (line for line in call("import", "t.md")[1].splitlines() if "Read as –" in line)
    assert f"row 2 {heading} '{word.strip('*')}'" in line


@pytest.mark.parametrize("text", ["~0.3", "about 3", "½", "3/4", "v2 only", "inf", "?", "\\best"])
def test_import_unread_number(folder, text):
    """What has digits, stands for a number or is no word is not taken for a cell without one."""
    name = "t.tex" if text == "\\best" else "t.md"
    rows = table_of(text, "2", "3.5")
    if name == "t.tex":
        rows = rf"M & MAP & Cost \\ a & .1 & {text} \\ b & .2 & 2 \\ c & .3 & 3"
        rows = rf"\begin{{tabular}}{{lll}} {rows} \end{{tabular}}"
    Path(name).write_text(rows)
    assert ", row 2 of the table: Cost is " in refused("import", name, "out.csv")


@pytest.mark.parametrize("values", [("ref.", "none yet", "2"), ("ref.", "none yet", "2", "3")])
def test_import_as_many_words_as_numbers(folder, values):
    """A column of words is left out, and refused if its heading is a measure."""
    cells = imported("t.md", table_of(*values))
    assert {key[1] for key in cells} == {"MAP"} and "Cost" in call("import", "t.md")[1]
    Path("t.md").write_text(table_of(*values, heading="RR"))
    assert "row 2 of the table: RR is 'ref.'" in refused("import", "t.md", "new.csv")
