"""Further inputs of chapter 6 of lajewska2025: rephrased passages, and those of a ranker.

The thesis reports results on "rephrased" input in Appendix C only and does not define it. Here a
language model rephrases each relevant passage. Its "retrieved" input has the top passages of the
pipeline of chapter 3 (L1708): here of a run of the user, or by BM25 among the released passages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from string import Template

import pandas as pd
from rank_bm25 import BM25Okapi

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines
from everycell.jobs.job import Job
from everycell.language_models import templates
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.nugget_responses import order, stems
from everycell.trec.runs import read_run
from papers.lajewska2025.answerability_data import read_passage_labels
from papers.lajewska2025.ch6_autonuggetizer import Ask
from papers.lajewska2025.ch6_prompts import read_prompt
from papers.lajewska2025.ch6_systems import RELEVANT, REPHRASED, RETRIEVED

COLUMNS = ["input", "topic", "question", "passage_id", "text"]


def rephrase_passages(passages: pd.DataFrame, ask: Ask, template: Template) -> pd.DataFrame:
    """Relevant passages in other words, as one more input."""
    relevant = passages[passages["input"] == RELEVANT]
    answers = ask([templates.fill(template, passage=text) for text in relevant["text"]])
    texts = [" ".join(answer.split()) for answer in answers]
    return relevant.assign(input=REPHRASED, text=texts)[COLUMNS]


def read_passages(path: Path, passage_ids: Collection[str]) -> dict[str, str]:
    """Read the texts of some passages from a file with lines of id, tab, text; may be gzipped."""
    texts: dict[str, str] = {}
    for number, line in read_lines(path):
        passage_id, tab, text = line.partition("\t")
        if not tab:
            raise DataError(
                path,
                number,
                value=line[:80],
                fault="which has no tab",
                expected="id, tab, text",
                fix="correct the line",
            )
        if passage_id in passage_ids and not texts.setdefault(passage_id, text).strip():
            raise DataError(
                path, number, "text", text, expected="words", fix="add the text of the passage"
            )
    return texts


def retrieved_passages(
    run: pd.DataFrame, path: Path, questions: Mapping[str, str], depth: int
) -> pd.DataFrame:
    """Top passages of a run for some topics, in its order, with texts from a file."""
    ranked = run[run["rank"] <= depth].sort_values(["query", "rank"], kind="stable")
    by_topic = ranked.groupby("query", sort=False)["document"].agg(list).to_dict()
    for topic in questions:
        if topic not in by_topic:
            raise DataError(
                column="run of `ginger.full.retrieved`",
                fault=f"has no passages for topic {topic!r}",
                fix="add them",
            )
    texts = read_passages(path, set(ranked["document"]))
    rows = []
    for topic, question in questions.items():
        for passage_id in by_topic[topic]:
            if passage_id not in texts:
                raise DataError(
                    path,
                    fault=f"has no passage {passage_id!r}, which the run has for topic {topic!r}",
                    fix="add the passage",
                )
            rows.append((RETRIEVED, topic, question, passage_id, texts[passage_id]))
    return pd.DataFrame(rows, columns=COLUMNS)


def search_passages(
    passages: Mapping[str, str], questions: Mapping[str, str], depth: int
) -> pd.DataFrame:
    """Top passages of all given ones for some topics, by BM25 on stems (rank-bm25)."""
    passage_ids = list(passages)
    index = BM25Okapi([stems(text) for text in passages.values()])
    rows = [
        (RETRIEVED, topic, question, passage_ids[position], passages[passage_ids[position]])
        for topic, question in questions.items()
        for position in order(index.get_scores(stems(question)))[:depth]
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def further_input(job: Job) -> None:
    """Passages of all inputs of the full tier: the released ones, rephrased ones, a ranker's."""
    files, params = job.input, job.params
    passages = pd.read_parquet(files.passages)
    topics = list(dict.fromkeys(passages["topic"]))[: params.questions]
    passages = passages[passages["topic"].isin(topics)].reset_index(drop=True)
    template = read_prompt("rephrase", Path(files.prompt) if files.prompt else None)
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        parts = [passages[COLUMNS], rephrase_passages(passages, ask, template)]
    questions = passages.groupby("topic", sort=False)["question"].first().to_dict()
    if files.get("run"):
        run = read_run(Path(files.run))
        parts.append(retrieved_passages(run, Path(files.texts), questions, params.depth))
    else:
        released = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
        texts = released.drop_duplicates("passage_id").set_index("passage_id")["passage"].to_dict()
        parts.append(search_passages(texts, questions, params.depth))
    job.write_frame(pd.concat(parts, ignore_index=True), "passages")
