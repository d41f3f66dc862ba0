"""Documents with the terms that TILDE proposes and that they lack, as token ids."""

import pandas as pd
from job import Job

from everycell.learning import tilde
from everycell.learning.expansion import expand
from everycell.learning.models import device, load_model, one_thread

with Job(snakemake) as job:
    one_thread()
    documents = pd.read_parquet(snakemake.input.documents)
    model, tokenizer = load_model(job.folder_of("model"), "masked-lm")
    model.to(device())
    found = expand(
        model,
        tokenizer,
        list(documents["text"]),
        snakemake.params.length,
        int(snakemake.wildcards.m),
        tilde.stop_ids(tokenizer),
    )
    columns = {"tokens": found.sequences, "found": found.found, "added": found.added}
    job.write_frame(documents[["document_id"]].assign(**columns), "documents")
