"""Contexts of a turn: what is kept, what is cut first, and rewriting turn by turn."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.dialogue.rewriting import (
    count_words,
    full_context,
    prepend_history,
    rewrite,
    trimmed_context,
)

TURNS = pd.DataFrame(
    {
        "query_id": ["7_1", "8_1", "7_2", "7_3"],
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
def test_the_answer_is_cut_first_then_the_oldest_turns(length, expected):
    result = trimmed_context(
        ["what is hail", "is it ice"], "frozen rain in layers", "and snow", length=length
    )
    assert result == expected


def test_units_and_separators_are_those_that_are_given():
    parts = (["ab", "cd"], "ef gh", "ij")
    assert trimmed_context(*parts, length=16, count=len, separator=" | ") == "ab | cd | ij"
    assert trimmed_context(*parts, length=17, count=len, separator=" | ") == "ab | cd | ef | ij"
    assert trimmed_context(*parts, length=20, count=len, separator=" | ") == (
        "ab | cd | ef gh | ij"
    )


@given(st.lists(SAID, max_size=5), WORDS, SAID, st.integers(3, 20))
def test_a_context_fits_and_ends_with_the_utterance(history, answer, utterance, length):
    result = trimmed_context(history, answer, utterance, length=length)
    full = trimmed_context(history, answer, utterance)
    assert count_words(result) <= length
    assert result.endswith(utterance)
    assert (result == full) == (count_words(full) <= length)


def test_an_utterance_is_never_cut_and_never_empty():
    with pytest.raises(ValueError, match="'and what of snow' has 4 units and the limit is 3"):
        trimmed_context([], "", "and what of snow", length=3)
    for empty in (lambda: trimmed_context(["a"], "", " "), lambda: full_context([], [], "")):
        with pytest.raises(ValueError, match="The utterance is empty"):
            empty()


def test_the_organisers_context_has_the_last_three_answers():
    assert full_context([], [], "e") == "e"
    assert full_context(["a", "b"], ["A", ""], "e") == "a A b e"
    assert full_context(list("abcde"), list("ABCDE"), "f", separator="|") == "a|b|c|C|d|D|e|E|f"
    with pytest.raises(ValueError, match="1 earlier utterances and 0 answers"):
        full_context(["a"], [], "b")


def test_history_stays_in_its_conversation():
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


def test_later_turns_see_what_became_of_earlier_ones():
    calls = []
    result = rewrite(TURNS, rewriter(calls), answers={"7_1": "frozen rain"})
    assert calls == [
        ["what is hail", "who won"],
        ["HAIL frozen rain is it ice"],
        ["HAIL ICE and snow"],
    ]
    assert result.to_dict() == {"7_1": "HAIL", "8_1": "WON", "7_2": "ICE", "7_3": "SNOW"}


def test_the_full_context_has_what_was_said():
    calls = []
    rewrite(TURNS, rewriter(calls), form="full", answers={"7_1": "rain"}, separator=" | ")
    assert calls[2] == ["what is hail | rain | is it ice | and snow"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "short"}, "form is 'short'"),
        ({"form": "full", "length": 9}, "length is 9, but the form 'full'"),
        ({"answers": {"9_1": "a"}}, "an answer to '9_1', which is not among the 4 turns"),
        ({"length": 2}, "Turn '7_1': The utterance 'what is hail' has 3 units"),
        ({"rewriter": lambda contexts: contexts[1:]}, "returned 1 rewrites for 2 contexts"),
        ({"rewriter": lambda contexts: [" " for _ in contexts]}, "empty query for the turn '7_1'"),
        ({"turns": pd.concat([TURNS, TURNS[:1]])}, "The turn '7_1' occurs twice"),
        ({"turns": TURNS.assign(utterance="")}, "Turn '7_1': The utterance is empty"),
    ],
)
def test_faults(options, message):
    given_turns = options.pop("turns", TURNS)
    with pytest.raises(ValueError, match=message):
        rewrite(given_turns, options.pop("rewriter", lambda contexts: contexts), **options)


def test_no_turns():
    assert rewrite(TURNS[:0], lambda contexts: contexts).empty
