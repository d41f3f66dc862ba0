"""Classifiers that predict whether a sentence contains all or part of the answer to a question.

Source: lajewska2025, section 5.6.1, and the authors' code for the format of the input. Their model
has two outputs and a softmax; one output with a sigmoid, as here, is equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from torch.nn import functional
from transformers import BertForSequenceClassification, BertModel, PreTrainedTokenizerBase

from everycell.base.arrays import FloatArray
from everycell.collections.squad import Question
from everycell.learning.batching import check_length, map_batches, pad
from everycell.learning.cross_encoder import PairLength, join, tokenise
from everycell.learning.last_layer import logit
from everycell.learning.text_vectors import dense_vectors
from everycell.text.sentences import sentences_with

Pair = tuple[str, str]


def classification_loss(
    tokenizer: PreTrainedTokenizerBase, length: int
) -> Callable[[BertForSequenceClassification, Mapping[str, Sequence[Any]]], torch.Tensor]:
    """Binary cross-entropy, as a loss for `everycell.learning.training.train`."""

    def loss(
        model: BertForSequenceClassification, rows: Mapping[str, Sequence[Any]]
    ) -> torch.Tensor:
        check_length(model, length)
        pairs = list(zip(rows["question"], rows["sentence"], strict=True))
        batch = pad(_sequences(tokenizer, pairs, length), tokenizer.pad_token_id, model.device)
        logits = logit(model, batch)
        answers = torch.tensor(rows["answers"], dtype=logits.dtype, device=logits.device)
        return functional.binary_cross_entropy_with_logits(logits, answers)

    return loss


def answer_probabilities(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[Pair],
    length: int,
) -> FloatArray:
    """Probability that each sentence contains all or part of the answer to its question."""
    check_length(model, length)
    logits = map_batches(
        lambda batch: logit(model, batch),
        _sequences(tokenizer, pairs, length),
        pad_id=tokenizer.pad_token_id,
        device=model.device,
        what="sentences",
    )
    return 1 / (1 + np.exp(-np.array(logits, dtype=np.float64)))


def pair_features(
    model: BertModel,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[Pair],
    length: int,
) -> FloatArray:
    """Features of question-sentence pairs, from vectors of the individual texts."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    index_of = {text: number for number, text in enumerate(texts)}
    vectors = dense_vectors(model, tokenizer, texts, length).astype(np.float64)
    questions, sentences = (
        vectors[[index_of[pair[side]] for pair in pairs]].reshape(len(pairs), -1) for side in (0, 1)
    )
    products = questions * sentences
    return np.hstack([products, np.abs(questions - sentences), products.sum(axis=1, keepdims=True)])


def train_head(features: npt.ArrayLike, answers: npt.ArrayLike, *, strength: float) -> Pipeline:
    """Logistic regression over standardised features."""
    head = make_pipeline(StandardScaler(), LogisticRegression(C=1 / strength, max_iter=1000))
    return head.fit(np.asarray(features), np.asarray(answers))


def squad_pairs(questions: Iterable[Question], *, seed: int) -> list[tuple[str, str, bool]]:
    """Question-sentence pairs of SQuAD 2.0, as many with an answer as without (section 5.6.1)."""
    positives: list[tuple[str, str, bool]] = []
    negatives: list[tuple[str, str, bool]] = []
    for question, passage, answer_texts in questions:
        for sentence, has_answer in sentences_with(passage, answer_texts):
            if not answer_texts:
                negatives.append((question, sentence, False))
            elif has_answer:
                positives.append((question, sentence, True))
    sampled = np.random.default_rng(seed).permutation(len(negatives))[: len(positives)]
    return positives + [negatives[index] for index in sampled]


def _sequences(
    tokenizer: PreTrainedTokenizerBase, pairs: Sequence[Pair], length: int
) -> list[npt.NDArray[np.int32]]:
    """[CLS] question [SEP] sentence [SEP] as one text, with token types 0.

    The question is truncated to half of the length, the sentence to what remains.
    """
    pair_length = PairLength(length)
    questions, sentences = (tokenise(tokenizer, [pair[side] for pair in pairs]) for side in (0, 1))
    return [
        np.concatenate(join(tokenizer, question, sentence, pair_length))
        for question, sentence in zip(questions, sentences, strict=True)
    ]
