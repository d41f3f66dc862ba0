"""Rewritten last utterances of sampled dialogues, by a language model and by rules."""

from pathlib import Path

import pandas as pd

from everycell.collections.planted_dialogues import plant_dialogues
from everycell.collections.satisfaction_samples import samples_from_frame, samples_to_frame
from everycell.collections.user_satisfaction import CAUSE_BENCHMARK
from everycell.dialogue.counterfactual_prompts import ask, pick_samples, read_template
from everycell.dialogue.counterfactuals import rewrite_by_rule, rewritings_frame
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding

with Job(snakemake) as job:
    params, files = snakemake.params, snakemake.input
    if "samples" in files.keys():
        frame = pd.read_parquet(files.samples)
        main = frame[(frame["part"] == "main") & (frame["benchmark"] == CAUSE_BENCHMARK)]
        samples = samples_from_frame(main)
    else:
        planted = plant_dialogues(**params.planted, seed=job.seed)
        samples = list(planted.samples)
        job.write_frame(samples_to_frame(samples), "samples")
    picked = pick_samples(
        samples, satisfied=params.samples, dissatisfied=params.samples, seed=job.seed
    )
    with model_of_job(snakemake, job.log) as model:
        generated = ask(
            picked,
            model.answer_all,
            template=read_template(Path(files.template)),
            decoding=Decoding(**params.decoding),
            longest=params.longest,
        )
    by_rules = [rewrite_by_rule(sample, seed=job.seed) for sample in picked]
    job.write_frame(rewritings_frame(generated), "generated")
    job.write_frame(rewritings_frame(by_rules), "rules")
