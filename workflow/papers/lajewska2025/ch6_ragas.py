"""Faithfulness and answer relevance (RAGAs) in chapter 6 of lajewska2025, by a language model.

The `ragas` package is not used, since its own framework for language models would bypass our
records, budgets and protection of keys.

Source: Es, James, Espinosa Anke and Schockaert, "RAGAs: Automated evaluation of retrieval augmented
generation" (EACL 2024, demonstrations), section 3; lajewska2025, section 6.4.1 (L1756).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from everycell.base.arrays import FloatArray
from everycell.language_models import templates
from papers.lajewska2025.ch6_autonuggetizer import Ask, read_facts, read_labels
from papers.lajewska2025.ch6_prompts import read_prompt

#: Largest number of statements per response, and number of questions to generate.
MAX_STATEMENTS, QUESTIONS = 30, 3
#: Function from n texts to an array of shape (n, d), with rows of unit norm.
Encode = Callable[[Sequence[str]], FloatArray]


class Grounding(NamedTuple):
    """A response with its question and its passages."""

    question: str
    response: str
    passages: tuple[str, ...]


def faithfulness(responses: Sequence[Grounding], ask: Ask) -> list[float]:
    """Share of the statements of each response that follow from its passages."""
    nonempty = [response for response in responses if response.response.strip()]
    template = read_prompt("statements")
    answers = ask(
        [
            templates.fill(template, question=response.question, response=response.response)
            for response in nonempty
        ]
    )
    statements = [read_facts(answer, MAX_STATEMENTS) for answer in answers]
    template = read_prompt("supported")
    replies = iter(
        ask(
            [
                templates.fill(
                    template,
                    passages="\n".join(" ".join(text.split()) for text in response.passages),
                    statements="\n".join(f"{number}. {text}" for number, text in enumerate(own, 1)),
                )
                for response, own in zip(nonempty, statements, strict=True)
                if own
            ]
        )
    )
    shares = iter(
        read_labels(next(replies), len(own), ("yes", "no")).count("yes") / len(own)
        if own
        else float("nan")
        for own in statements
    )
    return [next(shares) if response.response.strip() else float("nan") for response in responses]


def answer_relevance(
    responses: Sequence[Grounding], ask: Ask, encode: Encode, *, count: int = QUESTIONS
) -> list[float]:
    """Mean cosine similarity of each question and the questions that its response answers."""
    template = read_prompt("asked_questions")
    nonempty = [response for response in responses if response.response.strip()]
    answers = iter(
        ask(
            [
                templates.fill(template, response=response.response, count=str(count))
                for response in nonempty
            ]
        )
    )
    scores = []
    for response in responses:
        questions = read_facts(next(answers), count) if response.response.strip() else ()
        if not questions:
            scores.append(0.0)
            continue
        vectors = encode([response.question, *questions])
        scores.append(float((vectors[1:] @ vectors[0]).mean()))
    return scores
