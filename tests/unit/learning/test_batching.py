"""Batches of like length: answers in order, memory that runs out, progress."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertConfig, BertModel

from everycell.learning import batching
from everycell.learning.batching import TokenPair, cache_tokens, map_batches, pad

IDS = st.lists(st.integers(1, 99), min_size=1, max_size=12)


def total(batch):
    """Sum of each sequence's ids, weighted by place, so that the order in a sequence counts."""
    ids = batch["input_ids"] * batch["attention_mask"]
    return (ids * torch.arange(1, ids.shape[1] + 1)).sum(dim=1)


def expected(ids):
    return sum(position * value for position, value in enumerate(ids, start=1))


class Small:
    """A model on a machine that holds `most` padded tokens; counts what it was asked."""

    def __init__(self, limit, error=None):
        self.most, self.error, self.shapes = limit, error, []

    def __call__(self, batch):
        self.shapes.append(tuple(batch["input_ids"].shape))
        if batch["input_ids"].numel() > self.most:
            raise self.error or torch.OutOfMemoryError("CUDA out of memory.")
        return total(batch)


@settings(max_examples=60, deadline=None)
@given(st.lists(IDS, max_size=20), st.integers(1, 40), st.none() | st.integers(1, 5))
def test_map_batches_order(sequences, tokens, size):
    answers = map_batches(total, sequences, pad_id=7, batch_tokens=tokens, batch_size=size)
    assert [int(answer) for answer in answers] == [expected(ids) for ids in sequences]


@settings(max_examples=60, deadline=None)
@given(st.lists(IDS, min_size=1, max_size=20), st.integers(1, 40), st.integers(1, 5))
def test_map_batches_limits(sequences, tokens, size):
    model = Small(10**6)
    map_batches(model, sequences, pad_id=0, batch_tokens=tokens, batch_size=size)
    assert all(n == 1 or n * length <= tokens for n, length in model.shapes)
    assert all(n <= size for n, _ in model.shapes)
    longest = [length for _, length in model.shapes]
    assert longest == sorted(longest, reverse=True)
    assert sum(n for n, _ in model.shapes) == len(sequences)


def test_map_batches_less_padding():
    sequences = [[1] * length for length in (1, 8, 1, 8, 1, 8)]
    model = Small(10**6)
    map_batches(model, sequences, pad_id=0, batch_size=3)
    assert model.shapes == [(3, 8), (3, 1)]


@given(st.lists(st.tuples(st.lists(st.integers(1, 9)), IDS), min_size=1, max_size=6))
def test_pad_pairs(pairs):
    batch = pad([TokenPair(first, second) for first, second in pairs], pad_id=50)
    for row, (first, second) in enumerate(pairs):
        length = len(first) + len(second)
        free = batch["input_ids"].shape[1] - length
        assert batch["input_ids"][row].tolist() == first + second + [50] * free
        assert batch["attention_mask"][row].tolist() == [1] * length + [0] * free
        ones = [0] * len(first) + [1] * len(second) + [0] * free
        assert batch["token_type_ids"][row].tolist() == ones


def test_pad_single_sequences():
    assert set(pad([[1], np.array([2, 3])], pad_id=0)) == {"input_ids", "attention_mask"}


def test_map_batches_real_encoder():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    model = BertModel(config).eval()
    draw = np.random.default_rng(0)
    sequences = [draw.integers(1, 40, size=length) for length in (3, 9, 1, 9, 4)]

    def first_token(batch):
        return model(**batch).last_hidden_state[:, 0]

    together = map_batches(first_token, sequences, pad_id=0, batch_tokens=18)
    alone = [first_token(pad([ids], 0))[0].detach().numpy() for ids in sequences]
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    ],
)
def test_map_batches_out_of_memory(error, caplog):
    model = Small(12, error)
    sequences = [[number] * 4 for number in range(1, 12)]
    answers = map_batches(model, sequences, pad_id=0)
    assert [int(answer) for answer in answers] == [expected(ids) for ids in sequences]
    assert model.shapes == [(11, 4), (5, 4), *[(2, 4)] * 5, (1, 4)]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "a batch of 11 texts of up to 4 tokens: continuing with 5" in caplog.text


