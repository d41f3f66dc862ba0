"""AutoNuggetizer, a judge in chapter 6 of lajewska2025.

A language model lists the facts of a good answer and finds them in responses.

Source: Pradeep et al., "Initial nugget evaluation results for the TREC 2024 RAG track with the
AutoNuggetizer framework" (arXiv 2411.09607); lajewska2025, section 6.4.1: 30 facts at most, batches
of 10, temperature 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from string import Template

from everycell.language_models import templates
from everycell.language_models.generation import Message
from everycell.language_models.reasoning import without_reasoning
from papers.lajewska2025.ch6_prompts import read_prompt

#: Largest number of facts, and of passages or facts per prompt.
MAX_FACTS, BATCH = 30, 10
#: Allowed labels.
IMPORTANCE = ("vital", "okay")
SUPPORT = ("support", "partial_support", "not_support")
#: Function from prompts to the texts of their answers.
Ask = Callable[[Sequence[tuple[Message, ...]]], Sequence[str]]


def read_facts(answer: str, limit: int = MAX_FACTS) -> tuple[str, ...]:
    """Distinct facts in an answer: the lines that begin with a bullet or a number."""
    facts: dict[str, str] = {}
    for line in without_reasoning(answer).splitlines():
        match = re.match(r"\s*(?:[-*•]|\d{1,3}[.)])\s+(\S.*)", line)
        if match:
            text = " ".join(match[1].split())
            facts.setdefault(text.lower(), text)
    return tuple(facts.values())[:limit]


def read_labels(answer: str, count: int, allowed: Sequence[str]) -> tuple[str, ...]:
    """Labels of numbered facts; "" for a missing or invalid label."""
    labels = [""] * count
    answer = without_reasoning(answer)
    for number, word in re.findall(r"^\W*(\d{1,3})\W+([A-Za-z_ ]+)", answer, flags=re.MULTILINE):
        label = "_".join(word.lower().split())
        if 1 <= int(number) <= count and label in allowed and not labels[int(number) - 1]:
            labels[int(number) - 1] = label
    return tuple(labels)


def create_nuggets(
    topics: Sequence[tuple[str, Sequence[str]]],
    ask: Ask,
    *,
    batch: int = BATCH,
    limit: int = MAX_FACTS,
    template: Template | None = None,
) -> list[tuple[str, ...]]:
    """Collect the facts of a good answer from batches of passages."""
    template = template or read_prompt("create")
    facts: list[tuple[str, ...]] = [()] * len(topics)
    rounds = max((-(-len(passages) // batch) for _, passages in topics), default=0)
    for start in range(0, rounds * batch, batch):
        indices = [index for index, (_, passages) in enumerate(topics) if start < len(passages)]
        answers = ask(
            [
                templates.fill(
                    template,
                    question=topics[index][0],
                    facts=_lines(facts[index]) or "(none)",
                    passages=_numbered(topics[index][1][start : start + batch]),
                    most=str(limit),
                )
                for index in indices
            ]
        )
        for index, answer in zip(indices, answers, strict=True):
            facts[index] = read_facts(answer, limit) or facts[index]
    return facts


def label_importance(
    topics: Sequence[tuple[str, Sequence[str]]], ask: Ask, *, template: Template | None = None
) -> list[tuple[str, ...]]:
    """Importance of each fact: `IMPORTANCE`, or "" if the model gave no valid label."""
    template = template or read_prompt("importance")
    batches = [_batches(facts) for _, facts in topics]
    answers = iter(
        ask(
            [
                templates.fill(template, question=question, facts=_numbered(batch))
                for (question, _), of_topic in zip(topics, batches, strict=True)
                for batch in of_topic
            ]
        )
    )
    return [
        tuple(
            label
            for batch in of_topic
            for label in read_labels(next(answers), len(batch), IMPORTANCE)
        )
        for of_topic in batches
    ]


def assign_nuggets(
    responses: Sequence[tuple[str, str, Sequence[str]]],
    ask: Ask,
    *,
    template: Template | None = None,
) -> list[tuple[str, ...]]:
    """Support of facts by responses: `SUPPORT`, or "" if the model gave no valid label.

    All prompts are sent together, so that an endpoint can answer them in parallel. An empty
    response supports no fact and needs no request.
    """
    template = template or read_prompt("assign")
    nonempty = [response for response in responses if response[1].strip()]
    batches = [_batches(facts) for _, _, facts in nonempty]
    answers = iter(
        ask(
            [
                templates.fill(
                    template, question=question, response=response, facts=_numbered(batch)
                )
                for (question, response, _), of_response in zip(nonempty, batches, strict=True)
                for batch in of_response
            ]
        )
    )
    labels = iter(
        tuple(
            label
            for batch in of_response
            for label in read_labels(next(answers), len(batch), SUPPORT)
        )
        for of_response in batches
    )
    return [
        next(labels) if response.strip() else (SUPPORT[-1],) * len(facts)
        for _, response, facts in responses
    ]


def _batches(facts: Sequence[str]) -> list[Sequence[str]]:
    return [facts[start : start + BATCH] for start in range(0, len(facts), BATCH)]


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, 1))
