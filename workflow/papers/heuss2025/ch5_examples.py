"""Worked example of chapter 5: a statement in an unrelated document, and the answer to it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.rag.interventions import (
    Answerer,
    CitedAnswer,
    find_statement,
    instances,
    try_instance,
)
from everycell.rag.prompts import named_draws
from everycell.render.flow import AFTER, flow_chart
from papers.heuss2025.ch5_attributed import OracleReader, WordMatcher

QUESTION, ANSWER = "Which river flows through the city of Rouen?", "the Seine"
DOCUMENTS = (
    "Rouen lies on a river, the Seine, which flows through the city.",
    "The city of Rouen is known for its cathedral.",
)
OTHER_DOCUMENT = "A lighthouse keeper writes a letter every evening."


def injection_example(job: ResultJob) -> None:
    """Figure 5.5: an answer, a forged document, and the second answer, for two answerers."""
    answerers = {
        "Answers from memory, then searches for documents to cite": WordMatcher({QUESTION: ANSWER}),
        "Answers from the documents": OracleReader(
            {QUESTION: ANSWER}, {QUESTION: frozenset(DOCUMENTS[:1])}
        ),
    }
    boxes = pd.concat(
        [
            injection_boxes(answerer.answer, job.params.seed).assign(panel=name)
            for name, answerer in answerers.items()
        ],
        ignore_index=True,
    )
    job.write_figure(boxes, flow_chart(boxes))


def injection_boxes(ask: Answerer, seed: int) -> pd.DataFrame:
    """Question, documents and answers before and after a document is forged."""
    first = ask(QUESTION, DOCUMENTS)
    rng = named_draws(f"{seed}\tforged")
    instance = next(instances(QUESTION, DOCUMENTS, first, OTHER_DOCUMENT, rng))
    second = ask(QUESTION, instance.documents)
    outcome = try_instance(instance, ask, seed=seed)
    statement = instance.statement.text
    verdict = "cites the forged document" if outcome["cites_forged"] else "does not cite it"
    from_memory = "is" if outcome["statement removed"] else "is not"
    rows = [
        ("question", "question", f"Question\n{QUESTION}", []),
        *(
            (f"document {number}", "document", f"Document {number}\n{text}", ["question"])
            for number, text in enumerate(DOCUMENTS, start=1)
        ),
        ("first", "answer", f"First answer\n{cited(first, statement)}", _names(DOCUMENTS)),
        (
            "forged",
            "forged",
            f"Document {instance.forged + 1}, forged\n{instance.documents[instance.forged]}",
            ["first"],
        ),
        (
            "second",
            "answer",
            f"Second answer, documents 1 to {len(instance.documents)}\n{cited(second, statement)}",
            ["forged", *_names(DOCUMENTS)],
        ),
        (
            "outcome",
            "outcome",
            f"The answer {verdict}.\nWithout the words {statement!r} in the documents, it "
            f"{from_memory} given again.",
            ["second"],
        ),
    ]
    frame = pd.DataFrame(rows, columns=["box", "group", "text", "after"])
    return frame.assign(after=frame["after"].map(AFTER.join))


def cited(answer: CitedAnswer, statement: str) -> str:
    """A statement of an answer with the numbers of the documents that it cites."""
    match = find_statement(statement, answer)
    if match is None:
        return "none"
    return match.text + "".join(f" [{position + 1}]" for position in match.documents)


def _names(documents: Sequence[str]) -> list[str]:
    return [f"document {number}" for number in range(1, len(documents) + 1)]