def test_is_out_of_memory_messages():
    def greedy(batch):
        if len(batch["input_ids"]) > 1:
            torch.empty(10**16)
        return total(batch)

    assert len(map_batches(greedy, [[1], [2]], pad_id=0)) == 2


def test_map_batches_single_text_too_large():
    with pytest.raises(MemoryError, match=r"one of the documents, which has 9 tokens: shorten the"):
        map_batches(Small(8), [[1], [1] * 9], pad_id=0, what="documents")


def test_map_batches_other_errors():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        map_batches(Small(0, RuntimeError("shapes cannot be multiplied")), [[1]], pad_id=0)


def test_map_batches_half_precision():
    weight = torch.tensor(2.0, dtype=torch.bfloat16, requires_grad=True)

    def forward(batch):
        product = batch["input_ids"].sum(dim=1) * weight
        assert not product.requires_grad
        return product

    (answer,) = map_batches(forward, [[3]], pad_id=0)
    assert answer == 6 and answer.dtype == np.float32


def test_map_batches_several_values():
    answers = map_batches(lambda batch: batch["input_ids"][:, :, None], [[1, 2], [3]], pad_id=9)
    assert [answer.tolist() for answer in answers] == [[[1], [2]], [[3], [9]]]


def test_map_batches_progress(caplog):
    caplog.set_level(logging.INFO)
    map_batches(total, [[1], [2], [3]], pad_id=0, batch_size=1, log_seconds=0, what="pairs")
    assert [record.getMessage().split(",")[0] for record in caplog.records] == [
        "1 of 3 pairs",
        "2 of 3 pairs",
        "3 of 3 pairs",
    ]
    assert caplog.records[-1].getMessage().endswith("about 0 s left.")


def test_map_batches_empty():
    assert map_batches(total, [], pad_id=0) == []


@pytest.mark.parametrize(("device", "batches"), [("cpu", [8, 8, 4]), ("cuda", [20])])
def test_map_batches_gpu_size(monkeypatch, device, batches):
    # The CPU stands for the GPU: only the default of the batch is asked for.
    monkeypatch.setattr(batching, "pad", lambda rows, pad_id, _: pad(rows, pad_id))
    model = Small(10**6)
    map_batches(model, [[1] * 256] * 20, pad_id=0, device=device)
    assert [rows for rows, _ in model.shapes] == batches


def test_map_batches_late_fetch(monkeypatch):
    """A GPU has work while the CPU pads: fetching waits for it."""
    events = []

    class Answers:
        dtype, shape = torch.float32, (1,)

        def cpu(self):
            events.append("fetch")
            return torch.zeros(1)

    def forward(batch):
        events.append("compute")
        return Answers()

    map_batches(forward, [[1], [2], [3]], pad_id=0, batch_size=1)
    assert events == ["compute", "compute", "fetch", "compute", "fetch", "fetch"]


def test_map_batches_keeps_order_of_equal_lengths():
    """Equal work in equal batches: sequences of one length are read in their order."""
    sequences = [[number] * (1 + number % 2) for number in range(1, 200)]
    read = []

    def forward(batch):
        read.extend(batch["input_ids"][:, 0].tolist())
        return total(batch)

    map_batches(forward, sequences, pad_id=0, batch_size=7)
    assert read == [*range(1, 200, 2), *range(2, 200, 2)]


def test_cache_tokens_once():
    calls = []

    def tokenise(texts):
        calls.append(list(texts))
        return [[len(text)] for text in texts]

    remembered = cache_tokens(tokenise)
    assert remembered(["aa", "b", "aa"]) == [[2], [1], [2]]
    assert remembered(["ccc", "b"]) == [[3], [1]]
    assert remembered(["b"]) == [[1]]
    assert calls == [["aa", "b"], ["ccc"], []]


def test_cache_tokens_lost_text():
    with pytest.raises(ValueError, match="shorter"):
        cache_tokens(lambda texts: [])(["a"])
