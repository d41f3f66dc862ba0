"""Contexts of a turn, their truncation, and rewriting turn by turn."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from papers.lajewska2025.ch3_rewriting import (
    count_words,
    full_context,
    prepend_history,
    rewrite,
    trimmed_context,
)

TURNS = pd.DataFrame(
    {
        "query": ["7_1", "8_1", "7_2", "7_3"],
        "topic": ["7", "8", "7", "7"],
        "utterance": ["what is hail", "who won", "is it ice", "and snow"],
    }
)
WORDS = st.lists(st.sampled_from(["red", "blue", "green"]), max_size=4).map(" ".join)
SAID = st.lists(st.sampled_from(["why", "how", "who"]), min_size=1, max_size=3).map(" ".join)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (None, "what is hail is it ice frozen rain in layers and snow"),
        (12, "what is hail is it ice frozen rain in layers and snow"),
        (11, "what is hail is it ice frozen rain in and snow"),
        (9, "what is hail is it ice frozen and snow"),
        # No answer is left; then the oldest turn goes, and no answer comes back into its room.
        (8, "what is hail is it ice and snow"),
        (7, "is it ice and snow"),
        (5, "is it ice and snow"),
        (4, "and snow"),
        (2, "and snow"),
    ],
)
def test_trimmed_context_order_of_cuts(length, expected):
    result = trimmed_context(
        ["what is hail", "is it ice"], "frozen rain in layers", "and snow", length=length
    )
    assert result == expected


def test_trimmed_context_units_and_separators():
    parts = (["ab", "cd"], "ef gh", "ij")
    assert trimmed_context(*parts, length=16, count=len, separator=" | ") == "ab | cd | ij"
    assert trimmed_context(*parts, length=17, count=len, separator=" | ") == "ab | cd | ef | ij"
    assert trimmed_context(*parts, length=20, count=len, separator=" | ") == (
        "ab | cd | ef gh | ij"
    )


@given(st.lists(SAID, max_size=5), WORDS, SAID, st.integers(3, 20))
def test_trimmed_context_fits(history, answer, utterance, length):
    result = trimmed_context(history, answer, utterance, length=length)
    full = trimmed_context(history, answer, utterance)
    assert count_words(result) <= length
    assert result.endswith(utterance)
    assert (result == full) == (count_words(full) <= length)


def test_full_context_last_three_answers():
    assert full_context([], [], "e") == "e"
    assert full_context(["a", "b"], ["A", ""], "e") == "a A b e"
    assert full_context(list("abcde"), list("ABCDE"), "f", separator="|") == "a|b|c|C|d|D|e|E|f"


def test_prepend_history():
    assert prepend_history(TURNS).to_dict() == {
        "7_1": "what is hail",
        "8_1": "who won",
        "7_2": "what is hail is it ice",
        "7_3": "what is hail is it ice and snow",
    }
    answers = {"7_2": "in layers", "8_1": "nobody reads this"}
    result = prepend_history(TURNS, answers=answers, length=9)
    assert result["7_3"] == "what is hail is it ice in and snow"
    assert result["7_2"] == "what is hail is it ice"


def rewriter(inputs_seen):
    """Writes the last word of a context, in capitals; keeps what it got."""

    def write(contexts):
        inputs_seen.append(contexts)
        return [context.split()[-1].upper() for context in contexts]

    return write


def test_rewrite_feeds_back():
    calls = []
    result = rewrite(TURNS, rewriter(calls), answers={"7_1": "frozen rain"})
    assert calls == [
        ["what is hail", "who won"],
        ["HAIL frozen rain is it ice"],
        ["HAIL ICE and snow"],
    ]
    assert result.to_dict() == {"7_1": "HAIL", "8_1": "WON", "7_2": "ICE", "7_3": "SNOW"}


def test_rewrite_full_form():
    calls = []
    rewrite(TURNS, rewriter(calls), form="full", answers={"7_1": "rain"}, separator=" | ")
    assert calls[2] == ["what is hail | rain | is it ice | and snow"]


@pytest.mark.parametrize(
    ("rewriter", "length", "column", "value"),
    [
        (lambda contexts: contexts, 2, "utterance", "what is hail"),
        (lambda contexts: [" " for _ in contexts], None, "rewritten query", ...),
    ],
)
def test_rewrite_invalid(rewriter, length, column, value):
    with pytest.raises(DataError) as caught:
        rewrite(TURNS, rewriter, length=length)
    error = caught.value
    assert (error.row, error.column, error.value) == ("turn 7_1", column, value)


def test_rewrite_no_turns():
    assert rewrite(TURNS[:0], lambda contexts: contexts).empty
