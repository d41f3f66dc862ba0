"""Cost and speed of requests: estimates, budgets that limit them, measured throughput."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from everycell.language_models.endings import why_empty
from everycell.language_models.generation import Answer, LanguageModelError, Request
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Estimate:
    """Upper estimate of tokens and cost: three bytes per token, answers of maximal length."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers together."""
        return self.prompt_tokens + self.answer_tokens


class Budget:
    """Limit on the estimated cost and tokens of a job."""

    def __init__(
        self, prices: Prices, *, money: float | None = None, tokens: int | None = None
    ) -> None:
        self.prices = prices
        self._money, self._tokens = money, tokens
        self._spent_money, self._spent_tokens = 0.0, 0
        self._lock = threading.Lock()

    def allow(self, name: str, requests: Sequence[Request]) -> None:
        """Reject requests that could exceed the budget together with those already sent."""
        with self._lock:
            excess = self._describe_excess(estimate(requests, self.prices))
        if excess:
            raise LanguageModelError(
                f"{len(requests)} requests to {name} may raise {excess}; raise that limit, or send "
                "fewer or shorter requests. None of them was sent."
            )

    def spend(self, name: str, request: Request) -> None:
        """Count a request before it is sent, or reject it; a failed one may be charged too."""
        expected = estimate([request], self.prices)
        with self._lock:
            excess = self._describe_excess(expected)
            if excess:
                raise LanguageModelError(
                    f"One more request to {name} may raise {excess}; raise that limit and run the "
                    "same command again, which keeps the answers received so far."
                )
            self._spent_money += expected.cost
            self._spent_tokens += expected.tokens

    def _describe_excess(self, expected: Estimate) -> str:
        """Describe the limit that would be exceeded; empty if there is none."""
        cost = self._spent_money + expected.cost
        tokens = self._spent_tokens + expected.tokens
        # Tolerates rounding errors of sums.
        if self._money is not None and cost > self._money + 1e-9:
            return (
                f"the cost to {cost:.2f} {self.prices.currency}, above the `budget` of "
                f"{self._money:g}"
            )
        if self._tokens is not None and tokens > self._tokens:
            return f"the tokens to {tokens}, above the `token_budget` of {self._tokens}"
        return ""


def estimate(requests: Sequence[Request], prices: Prices) -> Estimate:
    """Estimate the tokens and cost of requests without sending them."""
    prompt_tokens = answer_tokens = 0
    for request in requests:
        messages = 1 if isinstance(request.prompt, str) else len(request.prompt)
        text = request.text + (request.continuation or "")
        prompt_tokens += -(-len(text.encode(errors="replace")) // 3) + 4 * messages
        answer_tokens += 0 if request.decoding is None else request.decoding.max_tokens
    cost = (prompt_tokens * prices.prompt + answer_tokens * prices.answer) / 1e6
    return Estimate(len(requests), prompt_tokens, answer_tokens, cost)


_LOG = logging.getLogger(__name__)
# Seconds between two progress messages.
_LOG_INTERVAL = 60.0


class Throughput:
    """Numbers of answers and tokens, and their time without loading the model."""

    def __init__(self) -> None:
        self.answers = self.prompt_tokens = self.answer_tokens = 0
        self.seconds = 0.0

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.answers += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.answer_tokens += answer.answer_tokens or 0

    def include(self, other: Throughput) -> None:
        """Add another measurement."""
        self.answers += other.answers
        self.prompt_tokens += other.prompt_tokens
        self.answer_tokens += other.answer_tokens
        self.seconds += other.seconds

    def summary(self) -> dict[str, float]:
        """Counts, seconds and rates by name; no rates if no time has passed."""
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
        """Rates as text, without token rates if the numbers of tokens are unknown."""
        summary = self.summary()
        if "answers_a_minute" not in summary:
            return "too fast to measure"
        text = f"{summary['answers_a_minute']:.3g} answers per minute"
        if not self.prompt_tokens:
            return text
        reading, writing = summary["prompt_tokens_a_second"], summary["answer_tokens_a_second"]
        return f"{text}, reading {reading:.3g} and writing {writing:.3g} tokens per second"


class Progress:
    """Logs the throughput and the estimated remaining time."""

    def __init__(self, name: str, total: int, parallel: int) -> None:
        self._name, self._total, self._parallel = name, total, parallel
        self._began = math.nan
        self._next = -math.inf
        self._empty = 0
        self.speed = Throughput()

    def begin(self) -> None:
        """Start the clock, once, when the model is loaded; one thread at a time."""
        if math.isnan(self._began):
            self._began = time.monotonic()

    def step(self, answer: Answer) -> None:
        """Count an answer; one thread at a time."""
        self.speed.add(answer)
        self._empty += bool(why_empty(answer))
        now = time.monotonic()
        self.speed.seconds = now - self._began
        done = self.speed.answers
        if done == self._total:
            minutes = self.speed.seconds / 60
            _LOG.info(
                "%s: %d answers in %.1f min%s, %s.",
                *(self._name, done, minutes, self._empty_note(), self.speed),
            )
        elif done >= self._parallel and now >= self._next:
            self._next = now + _LOG_INTERVAL
            seconds = self.speed.seconds / done * (self._total - done)
            _LOG.info(
                "%s: %d of %d answers%s, %s; about %d min remaining.",
                self._name,
                done,
                self._total,
                self._empty_note(),
                self.speed,
                -(-seconds // 60),
            )

    def _empty_note(self) -> str:
        return f" ({self._empty} empty)" if self._empty else ""
