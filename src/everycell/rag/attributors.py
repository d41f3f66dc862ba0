"""Answerers on real passages whose way of citing is known: two post-rationalise, one reads.

All are told the right answer to each question. The two matchers say it whatever the documents are,
which is memory, and then look for documents to cite: by words (`WordMatcher`), or by how alike
vectors are (`VectorMatcher`). `OracleReader` says it only where a relevant document is there as it
was, and cites that. So the experiment of `everycell.rag.interventions` can be read on real text:
of the matchers every citation is unfaithful, of the reader none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everycell.rag.answers import normalise_answer
from everycell.rag.interventions import CitedAnswer, Statement

#: From n texts to an array of shape (n, d), rows of length 1.
Encode = Callable[[Sequence[str]], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class WordMatcher:
    """Says the right answer, and cites all documents that have its words in a row.

    Parameters
    ----------
    answers : mapping
        Question -> right answer.
    shared : float
        Share of the question's different words from which a document is said to be relevant.

    Examples
    --------
    >>> matcher = WordMatcher({"who sings": "Ann Lee"})
    >>> found = matcher.answer("who sings", ["Here Ann Lee sings.", "Ships. Ann Lee"])
    >>> found.statements, found.relevant
    ((Statement(text='Ann Lee', documents=(0, 1)),), (0,))
    """

    answers: Mapping[str, str]
    shared: float = 0.5

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question, whatever the documents."""
        texts = [f" {normalise_answer(text)} " for text in documents]
        right = f" {normalise_answer(self.answers[question])} "
        asked = set(normalise_answer(question).split())
        cited = tuple(place for place, text in enumerate(texts) if right.strip() and right in text)
        relevant = tuple(
            place
            for place, text in enumerate(texts)
            if len(asked & set(text.split())) >= self.shared * len(asked)
        )
        return CitedAnswer((Statement(self.answers[question], cited),), relevant=relevant)


@dataclass(frozen=True)
class VectorMatcher:
    """Says the right answer, and cites the documents most like question and answer together.

    Parameters
    ----------
    answers : mapping
        Question -> right answer.
    encode : callable
    cited, relevant : int
        Documents that it cites, and that it says are relevant: the most similar ones, of equal ones
        the first.

    Examples
    --------
    >>> lengths = lambda texts: np.array([[len(text), 1.0] for text in texts])
    >>> matcher = VectorMatcher({"who": "Ann"}, lengths, cited=1, relevant=2)
    >>> matcher.answer("who", ["a", "abc"]).cited
    frozenset({1})
    """

    answers: Mapping[str, str]
    encode: Encode
    cited: int = 1
    relevant: int = 3

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question, whatever the documents."""
        vectors = self.encode([f"{question} {self.answers[question]}", *documents])
        order = np.argsort(-np.round(vectors[1:] @ vectors[0], 6), kind="stable").tolist()
        statement = Statement(self.answers[question], tuple(sorted(order[: self.cited])))
        return CitedAnswer((statement,), relevant=tuple(sorted(order[: self.relevant])))


@dataclass(frozen=True)
class OracleReader:
    """Says the right answer only where a relevant document stands as it was, and cites that.

    Parameters
    ----------
    answers : mapping
        Question -> right answer.
    relevant : mapping
        Question -> texts of its relevant documents.

    Examples
    --------
    >>> reader = OracleReader({"who": "Ann"}, {"who": frozenset({"Ann sings."})})
    >>> reader.answer("who", ["Ships. Ann", "Ann sings."]).cited
    frozenset({1})
    >>> reader.answer("who", ["Ships. Ann"]).statements
    ()
    """

    answers: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]

    def answer(self, question: str, documents: Sequence[str]) -> CitedAnswer:
        """Answer a question from its relevant documents."""
        places = tuple(
            place for place, text in enumerate(documents) if text in self.relevant[question]
        )
        said = (Statement(self.answers[question], places),) if places else ()
        return CitedAnswer(said, relevant=places, to_cite=places)
