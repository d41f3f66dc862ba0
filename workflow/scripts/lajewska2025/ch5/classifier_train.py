"""Fine-tune BERT to detect sentences with an answer; interrupted training resumes."""

from pathlib import Path

import numpy as np
from datasets import Dataset

from everycell.collections.squad import read_squad
from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.models import device, load_model, use_one_thread
from everycell.learning.sentence_classifier import (
    answer_probabilities,
    classification_loss,
    squad_pairs,
)
from everycell.learning.training import train
from papers.lajewska2025.answerability_data import labelled_pairs, read_labels

#: Lower bound of probabilities in log losses.
SMALLEST = 1e-7

with Job(snakemake) as job:
    use_one_thread()
    files, params = snakemake.input, snakemake.params
    model, tokenizer = load_model(job.folder_of("encoder"), "classifier", seed=job.seed)
    _, labelled = read_labels(files)
    rows = labelled.loc[labelled["partition"] == "train", ["question", "sentence", "answers"]]
    examples = rows.to_dict("list")
    if files.get("squad"):
        squad = read_squad(Path(files.squad)).itertuples(index=False, name=None)
        for values, squad_values in zip(
            examples.values(), zip(*squad_pairs(squad, seed=job.seed), strict=True), strict=True
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
            seed=job.seed, warmup_ratio=min(1.0, warmup / steps), checkpoint_steps=100, **settings
        ),
        Path(snakemake.output.model),
        tokenizer=tokenizer,
        validate=negative_loss,
        settings={"kind": "answer-in-the-sentence", "length": length, "code": params.code},
    )
