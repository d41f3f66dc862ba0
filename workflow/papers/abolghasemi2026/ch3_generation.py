"""Counterfactual utterances by a language model and by rules."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import samples_from_frame, samples_to_frame
from everycell.dialogue.counterfactual_prompts import ask, pick_samples, read_template
from everycell.dialogue.counterfactuals import rewrite_by_rule, rewritings_frame
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_data import CAUSE_BENCHMARK
from papers.abolghasemi2026.ch3_planted import plant_dialogues


def generate(job: Job) -> None:
    """Rewritten last utterances of sampled dialogues, by a language model and by rules."""
    params, files = job.params, job.input
    if "samples" in files.keys():
        frame = pd.read_parquet(files.samples)
        main = frame[(frame["part"] == "main") & (frame["benchmark"] == CAUSE_BENCHMARK)]
        samples = samples_from_frame(main)
    else:
        planted = plant_dialogues(**params.planted, seed=job.params.seed)
        samples = list(planted.samples)
        job.write_frame(samples_to_frame(samples), "samples")
    picked = pick_samples(
        samples, satisfied=params.samples, dissatisfied=params.samples, seed=job.params.seed
    )
    with model_of_job(job.snakemake, job.log) as model:
        generated = ask(
            picked,
            model.answer_all,
            template=read_template(Path(files.template)),
            decoding=Decoding(**params.decoding),
            longest=params.longest,
        )
    by_rules = [rewrite_by_rule(sample, seed=job.params.seed) for sample in picked]
    job.write_frame(rewritings_frame(generated), "generated")
    job.write_frame(rewritings_frame(by_rules), "rules")
