"""Cross-encoder: what it reads, its scores and its losses, against transformers and by hand."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
import torch
from data_errors import refused
from datasets import Dataset
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from everycell.base.errors import DataError
from everycell.learning.cross_encoder import (
    PairLength,
    head_of,
    join,
    pair_vectors,
    score_by_fold,
    score_in_parts,
    score_pairs,
    softmax_loss,
    tokenise,
    training_loss,
    triplet_loss,
)
from everycell.learning.training import set_dropout

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = [f"w{number}" for number in range(12)]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    return BertTokenizerFast(vocab=str(path))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=40,
        num_labels=1,
        # Far larger than usual, so that scores of random weights differ.
        initializer_range=0.5,
    )
    return BertForSequenceClassification(config).eval()


def plain_score(model, tokenizer, query, document, **options):
    """transformers' own way, one pair at a time."""
    # Lists, since the tokenizer takes a lone empty second text for no second text.
    with torch.no_grad():
        return model(**tokenizer([query], [document], return_tensors="pt", **options)).logits.item()


# -- truncation ----------------------------------------------------------------------------------


@given(query=TEXTS, document=TEXTS, total=st.integers(5, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_pair_length_longest_first(tokenizer, query, document, total):
    query_ids, document_ids = tokenise(tokenizer, [query, document])
    pair = join(tokenizer, query_ids, document_ids, PairLength(total, "longest_first"))
    plain = tokenizer([query], [document], truncation="longest_first", max_length=total)
    assert [[*pair.first, *pair.second]] == plain["input_ids"]
    assert [[0] * len(pair.first) + [1] * len(pair.second)] == plain["token_type_ids"]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(5, 40), st.data())
def test_pair_length_query_first(query, document, total, data):
    maximum = data.draw(st.none() | st.integers(1, total - 4))
    remaining, filled = PairLength(total, query=maximum).room(query, document)
    assert remaining == min(query, (total - 3) // 2 if maximum is None else maximum)
    assert filled == min(document, total - 3 - remaining)


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("query_first", "[CLS] w1 w2 [SEP] w3 w4 w5 [SEP]"),
        ("longest_first", "[CLS] w1 w2 [SEP] w3 w4 w5 [SEP]"),
    ],
)
def test_pair_length_by_hand(tokenizer, cut, expected):
    query, document = tokenise(tokenizer, ["w1 w2 w1 w1", "w3 w4 w5 w6 w7"])
    pair = join(tokenizer, query, document, PairLength(8, cut))
    assert tokenizer.decode([*pair.first, *pair.second]) == expected


def test_pair_length_long_query(tokenizer):
    query, document = tokenise(tokenizer, ["w1 w2 w3 w4 w5 w6", "w7"])
    read = {
        cut: len(join(tokenizer, query, document, PairLength(9, cut)).first) - 2
        for cut in ("query_first", "longest_first")
    }
    assert read == {"query_first": 3, "longest_first": 5}


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"total": 4}, "total"),
        ({"total": 9, "query": 6}, "query"),
        ({"total": 9, "query": 0}, "query"),
    ],
)
def test_pair_length_without_room(options, column):
    with refused(column, options[column]):
        PairLength(**options)


# -- scores --------------------------------------------------------------------------------------


@given(
    queries=st.lists(TEXTS, min_size=1, max_size=3),
    documents=st.lists(TEXTS, min_size=1, max_size=4),
    batch_tokens=st.integers(1, 200),
    data=st.data(),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15
)
def test_score_pairs_equals_transformers(model, tokenizer, queries, documents, batch_tokens, data):
    every = [(one, other) for one in range(len(queries)) for other in range(len(documents))]
    pairs = data.draw(st.lists(st.sampled_from(every), max_size=8))
    scores = score_pairs(
        model,
        tokenizer,
        dict(enumerate(queries)),
        dict(enumerate(documents)),
        pairs,
        PairLength(12, "longest_first"),
        batch_tokens=batch_tokens,
    )
    plain = [
        plain_score(model, tokenizer, queries[q], documents[d], truncation=True, max_length=12)
        for q, d in pairs
    ]
    assert scores.shape == (len(pairs),) and scores.dtype == np.float32
    np.testing.assert_allclose(scores, plain, atol=1e-5)


def test_score_pairs_different_texts(model, tokenizer):
    documents = {"a": "w1 w2", "b": "w3", "c": ""}
    pairs = [("q", "a"), ("q", "b"), ("q", "c")]
    scores = score_pairs(model, tokenizer, {"q": "w5"}, documents, pairs, PairLength(40))
    assert len(set(scores.round(4))) == 3


