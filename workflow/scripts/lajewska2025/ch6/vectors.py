"""Embeddings of questions, nuggets and passage sentences."""

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.models import device, load_model, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.text.sentences import sentence_spans

with Job(snakemake) as job:
    use_one_thread()
    passages = pd.read_parquet(snakemake.input.passages)
    nuggets = pd.read_parquet(snakemake.input.nuggets)
    sentences = [
        text[start:end] for text in passages["text"] for start, end in sentence_spans(text)
    ]
    texts = list(dict.fromkeys([*passages["question"], *nuggets["text"], *sentences]))
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    # Double precision, because in single precision the last bits depend on the processor, which
    # changes the clusters of UMAP.
    encoder = encoder.to(device()).double()
    vectors = dense_vectors(encoder, tokenizer, texts, snakemake.params.length)
    job.write_frame(pd.DataFrame({"text": texts, "vector": list(np.asarray(vectors))}), "vectors")
