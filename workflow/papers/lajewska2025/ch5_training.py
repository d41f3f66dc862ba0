"""Sentence classifiers of chapter 5 of lajewska2025: training, and answer probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from datasets import Dataset
from sklearn.metrics import log_loss

from everycell.collections.squad import read_squad
from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.sentence_classifier import (
    answer_probabilities,
    classification_loss,
    pair_features,
    squad_pairs,
    train_head,
)
from everycell.learning.training import train
from papers.lajewska2025.answerability_data import (
    judged_pairs,
    labelled_pairs,
    read_labels,
    score_frame,
)

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

    The penalty is chosen by the lowest log loss on the validation partition.
    """
    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    params = job.params
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    passages, labelled = read_labels(job.input)
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
