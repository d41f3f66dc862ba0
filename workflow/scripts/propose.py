"""Terms that TILDE proposes for each document, the likeliest first, and how many are new."""

from pathlib import Path

import numpy as np
import pandas as pd
from job import Job

from everycell.learning.expansion import expand, propose
from everycell.learning.models import device, load_model, one_thread
from everycell.learning.tilde import stop_ids

with Job(snakemake) as job:
    one_thread()
    settings = snakemake.params
    texts = list(pd.read_parquet(snakemake.input.documents)["text"])
    model, tokenizer = load_model(job.folder_of("model"), "masked-lm")
    terms = propose(model.to(device()), tokenizer, texts, settings.own, max(settings.m))
    lengths = {"length": settings.length, "stop": stop_ids(tokenizer), "own": settings.own}
    expanded = [expand(tokenizer, texts, terms[:, :m], **lengths) for m in settings.m]
    with Path(snakemake.output.terms).open("wb") as file:
        np.savez(
            file,
            terms=terms,
            m=settings.m,
            found=[each.found.mean() for each in expanded],
            fitted=[each.added.mean() for each in expanded],
        )
