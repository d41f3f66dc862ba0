"""Published cells: values kept as text, and values that are numbers."""

import pandas as pd
import pytest
from unit.toy_papers import CELLS, write_paper

from everycell.records.cells import count_decimals, is_number, select_any
from everycell.records.papers import find_artefact, load_papers


def test_none_and_dashes_stay_what_they_are(tmp_path):
    cells = CELLS.replace("a,", "None,").replace("b,", "-,").replace("0.30", "NA")
    artefact = find_artefact(load_papers(write_paper(tmp_path, cells=cells)), "toy/table_1")
    assert artefact.cells["row"].tolist() == ["None", "None", "-", "-"]
    assert artefact.cells["value"].iloc[0] == "NA"


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.30", 2), ("12", 0), ("12.", 0), (".5", 1), ("-1.50", 2), ("2.5e-5", 6), ("1E3", 0)],
)
def test_digits_after_the_point(text, digits):
    assert is_number(text) and count_decimals(text) == digits


@pytest.mark.parametrize("text", ["", "-", "1,000", "132_1", "nan", "inf", "1 2", "5%", "0.3*"])
def test_what_is_no_number(text):
    assert not is_number(text)


def test_select_any_in_the_order_of_the_table():
    table = pd.DataFrame({"row": ["a", "b", "c"], "value": ["1", "2", "3"]})
    rows = select_any(table, [{"row": "c"}, {"row": ["a", "c"]}], where="toy")
    assert rows["value"].tolist() == ["1", "3"]
    assert select_any(table, [], where="toy").empty
