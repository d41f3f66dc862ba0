"""Time and reward of an annotated passage: by hand, and what cannot be counted."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.dialogue.effort import Effort, mean_effort, passage_effort


def tasks(*rows):
    """Tasks as `read_tasks` gives them."""
    return pd.DataFrame(rows, columns=["turn_id", "passage_id", "seconds", "reward"])


def test_two_steps_by_hand():
    selection = tasks(
        *(("1_1", "p1", seconds, 0.1) for seconds in (10, 20, 90)),
        *(("1_1", "p2", seconds, 0.1) for seconds in (20, 30, 40)),
    )
    # Three sentences of p1, none of p2, by three people: 1.5 sentences a passage.
    sentences = tasks(*(("1_1", "p1", seconds, 0.2) for seconds in (1, 2, 3, 4, 5, 6, 7, 8, 100)))
    result = passage_effort(sentences, 3, selection)
    assert result == (2, pytest.approx(25 + 1.5 * 5), pytest.approx(0.1 + 1.5 * 0.2))


@given(st.lists(st.tuples(st.integers(1, 99), st.floats(1, 999)), min_size=1, max_size=5))
def test_a_mean_lies_between_its_parts_and_does_not_depend_on_how_they_are_cut(medians):
    parts = [Effort(passages, seconds, 0.3) for passages, seconds in medians]
    full = mean_effort(parts)
    assert full.passages == sum(part.passages for part in parts)
    assert min(part.seconds for part in parts) - 1e-6 <= full.seconds
    assert full.seconds <= max(part.seconds for part in parts) + 1e-6
    halves = [mean_effort(parts[:1]), *parts[1:]] + [full]
    assert mean_effort(halves).seconds == pytest.approx(full.seconds)


ONE = tasks(("1_1", "p1", 10, 0.1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: passage_effort(ONE[:0], 1), "0 tasks"),
        (lambda: passage_effort(ONE, 0), "0 people"),
        (lambda: passage_effort(ONE, 3), "1 tasks for 3 people"),
        (
            lambda: passage_effort(tasks(("1_1", "p2", 10, 0.1)), 1, ONE),
            "passage p2 of turn 1_1 has annotated sentences but no selection",
        ),
        (lambda: mean_effort([]), "`parts` is empty"),
    ],
)
def test_what_cannot_be_counted_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
