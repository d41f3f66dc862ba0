"""Expansion with TILDE: only new terms, never more than m or than there is room for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.learning import tilde
from everycell.learning.tilde import stop_ids, token_ids
from everycell.learning.tildev2 import Expansion, encode, expand, from_encoder

SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "the", "of", "##s", "##ing", *(f"word{number}" for number in range(20))]
ID = {word: number for number, word in enumerate(WORDS)}


@pytest.fixture(scope="module")
def stop(tokenizer) -> np.ndarray:
    return stop_ids(tokenizer)


def propose(model, tokenizer, texts, length, m):
    """The likeliest entries."""
    likelihoods, proposed = tilde.encode(
        model, tokenizer, texts, length, np.array([8, 3]), proposals=m
    )
    alone, none = tilde.encode(model, tokenizer, texts, length, np.array([8, 3]))
    assert (likelihoods == alone).all() and none.shape == (len(texts), 0)
    return proposed


def expanded(model, tokenizer, texts, length, m, stop) -> Expansion:
    proposed = propose(model, tokenizer, texts, length, m)
    assert (propose(model, tokenizer, texts, length, 1) == proposed[:, :1]).all()
    return expand(tokenizer, texts, proposed, length, stop)


def likeliest(model, ids: list[int], m: int) -> list[int]:
    """The m best entries of one document, from a plain forward pass and a plain sort."""
    with torch.no_grad():
        logits = model(torch.tensor([[1, *ids[1:]]])).logits[0, 0].tolist()
    return sorted(range(len(WORDS)), key=lambda number: -logits[number])[:m]


@pytest.mark.slow
@settings(max_examples=30)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS[7:]), max_size=24).map(" ".join), min_size=1, max_size=4
    ),
    length=st.integers(3, 40),
    m=st.integers(1, len(WORDS)),
)
def test_expand_likeliest_missing_terms(model, tokenizer, stop, texts, length, m):
    result = expanded(model, tokenizer, texts, length, m, stop)
    for row, ids in enumerate(token_ids(tokenizer, texts, length)):
        new = [item for item in likeliest(model, ids, m) if item not in ids and item not in stop]
        fitting = new[: max(0, length - len(ids) - 1)]
        expected = [*ids, *fitting, ID["[SEP]"]] if fitting else ids
        assert result.sequences[row] == expected
        assert (result.missing[row], result.added[row]) == (len(new), len(fitting))
        assert len(result.sequences[row]) <= length and result.missing[row] <= m


def test_expand_long_document(model, tokenizer, stop):
    result = expanded(model, tokenizer, ["word1 " * 10_000, "", "the"], 32, 20, stop)
    assert [len(ids) for ids in result.sequences[:1]] == [32]
    assert result.missing[0] > 0 and result.added[0] == 0
    assert (result.added[1:] == result.missing[1:]).all() and (result.added[1:] > 0).all()


def test_expand_document_length(model, tokenizer, stop):
    texts = ["word1 " * 100]
    proposed = propose(model, tokenizer, texts, 32, 20)
    result = expand(tokenizer, texts, proposed, 40, stop, document_length=32)
    assert result.added[0] == min(result.missing[0], 7) > 0
    assert result.sequences[0][:32] == token_ids(tokenizer, texts, 32)[0]


def test_expand_then_encode(model, tokenizer, stop):
    weighted = from_encoder(model, bias=9.0)
    texts = ["word1 word2", ""]
    result = expanded(model, tokenizer, texts, 32, 20, stop)
    before = encode(weighted, tokenizer, texts, 32, stop)
    after = encode(weighted, tokenizer, result.sequences, 32, stop)
    assert (np.diff(after.indptr) - np.diff(before.indptr)).tolist() == result.added.tolist()


def test_expand_no_documents(model, tokenizer, stop):
    result = expanded(model, tokenizer, [], 32, 5, stop)
    assert result.sequences == [] and result.missing.shape == result.added.shape == (0,)


def test_expand_wrong_proposals(tokenizer, stop):
    with pytest.raises(ValueError, match="zip"):
        expand(tokenizer, ["word1", "word2"], np.zeros((1, 3), dtype=np.int32), 32, stop)
