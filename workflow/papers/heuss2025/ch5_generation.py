"""Answers with citations by language models for chapter 5 of heuss2025, also after forgery.

The jobs take hours per model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.base.files import write_atomically
from everycell.base.untrusted import in_quotes
from everycell.collections.cited_questions import read_cited_questions
from everycell.jobs.job import Job
from everycell.language_models import templates
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.generation import Answer, Request
from everycell.language_models.records import record_lines
from everycell.language_models.settings import Decoding
from everycell.rag.cite_checks import Context, GivenAnswer, forged_instances, try_all
from everycell.rag.citing_styles import GroundedAnswer, citing_style
from everycell.rag.interventions import CitedAnswer, Statement, outcomes
from everycell.rag.prompts import document_lines, named_draws
from everycell.trec.runs import read_run
from papers.heuss2025.ch5_answers import (
    answer_numbers,
    answer_sizes,
    relevant_citations,
    reported_numbers,
    selection_counts,
)
from papers.heuss2025.ch5_questions import selected_questions

AskAll = Callable[[Sequence[Context]], list[GroundedAnswer]]


def choices(job: Job) -> None:
    """Documents to which a language model attributes known answers."""
    params = job.params
    questions = selected_questions(job, params.chosen)
    question_contexts = [(question.text, question.documents) for question in questions]
    with model_of_job(job.snakemake, job.log) as model:
        choice = LikelyChoice(
            {question.text: question.answer for question in questions}, model.answer_all
        )
        first = choice.answer_all(question_contexts)

        def ask_all(contexts_to_ask):
            """Choices of the model, as answers of one sentence."""
            return [GroundedAnswer(question, 1) for question in choice.answer_all(contexts_to_ask)]

        tables = repeat_with_forgeries(question_contexts, ask_all, seed=params.seed)
        # Answers are document numbers with log-probabilities, without text from passages.
        write_atomically(Path(job.output.record), record_lines(model.used))
    relevant = [
        frozenset(
            position
            for position, text in enumerate(question.documents)
            if text in question.relevant
        )
        for question in questions
    ]
    tables["right"] = relevant_citations(first, relevant)
    for name in ("outcomes", "numbers", "answers", "right"):
        tables[name].insert(0, "answerer", params.name)
        job.write_frame(tables[name], name)


def model_answers(job: Job) -> None:
    """Answers and citations of a language model, and outcomes of forged documents."""
    files, params = job.input, job.params
    questions_file, _, run = map(Path, files.data)
    collection = read_cited_questions(questions_file.parent)
    question_contexts = contexts(
        collection.questions.set_index("query")["text"].to_dict(),
        collection.passages.set_index("document_id")["text"].to_dict(),
        read_run(run),
        depth=params.depth,
        count=params.questions,
        seed=params.seed,
    )
    job.log.write(f"{len(question_contexts)} of {len(collection.questions)} questions used.\n")
    style = citing_style(params.style, Path(files.template) if files.template else None)
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, decoding)

        def ask_all(contexts_to_ask):
            """Parsed answers of the model, which are recorded."""
            texts = ask([style.prompt(*context) for context in contexts_to_ask])
            return [
                style.read(text, len(documents))
                for text, (_, documents) in zip(texts, contexts_to_ask, strict=True)
            ]

        tables = repeat_with_forgeries(
            question_contexts, ask_all, seed=params.seed, longest=params.longest
        )
    for name, table in tables.items():
        table.insert(0, "answerer", params.model)
        job.write_frame(table, name)


def contexts(
    questions: Mapping[str, str],
    passages: Mapping[str, str],
    run: pd.DataFrame,
    *,
    depth: int,
    count: int,
    seed: int,
) -> list[Context]:
    """Questions with the texts of their top documents."""
    ordered = run.sort_values(["score", "document"], ascending=[False, True], kind="stable")
    by_question: dict[str, tuple[str, ...]] = {}
    lists = ordered.groupby("query")["document"].agg(list).to_dict()
    for query in sorted(set(lists) & set(questions)):
        names = lists[query][:depth]
        unknown = [name for name in names if name not in passages]
        if unknown:
            raise DataError(
                fault=f"the run has the document {in_quotes(unknown[0])} for the question "
                f"{in_quotes(query)}, but it is not among the passages",
                fix="add its text to passages.jsonl",
            )
        if len(names) == depth:
            by_question.setdefault(questions[query], tuple(passages[name] for name in names))
    if len(by_question) < 2:
        raise DataError(
            fault=f"the run has {depth} documents for {len(by_question)} of the questions",
            expected="at least 2 such questions, because a forged document comes from another one",
        )
    pairs = list(by_question.items())
    if len(pairs) <= count:
        return pairs
    sample = named_draws(f"{seed}\tasked contexts").permutation(len(pairs))[:count]
    return [pairs[index] for index in sorted(sample)]


def repeat_with_forgeries(
    originals: Sequence[Context], ask_all: AskAll, *, seed: int, longest: int | None = None
) -> dict[str, pd.DataFrame]:
    """Ask all questions, forge documents, ask again, and count the outcomes."""
    first = ask_all(originals)
    answers = [grounded.answer for grounded in first]
    given_answers = [
        GivenAnswer(*context, answer) for context, answer in zip(originals, answers, strict=True)
    ]
    forged = forged_instances(given_answers, seed=seed, longest=longest)
    rows = try_all(
        forged, lambda batch: [grounded.answer for grounded in ask_all(batch)], seed=seed
    )
    results = outcomes(rows)
    return {
        "selection": selection_counts(answers),
        "sizes": answer_sizes(answers, [grounded.sentences for grounded in first]),
        "outcomes": results,
        "numbers": reported_numbers(answers, results),
        "answers": answer_numbers(first),
    }


#: Our prompt for a choice among documents.
CHOICE_TEMPLATE = Path(__file__).with_name("ch5_chosen_document.txt")
CHOICE_SLOTS: templates.Slots = {
    "documents": ("the documents, one per line", True),
    "question": ("the question", True),
    "answer": ("the gold answer", True),
}


@dataclass(frozen=True)
class LikelyChoice:
    """Returns the gold answer, and cites the document whose number a model finds most likely."""

    answers: Mapping[str, str]
    ask_all: Callable[[Sequence[Request]], Sequence[Answer]]
    relevant: int = 2

    def answer_all(self, contexts: Sequence[tuple[str, tuple[str, ...]]]) -> list[CitedAnswer]:
        """Answer questions with their documents; a single document needs no choice."""
        requests_by_question = [
            choice_requests(question, self.answers[question], documents)
            if len(documents) > 1
            else []
            for question, documents in contexts
        ]
        scores = iter(
            self.ask_all([request for requests in requests_by_question for request in requests])
        )
        return [
            self._choose(question, [next(scores).logprob for _ in requests] or [0.0])
            for (question, _), requests in zip(contexts, requests_by_question, strict=True)
        ]

    def _choose(self, question: str, scores: list[float]) -> CitedAnswer:
        order = np.argsort(-np.array(scores), kind="stable").tolist()
        statement = Statement(self.answers[question], (order[0],))
        return CitedAnswer((statement,), relevant=tuple(sorted(order[: self.relevant])))


def choice_requests(question: str, answer: str, documents: Sequence[str]) -> list[Request]:
    """Requests that score the number of each document, in the order of the documents."""
    template = templates.read_template(CHOICE_TEMPLATE, CHOICE_SLOTS, last="question")
    contents = [text if text.strip() else "(empty)" for text in documents]
    prompt = templates.fill(
        template,
        documents=document_lines(contents, [""] * len(contents)),
        question=" ".join(question.split()),
        answer=" ".join(answer.split()),
    )
    return [
        Request(prompt=prompt, continuation=str(number)) for number in range(1, len(contents) + 1)
    ]
