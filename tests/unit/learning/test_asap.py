"""ASAP: its turns, the Hawkes layer and its gradients, and what it can learn that others cannot."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.func import functional_call
from transformers import BertConfig, BertModel

from everycell.base.errors import DataError
from everycell.learning.asap import (
    Asap,
    AsapConfig,
    HawkesLayer,
    _positions,
    asap_from_encoder,
    asap_loss,
    asap_probabilities,
    exchanges,
    frozen_vectors,
    number_utterances,
    trained_vectors,
)
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.dissatisfaction import macro_f1
from everycell.learning.training import train

pytestmark = pytest.mark.usefixtures("one_torch_thread")

SPEAKERS = st.sampled_from(["USER", "SYSTEM"])
DIALOGUES = st.lists(st.tuples(SPEAKERS, st.sampled_from("abcdef")), min_size=1, max_size=12)
SIZES = {"size": 16, "heads": 2, "layers": 1, "hawkes_layers": 1}


@pytest.fixture
def layer():
    torch.manual_seed(1)
    return HawkesLayer(2, size=16, heads=2, layers=1, dropout=0.0).double().eval()


@pytest.fixture
def model():
    torch.manual_seed(2)
    return Asap(AsapConfig(vector=4, **SIZES)).eval()


def inputs(turns=3, dialogues=2):
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(dialogues, turns, 2, generator=generator, dtype=torch.float64)
    context = torch.randn(dialogues, turns, 16, generator=generator, dtype=torch.float64)
    return logits.softmax(dim=-1), context


# -- turns ---------------------------------------------------------------------------------------


@given(DIALOGUES)
def test_exchanges_keep_every_word_in_order(dialogue):
    turns = exchanges(dialogue)
    assert "".join("".join(turn).replace(" ", "") for turn in turns) == "".join(
        text for _, text in dialogue
    )
    assert all(system for _, system in turns[:-1])
    assert all(user for user, _ in turns[1:])


def test_number_utterances_last_turns():
    dialogue = [("USER", "a"), ("SYSTEM", "b"), ("USER", "c"), ("SYSTEM", "b")]
    assert number_utterances([dialogue, dialogue], limit=1) == (["c", "b"], [[[0, 1]], [[0, 1]]])


def test_number_utterances_empty_dialogue():
    with pytest.raises(DataError) as error:
        number_utterances([[("USER", "a")], []])
    assert error.value.row == "dialogue 1"


# -- the Hawkes layer ----------------------------------------------------------------------------


def test_asap_input_gradients(layer):
    probabilities, context = (values.requires_grad_() for values in inputs())
    assert gradcheck(layer, (probabilities, context))


def test_asap_parameter_gradients(layer):
    names, values = zip(*layer.named_parameters(), strict=True)
    inputs_of_turns = inputs()

    def intensities(*parameters):
        return functional_call(layer, dict(zip(names, parameters, strict=True)), inputs_of_turns)

    values = tuple(value.detach().requires_grad_() for value in values)
    assert gradcheck(intensities, values, fast_mode=True)
    gradients = torch.autograd.grad(intensities(*values).sum(), values)
    moved = {name for name, item in zip(names, gradients, strict=True) if item.abs().max() > 0}
    assert moved == set(names)


def test_hawkes_layer_causal(layer):
    probabilities, context = inputs(turns=4)
    before = layer(probabilities, context)
    probabilities = probabilities.clone()
    probabilities[:, 2] = probabilities[:, 2].flip(-1)
    changed = (layer(probabilities, context) - before).abs().amax(dim=(0, 2))
    assert (changed[:2] == 0).all() and (changed[2:] > 0).all()


def test_hawkes_layer_background(layer):
    probabilities, context = inputs()
    before = layer(probabilities, context)
    with torch.no_grad():
        layer.from_context[-1].bias += 1.0
    assert (before > 0).all()
    assert (layer(probabilities, context) > before).all()


def test_hawkes_layer_without_history(layer):
    with torch.no_grad():
        for mlp in (layer.from_history, layer.from_context):
            mlp[-1].weight.zero_()
            mlp[-1].bias.zero_()
    assert layer(*inputs()).detach().numpy() == pytest.approx(np.log(2))


# -- the whole estimator -------------------------------------------------------------------------


@pytest.mark.parametrize("padding", [1, 5])
def test_asap_padding(model, padding):
    torch.manual_seed(4)
    turns = torch.randn(1, 3, 8)
    longer = torch.cat([turns, torch.randn(1, padding, 8)], dim=1)
    for alone, padded in zip(
        model.forward_last(turns, [3]), model.forward_last(longer, [3]), strict=True
    ):
        torch.testing.assert_close(alone, padded)


def test_asap_loss_parts(model):
    lookup = frozen_vectors(np.eye(4, dtype=np.float32))
    rows = {"turns": [[[0, 1], [2, 3]], [[3, 3]]], "dissatisfied": [True, False]}
    message = asap_probabilities(model, lookup, rows["turns"])
    event = -np.mean(np.log([message[0], 1 - message[1]]))
    assert asap_loss(lookup, base_weight=0)(model, rows).item() == pytest.approx(event, rel=1e-5)
    both = asap_loss(lookup)(model, rows).item()
    base = asap_loss(lookup, base_weight=3)(model, rows).item()
    assert both > event
    assert base - event == pytest.approx(3 * (both - event), rel=1e-4)


def test_asap_probabilities_batches(model):
    lookup = frozen_vectors(np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32))
    turns = [[[n % 9, (n + k) % 9] for k in range(1 + n % 4)] for n in range(11)]
    together = asap_probabilities(model, lookup, turns)
    alone = [asap_probabilities(model, lookup, [item])[0] for item in turns]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert asap_probabilities(model, lookup, []).shape == (0,)


def test_train_asap_learns(tmp_path):
    # Dissatisfied exactly if utterance 0 came twice: no single turn tells.
    rng = np.random.default_rng(5)
    vectors = np.eye(4, dtype=np.float32)
    turns = [[[1, int(n)] for n in rng.integers(0, 2, size=3)] for _ in range(160)]
    labels = [sum(system == 0 for _, system in dialogue) >= 2 for dialogue in turns]
    torch.manual_seed(6)
    model = Asap(AsapConfig(vector=4, dropout=0.0, **SIZES))
    lookup = frozen_vectors(vectors)
    train(
        model,
        Dataset.from_dict({"turns": turns, "dissatisfied": labels}),
        asap_loss(lookup),
        TrainingOptions(learning_rate=0.01, epochs=6, batch_size=16),
        tmp_path / "model",
    )
    assert macro_f1(labels, asap_probabilities(model, lookup, turns)) == 1
    again = Asap.from_pretrained(tmp_path / "model").eval()
    np.testing.assert_array_equal(
        asap_probabilities(model, lookup, turns), asap_probabilities(again, lookup, turns)
    )


def test_train_asap_with_encoder(tmp_path):
    torch.manual_seed(7)
    size = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    config = BertConfig(vocab_size=9, num_hidden_layers=1, **size)
    encoder = BertModel(config, add_pooling_layer=False).eval()
    model = asap_from_encoder(encoder, **SIZES).eval()
    lookup = trained_vectors([[2, 5, 3], [2, 6, 7, 3]], pad_id=0)
    with torch.no_grad():
        expected = encoder(torch.tensor([[2, 6, 7, 3]])).last_hidden_state.mean(dim=1)
        torch.testing.assert_close(lookup(model, np.array([0, 1]))[1:], expected)
    before = model.encoder.embeddings.word_embeddings.weight.detach().clone()
    train(
        model,
        Dataset.from_dict({"turns": [[[0, 1]]], "dissatisfied": [True]}),
        asap_loss(lookup),
        TrainingOptions(learning_rate=0.01),
        tmp_path / "model",
    )
    after = model.encoder.embeddings.word_embeddings.weight
    assert not torch.equal(before, after)
    torch.testing.assert_close(
        Asap.from_pretrained(tmp_path / "model").state_dict(), model.state_dict()
    )


def test_positions_by_hand():
    """Vaswani et al. (2017), 3.5: sin and cos of the position by 10000 ^ (2i / size)."""
    result = _positions(3, 4)
    angles = [(turn, turn / 100) for turn in range(3)]
    expected = [
        [math.sin(first), math.cos(first), math.sin(second), math.cos(second)]
        for first, second in angles
    ]
    np.testing.assert_allclose(result, expected)
