"""How fast a language model answers: measured while it is asked, and said in the log."""

from __future__ import annotations

import logging
import math
import time

from everycell.language_models.generation import Answer

_LOG = logging.getLogger(__name__)
# Seconds between two lines of the log on answers that are still to come.
_TELL = 60.0


class Throughput:
    """Answers and tokens in the time that a model was asked; the time to load it does not count.

    Examples
    --------
    >>> speed = Throughput()
    >>> speed.add(Answer(text="a", finish="stop", prompt_tokens=900, answer_tokens=30))
    >>> speed.seconds = 2.0
    >>> str(speed)
    '30 answers a minute, 450 tokens a second read and 15 written'
    >>> speed.summary()["answers_a_minute"]
    30.0
    """

    def __init__(self) -> None:
        self.answers = self.prompt_tokens = self.answer_tokens = 0
        self.seconds = 0.0

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.answers += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.answer_tokens += answer.answer_tokens or 0

    def include(self, other: Throughput) -> None:
        """Add what was measured at another time."""
        self.answers += other.answers
        self.prompt_tokens += other.prompt_tokens
        self.answer_tokens += other.answer_tokens
        self.seconds += other.seconds

    def summary(self) -> dict[str, float]:
        """Counts, seconds and rates by name; no rates where no time passed."""
        counts = {
            "answers": self.answers,
            "seconds": round(self.seconds, 1),
            "prompt_tokens": self.prompt_tokens,
            "answer_tokens": self.answer_tokens,
        }
        if not self.seconds:
            return counts
        return counts | {
            "answers_a_minute": round(60 * self.answers / self.seconds, 2),
            "prompt_tokens_a_second": round(self.prompt_tokens / self.seconds, 1),
            "answer_tokens_a_second": round(self.answer_tokens / self.seconds, 1),
        }

    def __str__(self) -> str:
        """The rates in words; without tokens where none are known."""
        summary = self.summary()
        if "answers_a_minute" not in summary:
            return "too fast to measure"
        text = f"{summary['answers_a_minute']:.3g} answers a minute"
        if not self.prompt_tokens:
            return text
        read, written = summary["prompt_tokens_a_second"], summary["answer_tokens_a_second"]
        return f"{text}, {read:.3g} tokens a second read and {written:.3g} written"


class Progress:
    """Says in the log how fast answers come and how long the others will take."""

    def __init__(self, name: str, total: int, together: int) -> None:
        self._name, self._total, self._first = name, total, together
        self._began = math.nan
        self._next = -math.inf
        self.speed = Throughput()

    def begin(self) -> None:
        """Start the clock, once, when the model is there; one thread at a time."""
        if math.isnan(self._began):
            self._began = time.monotonic()

    def step(self, answer: Answer) -> None:
        """Count an answer; one thread at a time."""
        self.speed.add(answer)
        now = time.monotonic()
        self.speed.seconds = now - self._began
        done = self.speed.answers
        if done == self._total:
            minutes = self.speed.seconds / 60
            _LOG.info("%s: %d answers in %.1f min, %s.", self._name, done, minutes, self.speed)
        elif done >= self._first and now >= self._next:
            self._next = now + _TELL
            seconds = self.speed.seconds / done * (self._total - done)
            _LOG.info(
                "%s: %d of %d answers, %s; the others will take about %d min.",
                self._name,
                done,
                self._total,
                self.speed,
                -(-seconds // 60),
            )
