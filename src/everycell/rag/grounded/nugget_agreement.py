"""Agreement of two lists of facts, by their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from everycell.rag.grounded.clusters import stems


# Lists are compared with several others.
@lru_cache(maxsize=100_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def found_share(facts: Sequence[str], other_facts: Sequence[str], *, minimum: float = 0.5) -> float:
    """Share of some facts that one of the others has."""
    words = [_words(text) for text in other_facts]
    needed = [own for own in map(_words, facts) if own]
    if not needed:
        return float("nan")
    return sum(
        any(len(own & other) >= minimum * len(own) for other in words) for own in needed
    ) / len(needed)
