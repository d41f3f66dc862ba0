"""Terms that TILDE proposes for each document, the likeliest first."""

from pathlib import Path

import numpy as np
import pandas as pd
from job import Job

from everycell.learning.expansion import propose
from everycell.learning.models import device, load_model, one_thread

with Job(snakemake) as job:
    one_thread()
    texts = list(pd.read_parquet(snakemake.input.documents)["text"])
    model, tokenizer = load_model(job.folder_of("model"), "masked-lm")
    settings = snakemake.params
    found = propose(model.to(device()), tokenizer, texts, settings.length, settings.m)
    np.save(Path(snakemake.output.terms), found)
