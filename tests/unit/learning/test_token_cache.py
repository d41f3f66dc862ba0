"""Texts that are tokenised once: the same answers, fewer calls, the same trained weights."""

from __future__ import annotations

import pytest

from everycell.learning.token_cache import cache_tokens


def test_each_text_is_asked_once_and_answers_keep_their_order():
    calls = []

    def tokenise(texts):
        calls.append(list(texts))
        return [[len(text)] for text in texts]

    remembered = cache_tokens(tokenise)
    assert remembered(["aa", "b", "aa"]) == [[2], [1], [2]]
    assert remembered(["ccc", "b"]) == [[3], [1]]
    assert remembered(["b"]) == [[1]]
    assert calls == [["aa", "b"], ["ccc"], []]


def test_a_tokeniser_that_loses_a_text_is_seen():
    with pytest.raises(ValueError, match="shorter"):
        cache_tokens(lambda texts: [])(["a"])
