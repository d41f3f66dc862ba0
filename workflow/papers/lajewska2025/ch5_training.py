"""Training of sentence classifiers of answerability for chapter 5 of lajewska2025.

They predict whether a sentence contains all or part of the answer to a question.

Source: lajewska2025, section 5.6.1, and the authors' code for the format of the input. Their model
has two outputs and a softmax; one output with a sigmoid, as here, is equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from datasets import Dataset
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from torch.nn import functional
from transformers import BertForSequenceClassification, BertModel, PreTrainedTokenizerBase

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.learning.batching import check_length, map_batches, pad
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.cross_encoder import PairLength, join, tokenise
from everycell.learning.last_layer import logit
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.learning.training import train
from everycell.text.sentences import sentences_with
from papers.lajewska2025.answerability_data import (
    Question,
    hold_out,
    judged_pairs,
    labelled_pairs,
    read_labels,
    read_squad,
    score_frame,
)

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


#: Lower bound of probabilities in log losses.
SMALLEST = 1e-7


def answerability_train(job: Job) -> None:
    """Fine-tune BERT to detect sentences with an answer; interrupted training resumes."""
    use_one_thread()
    files, params = job.input, job.params
    model, tokenizer = load_model(job.folder_of("encoder"), "classifier", seed=job.seed)
    _, labelled = read_labels(files)
    rows = labelled.loc[labelled["partition"] == "train", ["question", "sentence", "answers"]]
    examples = rows.to_dict("list")
    if files.get("squad"):
        squad = read_squad(Path(files.squad)).itertuples(index=False, name=None)
        for values, squad_values in zip(
            examples.values(), zip(*squad_pairs(squad, seed=params.seed), strict=True), strict=True
        ):
            values += squad_values
    validation = labelled[labelled["partition"] == "validation"]
    pairs, truth = labelled_pairs(validation), validation["answers"].to_numpy()
    settings = dict(params.settings)
    length, warmup = settings.pop("length"), settings.pop("warmup_steps")
    steps = settings["epochs"] * -(-len(examples["question"]) // settings["batch_size"])

    def negative_loss(model) -> float:
        """Negative mean log loss on the validation sentences, the authors' criterion."""
        probabilities = answer_probabilities(model, tokenizer, pairs, length)
        of_label = np.where(truth, probabilities, 1 - probabilities).clip(SMALLEST)
        return float(np.log(of_label).mean())

    train(
        model.to(device()),
        Dataset.from_dict(examples),
        classification_loss(tokenizer, length),
        TrainingOptions(
            seed=params.seed,
            warmup_ratio=min(1.0, warmup / steps),
            checkpoint_steps=100,
            **settings,
        ),
        Path(job.output.model),
        tokenizer=tokenizer,
        validate=negative_loss,
        settings={"kind": "answer-in-the-sentence", "length": length, "code": params.code},
    )


def answerability_score(job: Job) -> None:
    """Answer probabilities of validation and test sentences by a trained classifier."""
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    pairs = judged_pairs(*read_labels(job.input))
    probabilities = answer_probabilities(model.to(device()), tokenizer, pairs, job.params.length)
    job.write_frame(score_frame(pairs, probabilities), "scores")


def answerability_frozen(job: Job) -> None:
    """Answer probabilities from a logistic regression on frozen embeddings.

    The penalty is chosen by the lowest log loss on the validation partition. With `test_queries`,
    these are the test partition.
    """
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    params = job.params
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    passages, labelled = read_labels(job.input)
    if "test_queries" in job.input.keys():
        queries = pd.read_parquet(job.input.test_queries)["topic"]
        passages, labelled = hold_out(passages, labelled, queries)
    training = labelled[labelled["partition"] == "train"]
    questions = training["question"].unique()
    order = np.random.default_rng(job.seed).permutation(len(questions))
    # As many complete questions as the maximum number of sentences allows.
    sizes = training["question"].value_counts()[questions[order]].cumsum()
    training = training[training["question"].isin(sizes.index[sizes <= params.sentences])]
    validation = labelled[labelled["partition"] == "validation"]
    judged = judged_pairs(passages, labelled)
    parts = [labelled_pairs(training), labelled_pairs(validation), judged]
    boundaries = np.cumsum([len(part) for part in parts])[:-1]
    features = np.split(
        pair_features(encoder.to(device()), tokenizer, sum(parts, []), params.length), boundaries
    )
    heads = [
        train_head(features[0], training["answers"], strength=strength)
        for strength in params.strengths
    ]
    losses = [
        log_loss(validation["answers"], head.predict_proba(features[1])[:, 1]) for head in heads
    ]
    job.log.write(f"{len(training)} sentences; log loss by strength: {losses}\n")
    best = heads[int(np.argmin(losses))]
    job.write_frame(score_frame(judged, best.predict_proba(features[2])[:, 1]), "scores")
