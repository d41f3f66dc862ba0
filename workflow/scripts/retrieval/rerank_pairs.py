"""Scores of the candidates by a cross-encoder, which reads query and document together."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import listed_pairs
from everycell.engine.job import Job
from everycell.learning.cross_encoder import PairLength, score_pairs
from everycell.learning.models import device, load_model, one_thread
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    one_thread()
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    pairs = listed_pairs(
        pd.read_parquet(snakemake.input.candidates),
        splits=["test"],
        settings=[snakemake.params.setting],
        tasks=snakemake.params.tasks,
    )
    texts = {}
    for part, key in (("queries", "query_id"), ("documents", "document_id")):
        frame = pd.read_parquet(snakemake.input[part]).drop_duplicates(key)
        texts[part] = dict(zip(frame[key], frame["text"], strict=True))
    scores = score_pairs(
        model.to(device()),
        tokenizer,
        texts["queries"],
        texts["documents"],
        list(pairs.itertuples(index=False, name=None)),
        PairLength(**snakemake.params.pair_length),
    )
    out = Path(snakemake.output.run)
    write_run(pairs.assign(score=scores), out, tag=out.stem)
