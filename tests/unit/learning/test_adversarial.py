"""Adversarial training of a cross-encoder, by hand and on a planted attribute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertForSequenceClassification

from everycell.learning.adversarial import add_adversary, pointwise_loss, reverse_gradient
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.cross_encoder import PairLength, pair_vectors, score_pairs
from everycell.learning.models import load_model
from everycell.learning.training import train

pytestmark = pytest.mark.usefixtures("one_torch_thread")

LENGTH = PairLength(16, "longest_first")
WORDS = ["he", "she", "bee", "river", "stone", "tree"]


@pytest.fixture
def start(tmp_path: Path):
    words = [*SPECIAL, *WORDS]
    model = tiny_bert(BertForSequenceClassification, words=len(words), positions=16, size=16)
    write_bert(tmp_path / "start", model, words)
    return tmp_path / "start"


def test_reverse_gradient():
    states = torch.tensor([2.0, -3.0], requires_grad=True)
    reversed_states = reverse_gradient(states, 2.5)
    assert torch.equal(reversed_states, states)
    (reversed_states**2).sum().backward()
    assert states.grad.tolist() == (-2.5 * 2 * states).tolist()


@pytest.mark.parametrize("scale", [None, 2.0])
def test_pointwise_loss_by_hand(start, scale):
    model, tokenizer = load_model(start, "classifier")
    rows = {
        "query": ["bee", "river"],
        "texts": [["bee tree", "he stone"], ["river", "she he"]],
        "attributes": [[False, True], [False, False]],
    }
    if scale is not None:
        add_adversary(model, 0)
    value = pointwise_loss(tokenizer, LENGTH, scale=scale)(model, rows).item()
    texts = [text for texts in rows["texts"] for text in texts]
    queries, documents = dict(enumerate(rows["query"])), dict(enumerate(texts))
    pairs = [(number // 2, number) for number in range(4)]
    scores = score_pairs(model, tokenizer, queries, documents, pairs, LENGTH)

    def surprise(logits, labels):
        return np.log1p(np.exp(np.where(labels, -logits, logits))).sum() / 2

    expected = surprise(scores, np.array([True, False, True, False]))
    if scale is not None:
        vectors = torch.from_numpy(
            pair_vectors(model, tokenizer, queries, documents, pairs, LENGTH)
        )
        guesses = model.adversary(vectors)[:, 0].detach().numpy()
        expected += surprise(guesses, np.array([False, True, False, False]))
    assert value == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_pointwise_loss_planted_bias(start, tmp_path):
    """Relevant texts have "bee", and "he" more often than others: a ranker learns both.

    The larger the scale, the less do scores depend on "he".
    """
    rng = np.random.default_rng(0)

    def text(relevant: bool, gendered: bool) -> str:
        words = ["bee" if relevant else "stone", "he" if gendered else "tree", "river"]
        return " ".join(rng.permutation(words))

    attributes = np.column_stack([rng.random(240) < 0.8, rng.random(240) < 0.2])
    examples = Dataset.from_dict(
        {
            "query": ["bee"] * len(attributes),
            "texts": [[text(True, first), text(False, second)] for first, second in attributes],
            "attributes": attributes.tolist(),
        }
    )
    kinds = [(relevant, gendered) for relevant in (True, False) for gendered in (True, False)]
    texts = dict(enumerate(text(*kind) for kind in kinds * 15))
    gaps = []
    for scale in (None, 1.0, 3.0):
        model, tokenizer = load_model(start, "classifier")
        if scale is not None:
            add_adversary(model, 0)
        folder = tmp_path / f"trained-{scale}"
        train(
            model,
            examples,
            pointwise_loss(tokenizer, LENGTH, scale=scale),
            TrainingOptions(learning_rate=2e-3, epochs=4, batch_size=16, schedule="constant"),
            folder,
            tokenizer=tokenizer,
        )
        # The saved model is a plain cross-encoder.
        model, tokenizer = load_model(folder, "classifier")
        pairs = [(0, number) for number in texts]
        scores = score_pairs(model, tokenizer, {0: "bee"}, texts, pairs, LENGTH)
        means = scores.reshape(15, 2, 2).mean(axis=0)
        assert (means[0] > means[1]).all()
        gaps.append((means[:, 0] - means[:, 1]).mean())
    assert gaps[0] > gaps[1] > gaps[2] > 0
