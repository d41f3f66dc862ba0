"""Texts that are tokenised once, however often a training sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everycell.learning.batching import Ids


def each_text_once(
    tokenise: Callable[[Sequence[str]], Sequence[Ids]],
) -> Callable[[Sequence[str]], list[Ids]]:
    """A tokeniser that remembers."""
    known: dict[str, Ids] = {}

    def remembered(texts: Sequence[str]) -> list[Ids]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, tokenise(new), strict=True))
        return [known[text] for text in texts]

    return remembered
