"""Queries for CAsT 2020 by rewriter, and unchanged queries of 2022 for training."""

from pathlib import Path

import pandas as pd

from everycell.collections.cast_turns import read_rewrites, read_turns
from everycell.dialogue.rewriting import prepend_history
from everycell.jobs.job import Job

with Job(snakemake) as job:
    turns = read_turns(Path(snakemake.input.topics))
    documents = pd.read_parquet(snakemake.input.documents).set_index("document_id")["text"]
    known = turns[turns["answer_id"].isin(documents.index)].set_index("query_id")["answer_id"]
    answers = documents.loc[known].set_axis(known.index).to_dict()
    job.log.write(f"{len(answers)} of {len(turns)} answers are passages of the collection\n")
    rewritten = turns.set_index("query_id")[["utterance", "manual"]]
    rewritten = rewritten.set_axis(["raw", "manual"], axis="columns").assign(
        queries=prepend_history(turns),
        context=prepend_history(turns, answers=answers, length=snakemake.params.context),
        **{
            name: read_rewrites(Path(snakemake.input[name]), turns)
            for name in snakemake.params.released
        },
    )
    collection = pd.read_parquet(snakemake.input.collection)
    # The rewriters saw all turns; only turns with judged passages are evaluated.
    judged = collection["query_id"].isin(rewritten.index)
    wide = rewritten.loc[collection["query_id"][judged]]
    long = wide.reset_index().melt("query_id", var_name="rewriter", value_name="text")
    training = collection.loc[~judged, ["query_id", "text"]].assign(rewriter="training")
    job.write_frame(pd.concat([long, training])[["rewriter", "query_id", "text"]], "queries")
