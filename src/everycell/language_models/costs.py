"""Estimated cost of requests to a language model, and budgets that limit it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from everycell.language_models.generation import LanguageModelError, Request
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
