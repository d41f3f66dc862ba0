"""Caching of tokenised texts, which training uses repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everycell.learning.batching import Ids


def cache_tokens(
    tokenise: Callable[[Sequence[str]], Sequence[Ids]],
) -> Callable[[Sequence[str]], list[Ids]]:
    """Wrap a tokeniser so that it tokenises each text only once."""
    ids_by_text: dict[str, Ids] = {}

    def tokenise_cached(texts: Sequence[str]) -> list[Ids]:
        new_texts = [text for text in dict.fromkeys(texts) if text not in ids_by_text]
        ids_by_text.update(zip(new_texts, tokenise(new_texts), strict=True))
        return [ids_by_text[text] for text in texts]

    return tokenise_cached
