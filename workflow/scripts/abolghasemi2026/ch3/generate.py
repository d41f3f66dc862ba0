"""Rewritings of the last utterance of picked dialogues: by a language model, and by rules."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.planted_dialogues import plant_dialogues
from everycell.collections.satisfaction_samples import frame_samples, samples_frame
from everycell.collections.user_satisfaction import CAUSE_BENCHMARK
from everycell.dialogue.counterfactual_prompts import ask, pick_samples, read_template
from everycell.dialogue.counterfactual_rules import rewrite_by_rule
from everycell.dialogue.counterfactuals import rewritings_frame
from everycell.engine.files import write_atomically
from everycell.engine.job import Job
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.settings import AskSettings, Decoding

with Job(snakemake) as job:
    chosen, files = snakemake.params, snakemake.input
    settings = part_of(snakemake.config, AskSettings)
    if "samples" in files.keys():
        known = pd.read_parquet(files.samples)
        main = known[(known["part"] == "main") & (known["benchmark"] == CAUSE_BENCHMARK)]
        samples = frame_samples(main)
    else:
        planted = plant_dialogues(**chosen.planted, seed=job.seed)
        samples = list(planted.samples)
        job.write_frame(samples_frame(samples), "samples")
    picked = pick_samples(
        samples, satisfied=chosen.samples, dissatisfied=chosen.samples, seed=job.seed
    )
    with open_language_model(
        chosen.model,
        settings.language_models,
        chosen.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        generated = ask(
            picked,
            model.answer_all,
            template=read_template(Path(files.template)),
            decoding=Decoding(**chosen.decoding),
            longest=chosen.longest,
        )
        job.log.write(
            f"{model.identity.name}: {len(picked)} requests, {model.asked} of them not recorded.\n"
        )
        # For the receipts of the tables: this job has none.
        write_atomically(
            Path(snakemake.output.provenance), json.dumps(model.provenance(), indent=1) + "\n"
        )
    by_rules = [rewrite_by_rule(sample, seed=job.seed) for sample in picked]
    job.write_frame(rewritings_frame(generated), "generated")
    job.write_frame(rewritings_frame(by_rules), "rules")
