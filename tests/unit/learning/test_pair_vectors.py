"""Vectors before the last layer give the scores of the cross-encoder."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from everycell.learning.cross_encoder import score_pairs
from everycell.learning.pair_vectors import head_of, pair_vectors
from everycell.learning.text_pairs import PairLength


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    vocabulary = tmp_path_factory.mktemp("bert") / "vocab.txt"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "blue", "green"]
    vocabulary.write_text("\n".join(words))
    torch.manual_seed(1)
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=8, num_hidden_layers=2, num_labels=1, **sizes)
    return BertForSequenceClassification(config), BertTokenizerFast(vocab=str(vocabulary))


def test_head_and_vectors_give_the_scores(parts):
    queries = {"q": "red blue", "r": "green"}
    documents = {"a": "blue " * 30, "b": "green red", "c": ""}
    pairs = [(query, document) for query in queries for document in documents]
    model, tokenizer = parts
    model.train()
    inputs = (model, tokenizer, queries, documents, pairs, PairLength(16))
    vectors = pair_vectors(*inputs)
    assert vectors.shape == (6, 8) and model.training
    np.testing.assert_allclose(head_of(model).log_odds(vectors), score_pairs(*inputs), atol=1e-5)
    assert pair_vectors(*inputs[:4], [], PairLength(16)).shape == (0, 8)


def test_a_pair_without_text_is_named(parts):
    with pytest.raises(ValueError, match="The document 'z' has no text"):
        pair_vectors(*parts, {"q": "red"}, {"a": "red"}, [("q", "z")], PairLength(8))
