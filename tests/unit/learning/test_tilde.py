"""TILDE: stop ids, query terms, markers, encoding and loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertForMaskedLM

from everycell.learning import tilde
from everycell.learning.tilde import (
    DOCUMENT_MARKER,
    QUERY_MARKER,
    count_terms,
    encode,
    likelihood_loss,
    query_terms,
    stop_ids,
    token_ids,
    two_way_loss,
)

WORDS = [
    *("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "of", "where"),
    *("##s", "##ing", ".", "+", "é", "##é", "2020", "snake_case", "a-b"),
    *("rank", "query", "document", "term", "weight", "long", "short", "model", "text"),
]
ID = {word: number for number, word in enumerate(WORDS)}
KEPT = [ID[word] for word in WORDS[WORDS.index("2020") :]]


texts = st.lists(st.sampled_from(WORDS[7:]), max_size=40).map(" ".join)


def test_encode_too_long(model, tokenizer):
    with refused("length", 100_000):
        encode(model, tokenizer, ["word1"], 100_000, np.array([8]))


def test_stop_ids_by_hand(tokenizer):
    expected = ["##s", "[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    expected += ["the", "of", ".", "+", "é"]
    assert stop_ids(tokenizer).tolist() == sorted(ID[word] for word in expected)


def test_stop_ids_other_words(tokenizer):
    assert ID["rank"] in stop_ids(tokenizer, {"rank"})
    assert ID["the"] in stop_ids(tokenizer, {"the"})
    assert ID["the"] not in stop_ids(tokenizer, {"rank"})


def test_query_terms_count_repetitions_without_stop_ids(tokenizer):
    stop = stop_ids(tokenizer)
    terms = query_terms(tokenizer, ["the rank of rank ranking .", "the of the", ""], None, stop)
    assert terms.shape == (3, len(WORDS))
    row = terms[[0]].toarray()[0]
    assert {WORDS[number]: row[number] for number in np.flatnonzero(row)} == {"rank": 3, "##ing": 1}
    # A query of stop ids only has no term: each document scores 0.
    assert np.diff(terms.indptr).tolist() == [2, 0, 0]
    assert query_terms(tokenizer, [], None, stop).shape == (0, len(WORDS))


def test_query_terms_truncated(tokenizer):
    stop = stop_ids(tokenizer)
    long = " ".join(["rank"] * 5 + ["query"] * 10_000)
    assert query_terms(tokenizer, [long], None, stop).sum() == 10_005
    cut = query_terms(tokenizer, [long], 8, stop)
    assert cut[0, ID["rank"]] == 5 and cut[0, ID["query"]] == 1 and cut.sum() == 6
    assert len(token_ids(tokenizer, [long], 8)[0]) == 8


@settings(max_examples=30)
@given(texts=st.lists(texts, max_size=4), length=st.integers(3, 12))
def test_count_terms_tokens(tokenizer, texts, length):
    stop = stop_ids(tokenizer)
    terms = query_terms(tokenizer, texts, length, stop)
    for row, ids in enumerate(token_ids(tokenizer, texts, length)):
        expected = np.bincount(
            [number for number in ids if number not in stop], minlength=len(WORDS)
        )
        assert terms[[row]].toarray()[0].tolist() == expected.tolist()
    assert terms.has_canonical_format


def test_token_ids_markers(tokenizer):
    plain = token_ids(tokenizer, ["rank query", ""], 9)
    assert plain == [
        [ID["[CLS]"], ID["rank"], ID["query"], ID["[SEP]"]],
        [ID["[CLS]"], ID["[SEP]"]],
    ]
    marked = token_ids(tokenizer, ["rank query", ""], 9, DOCUMENT_MARKER)
    assert marked == [[1, ID["rank"], ID["query"], ID["[SEP]"]], [1, ID["[SEP]"]]]
    assert token_ids(tokenizer, ["rank"], 9, QUERY_MARKER)[0][0] == 2


def test_token_ids_marker_that_is_a_word(tokenizer):
    with refused("entry 19 of the vocabulary", "rank"):
        token_ids(tokenizer, ["rank"], 9, ID["rank"])


def reference(model, tokenizer, text: str, length: int, columns) -> np.ndarray:
    """log10 P of one document, in float64 numpy from the logits of a plain forward pass."""
    ids = tokenizer(text, truncation=True, max_length=length)["input_ids"]
    ids[0] = 1
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0, 0].double().numpy()
    return np.log10(1 / (1 + np.exp(-logits)))[columns]


TEXTS = ["rank query document", "", "the", "long text " * 10_000, "model model weight term . +"]


def test_encode_one_document_at_a_time(model, tokenizer):
    columns = np.array([ID["text"], ID["rank"], ID["the"]])
    result, _ = encode(model, tokenizer, TEXTS, 32, columns)
    assert result.dtype == np.float32 and result.flags.f_contiguous
    expected = [reference(model, tokenizer, text, 32, columns) for text in TEXTS]
    np.testing.assert_allclose(result, expected, atol=1e-5)
    assert encode(model, tokenizer, [], 32, columns)[0].shape == (0, 3)


@settings(max_examples=20)
@given(texts=st.lists(texts, min_size=1, max_size=5), batch_tokens=st.sampled_from([1, 20, 999]))
def test_encode_batches(model, tokenizer, texts, batch_tokens):
    columns = np.arange(len(WORDS))
    result, _ = encode(model, tokenizer, texts, 16, columns, batch_tokens=batch_tokens)
    alone = [encode(model, tokenizer, [text], 16, columns)[0][0] for text in texts]
    np.testing.assert_allclose(result, alone, atol=1e-5)
    assert (result <= 0).all() and np.isfinite(result).all()


def test_encode_unlikely_term(model, tokenizer, monkeypatch):
    monkeypatch.setattr(tilde, "first_logits", lambda _, batch: torch.tensor([[-200.0, 0.0]]))
    result, _ = encode(model, tokenizer, ["rank"], 9, np.array([0, 1]))
    assert result[0] == pytest.approx([-200 / math.log(10), math.log10(0.5)])


def test_likelihood_loss_by_hand():
    """Two texts, four entries, the last one a stop id."""
    logits = np.array([[0.0, 2.0, -1.0, 9.0], [1.0, -3.0, 0.5, -9.0]])
    terms = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    p = 1 / (1 + np.exp(-logits))
    parts = -(terms * np.log(p) + (1 - terms) * np.log(1 - p))
    result = likelihood_loss(torch.tensor(logits), torch.tensor(terms), np.array([3]))
    assert float(result) == pytest.approx(parts[:, :3].sum() / 6)


def test_two_way_loss_sides(model, tokenizer):
    stop = stop_ids(tokenizer)
    rows = {"query": ["rank the model", "short"], "positive": ["rank text text", "long document"]}
    result = two_way_loss(tokenizer, 16, stop)(model, rows)
    remaining = np.setdiff1d(np.arange(len(WORDS)), stop)
    parts = []
    for marker, sources, targets in ((1, "positive", "query"), (2, "query", "positive")):
        for source, target in zip(rows[sources], rows[targets], strict=True):
            ids = tokenizer(source)["input_ids"]
            ids[0] = marker
            logits = model(torch.tensor([ids])).logits[0, 0].detach().double().numpy()
            terms = np.isin(np.arange(len(WORDS)), tokenizer(target)["input_ids"])
            p = 1 / (1 + np.exp(-logits))
            parts.append(-np.where(terms, np.log(p), np.log(1 - p))[remaining].mean())
    assert float(result.detach()) == pytest.approx(np.mean(parts), rel=1e-5)
    assert set(remaining) == set(KEPT) | {ID["##ing"], ID["##é"], ID["where"]}


def test_two_way_loss_learns(model, tokenizer):
    torch.manual_seed(0)
    small = BertForMaskedLM(model.config).eval()
    loss = two_way_loss(tokenizer, 16, stop_ids(tokenizer))
    rows = {"query": ["rank model", "short text"], "positive": ["rank term", "short query"]}
    optimiser = torch.optim.Adam(small.parameters(), lr=0.01)
    values = []
    for _ in range(60):
        optimiser.zero_grad()
        value = loss(small, rows)
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert values[-1] < values[0] / 2
    result, _ = encode(small, tokenizer, rows["positive"], 16, np.array([ID["model"], ID["text"]]))
    assert result[0, 0] > result[1, 0] and result[1, 1] > result[0, 1]


@settings(max_examples=50)
@given(
    sequences=st.lists(st.lists(st.integers(0, 8), max_size=9), max_size=5),
    stop=st.sets(st.integers(0, 8)),
)
def test_count_terms_repeated(sequences, stop):
    result = count_terms(sequences, 9, np.array(sorted(stop), dtype=np.int64)).toarray()
    for row, ids in zip(result, sequences, strict=True):
        for number in range(9):
            assert row[number] == (0 if number in stop else ids.count(number))
