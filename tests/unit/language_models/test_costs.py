"""Throughput of a language model, by hand."""

import logging
import time

import pytest

from everycell.language_models.costs import Progress, Throughput
from everycell.language_models.generation import Answer


def measured(answers: int, seconds: float) -> Throughput:
    result = Throughput()
    for _ in range(answers):
        result.add(Answer(text="a", finish="stop", prompt_tokens=100, answer_tokens=10))
    result.seconds = seconds
    return result


def test_throughput_include_adds_all_counts():
    total = measured(3, 4.0)
    total.include(measured(2, 6.0))
    assert total.summary() == {
        "answers": 5,
        "seconds": 10.0,
        "prompt_tokens": 500,
        "answer_tokens": 50,
        "answers_a_minute": 30.0,
        "prompt_tokens_a_second": 50.0,
        "answer_tokens_a_second": 5.0,
    }


@pytest.mark.parametrize(
    ("seconds", "minutes"),
    # Nine answers remain after one.
    [(6.0, 1), (20.0, 3), (21.0, 4), (60.0, 9)],
)
def test_progress_remaining_minutes_are_rounded_up(monkeypatch, caplog, seconds, minutes):
    caplog.set_level(logging.INFO)
    clock = iter([0.0, seconds])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    progress = Progress("parrot", 10, parallel=1)
    progress.begin()
    progress.step(Answer(text="a", finish="stop"))
    assert caplog.messages[0].endswith(f"; about {minutes} min remaining.")
