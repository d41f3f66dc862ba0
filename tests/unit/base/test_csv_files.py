"""CSV files of users and of releases."""

import csv
import gzip

import pandas as pd
import pytest

from everycell.base.csv_files import (
    csv_text,
    read_columns,
    read_table,
    row_in_file,
    row_number,
)
from everycell.base.errors import DataError

TABLE = "rating,level\n04,None\n3,x\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text(TABLE)
    return path


def test_read_columns_text_and_order(path):
    assert read_columns(path, ["level", "rating"]).to_dict("list") == {
        "level": ["None", "x"],
        "rating": ["04", "3"],
    }


def test_read_table_all_columns(path):
    assert read_table(path, ["level"])["rating"].tolist() == ["04", "3"]


@pytest.mark.parametrize(
    ("content", "column"),
    [
        (b"", None),
        (b"rating,level\n", None),
        (b'rating,level\n"4,None\n', None),
        (b"\x1f\x8b\x08\x00\xff\xff", None),
        (b"rating,level\n4,None,more\n", None),
        (b"rating,scale\n4,None\n", "level"),
        (b"rating,level,level\n4,None,x\n", "level"),
    ],
)
def test_read_table_invalid(path, content, column):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(path, ["rating", "level"])
    assert (caught.value.path, caught.value.column) == (path, column)


def test_read_table_repeated_column_that_is_not_used(path):
    path.write_text("rating,note,note\n4,a,b\n")
    assert read_table(path, ["rating"])["rating"].tolist() == ["4"]
    with pytest.raises(DataError, match="note"):
        read_table(path)


def test_read_table_missing_file_folder_and_gzip(tmp_path):
    packed = tmp_path / "ratings.csv.gz"
    for path in (tmp_path / "none.csv", tmp_path, packed):
        packed.write_bytes(b"no gzip")
        with pytest.raises(DataError) as caught:
            read_table(path)
        assert caught.value.path == path
    packed.write_bytes(gzip.compress(TABLE.encode()))
    assert len(read_table(packed)) == 2


@pytest.mark.parametrize(
    ("content", "row", "number"),
    [
        (TABLE, 1, 3),
        # Blank lines count, and lines within a cell do not, as in a spreadsheet.
        ("rating,level\n\n  \n4,None\n", 0, 4),
        ('rating,note\n4,"a\n\nb"\n3,c\n', 1, 3),
        # The cell is too long for Python's csv module.
        (f"rating,note\n4,{'x' * 200_000}\n3,c\n", 1, 3),
    ],
)
def test_row_number(path, content, row, number):
    path.write_text(content)
    assert row_number(path, row) == number
    assert row_in_file(path, row) == f"{path}, row {number}"


@pytest.mark.parametrize("name", ["a\rb", "\r", "a\r\n", 'a"\r,b', "a\nb", "plain"])
def test_csv_text_line_breaks(path, name):
    """A name with a carriage return stays in one field, for csv and for pandas."""
    frame = pd.DataFrame({"system": [name, "b"], "value": ["0.50", "x"]})
    path.write_text(csv_text(frame), newline="")
    assert read_table(path)["system"].tolist() == [name, "b"]
    with path.open(newline="") as file:
        assert [*csv.reader(file)][1:] == [[name, "0.50"], ["b", "x"]]
    if "\r" not in name:
        assert csv_text(frame) == frame.to_csv(index=False, lineterminator="\n")
