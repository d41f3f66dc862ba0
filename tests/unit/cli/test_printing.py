"""Short forms of texts for readers."""

import json

import pandas as pd
import pytest

from everycell.cli.printing import (
    difference_frame,
    format_values,
    frame_as_tex,
    list_paths,
    pluralise,
    print_for_programs,
    print_json,
    shorten,
)
from everycell.receipts.diff import Difference


@pytest.mark.parametrize("length", [1, 79, 80])
def test_shorten_eighty_characters(length):
    assert shorten("x" * length) == "x" * length


def test_shorten_beyond_eighty_characters():
    assert shorten("x" * 81) == "x" * 77 + "..."
    # A hash has 64 digits of a hexadecimal number.
    assert shorten("0123456789abcdef" * 4) == "0123456789ab"
    assert shorten("0123456789abcdeg" * 4) == "0123456789abcdeg" * 4


def test_list_paths_of_three_and_more():
    assert list_paths(["a", "b", "c"]) == "a, b, c"
    assert list_paths(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more files"


def test_shorten_nothing_and_empty():
    assert shorten(None) == "nothing" and shorten("") == "(empty)"


def test_pluralise_one_and_two():
    assert (pluralise(1, "cell"), pluralise(2, "cell")) == ("1 cell", "2 cells")


def test_print_for_programs(capsys):
    depths = pd.DataFrame({"k": [5, 10], "tau": [0.25, None]})
    print_for_programs(depths, "csv")
    print_for_programs({"order": depths.head(1)}, "csv")
    assert capsys.readouterr().out == "k,tau\n5,0.25\n10,\ntable,k,tau\norder,5,0.25\n"


def test_frame_as_tex_escaped_and_rounded():
    text = frame_as_tex(pd.DataFrame({"run": ["a_b"], "tau": [0.25]}))
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\nrun & tau")
    assert r"a\_b & 0.2500 \\" in text


def test_format_values_tiny_and_missing():
    values = format_values(["q1", 10, 0.25, 2e-12, float("nan")])
    assert values == ["q1", "10", "0.2500", "<0.0001", "-"]


def test_difference_frame_result_of_one_folder():
    frame = difference_frame([Difference(name="released/toy/table_1", only_in="first")])
    assert frame.iloc[0].tolist() == ["released/toy/table_1", "result", "", "present", ""]


@pytest.mark.parametrize("text", ["a\ud800", "\udfff", "\ud83d", "\u202e\x1b"])
def test_print_json_half_a_pair(capsys, text):
    print_json({"name": text})
    assert json.loads(capsys.readouterr().out) == {"name": text}
