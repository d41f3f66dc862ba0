"""Is a citation faithful? Change documents, generate the answer again, and compare citations.

A citation is *correct* if the document supports the statement, and *faithful* if the statement also
came from it. A model that looks for documents to cite after it has made the answer
(post-rationalisation) can be correct without being faithful. The test of heuss2025, section 5.5:

1. An answer has statements, each with the documents that it cites.
2. A statement is appended to an unrelated document (`instances`).
3. The same question is asked with that document among the others.
4. Does the statement occur again, and does it now cite the forged document (`try_instance`)?

Step 4 proves something only if the forged document does not support the statement; a reader who
takes the bare words as support cites it in good faith. Each instance therefore has controls: the
statement may be recovered from documents that were cited before, from the forged one alone, or (our
own control) from documents without its words, which only memory can explain.

Source: heuss2025, sections 5.4 and 5.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from everycell.engine.arrays import FloatArray
from everycell.rag.answers import normalise_answer
from everycell.rag.draws import named_draws

#: Kinds of forged document: one of another question, which is added, or one of the list, replaced.
KINDS = ("random", "relevant, not cited", "cited for something else")
#: Controls: contexts in which the statement may be recovered.
CONTROLS = ("all cited", "one cited", "forged alone", "statement removed")


class Statement(NamedTuple):
    """A part of an answer, and the positions of the documents that it cites, from 0."""

    text: str
    documents: tuple[int, ...]


class CitedAnswer(NamedTuple):
    """An answer with citations."""

    statements: tuple[Statement, ...]
    relevant: tuple[int, ...] = ()
    to_cite: tuple[int, ...] = ()
    text: str = ""

    @property
    def cited(self) -> frozenset[int]:
        """Places of all documents that a statement cites."""
        return frozenset(
            position for statement in self.statements for position in statement.documents
        )


class Instance(NamedTuple):
    """A question with a forged document."""

    question: str
    kind: str
    statement: Statement
    original: tuple[str, ...]
    documents: tuple[str, ...]
    forged: int


#: From a question and its documents to an answer.
Answerer = Callable[[str, Sequence[str]], CitedAnswer]
#: Whether two statements say the same.
Same = Callable[[str, str], bool]


def same_words(first: str, second: str) -> bool:
    """Whether one statement contains the other, after SQuAD's normalisation."""
    one, other = (f" {normalise_answer(text)} " for text in (first, second))
    return bool(one.strip() and other.strip()) and (one in other or other in one)


def shared_words(threshold: float) -> Same:
    """Whether two statements share enough words, as a share of those of the shorter one."""
    if not 0 < threshold <= 1:
        raise ValueError(
            f"The least share of words is {threshold}: give a number above 0, up to 1."
        )

    def same(first: str, second: str) -> bool:
        one, other = (set(normalise_answer(text).split()) for text in (first, second))
        return bool(one and other) and len(one & other) >= threshold * min(len(one), len(other))

    return same


def entailed(infer: Callable[[Sequence[tuple[str, str]]], FloatArray], threshold: float) -> Same:
    """Whether two statements entail each other, by an NLI model."""
    if not 0 <= threshold <= 1:
        raise ValueError(f"The least probability is {threshold}: give a number from 0 to 1.")

    @cache
    def same(first: str, second: str) -> bool:
        return bool((infer([(first, second), (second, first)]) >= threshold).all())

    return same


def recovered(statement: str, answer: CitedAnswer, same: Same = same_words) -> Statement | None:
    """First statement of an answer that says the same; None if there is none.

    If the text contains the statement's words without a citation, they count as a statement without
    documents.
    """
    for other in answer.statements:
        if same(statement, other.text):
            return other
    words = f" {normalise_answer(statement)} "
    if words.strip() and words in f" {normalise_answer(answer.text)} ":
        return Statement(statement, ())
    return None