def test_join_longer_text(model, tokenizer):
    """The odd token is the longer text's, even if both are longer than a pair."""
    texts = {"q": " ".join(WORDS) + " w1 w2", "d": " ".join(WORDS) + " w1"}
    length = PairLength(12, "longest_first")
    scores = score_pairs(model, tokenizer, texts, texts, [("q", "d"), ("d", "q")], length)
    plain = [
        plain_score(model, tokenizer, texts[q], texts[d], truncation=True, max_length=12)
        for q, d in ("qd", "dq")
    ]
    np.testing.assert_allclose(scores, plain, atol=1e-5)
    assert abs(plain[0] - plain[1]) > 1e-3


def test_score_pairs_very_long_text(model, tokenizer, caplog, monkeypatch):
    monkeypatch.setattr(tokenizer, "model_max_length", 40)
    monkeypatch.setattr(logging.getLogger("transformers"), "propagate", True)
    documents = {"long": "w3 " * 10_000, "short": "w3 " * 36}
    pairs = [("q", "long"), ("q", "short")]
    scores = score_pairs(model, tokenizer, {"q": "w1"}, documents, pairs, PairLength(40))
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    assert not caplog.records


def test_score_pairs_tokenises_once(model, tokenizer):
    calls = []

    class Counting:
        cls_token_id, sep_token_id, pad_token_id = 2, 3, 0

        def __call__(self, texts, **options):
            calls.append(texts)
            return tokenizer(texts, **options)

    documents = {number: WORDS[number] for number in range(5)}
    pairs = [(query, document) for query in "ab" for document in range(4)] * 2
    score_pairs(model, Counting(), {"a": "w1", "b": "w2"}, documents, pairs, PairLength(9))
    assert calls == [["w1", "w2"], ["w0", "w1", "w2", "w3"]]


def test_score_pairs_without_dropout(model, tokenizer):
    arguments = (tokenizer, {"q": "w1"}, {"d": "w2"}, [("q", "d")], PairLength(9))
    expected = score_pairs(model, *arguments)
    model.train()
    try:
        assert score_pairs(model, *arguments) == expected
        assert model.training
    finally:
        model.eval()


@pytest.mark.parametrize(
    ("pairs", "total", "column", "value"),
    [
        ([("q", "x y")], 9, "document", "x y"),
        ([("r", "d")], 9, "query", "r"),
        ([("q", "d")], 41, "length", 41),
    ],
)
@pytest.mark.parametrize("function", [score_pairs, pair_vectors])
def test_score_pairs_invalid(model, tokenizer, function, pairs, total, column, value):
    with refused(column, value):
        function(model, tokenizer, {"q": "w1"}, {"d": "w2"}, pairs, PairLength(total))


def test_pair_vectors_and_head_give_the_scores(model, tokenizer):
    queries = {"q": "w1 w2", "r": "w3"}
    documents = {"a": "w2 " * 30, "b": "w3 w1", "c": ""}
    pairs = [(query, document) for query in queries for document in documents]
    model.train()
    try:
        inputs = (model, tokenizer, queries, documents, pairs, PairLength(16))
        vectors = pair_vectors(*inputs)
        assert vectors.shape == (6, 16) and model.training
        expected = score_pairs(*inputs)
    finally:
        model.eval()
    np.testing.assert_allclose(head_of(model).log_odds(vectors), expected, atol=1e-5)
    assert pair_vectors(*inputs[:4], [], PairLength(16)).shape == (0, 16)


# -- losses --------------------------------------------------------------------------------------

ROWS = {
    "query": ["w1 w2", "w3"],
    "positive": ["w1 w4 w5", ""],
    "negatives": [["w6", "w7 w8 w9"], ["w2 w2", "w0"]],
}


def test_softmax_loss_by_hand():
    scores = np.array([[2.0, 1.0, -1.0], [0.5, 3.0, 0.0]])
    by_hand = -np.log(np.exp(scores[:, 0]) / np.exp(scores).sum(axis=1)).mean()
    assert softmax_loss(torch.tensor(scores)).item() == pytest.approx(by_hand)


def test_softmax_loss_of_one_negative_is_the_loss_of_a_pair():
    assert softmax_loss(torch.tensor([[0.3, 1.5]])).item() == pytest.approx(np.log1p(np.exp(1.2)))


def test_triplet_loss_by_hand():
    draw = np.random.default_rng(0)
    query, positive = draw.normal(size=(2, 3, 5))
    negatives = draw.normal(size=(3, 4, 5))
    near = np.linalg.norm(query - positive, axis=1)[:, None]
    far = np.linalg.norm(query[:, None] - negatives, axis=2)
    by_hand = np.maximum(0, near - far + 1.0).mean()
    tensors = (torch.tensor(item) for item in (query, positive, negatives))
    assert triplet_loss(*tensors, 1.0).item() == pytest.approx(by_hand, abs=1e-5)


