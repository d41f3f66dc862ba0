"""Agreement of two lists of facts, by shared words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from everycell.rag.grounded.clusters import stems


# Each list is compared with several others.
@lru_cache(maxsize=100_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def covered_share(
    facts: Sequence[str], other_facts: Sequence[str], *, minimum: float = 0.5
) -> float:
    """Share of facts with at least a share `minimum` of their words in one other fact."""
    candidates = [_words(text) for text in other_facts]
    stems_by_fact = [words for words in map(_words, facts) if words]
    if not stems_by_fact:
        return float("nan")
    return sum(
        any(len(words & other) >= minimum * len(words) for other in candidates)
        for words in stems_by_fact
    ) / len(stems_by_fact)
