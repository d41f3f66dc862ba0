"""From samples to estimators: both kinds learn a planted word, resume, and choose on validation."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM

from everycell.learning import satisfaction_training
from everycell.learning.hub import ModelError
from everycell.learning.satisfaction import macro_f1
from everycell.learning.satisfaction_training import (
    Labelled,
    UtteranceVectors,
    stepped_options,
    train_asap,
    train_classifier,
)
from everycell.learning.training_record import TrainingError

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(12))]
SIZES = {"size": 16, "heads": 2, "layers": 1, "hawkes_layers": 1, "dropout": 0.0}


def labelled(number, seed):
    """Dialogues whose last answer has w10 if the user is satisfied, else w11."""
    draw = np.random.default_rng(seed)
    labels = (draw.random(number) < 0.3).tolist()
    dialogues = [
        [
            ("USER", f"w{draw.integers(5)}"),
            ("SYSTEM", f"w{draw.integers(5)} {'w11' if label else 'w10'}"),
        ]
        for label in labels
    ]
    return Labelled(dialogues, labels)


@pytest.fixture(scope="module")
def source(tmp_path_factory, tokenizer):
    folder = tmp_path_factory.mktemp("encoder")
    torch.manual_seed(0)
    BertForMaskedLM(
        BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=64,
            initializer_range=0.3,
        )
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(params=["classifier", "asap", "frozen asap"])
def trained(request, source):
    """Return what trains one kind of estimator: a function of the folder."""

    def train(folder, steps=100, **options):
        inputs = stepped_options(steps, 8, 0.003, min(2, steps), seed=3)
        if request.param == "classifier":
            return train_classifier(
                source, labelled(80, 1), labelled(20, 2), inputs, folder, length=16, **options
            )
        encoder = UtteranceVectors(source) if request.param == "frozen asap" else source
        parts = labelled(80, 1), labelled(20, 2)
        return train_asap(encoder, *parts, inputs, folder, **SIZES, **options)

    return train


def test_it_learns_and_a_finished_model_answers_the_same(trained, tmp_path, monkeypatch, capfd):
    test = labelled(40, 5)
    first = trained(tmp_path / "model", factor=2)(test.dialogues)
    assert macro_f1(test.dissatisfied, first) > 0.9
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    assert record["steps"] == 100 and [item["step"] for item in record["validations"]] == [50, 100]
    # A second call finds the model and trains nothing.
    monkeypatch.setattr(satisfaction_training, "macro_f1", None)
    np.testing.assert_array_equal(
        trained(tmp_path / "model", factor=2)(test.dialogues).round(6), first.round(6)
    )
    assert capfd.readouterr() == ("", "")


def test_up_sampled_rows_are_what_is_trained_on(trained, tmp_path):
    trained(tmp_path / "plain", steps=1)
    trained(tmp_path / "more", steps=1, factor=3)
    plain, more = (
        json.loads((tmp_path / name / "training.json").read_text())["inputs"]
        for name in ("plain", "more")
    )
    assert plain["examples"] != more["examples"]
    assert (plain["settings"]["factor"], more["settings"]["factor"]) == (1, 3)


def test_a_finished_model_that_lacks_weights_is_refused(trained, tmp_path):
    trained(tmp_path / "model", steps=1)
    weights = tmp_path / "model" / "model.safetensors"
    remaining = load_file(weights)
    lost = sorted(remaining)[0]
    save_file(
        {name: remaining[name] for name in remaining if name != lost}, weights, {"format": "pt"}
    )
    with pytest.raises(ModelError, match=f"lack '?{lost}"):
        trained(tmp_path / "model", steps=1)


@pytest.mark.parametrize("changed", ["texts", "validation", "encoder"])
def test_a_finished_training_on_other_inputs_is_refused(source, tmp_path, tokenizer, changed):
    inputs = stepped_options(1, 8, 0.003, 1, seed=3)
    parts = [labelled(20, 1), labelled(20, 2)]
    train_asap(UtteranceVectors(source), *parts, inputs, tmp_path / "model", **SIZES)
    if changed == "encoder":
        # The numbers of the utterances are the same.
        torch.manual_seed(1)
        other = BertForMaskedLM.from_pretrained(source)
        other.bert.embeddings.word_embeddings.weight.data.normal_()
        source = tmp_path / "other"
        other.save_pretrained(source)
        tokenizer.save_pretrained(source)
    else:
        position = 0 if changed == "texts" else 1
        dialogues = [
            [(who, text.replace("w", "v")) for who, text in dialogue]
            for dialogue in parts[position].dialogues
        ]
        parts[position] = Labelled(dialogues, parts[position].dissatisfied)
    with pytest.raises(TrainingError, match="other"):
        train_asap(UtteranceVectors(source), *parts, inputs, tmp_path / "model", **SIZES)


@pytest.mark.parametrize("trained_too", [True, False])
def test_vectors_of_words_stay_as_they_are_where_they_should(source, tmp_path, trained_too):
    inputs = stepped_options(3, 8, 0.003, 1, seed=3)
    parts = labelled(20, 1), labelled(20, 2)
    position = tmp_path / "model"
    train_classifier(source, *parts, inputs, position, length=16, train_embeddings=trained_too)
    before, after = (load_file(item / "model.safetensors") for item in (source, position))
    words, layer = "bert.embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight"
    assert torch.equal(before[words], after[words]) is not trained_too
    assert not torch.equal(before[f"bert.{layer}"], after[f"bert.{layer}"])


def test_an_utterance_is_encoded_once(source, monkeypatch):
    calls = []
    plain = satisfaction_training.dense_vectors

    def counted(model, tokenizer, texts, length):
        calls.extend(texts)
        return plain(model, tokenizer, texts, length)

    monkeypatch.setattr(satisfaction_training, "dense_vectors", counted)
    vectors = UtteranceVectors(source)
    one = vectors(["w1", "w2", "w1"])
    two = vectors(["w2", "w3"])
    assert calls == ["w1", "w2", "w3"]
    np.testing.assert_array_equal(one[1], two[0])
    assert vectors([]).shape == (0, 16)
