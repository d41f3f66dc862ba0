"""Train one kind of satisfaction estimator in each setup, and note what it says of every sample.

Models are kept beside the answers, one for each benchmark, setup and seed. What is finished when a
run is killed is not trained again.
"""

import os
import re
import shutil
from pathlib import Path

import pandas as pd
from job import Job

from everycell.collections.user_satisfaction import frame_samples
from everycell.dialogue.counterfactuals import counterfactual, rewrite_by_rule
from everycell.learning.models import one_thread
from everycell.learning.satisfaction import (
    logistic_regression,
    majority_probability,
    regression_probabilities,
)
from everycell.learning.satisfaction_training import (
    Labelled,
    UtteranceVectors,
    stepped_options,
    train_asap,
    train_classifier,
)


def labelled(samples) -> Labelled:
    """Dialogues and labels of samples."""
    return Labelled([each.turns for each in samples], [not each.satisfied for each in samples])


def estimators(kind, settings, parts, folder, encoder, seed):
    """Names of models with what they say, for one setup and seed; the baselines need no seed."""
    training, valid = labelled(parts["train"][: settings.samples]), labelled(parts["valid"])
    setups = [(name, factor, training) for name, factor in settings.setups.items()]
    seen = parts["train"][: settings.samples]
    made = [counterfactual(rewrite_by_rule(sample, seed=settings.seed)) for sample in seen]
    setups.append((settings.augmented, 1, labelled([*seen, *made])))
    options = stepped_options(**settings.training, seed=seed)
    for setup, factor, seen in setups:
        name, train = {"bert": ("BERT", train_classifier), "asap": ("ASAP", train_asap)}[kind]
        place = folder / re.sub(r"[^a-z0-9]+", "-", setup)
        yield (
            name,
            setup,
            train(encoder, seen, valid, options, place, factor=factor, **settings.sizes),
        )


def baselines(settings, parts):
    """The same for what knows only the labels, and for words in a regression."""
    training, valid = labelled(parts["train"]), labelled(parts["valid"])
    share = majority_probability(training.dissatisfied)
    yield "Majority", "w/o up-sampling", lambda dialogues: [share] * len(dialogues)
    for setup, factor in settings.setups.items():
        model = logistic_regression(*training, *valid, factor=factor)
        yield (
            "TF-IDF",
            setup,
            lambda dialogues, model=model: regression_probabilities(model, dialogues),
        )


with Job(snakemake) as job:
    one_thread()
    settings, kind = snakemake.params, snakemake.wildcards.kind
    source = job.folder_of("encoder")
    out = Path(snakemake.output.predictions)
    work = out.with_suffix(".training")
    encoder = source
    if settings.frozen:
        encoder = UtteranceVectors(source, utterance=settings.sizes["utterance"])
    samples = pd.read_parquet(snakemake.input.samples)
    frames = []
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        parts = {part: frame_samples(found) for part, found in rows.groupby("part", sort=False)}
        found = [(0, *each) for each in baselines(settings, parts)] if kind == "bert" else []
        for number in range(settings.seeds):
            place = work / benchmark / str(number)
            found += [
                (number, *each)
                for each in estimators(kind, settings, parts, place, encoder, job.seed + number)
            ]
        for number, model, setup, estimate in found:
            for part in ("valid", "main", "cf"):
                if part in parts:
                    frames.append(
                        pd.DataFrame(
                            {
                                "benchmark": benchmark,
                                "part": part,
                                "id": [each.id for each in parts[part]],
                                "satisfied": [each.satisfied for each in parts[part]],
                                "model": model,
                                "setup": setup,
                                "seed": number,
                                "probability": estimate([each.turns for each in parts[part]]),
                            }
                        )
                    )
    job.write_frame(pd.concat(frames, ignore_index=True), "predictions")
    models = out.with_suffix(".models")
    shutil.rmtree(models, ignore_errors=True)
    os.replace(work, models)