@pytest.mark.parametrize("weight", [0.0, 1.0, 0.25])
def test_training_loss_is_the_sum_of_both_by_hand(model, tokenizer, weight):
    queries, positives, negatives = ROWS.values()
    softmax, far = [], []
    for query, documents in zip(
        queries, ([p, *n] for p, n in zip(positives, negatives, strict=True)), strict=True
    ):
        scores = np.array([plain_score(model, tokenizer, query, text) for text in documents])
        softmax.append(-scores[0] + np.log(np.exp(scores).sum()))
        with torch.no_grad():
            vectors = [
                model.bert(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0].numpy()
                for text in (query, *documents)
            ]
        distances = [np.linalg.norm(vectors[0] - vector) for vector in vectors[1:]]
        far += [max(0.0, distances[0] - distance + 2.0) for distance in distances[1:]]
    assert np.mean(far) > 0
    loss = training_loss(tokenizer, PairLength(40), triplet_weight=weight, margin=2.0)
    by_hand = np.mean(softmax) + weight * np.mean(far)
    assert loss(model, ROWS).item() == pytest.approx(by_hand, abs=1e-4)


def test_training_puts_relevant_documents_first(tokenizer, model):
    """A few steps on rows of a datasets.Dataset; the multi-task loss has a gradient everywhere."""
    torch.manual_seed(0)
    learner = BertForSequenceClassification(
        BertConfig(**model.config.to_dict() | {"initializer_range": 0.1})
    )
    set_dropout(learner, 0.0)
    learner.train()
    loss = training_loss(tokenizer, PairLength(12), triplet_weight=1.0)
    optimiser = torch.optim.AdamW(learner.parameters(), lr=0.03)
    rows = Dataset.from_dict(ROWS)
    values = []
    for _ in range(25):
        optimiser.zero_grad()
        value = loss(learner, rows[:2])
        value.backward()
        optimiser.step()
        values.append(value.item())
    assert values[-1] < values[0] / 2
    assert all(weight.grad is not None for weight in learner.parameters())
    pairs = [
        (row, text) for row in (0, 1) for text in (ROWS["positive"][row], *ROWS["negatives"][row])
    ]
    texts = {text: text for _, text in pairs}
    queries = dict(enumerate(ROWS["query"]))
    scores = score_pairs(learner, tokenizer, queries, texts, pairs, PairLength(12))
    assert scores.reshape(2, 3).argmax(axis=1).tolist() == [0, 0]


def test_set_dropout_all_layers(model, tokenizer):
    learner = BertForSequenceClassification(model.config).train()
    loss = training_loss(tokenizer, PairLength(12))
    assert loss(learner, ROWS) != loss(learner, ROWS)
    set_dropout(learner, 0.0)
    assert loss(learner, ROWS) == loss(learner, ROWS)


PAIRS = st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=3)), unique=True)


def lists_of(pairs):
    return pd.DataFrame(pairs, columns=["query", "document"], dtype="object")


def score(pairs):
    return [hash(pair) / 1e18 for pair in pairs]


@given(PAIRS, st.integers(1, 7))
def test_score_in_parts_same_scores(pairs, at_once):
    requests = []

    def counted(part):
        requests.append({query for query, _ in part})
        return score(part)

    result = score_in_parts(lists_of(pairs), counted, at_once=at_once)
    expected = dict(zip(pairs, score(pairs), strict=True))
    assert {
        (query, document): value for query, document, value in result.itertuples(index=False)
    } == expected
    assert len(result) == len(pairs)
    # No query is parted, and no part is larger than it may be.
    assert max(map(len, requests), default=0) <= at_once
    assert sum(map(len, requests)) == len({query for query, _ in pairs})


def test_score_by_fold_held_out():
    lists = lists_of([("q", "a"), ("r", "a"), ("q", "b")])
    scorers = [
        ({"r", "no list"}, lambda pairs: [10.0] * len(pairs)),
        ({"q"}, lambda pairs: [float(ord(document)) for _, document in pairs]),
    ]
    result = score_by_fold(lists, scorers)
    assert result.drop(columns="score").equals(lists)
    assert result["score"].tolist() == [97, 10, 98]


@pytest.mark.parametrize(
    ("folds", "query", "count"), [([{"q"}], "r", 0), ([{"q", "r"}, {"q"}], "q", 2)]
)
def test_score_by_fold_not_held_out_once(folds, query, count):
    scorers = [(fold, score) for fold in folds]
    with pytest.raises(DataError) as error:
        score_by_fold(lists_of([("q", "a"), ("r", "a")]), scorers)
    assert error.value.value == query and f"{count} models" in error.value.fault


def test_score_by_fold_one_model_at_a_time():
    events = []

    def scorers():
        for query in "qr":
            events.append(f"load {query}")
            yield {query}, lambda pairs: events.append(f"score {pairs[0][0]}") or [0.0]

    score_by_fold(lists_of([("q", "a"), ("r", "a")]), scorers())
    assert events == ["load q", "score q", "load r", "score r"]
