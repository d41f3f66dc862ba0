"""Examples of chapter 5 of heuss2025: citations, and statements in unrelated documents."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.rag.interventions import (
    Answerer,
    CitedAnswer,
    Statement,
    find_statement,
    instances,
    try_instance,
    without_statement,
)
from everycell.rag.prompts import named_draws
from everycell.render.flow import AFTER, flow_chart
from papers.heuss2025.ch5_attributed import OracleReader, WordMatcher

#: Name, group and text of a box, and the boxes before it.
Row = tuple[str, str, str, list[str]]
#: Headings by whether a citation is correct and whether it is faithful.
KINDS = {
    (True, True): "Correct and faithful",
    (False, True): "Not correct, but faithful",
    (True, False): "Correct, but not faithful",
    (False, False): "Neither correct nor faithful",
}
QUESTION, ANSWER = "Which river flows through the city of Rouen?", "the Seine"
DOCUMENTS = (
    "Rouen lies on a river, the Seine, which flows through the city.",
    "The city of Rouen is known for its cathedral.",
)
OTHER_DOCUMENT = "A lighthouse keeper writes a letter every evening."


def scenarios(job: ResultJob) -> None:
    """Figure 5.1: citations that are correct, faithful, both or neither, by four answerers."""
    answers, (first, second) = {QUESTION: ANSWER}, DOCUMENTS
    answerers: dict[str, Answerer] = {
        "reads the document that states the answer": OracleReader(
            answers, {QUESTION: frozenset([first])}
        ).answer,
        "infers the answer from another document": OracleReader(
            answers, {QUESTION: frozenset([second])}
        ).answer,
        "knows the answer, then searches for its words": WordMatcher(answers).answer,
        "knows the answer, then cites the last document": cite_last,
    }
    panels = [scenario_boxes(ask, name) for name, ask in answerers.items()]
    boxes = pd.concat(panels, ignore_index=True)
    job.write_figure(boxes, flow_chart(boxes))


def cite_last(question: str, documents: Sequence[str]) -> CitedAnswer:
    """Return the answer regardless of the documents, and cite the last one."""
    cited = tuple(range(len(documents)))[-1:]
    return CitedAnswer((Statement(ANSWER, cited),))


def scenario_boxes(ask: Answerer, name: str) -> pd.DataFrame:
    """Question, documents and answer, and whether its citation is correct and faithful.

    A citation is correct if the document contains the answer's words, and faithful if the answer is
    not given without the document.
    """
    answer = ask(QUESTION, DOCUMENTS)
    [position] = answer.cited
    is_correct = without_statement(DOCUMENTS[position], ANSWER) != DOCUMENTS[position]
    remaining = [text for number, text in enumerate(DOCUMENTS) if number != position]
    is_faithful = find_statement(ANSWER, ask(QUESTION, remaining)) is None
    document = f"document {position + 1}"
    correct, faithful = (
        f"{'' if holds else 'not '}{word}"
        for holds, word in ((is_correct, "correct"), (is_faithful, "faithful"))
    )
    rows: list[Row] = [
        *_question_rows(),
        ("answer", "answer", f"Answer\n{cited(answer, ANSWER)}", _names(DOCUMENTS)),
        (
            "correct",
            "outcome",
            f"{correct}: {document} {'states' if is_correct else 'does not state'} the answer",
            ["answer"],
        ),
        (
            "faithful",
            "outcome",
            f"{faithful}: without {document}, the answer is "
            f"{'not given' if is_faithful else 'given'}",
            ["answer"],
        ),
    ]
    return _frame(rows).assign(panel=f"{KINDS[is_correct, is_faithful]}: {name}")


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
    rows: list[Row] = [
        *_question_rows(),
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
    return _frame(rows)


def _question_rows() -> list[Row]:
    """The question and its documents."""
    documents = [
        (f"document {number}", "document", f"Document {number}\n{text}", ["question"])
        for number, text in enumerate(DOCUMENTS, start=1)
    ]
    return [("question", "question", f"Question\n{QUESTION}", []), *documents]


def _frame(rows: list[Row]) -> pd.DataFrame:
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
