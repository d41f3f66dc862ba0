"""Entailment of detected and of human nuggets by responses."""

from functools import partial

import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.grounded.entailment import inference_probabilities, load_inference
from everycell.studies.lajewska2025.ch6.completeness import join_sentences
from everycell.studies.lajewska2025.ch6.inference import inference_scores
from everycell.studies.lajewska2025.ch6.sizes import drop_sparse_topics

with Job(snakemake) as job:
    source = job.folder_of("inference")
    model, tokenizer = load_inference(source)
    nuggets = drop_sparse_topics(pd.read_parquet(snakemake.input.nuggets))
    responses = join_sentences(pd.read_parquet(snakemake.input.responses))
    scores = inference_scores(
        responses, nuggets, partial(inference_probabilities, model, tokenizer)
    )
    job.log.write(f"{len(responses)} responses scored by {source.name}.\n")
    job.write_frame(scores, "scores")
