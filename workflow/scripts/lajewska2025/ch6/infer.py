"""What responses entail of the nuggets of their passages, and of people's."""

from functools import partial
from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.engine.settings import part_of
from everycell.language_models.settings import AskSettings
from everycell.learning.hub import commit_of
from everycell.learning.models import model_folder
from everycell.rag.grounded.entailment import inferred, load_inference
from everycell.studies.lajewska2025.ch6.completeness import with_text
from everycell.studies.lajewska2025.ch6.inferred import inference_scores
from everycell.studies.lajewska2025.ch6.sizes import with_enough

with Job(snakemake) as job:
    params = snakemake.params
    network = part_of(snakemake.config, AskSettings).network
    source = Path(params.inference)
    if not source.is_dir():
        source = model_folder(params.inference, network=network, revision=params.revision)
        job.commits[params.inference] = commit_of(source)
    model, tokenizer = load_inference(source)
    nuggets = with_enough(pd.read_parquet(snakemake.input.nuggets))
    responses = with_text(pd.read_parquet(snakemake.input.responses))
    scores = inference_scores(responses, nuggets, partial(inferred, model, tokenizer))
    job.log.write(f"{len(responses)} responses by {params.inference}.\n")
    job.write_frame(scores, "scores")
