"""The last layer at the positions that are read, against the whole of transformers' BERT."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertModel

from everycell.learning.batching import TokenPair, pad
from everycell.learning.last_layer import first_state, states_at

pytestmark = pytest.mark.usefixtures("one_torch_thread")
SIZE = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12}


def bert(layers: int) -> BertModel:
    torch.manual_seed(0)
    # Far larger than usual, so that attention differs from position to position.
    config = BertConfig(vocab_size=20, num_hidden_layers=layers, initializer_range=0.5, **SIZE)
    return BertModel(config, add_pooling_layer=False).eval()


TEXTS = st.lists(st.lists(st.integers(1, 19), min_size=1, max_size=9), min_size=1, max_size=4)


@given(texts=TEXTS, layers=st.integers(1, 3), pairs=st.booleans(), seed=st.integers(0, 99))
def test_states_are_those_of_the_whole_model(texts, layers, pairs, seed):
    model = bert(layers)
    sequences = [TokenPair(ids, ids[::-1]) for ids in texts] if pairs else texts
    batch = pad(sequences, pad_id=0)
    read = torch.from_numpy(np.random.default_rng(seed).random(batch["input_ids"].shape) < 0.5)
    with torch.no_grad():
        whole = model(**batch).last_hidden_state
        torch.testing.assert_close(first_state(model, batch), whole[:, 0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(states_at(model, batch, read), whole[read], atol=1e-5, rtol=1e-5)


def test_gradients_are_those_of_the_whole_model():
    model, batch = bert(2), pad([[1, 2, 3], [4, 5]], pad_id=0)
    read = batch["attention_mask"] == 1

    def gradients(states):
        model.zero_grad()
        states.pow(2).sum().backward()
        return {name: one.grad.clone() for name, one in model.named_parameters()}

    for found, expected in [
        (first_state(model, batch), lambda: model(**batch).last_hidden_state[:, 0]),
        (states_at(model, batch, read), lambda: model(**batch).last_hidden_state[read]),
    ]:
        torch.testing.assert_close(gradients(found), gradients(expected()), atol=1e-4, rtol=1e-4)


def test_dropout_is_on_in_training_alone():
    model, batch = bert(2), pad([[1, 2, 3], [4, 5, 6]], pad_id=0)
    same = torch.equal(first_state(model, batch), first_state(model, batch))
    model.train()
    assert same and not torch.equal(first_state(model, batch), first_state(model, batch))
