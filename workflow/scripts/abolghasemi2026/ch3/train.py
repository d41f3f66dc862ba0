"""Train one kind of satisfaction estimator in each setup, and note what it says of every sample.

Models are kept beside the answers, one for each benchmark, setup and seed. What is finished when a
run is killed is not trained again.
"""

import os
import re
import shutil
from pathlib import Path

import pandas as pd

from everycell.collections.user_satisfaction import frame_samples, without_apologies
from everycell.dialogue.counterfactuals import counterfactual, rewrite_by_rule
from everycell.engine.job import Job
from everycell.learning.models import model_folder, one_thread
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

#: What is predicted; "plain" is the original test set without apologies.
PARTS = ("valid", "main", "cf", "plain")
KINDS = {"bert": ("BERT", train_classifier), "asap": ("ASAP", train_asap)}


def labelled(samples) -> Labelled:
    """Dialogues and labels of samples."""
    return Labelled([each.turns for each in samples], [not each.satisfied for each in samples])


def material(setup, parts, samples, seed):
    """Training and validation samples of a setup.

    With counterfactuals both have as many again, so that the two labels weigh the same: chosen on
    samples of the usual imbalance, a model would be one that says "satisfied".
    """
    found = parts["train"][:samples], parts["valid"]
    if setup["counterfactuals"]:
        found = (
            [*part, *(counterfactual(rewrite_by_rule(each, seed=seed)) for each in part)]
            for part in found
        )
    if setup["without_apologies"]:
        found = ([without_apologies(each) for each in part] for part in found)
    return tuple(map(labelled, found))


def baselines(settings, parts, setups):
    """What knows only the labels, and words in a regression: without a seed."""
    share = majority_probability(labelled(parts["train"]).dissatisfied)
    yield "Majority", "w/o up-sampling", lambda dialogues: [share] * len(dialogues)
    for name, setup in setups.items():
        training, valid = material(setup, parts, None, settings.seed)
        model = logistic_regression(*training, *valid, factor=setup["factor"])
        yield (
            "TF-IDF",
            name,
            lambda dialogues, model=model: regression_probabilities(model, dialogues),
        )


def trained(kind, settings, parts, setups, folder, encoder, seed):
    """The same of one kind of estimator, of one training each."""
    name, train = KINDS[kind]
    options = stepped_options(**settings.training, seed=seed)
    for setup, how in setups.items():
        training, valid = material(how, parts, settings.samples, settings.seed)
        place = folder / re.sub(r"[^a-z0-9]+", "-", setup)
        sizes = {"factor": how["factor"], **settings.sizes}
        yield name, setup, train(encoder, training, valid, options, place, **sizes)


with Job(snakemake) as job:
    one_thread()
    settings, kind = snakemake.params, snakemake.wildcards.kind
    source = (
        job.folder_of("encoder")
        if snakemake.input.get("encoder")
        else model_folder(**settings.model)
    )
    out = Path(snakemake.output.predictions)
    work = out.with_suffix(".training")
    encoder = source
    if settings.frozen:
        encoder = UtteranceVectors(source, utterance=settings.sizes["utterance"])
    samples = pd.read_parquet(snakemake.input.samples)
    frames = []
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        parts = {part: frame_samples(found) for part, found in rows.groupby("part", sort=False)}
        # Without counterfactuals to test on there is nothing to show of these, and where nobody
        # apologises the control is what it controls.
        apologies = any(without_apologies(each) != each for each in parts["train"])
        setups = {
            name: setup
            for name, setup in settings.setups.items()
            if ("cf" in parts or not setup["counterfactuals"])
            and ("cf" in parts and apologies or not setup["without_apologies"])
        }
        found = (
            [(0, *each) for each in baselines(settings, parts, setups)] if kind == "bert" else []
        )
        for number in range(settings.seeds):
            place = work / benchmark / str(number)
            found += [
                (number, *each)
                for each in trained(
                    kind, settings, parts, setups, place, encoder, job.seed + number
                )
            ]
        # Most samples have no apology, so that two parts share them.
        dialogues = list({each.turns: None for part in PARTS for each in parts.get(part, ())})
        for number, model, setup, estimate in found:
            said = dict(zip(dialogues, estimate(dialogues), strict=True))
            for part in filter(parts.get, PARTS):
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
                            "probability": [said[each.turns] for each in parts[part]],
                        }
                    )
                )
    job.write_frame(pd.concat(frames, ignore_index=True), "predictions")
    models = out.with_suffix(".models")
    shutil.rmtree(models, ignore_errors=True)
    os.replace(work, models)
