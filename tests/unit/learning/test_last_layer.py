"""The last layer at the positions that are read, against the whole of transformers' BERT."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertConfig, BertForSequenceClassification, BertModel

from everycell.learning.batching import TokenPair, pad
from everycell.learning.last_layer import (
    apply_head,
    first_state,
    logit,
    pooled_first_state,
    states_at,
)
from everycell.learning.training import set_dropout

pytestmark = pytest.mark.usefixtures("one_torch_thread")
SIZE = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12}
KEPT = 0.75


def drawn(model):
    """The model with biases that are not 0, as those of a trained model are not."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return model.eval()


def configuration(layers: int, attention: str | None = None) -> BertConfig:
    torch.manual_seed(0)
    # Weights are far larger than usual, so that attention differs from position to position.
    return BertConfig(
        vocab_size=20,
        num_hidden_layers=layers,
        initializer_range=0.5,
        num_labels=1,
        attn_implementation=attention,
        **SIZE,
    )


def bert(layers: int, attention: str | None = None) -> BertModel:
    return drawn(BertModel(configuration(layers, attention), add_pooling_layer=False))


def classifier(attention: str | None = None) -> BertForSequenceClassification:
    return drawn(BertForSequenceClassification(configuration(2, attention)))


TEXTS = st.lists(st.lists(st.integers(1, 19), min_size=1, max_size=9), min_size=1, max_size=4)


@given(texts=TEXTS, layers=st.integers(1, 3), pairs=st.booleans(), seed=st.integers(0, 99))
def test_first_state_equals_model(texts, layers, pairs, seed):
    model = bert(layers)
    sequences = [TokenPair(ids, ids[::-1]) for ids in texts] if pairs else texts
    batch = pad(sequences, pad_id=0)
    read = torch.from_numpy(np.random.default_rng(seed).random(batch["input_ids"].shape) < 0.5)
    with torch.no_grad():
        full = model(**batch).last_hidden_state
        torch.testing.assert_close(first_state(model, batch), full[:, 0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(states_at(model, batch, read), full[read], atol=1e-5, rtol=1e-5)


def test_first_state_gradients():
    model, batch = bert(2), pad([[1, 2, 3], [4, 5]], pad_id=0)
    read = batch["attention_mask"] == 1

    def gradients(states):
        model.zero_grad()
        states.pow(2).sum().backward()
        return {name: one.grad.clone() for name, one in model.named_parameters()}

    for result, expected in [
        (first_state(model, batch), lambda: model(**batch).last_hidden_state[:, 0]),
        (states_at(model, batch, read), lambda: model(**batch).last_hidden_state[read]),
    ]:
        torch.testing.assert_close(gradients(result), gradients(expected()), atol=1e-4, rtol=1e-4)


def test_logit_equals_model():
    model, batch = classifier(), pad([[1, 2, 3], [4, 5]], pad_id=0)
    full = model(**batch, output_hidden_states=True)
    torch.testing.assert_close(logit(model, batch), full.logits[:, 0], atol=1e-5, rtol=1e-5)
    pooled = model.bert(**batch).pooler_output
    torch.testing.assert_close(pooled_first_state(model, batch), pooled, atol=1e-5, rtol=1e-5)


def fixed_dropout(mask):
    """A `torch.nn.functional.dropout` that always drops the same numbers."""

    def dropout(values, p, training, inplace=False):
        if p == 0:
            return values
        assert p == 1 - KEPT and training
        # We have attention from the first position alone.
        numbers = mask[:, :, 0] if mask.ndim > values.ndim else mask
        return values * numbers / KEPT

    return patch.object(torch.nn.functional, "dropout", dropout)


def kept_numbers(*shape):
    remaining = (torch.rand(shape, generator=torch.Generator().manual_seed(1)) < KEPT).float()
    assert 0 < remaining.sum() < remaining.numel()
    return remaining


def test_attention_drops_its_weights_as_transformers_does():
    # Only here a test can say what attention drops: it calls torch's function.
    model, batch = bert(2, "eager").train(), pad([[1, 2, 3, 4], [4, 5]], pad_id=0)
    set_dropout(model, 0.0)
    model.encoder.layer[-1].attention.self.dropout.p = 1 - KEPT
    with fixed_dropout(kept_numbers(2, 2, 4, 4)):
        result, full = first_state(model, batch), model(**batch).last_hidden_state[:, 0]
    torch.testing.assert_close(result, full, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(result, first_state(model.eval(), batch), atol=1e-2)


def test_logit_dropout():
    model, batch = classifier().train(), pad([[1, 2, 3, 4], [4, 5]], pad_id=0)
    set_dropout(model, 0.0)
    model.dropout.p = 1 - KEPT
    with fixed_dropout(kept_numbers(2, 8)):
        result, full = logit(model, batch), model(**batch).logits[:, 0]
    torch.testing.assert_close(result, full, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(result, logit(model.eval(), batch), atol=1e-2)


def test_first_state_padding_only():
    model, batch = classifier("eager"), pad([[1, 2], [3]], pad_id=0)
    batch["attention_mask"][1] = 0
    result, full = logit(model, batch), model(**batch).logits[:, 0]
    assert torch.isfinite(result).all()
    torch.testing.assert_close(result, full, atol=1e-5, rtol=1e-5)


def test_dropout_is_on_in_training_alone():
    model, batch = bert(2), pad([[1, 2, 3], [4, 5, 6]], pad_id=0)
    same = torch.equal(first_state(model, batch), first_state(model, batch))
    model.train()
    assert same and not torch.equal(first_state(model, batch), first_state(model, batch))


def test_apply_head_autocast():
    head, states = torch.nn.Linear(8, 1), torch.randn(3, 8)
    with torch.autocast("cpu", torch.bfloat16):
        assert head(states).dtype == torch.bfloat16
        exact, rounded = apply_head(head, states), apply_head(head, states.bfloat16())
    torch.testing.assert_close(exact, head(states))
    torch.testing.assert_close(rounded, head(states.bfloat16().float()))
