"""Turns of CAsT that T5 rewrites, for chapter 3 of lajewska2025."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.models import device
from everycell.learning.t5 import count_tokens, generate, load_t5
from papers.lajewska2025.cast_data import read_rewrites, read_turns
from papers.lajewska2025.ch3_rewriting import rewrite


def cast_rewrite(job: Job) -> None:
    """Rewrite the turns with T5, and count those that are identical to the released ones."""
    params = job.params
    turns = read_turns(Path(job.input.topics)).set_index("query", drop=False)
    # The topics of 2021 contain the answers; those of 2020 contain passage ids.
    documents = pd.read_parquet(job.input.documents).set_index("document_id")["text"]
    last_answers = turns["answer"].where(turns["answer"] != "", turns["answer_id"].map(documents))
    answers = last_answers.dropna().to_dict()
    job.log.write(f"{len(answers)} of {len(turns)} answers have text\n")
    model, tokenizer = load_t5(job.folder_of("rewriter"))
    model.to(device())
    rewrites = rewrite(
        turns,
        lambda contexts: generate(model, tokenizer, contexts, length=params.length),
        form=params.form,
        answers=answers,
        length=params.length if params.form == "trimmed" else None,
        count=lambda text: count_tokens(tokenizer, text),
        separator=params.separator,
    )
    released = read_rewrites(Path(job.input.released), turns)
    table = pd.DataFrame({"rewrite": rewrites, "released": released})
    identical = int((table["rewrite"] == table["released"]).sum())
    job.log.write(f"{identical} of {len(table)} rewrites are identical to the released ones\n")
    table.to_csv(job.output.rewrites)
