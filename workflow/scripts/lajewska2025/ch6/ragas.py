"""Faithfulness and answer relevance of responses, judged by a language model."""

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.rag.grounded.faithfulness import Grounding, answer_relevance, faithfulness
from everycell.studies.lajewska2025.ch6.completeness import join_sentences
from everycell.studies.lajewska2025.ch6.inference import FAITHFUL, RELEVANCE

with Job(snakemake) as job:
    use_one_thread()
    files, params = snakemake.input, snakemake.params
    passages = pd.read_parquet(files.passages)
    questions = passages.groupby("topic")["question"].first()
    texts = passages.groupby(["input", "topic"])["text"].agg(tuple)
    responses = join_sentences(pd.read_parquet(files.responses))
    requests = [
        Grounding(questions[row.topic], row.text, texts[row.input, row.topic])
        for row in responses.itertuples(index=False)
    ]
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(snakemake, job.log) as model:
        ask = answer_function(model, decoding)

        def encode(lines):
            """Vectors of questions."""
            return np.asarray(dense_vectors(encoder, tokenizer, lines, params.length), float)

        scores = {
            FAITHFUL: faithfulness(requests, ask),
            RELEVANCE: answer_relevance(requests, ask, encode),
        }
    keys = responses[["system", "input", "topic"]]
    parts = [keys.assign(metric=name, value=values) for name, values in scores.items()]
    job.write_frame(pd.concat(parts, ignore_index=True).dropna(), "scores")
