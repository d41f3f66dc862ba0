"""TILDEv2: weights, the max over a term's positions, loss, saving."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertConfig, BertForMaskedLM, BertModel

from everycell.learning.batching import pad
from everycell.learning.tilde import query_terms, stop_ids, token_ids
from everycell.learning.tildev2 import (
    TildeV2,
    contrastive_loss,
    encode,
    from_encoder,
    pairwise_scores,
    ranking_loss,
)

SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "the", "##s", "rank", "query", "document", "term", "long", "short", "text"]
ID = {word: number for number, word in enumerate(WORDS)}
CONFIG = BertConfig(
    vocab_size=len(WORDS),
    hidden_size=16,
    num_attention_heads=2,
    intermediate_size=16,
    num_hidden_layers=1,
    max_position_embeddings=32,
    initializer_range=0.5,
)


@pytest.fixture(scope="module")
def model() -> TildeV2:
    torch.manual_seed(0)
    return from_encoder(BertModel(CONFIG), bias=0.3)


@pytest.fixture(scope="module")
def stop(tokenizer) -> np.ndarray:
    return stop_ids(tokenizer)


def reference(model, ids: list[int], stop) -> dict[int, float]:
    """Weights of one document as a dictionary, straight from equations 2.2 and 2.3."""
    with torch.no_grad():
        hidden = model.bert(torch.tensor([ids])).last_hidden_state[0].numpy()
    weights = hidden @ model.tok_proj.weight.detach().numpy()[0] + model.tok_proj.bias.item()
    largest: dict[int, float] = {}
    for number, weight in zip(ids, np.maximum(weights, 0), strict=True):
        if number not in stop:
            largest[number] = max(largest.get(number, 0.0), float(weight))
    return {number: weight for number, weight in largest.items() if weight > 0}


def as_dictionary(vectors, row: int) -> dict[int, float]:
    part = vectors[[row]]
    return dict(zip(part.indices.tolist(), part.data.tolist(), strict=True))


TEXTS = ["rank query rank document rank", "", "the", "long text " * 10_000, "term rank query term"]


def test_encode_one_document_at_a_time(model, tokenizer, stop):
    result = encode(model, tokenizer, TEXTS, 32, stop)
    assert result.shape == (5, len(WORDS)) and result.dtype == np.float32
    assert result.has_canonical_format
    for row, ids in enumerate(token_ids(tokenizer, TEXTS, 32)):
        assert as_dictionary(result, row) == pytest.approx(reference(model, ids, stop), abs=1e-5)
    # An empty text, and one of stop ids only, have no weight at all.
    assert np.diff(result.indptr)[1:3].tolist() == [0, 0]
    assert result.nnz > 4


def test_encode_zero_weight(tokenizer, stop):
    torch.manual_seed(0)
    dead = from_encoder(BertModel(CONFIG), bias=-99.0)
    assert encode(dead, tokenizer, TEXTS, 32, stop).nnz == 0
    assert encode(dead, tokenizer, [], 32, stop).shape == (0, len(WORDS))


@settings(max_examples=20)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS[7:]), max_size=30).map(" ".join), min_size=1, max_size=5
    ),
    batch_tokens=st.sampled_from([1, 20, 999]),
)
def test_encode_batches(model, tokenizer, stop, texts, batch_tokens):
    result = encode(model, tokenizer, texts, 16, stop, batch_tokens=batch_tokens).toarray()
    alone = [encode(model, tokenizer, [text], 16, stop).toarray()[0] for text in texts]
    np.testing.assert_allclose(result, alone, atol=1e-5)
    assert not result[:, stop].any()


def test_token_ids_are_taken_as_they_are(model, tokenizer, stop):
    texts = ["rank query", "text"]
    ids = token_ids(tokenizer, texts, 16)
    same = encode(model, tokenizer, ids, 16, stop) - encode(model, tokenizer, texts, 16, stop)
    assert same.nnz == 0


def test_pairwise_scores_equal_encoding(model, tokenizer, stop):
    queries = ["rank rank query the", "text", "the"]
    documents = ["rank rank query document", "text short the text", "", "query"]
    counts = query_terms(tokenizer, queries, 16, stop)
    expected = (counts @ encode(model, tokenizer, documents, 16, stop).T).toarray()
    batch = pad(token_ids(tokenizer, documents, 16), tokenizer.pad_token_id)
    with torch.no_grad():
        result = pairwise_scores(model, batch, torch.from_numpy(counts.toarray()))
    np.testing.assert_allclose(result, expected, atol=1e-5)
    assert (expected[:2] > 0).any() and not expected[2].any()


def test_contrastive_loss_by_hand():
    """Two queries with a relevant document and another each; one known relevant elsewhere."""
    scores = np.array([[2.0, 1.0, 0.5, -1.0], [0.0, 3.0, 1.0, 1.5]])
    known = np.array([[True, False, False, False], [True, False, True, False]])
    first = -2.0 + np.log(np.exp([2.0, 1.0, 0.5, -1.0]).sum())
    second = -1.0 + np.log(np.exp([3.0, 1.0, 1.5]).sum())
    result = contrastive_loss(torch.tensor(scores), known, 2)
    assert float(result) == pytest.approx((first + second) / 2)


ROWS = {
    "query": ["rank query rank", "text short", "rank query rank"],
    "positive": ["rank document", "short document", "query term"],
    "negatives": [["text text", "long"], ["rank", "query long"], ["the term", "text"]],
}


@pytest.mark.parametrize("scale", [False, True])
def test_ranking_loss_by_hand(model, tokenizer, stop, scale):
    documents = [
        text
        for positive, further in zip(ROWS["positive"], ROWS["negatives"], strict=True)
        for text in (positive, *further)
    ]
    counts = query_terms(tokenizer, ROWS["query"], 16, stop).toarray()
    scores = counts @ encode(model, tokenizer, documents, 16, stop).toarray().T
    if scale:
        scores = scores / np.sqrt(counts.sum(axis=1, keepdims=True))
    parts = []
    # Rows 0 and 2 have the same query: its other relevant document is no wrong one.
    for row, own, left_out in ((0, 0, 6), (1, 3, None), (2, 6, 0)):
        further = [item for item in range(9) if item != left_out]
        parts.append(np.log(np.exp(scores[row, further]).sum()) - scores[row, own])
    result = ranking_loss(tokenizer, 16, stop, scale=scale)(model, ROWS)
    assert float(result.detach()) == pytest.approx(np.mean(parts), rel=1e-5)


def test_ranking_loss_stop_words(model, tokenizer, stop):
    rows = {"query": ["the"], "positive": ["rank"], "negatives": [["text", "long"]]}
    result = ranking_loss(tokenizer, 16, stop, scale=True)(model, rows)
    assert float(result.detach()) == pytest.approx(np.log(3))


def test_ranking_loss_learns(tokenizer, stop):
    torch.manual_seed(1)
    small = from_encoder(BertModel(CONFIG), bias=1.0)
    loss = ranking_loss(tokenizer, 16, stop, scale=True)
    optimiser = torch.optim.AdamW(small.parameters(), lr=0.01)
    values = []
    for _ in range(40):
        optimiser.zero_grad()
        value = loss(small, ROWS)
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert values[-1] < values[0] / 2


def test_from_encoder_seed():
    torch.manual_seed(0)
    encoder = BertForMaskedLM(CONFIG).eval()
    one, two, three = (from_encoder(encoder, bias=1.0, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.tok_proj.weight, two.tok_proj.weight)
    assert not torch.equal(one.tok_proj.weight, three.tok_proj.weight)
    assert one.tok_proj.bias.item() == 1
    ids = torch.tensor([[4, 9, 5]])
    with torch.no_grad():
        expected = encoder.bert(ids).last_hidden_state
        assert torch.equal(one.bert(ids).last_hidden_state, expected)
        one.bert.embeddings.word_embeddings.weight.zero_()
        assert torch.equal(encoder.bert(ids).last_hidden_state, expected)


def test_tilde_v2_saved_and_loaded(tmp_path, model, tokenizer, stop):
    model.save_pretrained(tmp_path)
    loaded = TildeV2.from_pretrained(tmp_path, local_files_only=True).eval()
    same = encode(loaded, tokenizer, TEXTS, 16, stop) - encode(model, tokenizer, TEXTS, 16, stop)
    assert same.nnz == 0
