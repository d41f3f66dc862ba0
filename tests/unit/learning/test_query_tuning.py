"""CODER's losses and its search, by hand, against scipy and on planted neutralities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from datasets import Dataset
from scipy.special import log_softmax, softmax
from scipy.stats import entropy
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertModel

from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.query_encoders import encode_queries, load_encoder
from everycell.learning.query_tuning import (
    listwise_loss,
    neutrality_loss,
    query_tuning_loss,
    top_rows,
)
from everycell.learning.training import train

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def test_listwise_loss():
    scores = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]])
    # One relevant document in the first list, and two in the second.
    logs = log_softmax(scores, axis=1)
    expected = (-logs[0, 0] - logs[1, :2].mean()) / 2
    value = listwise_loss(torch.from_numpy(scores), torch.tensor([1, 2]))
    assert value.item() == pytest.approx(expected)


@pytest.mark.parametrize("cutoff", [2, 3, 9])
def test_neutrality_loss(cutoff):
    rng = np.random.default_rng(0)
    scores, neutral = rng.normal(size=(4, 5)), rng.random((4, 5))
    expected = []
    for row_scores, row_neutral in zip(scores, neutral, strict=True):
        top = np.argsort(-row_scores)[:cutoff]
        expected.append(entropy(softmax(row_neutral[top]), softmax(row_scores[top])))
    value = neutrality_loss(torch.from_numpy(scores), torch.from_numpy(neutral), cutoff)
    assert value.item() == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("part", [3, 100])
def test_top_rows(part):
    rng = np.random.default_rng(1)
    queries = rng.normal(size=(6, 4)).astype(np.float32)
    vectors = rng.normal(size=(20, 4)).astype(np.float32)
    rows = top_rows(queries, vectors, 5, device=torch.device("cpu"), part=part)
    assert rows.tolist() == np.argsort(-(queries @ vectors.T), axis=1)[:, :5].tolist()


@pytest.mark.slow
def test_query_tuning_prefers_neutral(tmp_path):
    """The larger the weight, the more neutral are the documents of the highest scores."""
    words = [*SPECIAL, "bee", "river", "stone", "tree"]
    write_bert(tmp_path / "start", tiny_bert(BertModel, words=len(words), positions=16), words)
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(40, 8)).astype(np.float32)
    # One half of the space is neutral.
    neutralities = (vectors[:, 0] > 0).astype(np.float32)
    queries = ["bee", "river", "stone", "tree", "bee tree", "river stone"]
    relevant = rng.choice(40, 6, replace=False).tolist()
    lists = [[first, *(row for row in range(40) if row != first)] for first in relevant]
    examples = Dataset.from_dict(
        {"query": queries, "documents": lists, "relevant": [1] * len(queries)}
    )
    shares, losses = [], []
    for weight in (0.0, 30.0):
        model, tokenizer = load_encoder(tmp_path / "start", "first")
        record = train(
            model,
            examples,
            query_tuning_loss(tokenizer, vectors, neutralities, length=8, weight=weight, cutoff=40),
            TrainingOptions(
                learning_rate=1e-2, epochs=40, batch_size=6, schedule="constant", dropout=0.0
            ),
            tmp_path / f"trained-{weight:g}",
            tokenizer=tokenizer,
        )
        assert record.losses[-1] < record.losses[0]
        encoded = np.array(list(encode_queries(model, tokenizer, "first", queries)), np.float32)
        shares.append(neutralities[top_rows(encoded, vectors, 5, device=model.device)].mean())
        ranks = np.argsort(-(encoded @ vectors.T), axis=1)
        rank_of_relevant = [
            list(rank).index(row) for rank, row in zip(ranks, relevant, strict=True)
        ]
        losses.append(np.mean(rank_of_relevant))
    assert shares[1] > shares[0]
    # It costs relevance.
    assert losses[0] < losses[1]
