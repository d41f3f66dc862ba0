"""Natural Questions as a study of attribution asks them: questions, passages, what is relevant."""

from pathlib import Path

import pandas as pd

from everycell.collections.nq_open import read_nq_open
from everycell.engine.job import Job
from everycell.rag.answers import answer_holders

with Job(snakemake) as job:
    collection = read_nq_open(Path(snakemake.input.questions))
    known, passages = collection.questions, collection.passages
    size = min(snakemake.params.questions, len(known))
    questions = known.sample(size, random_state=job.seed).sort_index()
    gold = collection.gold[collection.gold["query"].isin(questions["query_id"])]
    # A passage that holds an answer may be right too: a question with such a passage is not asked.
    holders = answer_holders(
        dict(zip(passages["document_id"], passages["text"], strict=True)),
        dict(zip(questions["query_id"], questions["answers"], strict=True)),
    )
    relevant = pd.concat([gold, pd.DataFrame(holders, columns=gold.columns)]).drop_duplicates()
    job.write_frame(questions, "questions")
    job.write_frame(relevant.sort_values(["query", "document"]), "relevant")
    job.write_frame(passages, "passages")
    # The same as a collection that retrieval.smk searches.
    job.write_frame(passages[["document_id", "text"]], "documents")
    job.write_frame(questions[["query_id", "text"]].assign(split="test"), "queries")
    job.log.write(
        f"{len(questions)} questions, {len(passages)} passages; "
        f"{(relevant['query'].value_counts() == 1).sum()} questions have one relevant passage.\n"
    )