def instances(
    question: str,
    documents: Sequence[str],
    answer: CitedAnswer,
    spare: str,
    rng: np.random.Generator,
) -> Iterator[Instance]:
    """Forge documents from an answer's statements, one of each possible kind."""
    beyond = [position for position in answer.cited if not 0 <= position < len(documents)]
    if beyond:
        raise ValueError(
            f"The answer to {question!r} cites document {beyond[0] + 1} of {len(documents)}: give "
            "citations of the documents that it was made from."
        )
    contents = tuple(documents)
    cited = [one for one in answer.statements if one.documents]
    choices: dict[str, list[tuple[Statement, int]]] = {
        KINDS[0]: [(one, len(contents)) for one in cited],
        KINDS[1]: [
            (one, position)
            for one in cited
            for position in answer.relevant
            if position not in answer.cited
        ],
        KINDS[2]: [
            (one, position)
            for one in cited
            for position in sorted(answer.cited)
            if position not in one.documents
        ],
    }
    for kind, pairs in choices.items():
        if not pairs:
            continue
        statement, position = pairs[int(rng.integers(len(pairs)))]
        base = [*contents, spare] if position == len(contents) else list(contents)
        base[position] = f"{base[position]} {statement.text}"
        yield Instance(question, kind, statement, contents, tuple(base), position)


def without_statement(text: str, statement: str) -> str:
    """Remove the words of a statement from a document, wherever they occur in sequence."""
    words = re.findall(r"\w+", statement)
    if not words:
        return text
    pattern = r"\W+".join(map(re.escape, words))
    return re.sub(rf"\b{pattern}\b", "", text, flags=re.IGNORECASE)


def try_instance(
    instance: Instance, ask: Answerer, *, seed: int, same: Same = same_words
) -> dict[str, object]:
    """Ask again with the forged document, and in each control."""
    question, statement = instance.question, instance.statement
    again = recovered(statement.text, ask(question, instance.documents), same)
    cites = again is not None and instance.forged in again.documents
    row: dict[str, object] = {
        "question": question,
        "kind": instance.kind,
        "recovered": again is not None,
        "cites_forged": cites,
    }

    def is_recovered(documents: Sequence[str]) -> bool:
        return recovered(statement.text, ask(question, documents), same) is not None

    before = [instance.original[position] for position in statement.documents]
    one = int(named_draws(f"{seed}\t{question}\t{instance.kind}").integers(len(before)))
    contexts = {
        "all cited": before,
        "one cited": [before[one]],
        "forged alone": [instance.documents[instance.forged]],
    }
    for name, documents in contexts.items():
        row[name] = is_recovered(documents) if cites else None
    bare = [without_statement(text, statement.text) for text in instance.original]
    row["statement removed"] = is_recovered(bare)
    return row


def share(count: int, total: int, level: float = 0.95) -> tuple[float, float, float]:
    """A share in percent with its exact binomial interval (Clopper-Pearson)."""
    if not 0 <= count <= total or total < 1:
        raise ValueError(f"{count} of {total}: give a count from 0 to a total of 1 or more.")
    low, high = proportion_confint(count, total, alpha=1 - level, method="beta")
    return 100 * count / total, 100 * float(low), 100 * float(high)


def outcomes(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Counts and shares of each kind of instance (Figures 5.6 and 5.7)."""
    table = pd.DataFrame(list(rows))
    records = []
    for kind in (kind for kind in KINDS if (table["kind"] == kind).any()):
        own = table[table["kind"] == kind]
        back = own[own["recovered"].astype(bool)]
        fooled = back[back["cites_forged"].astype(bool)]
        parts = {"recovered": own["recovered"], "cites the forged document": back["cites_forged"]}
        parts |= {name: fooled[name] for name in CONTROLS[:3]}
        parts["statement removed"] = own["statement removed"]
        for metric, values in parts.items():
            if len(values):
                count = int(values.astype(bool).sum())
                records.append((kind, metric, count, len(values), *share(count, len(values))))
    return pd.DataFrame(records, columns=["kind", "metric", "count", "of", "value", "low", "high"])
