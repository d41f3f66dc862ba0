"""What requests to an endpoint would cost, before any is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everycell.language_models.generation import Request
from everycell.language_models.settings import Prices


@dataclass(frozen=True)
class Estimate:
    """What requests would take of an endpoint at most.

    Attributes
    ----------
    calls : int
    prompt_tokens, answer_tokens : int
        Upper estimates: a token for three bytes of a prompt (English text has about four) and four
        for each message; answers as long as they may be.
    cost : float
        In the currency of the prices.
    """

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float


def estimate(requests: Sequence[Request], prices: Prices) -> Estimate:
    """Estimate what requests cost, without asking.

    Parameters
    ----------
    requests : sequence of Request
        Each is counted, equal ones too.
    prices : Prices

    Examples
    --------
    >>> from everycell.language_models.settings import Decoding
    >>> asked = Request(prompt="abc" * 1000, decoding=Decoding(max_tokens=500))
    >>> found = estimate([asked], Prices(prompt=10.0, answer=30.0))
    >>> found.prompt_tokens, found.answer_tokens, round(found.cost, 5)
    (1004, 500, 0.02504)
    """
    read = written = 0
    for request in requests:
        messages = 1 if isinstance(request.prompt, str) else len(request.prompt)
        text = request.text + (request.continuation or "")
        read += -(-len(text.encode(errors="replace")) // 3) + 4 * messages
        written += 0 if request.decoding is None else request.decoding.max_tokens
    cost = (read * prices.prompt + written * prices.answer) / 1e6
    return Estimate(len(requests), read, written, cost)
