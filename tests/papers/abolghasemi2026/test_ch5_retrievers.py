"""Scores of uniCOIL and TCT-ColBERT, against the encoders of single texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertModel

from everycell.learning.query_encoders import load_encoder
from everycell.learning.tildev2 import TildeV2
from papers.abolghasemi2026.ch5_retrievers import (
    tct_colbert_scores,
    top_passages,
    unicoil_scores,
)

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = [*SPECIAL, "[", "]", "q", "d", "bee", "hive", "honey", "river"]
QUESTIONS = ["bee honey", "river"]
PASSAGES = ["bee bee hive", "honey river honey", "river"]


def encoder(folder: Path, kind: str):
    model_class = {"unicoil": TildeV2, "tct_colbert": BertModel}[kind]
    model = tiny_bert(model_class, words=len(WORDS), positions=48)
    if kind == "unicoil":
        # Else most weights of words are 0.
        model.tok_proj.bias.data.fill_(3.0)
    write_bert(folder, model, WORDS)
    return load_encoder(folder, kind)


def test_unicoil_scores(tmp_path):
    model, tokenizer = encoder(tmp_path / "model", "unicoil")

    def weights(text: str) -> list[tuple[str, float]]:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        values = model(input_ids=ids)[0].tolist()
        return list(zip(tokenizer.convert_ids_to_tokens(ids[0]), values, strict=True))

    scores = unicoil_scores(model, tokenizer, QUESTIONS, 32)(PASSAGES)
    for row, question in enumerate(QUESTIONS):
        for column, passage in enumerate(PASSAGES):
            expected = 0
            for piece, weight in weights(question)[1:-1]:
                in_passage = [value for name, value in weights(passage)[1:-1] if name == piece]
                largest = max(in_passage, default=0)
                expected += round(weight / 5 * 256) * round(largest / 5 * 256)
            assert scores[row, column] == expected
    assert scores[0, 2] == 0 < scores[1, 2]


def test_tct_colbert_scores(tmp_path):
    model, tokenizer = encoder(tmp_path / "model", "tct_colbert")

    def mean(text: str) -> np.ndarray:
        batch = tokenizer(text, add_special_tokens=False, return_tensors="pt")
        with torch.inference_mode():
            return model(**batch).last_hidden_state[0, 4:].mean(dim=0).numpy()

    scores = tct_colbert_scores(model, tokenizer, QUESTIONS, 32)(PASSAGES)
    # Queries are padded with masks to 36 tokens.
    masks = [32 - len(question.split()) for question in QUESTIONS]
    queries = [
        mean(f"[CLS] [Q] {question}" + "[MASK]" * number)
        for question, number in zip(QUESTIONS, masks, strict=True)
    ]
    passages = [mean(f"[CLS] [D] {passage}") for passage in PASSAGES]
    assert scores == pytest.approx(np.array(queries) @ np.array(passages).T, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("block", [1, 3, 50])
def test_top_passages(block):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, size=(3, 8)).astype(float)

    def scores_of(texts: Sequence[str]) -> np.ndarray:
        return table[:, [int(text) for text in texts]]

    rows, scores = top_passages(scores_of, [str(n) for n in range(8)], 5, block=block)
    # Of equal scores, the first.
    assert rows.tolist() == np.argsort(-table, axis=1, kind="stable")[:, :5].tolist()
    assert scores.tolist() == np.take_along_axis(table, rows, 1).tolist()
