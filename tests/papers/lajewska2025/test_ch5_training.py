"""Classifiers of sentences: input, loss, probabilities, frozen features, SQuAD's pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, BertModel

from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.text_vectors import dense_vectors
from everycell.learning.training import train
from papers.lajewska2025.ch5_training import (
    answer_probabilities,
    classification_loss,
    pair_features,
    squad_pairs,
    train_head,
)

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "why", "who", "yes", "no", "and", "."]
PAIRS = [("why .", "no and yes"), ("who", ""), ("", "yes"), ("who and why", "no . " * 8)]
SIZES = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "max_position_embeddings": 16,
    "initializer_range": 0.5,
}


@pytest.fixture
def classifier():
    torch.manual_seed(0)
    return BertForSequenceClassification(BertConfig(num_labels=1, **SIZES)).eval()


def by_transformers(model, tokenizer, question, sentence, length):
    """Probability of one pair, written as one text as the authors do, cut at its end."""
    text = f"{question} [SEP] {sentence}"
    encoded = tokenizer(text, truncation=True, max_length=length, return_tensors="pt")
    with torch.no_grad():
        return torch.sigmoid(model(**encoded).logits).item()


def test_answer_probabilities_separator(classifier, tokenizer):
    result = answer_probabilities(classifier, tokenizer, PAIRS, 16)
    # The last pair is cut at the end of the sentence: its question has 3 of 13 tokens.
    expected = [by_transformers(classifier, tokenizer, *pair, 16) for pair in PAIRS]
    assert result == pytest.approx(expected, abs=1e-6)
    assert answer_probabilities(classifier, tokenizer, [], 16).shape == (0,)


def test_classification_loss_by_hand(classifier, tokenizer):
    answers = np.array([True, False, False, True])
    rows = {
        "question": [pair[0] for pair in PAIRS],
        "sentence": [pair[1] for pair in PAIRS],
        "answers": answers.tolist(),
    }
    result = answer_probabilities(classifier, tokenizer, PAIRS, 16)
    by_hand = -np.log(np.where(answers, result, 1 - result)).mean()
    with torch.no_grad():
        assert classification_loss(tokenizer, 16)(classifier, rows).item() == pytest.approx(
            by_hand, rel=1e-5
        )


def test_classification_loss_learns(classifier, tokenizer, tmp_path):
    pairs = [(question, answer) for question in ("why", "who") for answer in ("yes", "no")] * 4
    answers = [(question == "why") == (answer == "yes") for question, answer in pairs]
    rows = Dataset.from_dict(
        {
            "question": [pair[0] for pair in pairs],
            "sentence": [pair[1] for pair in pairs],
            "answers": answers,
        }
    )
    options = TrainingOptions(learning_rate=0.01, epochs=20, batch_size=8)
    train(classifier, rows, classification_loss(tokenizer, 8), options, tmp_path / "model")
    assert ((answer_probabilities(classifier, tokenizer, pairs, 8) > 0.5) == answers).all()


@pytest.mark.parametrize("length", [4, 17])
def test_answer_probabilities_too_long(classifier, tokenizer, length):
    with pytest.raises(ValueError, match=f"{length}"):
        answer_probabilities(classifier, tokenizer, PAIRS, length)


def test_pair_features_by_hand(tokenizer):
    torch.manual_seed(0)
    encoder = BertModel(BertConfig(**SIZES), add_pooling_layer=False).eval()
    result = pair_features(encoder, tokenizer, PAIRS, 8)
    questions, sentences = (
        dense_vectors(encoder, tokenizer, [pair[side] for pair in PAIRS], 8) for side in (0, 1)
    )
    assert result.shape == (len(PAIRS), 33)
    assert result[:, :16] == pytest.approx(questions * sentences, abs=1e-6)
    assert result[:, 16:32] == pytest.approx(np.abs(questions - sentences), abs=1e-6)
    assert result[:, 32] == pytest.approx((questions * sentences).sum(axis=1), abs=1e-6)


def test_train_head_strength():
    features, answers = [[0.0], [1.0], [2.0], [3.0]], [False, False, True, True]
    weak, strong = (
        train_head(features, answers, strength=strength).predict_proba(features)[-1, 1]
        for strength in (0.1, 10.0)
    )
    assert weak > strong > 0.5


QUESTIONS = [
    ("who?", "Ann ran. Bo sat. Cy ate with Ann.", ("Ann",)),
    ("when?", "It rained. Noon came. Nobody spoke. All slept.", ()),
]


def test_squad_pairs_balanced():
    result = squad_pairs(QUESTIONS, seed=3)
    assert result[:2] == [("who?", "Ann ran.", True), ("who?", "Cy ate with Ann.", True)]
    assert [answers for *_, answers in result] == [True, True, False, False]
    assert {question for question, *_ in result[2:]} == {"when?"}
    assert result == squad_pairs(QUESTIONS, seed=3)
    assert len({tuple(squad_pairs(QUESTIONS, seed=seed)) for seed in range(10)}) > 1


def test_squad_pairs_few_negatives():
    assert len(squad_pairs([QUESTIONS[0], ("why?", "So.", ())], seed=0)) == 3
