"""Estimated cost of requests to a language model, before any is sent, and limits on it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from everycell.language_models.generation import LanguageModelError, Request
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Estimate:
    """Upper estimate of what requests take: three bytes a token, answers as long as they may be."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float

    @property
    def tokens(self) -> int:
        """Of prompts and answers together."""
        return self.prompt_tokens + self.answer_tokens


class Budget:
    """Limit on the requests of a job, by their estimates."""

    def __init__(
        self, prices: Prices, *, money: float | None = None, tokens: int | None = None
    ) -> None:
        self.prices = prices
        self._money, self._tokens = money, tokens
        self._spent_money, self._spent_tokens = 0.0, 0
        self._lock = threading.Lock()

    def allow(self, name: str, requests: Sequence[Request]) -> None:
        """Refuse requests that, with those already sent, may exceed the budget."""
        with self._lock:
            above = self._above(estimate(requests, self.prices))
        if above:
            raise LanguageModelError(
                f"{len(requests)} requests to {name} may bring {above}: raise it, or ask for less. "
                "None of them was sent."
            )

    def spend(self, name: str, request: Request) -> None:
        """Count a request before it is sent, or refuse it: a failed one may be charged too."""
        expected = estimate([request], self.prices)
        with self._lock:
            above = self._above(expected)
            if above:
                raise LanguageModelError(
                    f"One more request to {name} may bring {above}: raise it and run the same "
                    "command again, which keeps the answers that came."
                )
            self._spent_money += expected.cost
            self._spent_tokens += expected.tokens

    def _above(self, expected: Estimate) -> str:
        """What would be exceeded, in words; empty if nothing."""
        cost = self._spent_money + expected.cost
        tokens = self._spent_tokens + expected.tokens
        # The same costs may add up to another last digit one by one.
        if self._money is not None and cost > self._money + 1e-9:
            return (
                f"the cost to {cost:.2f} {self.prices.currency}, above the `budget` of "
                f"{self._money:g}"
            )
        if self._tokens is not None and tokens > self._tokens:
            return f"the tokens to {tokens}, above the `token_budget` of {self._tokens}"
        return ""


def estimate(requests: Sequence[Request], prices: Prices) -> Estimate:
    """Estimate what requests cost, without asking."""
    read = written = 0
    for request in requests:
        messages = 1 if isinstance(request.prompt, str) else len(request.prompt)
        text = request.text + (request.continuation or "")
        read += -(-len(text.encode(errors="replace")) // 3) + 4 * messages
        written += 0 if request.decoding is None else request.decoding.max_tokens
    cost = (read * prices.prompt + written * prices.answer) / 1e6
    return Estimate(len(requests), read, written, cost)
