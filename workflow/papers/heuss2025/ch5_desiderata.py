"""Desiderata for attributions (Table 5.1 of chapter 5 of heuss2025) and known answerers.

Answerers that read and answerers that remember cite equally correct documents; only the test of
faithfulness distinguishes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.metrics.attribution import citation_quality
from everycell.rag.answers import normalise_answer
from everycell.rag.interventions import CitedAnswer
from papers.heuss2025.ch5_planted import PlantedQuestion, PlantedReader, planted_questions

#: Desideratum -> its measure, in per cent.
MEASURES = {
    "Correctness": "citations of a document that contains the claim (%)",
    "Faithfulness": "statements lost when their words are removed from all documents (%)",
    "Appropriateness": "cited documents that contain a claim of the question (%)",
    "Comprehensiveness": "claims of the question that are stated with a citation (%)",
}


def desiderata(job: ResultJob) -> None:
    """Table 5.1: a measure of each desideratum, for each answerer."""
    params = job.params
    outcomes = pd.read_parquet(job.input.outcomes)
    questions = planted_questions(params.questions, seed=params.seed)
    rows = []
    for name, memory in params.readers.items():
        reader = PlantedReader(memory=memory, seed=params.seed, **params.behaviour)
        answers = [reader.answer(question, question.documents) for question in questions]
        values = quality(questions, answers)
        values["Faithfulness"] = faithfulness(outcomes[outcomes["answerer"] == name])
        rows += [(row, measure, name, values[row]) for row, measure in MEASURES.items()]
    job.write_table(pd.DataFrame(rows, columns=["row", "measure", "answerer", "value"]))


def quality(
    questions: Sequence[PlantedQuestion], answers: Sequence[CitedAnswer]
) -> dict[str, float]:
    """Correctness, appropriateness and comprehensiveness of answers, in per cent."""
    is_correct, is_covered, precisions = [], [], []
    for question, answer in zip(questions, answers, strict=True):
        claims = dict(question.claims)
        containing = {
            statement: {i for i, text in enumerate(question.documents) if _contains(text, claim)}
            for statement, claim in claims.items()
        }
        for statement in answer.statements:
            is_correct += [i in containing[statement.text] for i in statement.documents]
        stated = {statement.text for statement in answer.statements if statement.documents}
        is_covered += [statement in stated for statement in claims]
        if answer.cited:
            relevant = set().union(*containing.values())
            precisions.append(citation_quality(answer.cited, relevant).precision)
    return {
        "Correctness": _percent(is_correct),
        "Appropriateness": _percent(precisions),
        "Comprehensiveness": _percent(is_covered),
    }


def faithfulness(outcomes: pd.DataFrame) -> float:
    """Statements that go with their words, in per cent of those repeated with them.

    The outcomes are those of the experiment of section 5.5 with random documents.
    """
    random = outcomes[outcomes["kind"] == "random"].set_index("metric")["count"]
    return 100 - 100 * float(random["statement removed"] / random["recovered"])


def _contains(text: str, words: str) -> bool:
    return f" {normalise_answer(words)} " in f" {normalise_answer(text)} "


def _percent(values: Sequence[float]) -> float:
    return 100 * sum(values) / len(values)
