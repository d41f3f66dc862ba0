"""Estimators that read text: up-sampling, baselines, what a BERT reads, its loss."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from data_errors import refused
from datasets import Dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sklearn.metrics import f1_score
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

from everycell.base.errors import DataError
from everycell.learning import asap, dissatisfaction
from everycell.learning.asap import UtteranceVectors, train_asap
from everycell.learning.checkpoints import TrainingError, TrainingOptions
from everycell.learning.dissatisfaction import (
    Labelled,
    classifier_loss,
    classifier_probabilities,
    context_ids,
    logistic_regression,
    macro_f1,
    majority_probability,
    regression_probabilities,
    split_answer,
    stepped_options,
    train_classifier,
    up_sample,
)
from everycell.learning.models import ModelError
from everycell.learning.training import train

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(12))]
UTTERANCES = st.lists(st.sampled_from(WORDS[5:]), min_size=1, max_size=9).map(" ".join)
DIALOGUES = st.lists(
    st.tuples(st.sampled_from(["USER", "SYSTEM"]), UTTERANCES), min_size=1, max_size=6
)


@pytest.fixture
def classifier():
    torch.manual_seed(0)
    return BertForSequenceClassification(
        BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=40,
            initializer_range=0.2,
            num_labels=1,
        )
    ).eval()


# -- up-sampling ---------------------------------------------------------------------------------


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 50))
def test_dissatisfied_rows_stand_factor_times_and_others_once(labels, factor):
    rows = up_sample(labels, factor)
    counts = np.bincount(rows, minlength=len(labels))
    assert counts.tolist() == [factor if rare else 1 for rare in labels]
    assert rows[: len(labels)].tolist() == list(range(len(labels)))


def test_up_sample_thesis_sizes():
    # Table 3.2, MultiWOZ: 6,315 satisfied and 431 dissatisfied samples.
    labels = np.array([False] * 6315 + [True] * 431)
    assert [labels[up_sample(labels, n)].sum() for n in (1, 10, 20)] == [431, 4310, 8620]
    assert len(up_sample(labels, 20)) == 14935


def test_up_sample_factor_below_one():
    with refused("factor", 0):
        up_sample([True], 0)


# -- measure -------------------------------------------------------------------------------------


@given(st.data())
def test_macro_f1_is_the_mean_of_both_classes(data):
    size = data.draw(st.integers(1, 20))
    truth = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    message = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    probabilities = [0.9 if item else 0.5 for item in message]
    both = [f1_score(truth, message, pos_label=label, zero_division=0) for label in (False, True)]
    assert macro_f1(truth, probabilities) == pytest.approx(np.mean(both))


def test_macro_f1_always_satisfied():
    # Table 3.6, MultiWOZ, Main: BERT without up-sampling says "satisfied" of all 811 + 40.
    truth = [False] * 811 + [True] * 40
    assert round(100 * macro_f1(truth, np.zeros(851)), 2) == 48.80


# -- baselines -----------------------------------------------------------------------------------


def test_majority_probability_share():
    assert majority_probability([False] * 9 + [True]) == pytest.approx(0.1)


def dialogues_with(word, label, number=6):
    """Return dialogues whose last answer has a word that decides, after words that do not."""
    return [([("USER", f"w{n} please"), ("SYSTEM", f"{word} w{n}")], label) for n in range(number)]


def test_logistic_regression_learns_word_and_part():
    rows = dialogues_with("done", False) + dialogues_with("sorry", True)
    texts, labels = zip(*rows, strict=True)
    model = logistic_regression(texts, labels, texts, labels)
    new = [
        [("USER", "w99"), ("SYSTEM", "sorry")],
        [("USER", "sorry"), ("SYSTEM", "done")],
    ]
    assert (regression_probabilities(model, new) > 0.5).tolist() == [True, False]


def test_logistic_regression_up_sampling():
    rows = (
        dialogues_with("done", False, 9)
        + dialogues_with("sorry", True, 2)
        + dialogues_with("done", True, 1)
    )
    texts, labels = zip(*rows, strict=True)
    repeated = up_sample(labels, 5)
    weighted = logistic_regression(texts, labels, texts, labels, factor=5, strengths=[1.0])
    # Weights of words come from document frequencies, so they are taken from the same texts.
    plain = logistic_regression(texts, labels, texts, labels, strengths=[1.0])
    plain.named_steps["regression"].fit(
        plain.named_steps["words"].transform([texts[row] for row in repeated]),
        np.array(labels)[repeated],
    )
    probabilities = [regression_probabilities(model, texts) for model in (weighted, plain)]
    np.testing.assert_allclose(*probabilities, atol=1e-3)


def test_split_answer_empty_dialogue(tokenizer):
    with pytest.raises(DataError):
        split_answer([])
    with pytest.raises(DataError):
        context_ids(tokenizer, [[]], 8)


# -- BERT ----------------------------------------------------------------------------------------


@given(st.lists(DIALOGUES, max_size=4), st.integers(3, 40), st.integers(1, 12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_context_ids_end_of_text(tokenizer, dialogues, length, utterance):
    result = context_ids(tokenizer, dialogues, length, utterance=utterance)
    for ids, dialogue in zip(result, dialogues, strict=True):
        cut = [" ".join(text.split()[:utterance]) for _, text in dialogue]
        full = tokenizer.convert_tokens_to_ids(" [SEP] ".join([*cut, ""]).split())
        assert len(ids) == min(length, 1 + len(full))
        assert ids[0] == tokenizer.cls_token_id and ids[-1] == tokenizer.sep_token_id
        assert ids[1:].tolist() == full[1 - len(ids) :]


@pytest.mark.parametrize(("length", "utterance", "column"), [(2, 5, "length"), (8, 0, "utterance")])
def test_context_ids_without_room(tokenizer, length, utterance, column):
    with pytest.raises(DataError) as error:
        context_ids(tokenizer, [], length, utterance=utterance)
    assert error.value.column == column


def test_classifier_loss_by_hand(classifier):
    rows = {"ids": [[2, 5, 3], [2, 6, 7, 3]], "dissatisfied": [True, False]}
    message = classifier_probabilities(classifier, rows["ids"], 0)
    expected = -np.mean(np.log([message[0], 1 - message[1]]))
    assert classifier_loss(0)(classifier, rows).item() == pytest.approx(expected, rel=1e-5)


def test_classifier_loss_learns(classifier, tokenizer, tmp_path):
    rows = dialogues_with("w10", False, 8) + dialogues_with("w11", True, 8)
    texts, labels = zip(*rows, strict=True)
    ids = context_ids(tokenizer, texts, 16)
    examples = Dataset.from_dict({"ids": [row.tolist() for row in ids], "dissatisfied": labels})
    options = TrainingOptions(learning_rate=0.01, epochs=12, batch_size=8)
    record = train(
        classifier,
        examples,
        classifier_loss(0),
        options,
        tmp_path / "model",
        validate=lambda model: macro_f1(labels, classifier_probabilities(model, ids, 0)),
    )
    assert macro_f1(labels, classifier_probabilities(classifier, ids, 0)) == 1
    assert max(item.value for item in record.validations) == 1


def test_classifier_probabilities_empty(classifier):
    assert classifier_probabilities(classifier, [], 0).shape == (0,)


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


def test_train_classifier_finished_model(trained, tmp_path, monkeypatch, capfd):
    test = labelled(40, 5)
    first = trained(tmp_path / "model", factor=2)(test.dialogues)
    assert macro_f1(test.dissatisfied, first) > 0.9
    record = json.loads((tmp_path / "model" / "training.json").read_text())
    assert record["steps"] == 100 and [item["step"] for item in record["validations"]] == [50, 100]
    # A second call finds the model and trains nothing.
    for module in (asap, dissatisfaction):
        monkeypatch.setattr(module, "macro_f1", None)
    np.testing.assert_array_equal(
        trained(tmp_path / "model", factor=2)(test.dialogues).round(6), first.round(6)
    )
    assert capfd.readouterr() == ("", "")


def test_train_classifier_up_sampled_rows(trained, tmp_path):
    trained(tmp_path / "plain", steps=1)
    trained(tmp_path / "more", steps=1, factor=3)
    plain, more = (
        json.loads((tmp_path / name / "training.json").read_text())["inputs"]
        for name in ("plain", "more")
    )
    assert plain["examples"] != more["examples"]
    assert (plain["settings"]["factor"], more["settings"]["factor"]) == (1, 3)


def test_train_classifier_missing_weights(trained, tmp_path):
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
def test_train_classifier_other_inputs(source, tmp_path, tokenizer, changed):
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
def test_train_classifier_frozen_embeddings(source, tmp_path, trained_too):
    inputs = stepped_options(3, 8, 0.003, 1, seed=3)
    parts = labelled(20, 1), labelled(20, 2)
    position = tmp_path / "model"
    train_classifier(source, *parts, inputs, position, length=16, train_embeddings=trained_too)
    before, after = (load_file(item / "model.safetensors") for item in (source, position))
    words, layer = "bert.embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight"
    assert torch.equal(before[words], after[words]) is not trained_too
    assert not torch.equal(before[f"bert.{layer}"], after[f"bert.{layer}"])


def test_utterance_vectors_once(source, monkeypatch):
    calls = []
    plain = asap.dense_vectors

    def counted(model, tokenizer, texts, length):
        calls.extend(texts)
        return plain(model, tokenizer, texts, length)

    monkeypatch.setattr(asap, "dense_vectors", counted)
    vectors = UtteranceVectors(source)
    one = vectors(["w1", "w2", "w1"])
    two = vectors(["w2", "w3"])
    assert calls == ["w1", "w2", "w3"]
    np.testing.assert_array_equal(one[1], two[0])
    assert vectors([]).shape == (0, 16)
