"""Short forms of texts for readers."""

import pytest

from everycell.cli.printing import list_paths, shorten


@pytest.mark.parametrize("length", [1, 79, 80])
def test_shorten_keeps_eighty_characters(length):
    assert shorten("x" * length) == "x" * length


def test_shorten_beyond_eighty_characters():
    assert shorten("x" * 81) == "x" * 77 + "..."
    # A hash has 64 digits of a hexadecimal number.
    assert shorten("0123456789abcdef" * 4) == "0123456789ab"
    assert shorten("0123456789abcdeg" * 4) == "0123456789abcdeg" * 4


def test_list_paths_of_three_and_more():
    assert list_paths(["a", "b", "c"]) == "a, b, c"
    assert list_paths(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more files"
