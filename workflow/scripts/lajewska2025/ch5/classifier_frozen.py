"""Answer probabilities from a logistic regression on frozen embeddings.

The penalty is chosen by the lowest log loss on the validation partition.
"""

import numpy as np
from sklearn.metrics import log_loss

from everycell.jobs.job import Job
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.sentence_classifier import pair_features, train_head
from papers.lajewska2025.answerability_data import (
    judged_pairs,
    labelled_pairs,
    read_labels,
    score_frame,
)

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    params = snakemake.params
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    passages, labelled = read_labels(snakemake.input)
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
