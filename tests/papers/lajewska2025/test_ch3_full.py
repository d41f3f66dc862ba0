"""lajewska2025, chapter 3, on its collections: passages, parameters, vectors, T5, training."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch
from data_errors import refused
from tiny_t5 import write_t5

from everycell.collections.cast import Text
from everycell.learning.t5 import load_t5, pair_scores, relevance_scores
from papers.lajewska2025 import ch3_collections
from papers.lajewska2025.ch3_collections import (
    as_judged,
    read_passages_in_groups,
    texts_of,
    write_passages,
)
from papers.lajewska2025.ch3_generation import read_qrecc, rewriting_loss
from papers.lajewska2025.ch3_models import T5Rerankers, best_rows
from papers.lajewska2025.ch3_pipeline import mean_of_best, rerank_runs
from papers.lajewska2025.ch3_rewriting import count_words
from papers.lajewska2025.ch3_systems import CAST_SUM_OPTIONS

WORDS = ["true", "false", "rain", "hail", "snow", "falls", "what", "is"]


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    """Return a random T5 that scores texts differently."""
    folder = tmp_path_factory.mktemp("t5")
    write_t5(folder, WORDS, factor=3.0)
    return load_t5(folder)


def test_write_passages_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(ch3_collections, "ROWS", 2)
    passages = [Text(f"CAR_{number}", "T", f"text {number}") for number in range(5)]
    path = tmp_path / "passages.parquet"
    assert write_passages(passages, path) == 5
    groups = list(read_passages_in_groups(path))
    assert [len(group) for group in groups] == [2, 2, 1]
    assert pd.concat(groups)["document_id"].tolist() == [passage.id for passage in passages]
    assert texts_of(path, {"CAR_4", "CAR_9"}) == {"CAR_4": "text 4"}


def test_as_judged_years():
    run = pd.DataFrame(
        {
            "query": "1",
            "document": ["MARCO_D1-2", "MARCO_D1-1", "WAPO_a-1b2c-3"],
            "score": [3, 2, 1],
        }
    )
    assert as_judged(run, "2020") is run
    documents = as_judged(run, "2021").set_index("document")["score"]
    assert documents.to_dict() == {"MARCO_D1": 3, "WAPO_a-1b2c": 1}


def test_mean_of_best_released_grids(mirror):
    folder = mirror / "cast-reproducibility/bm25_tuning"
    grids = [
        pd.read_csv(folder / f"bm25_parameters_ranking_{year}.csv", sep="\t")
        for year in (2020, 2021)
    ]
    # The thesis has b = 0.45 too, but k1 = 0.95.
    assert mean_of_best(grids) == {"b": 0.45, "k1": 1.05}


@pytest.mark.parametrize("k", [1, 3, 20])
def test_best_rows_over_blocks(k):
    dice = np.random.default_rng(3)
    vectors, queries = dice.normal(size=(9, 4)), dice.normal(size=(2, 4))
    rows, scores = best_rows(queries, np.split(vectors, [2, 7]), k)
    products = queries @ vectors.T
    expected = np.argsort(-products, axis=1)[:, :k]
    assert rows.tolist() == expected.tolist()
    np.testing.assert_allclose(scores, np.take_along_axis(products, expected, 1), rtol=1e-5)


def test_relevance_scores_of_forward_pass(t5):
    model, tokenizer = t5
    texts = ["snow falls", "hail", "is what is rain"]
    scores = relevance_scores(model, tokenizer, "rain", texts)
    for text, score in zip(texts, scores, strict=True):
        prompt = tokenizer(f"Query: rain Document: {text} Relevant:", return_tensors="pt")
        with torch.inference_mode():
            logits = model(
                input_ids=prompt["input_ids"], decoder_input_ids=torch.tensor([[0]])
            ).logits[0, 0]
        true, false = (logits[tokenizer.convert_tokens_to_ids(word)] for word in WORDS[:2])
        expected = torch.log_softmax(torch.stack([true, false]), 0)[0].item()
        assert score == pytest.approx(expected, rel=1e-4)


def test_t5_rerankers_stages(t5):
    texts = {"a": "snow falls", "b": "hail", "c": "is what is rain", "d": "falls"}
    run = pd.DataFrame({"query": "1_1", "document": list(texts), "score": [4.0, 3, 2, 1]})
    rerankers = T5Rerankers(t5, t5, {("canard", "1_1"): "rain"}, texts, first=3, length=64)
    names = {"mono": ("bm25", "canard", None), "duo": ("bm25", "canard", CAST_SUM_OPTIONS)}
    runs = rerank_runs({"bm25": run}, names, rerankers)
    mono = sorted(zip(-relevance_scores(*t5, "rain", list(texts.values())), texts, strict=True))
    order = [name for _, name in mono]
    assert runs["mono"]["document"].tolist() == order
    scores = pair_scores(*t5, "rain", [texts[name] for name in order[:3]], length=64)
    duo = [order[position] for position in np.argsort(-scores, kind="stable")]
    assert runs["duo"]["document"].tolist() == [*duo, order[3]]


def test_read_qrecc_contexts(tmp_path):
    path = tmp_path / "qrecc_train.json"
    context = ["what is hail", "frozen rain", "is it ice", "yes it is"]
    rows = [
        {"Context": context, "Question": "and snow", "Rewrite": "is snow ice"},
        {"Context": [], "Question": "what is hail", "Rewrite": "what is hail"},
    ]
    path.write_text(json.dumps(rows))
    options = {"count": count_words, "separator": " <sep> "}
    assert [row["context"] for row in read_qrecc(path, length=99, **options)] == [
        "what is hail <sep> is it ice <sep> yes it is <sep> and snow",
        "what is hail",
    ]
    [first, _] = read_qrecc(path, length=12, **options)
    assert first["context"] == "what is hail <sep> is it ice <sep> yes <sep> and snow"
    assert first["rewrite"] == "is snow ice"


@pytest.mark.parametrize("content", ["{", "{}", "[]", "[1]", '[{"Context": []}]', "3"])
def test_read_qrecc_damaged(tmp_path, content):
    path = tmp_path / "qrecc_train.json"
    path.write_text(content)
    with refused(path=path.name):
        read_qrecc(path, length=9, count=count_words, separator=" ")


def test_rewriting_loss_ignores_padding(t5):
    model, tokenizer = t5
    loss = rewriting_loss(tokenizer, 16)
    pairs = [("what is rain", "snow"), ("hail", "rain falls is hail")]
    alone = [loss(model, {"context": [a], "rewrite": [b]}).item() for a, b in pairs]
    together = loss(model, dict(zip(("context", "rewrite"), zip(*pairs, strict=True), strict=True)))
    # The mean over tokens, of which the rewrites have two and five.
    assert together.item() == pytest.approx((2 * alone[0] + 5 * alone[1]) / 7, rel=1e-5)
