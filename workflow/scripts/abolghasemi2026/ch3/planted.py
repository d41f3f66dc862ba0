"""Dialogues with planted satisfaction, split into training, validation and test parts."""

import pandas as pd

from everycell.collections.planted_dialogues import plant_dialogues
from everycell.collections.satisfaction_samples import samples_to_frame
from everycell.collections.user_satisfaction import remove_apologies
from everycell.dialogue.counterfactuals import counterfactual, rewrite_by_rule
from everycell.jobs.job import Job

with Job(snakemake) as job:
    sizes = snakemake.params.sizes
    numbers = {
        "train": sizes["dialogues"],
        "valid": sizes["test_dialogues"],
        "main": sizes["test_dialogues"],
    }
    frames = []
    for number, (part, dialogues) in enumerate(numbers.items()):
        planted = plant_dialogues(
            dialogues,
            dissatisfied=sizes["dissatisfied"],
            noise=sizes["noise"],
            # A different seed per part, so that parts share no dialogues.
            seed=job.seed + number,
        )
        frames.append(samples_to_frame(planted.samples).assign(part=part))
        if part == "main":
            generated = [
                counterfactual(rewrite_by_rule(sample, seed=job.seed)) for sample in planted.samples
            ]
            frames.append(samples_to_frame(generated).assign(part="cf"))
            without_apology = [remove_apologies(sample) for sample in planted.samples]
            frames.append(samples_to_frame(without_apology).assign(part="plain"))
    job.write_frame(pd.concat(frames, ignore_index=True), "samples")
