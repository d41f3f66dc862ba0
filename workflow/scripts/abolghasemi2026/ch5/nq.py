"""Questions, passages and relevance judgements of Natural Questions for chapter 5."""

from pathlib import Path

import pandas as pd

from everycell.collections.nq_open import read_nq_open
from everycell.jobs.job import Job
from everycell.rag.answers import passages_with_answers

with Job(snakemake) as job:
    collection = read_nq_open(Path(snakemake.input.questions))
    passages = collection.passages
    size = min(snakemake.params.questions, len(collection.questions))
    questions = collection.questions.sample(size, random_state=job.seed).sort_index()
    gold = collection.gold[collection.gold["query"].isin(questions["query_id"])]
    # Other passages with an answer may be relevant too; chapter 5 only uses questions with exactly
    # one relevant passage in their list.
    holders = passages_with_answers(
        dict(zip(passages["document_id"], passages["text"], strict=True)),
        dict(zip(questions["query_id"], questions["answers"], strict=True)),
    )
    relevant = pd.concat([gold, pd.DataFrame(holders, columns=gold.columns)]).drop_duplicates()
    job.write_frame(questions, "questions")
    job.write_frame(relevant.sort_values(["query", "document"]), "relevant")
    job.write_frame(passages, "passages")
    # The same data in the format of collections for retrieval.smk.
    job.write_frame(passages[["document_id", "text"]], "documents")
    job.write_frame(questions[["query_id", "text"]].assign(split="test"), "queries")
    job.log.write(
        f"{len(questions)} questions, {len(passages)} passages; "
        f"{(relevant['query'].value_counts() == 1).sum()} questions have one relevant passage.\n"
    )
