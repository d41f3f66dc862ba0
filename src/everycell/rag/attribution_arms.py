"""What a study of attribution bias asks: questions with one gold document, under every labelling.

An *arm* is one way to present a question: who wrote the relevant document and the others, and
which of it a prompt tells (a mode on either side). The arms of abolghasemi2026 are `PLAIN_ARMS`
(Tables 5.1 to 5.3) and `MIXED_ARMS` (Tables 5.4, 5.5, 5.14 and 5.15). Every question meets every
arm, so that answers can be compared in pairs.

Source: abolghasemi2026, sections 5.3.1, 5.4 and 5.5, appendices 5.C and 5.D.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from everycell.metrics.attribution import Author, cab, cas, paired_difference
from everycell.rag.attribution_tables import MODES, PRECISION, RECALL, told_author
from everycell.rag.draws import named_draws
from everycell.statistics.hypothesis_tests import t_tests
from everycell.trec.runs import trec_order

Place = Literal["retrieved", "random"]
#: Columns of a frame of CAS or CAB.
_COMPARED = [
    "relevant_author",
    "nonrelevant_author",
    "metric",
    "value",
    "low",
    "high",
    "p",
    "citations",
]
#: Why a question takes no part -> what that means.
FAULTS = {
    "no gold": "no relevant document is known",
    "several gold": "more than one is",
    "not retrieved": "the relevant document is not among the first k",
    "too few documents": "fewer than k were retrieved",
}


class Question(NamedTuple):
    """A question as prompts show it.

    Attributes
    ----------
    id : str
    documents : tuple of str
        Ids of its documents, in the order of the prompt.
    gold : int
        Number of the relevant one, from 1.
    """

    id: str
    documents: tuple[str, ...]
    gold: int

    def labels(self, arm: Arm) -> list[str]:
        """Author that an arm tells of each document: "Human", "LLM", or "".

        Examples
        --------
        >>> question = Question("q1", ("d7", "d3", "d9"), gold=2)
        >>> question.labels(Arm("LLM", "Human", "CF-informed", "CF-informed"))
        ['LLM', 'Human', 'LLM']
        """
        relevant = told_author(arm.relevant_author, arm.mode_relevant)
        other = told_author(arm.nonrelevant_author, arm.mode_nonrelevant)
        numbers = range(1, len(self.documents) + 1)
        return [relevant if number == self.gold else other for number in numbers]


class Arm(NamedTuple):
    """Authors of the relevant document and of the others, and what is told of either."""

    relevant_author: Author
    nonrelevant_author: Author
    mode_relevant: str
    mode_nonrelevant: str


_PAIRS: tuple[tuple[Author, Author], ...] = (("LLM", "Human"), ("Human", "LLM"))
#: Documents of two origins, all told in one mode.
PLAIN_ARMS = tuple(Arm(*pair, mode, mode) for pair in _PAIRS for mode in MODES)
#: The five pairs of modes of Tables 5.14 and 5.15, in their order.
_MIXED = (
    ("Vanilla", "Vanilla"),
    ("Informed", "Informed"),
    ("CF-informed", "Informed"),
    ("Informed", "CF-informed"),
    ("CF-informed", "CF-informed"),
)
#: Documents of one origin, told in a mode on either side.
MIXED_ARMS = tuple(Arm(author, author, *modes) for author in ("Human", "LLM") for modes in _MIXED)

#: Arms whose answers sensitivity compares: of documents of two origins, and of one.
INFORMED_AGAINST_VANILLA = tuple(
    (Arm(*pair, "Informed", "Informed"), Arm(*pair, "Vanilla", "Vanilla")) for pair in _PAIRS
)
MIXED_AGAINST_VANILLA = tuple(
    (Arm(author, author, *modes), Arm(author, author, "Vanilla", "Vanilla"))
    for author, modes in (
        ("Human", ("Informed", "CF-informed")),
        ("LLM", ("CF-informed", "Informed")),
    )
)


def pick_questions(
    run: pd.DataFrame,
    relevant: pd.DataFrame,
    *,
    k: int,
    place: Place = "retrieved",
    seed: int = 0,
) -> tuple[list[Question], Counter[str]]:
    """Questions whose first k documents hold exactly one relevant one.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns `query`, `document`, `score`: retrieved documents. Ties stand as in trec_eval,
        by document id, descending.
    relevant : pandas.DataFrame
        Columns `query`, `document`: all relevant pairs, and no other questions are asked.
    k : int
        Documents of a prompt, 1 or more.
    place : {"retrieved", "random"}
        Where the relevant document stands: at its place in the ranking, and the question is left
        out where that is behind k; or at a random place among the k - 1 best others (appendix 5.D),
        wherever it was retrieved.
    seed : int
        Of the random place, which depends on nothing else but the question's id.

    Returns
    -------
    tuple
        Questions in the order of their ids, and how many were left out by one of `FAULTS`.

    Raises
    ------
    ValueError
        k below 1, an unknown place, or a run with a document twice or a score that is no number.

    Examples
    --------
    >>> run = pd.DataFrame({"query": ["q1"] * 3 + ["q2"] * 3, "score": [3, 2, 1] * 2,
    ...                     "document": ["a", "b", "c"] * 2})
    >>> gold = pd.DataFrame({"query": ["q1", "q2"], "document": ["b", "c"]})
    >>> pick_questions(run, gold, k=2)
    ([Question(id='q1', documents=('a', 'b'), gold=2)], Counter({'not retrieved': 1}))
    """
    if k < 1:
        raise ValueError(f"k is {k}; a prompt has 1 document or more.")
    if place not in ("retrieved", "random"):
        raise ValueError(f"place is {place!r}; give 'retrieved' or 'random'.")
    lists = trec_order(run).groupby("query")["document"].agg(list)
    right = relevant.groupby("query")["document"].agg(set)
    found, faults = [], Counter[str]()
    for query in sorted({*lists.index, *right.index}):
        gold, documents_of = right.get(query, set()), lists.get(query, [])
        if len(gold) != 1:
            faults["several gold" if gold else "no gold"] += 1
            continue
        (answer,) = gold
        others = [document for document in documents_of if document != answer]
        if place == "random":
            position = int(named_draws(f"{seed}\t{query}").integers(k))
            chosen = others[: k - 1]
            chosen.insert(position, answer)
        else:
            chosen = documents_of[:k]
        if len(chosen) < k:
            faults["too few documents"] += 1
        elif answer not in chosen:
            faults["not retrieved"] += 1
        else:
            found.append(Question(str(query), tuple(chosen), chosen.index(answer) + 1))
    return found, faults


def sensitivities(
    answers: pd.DataFrame,
    *,
    seed: int,
    pairs: Sequence[tuple[Arm, Arm]] = INFORMED_AGAINST_VANILLA,
) -> pd.DataFrame:
    """Attribution sensitivity (CAS) with its interval, in points (Eq. 5.1).

    Parameters
    ----------
    answers
        The frame of answers (`everycell.rag.attribution_results`) of one setting.
    seed : int
        Of the bootstrap.
    pairs
        An arm that names authors and one that does not. The thesis does not say which arms it
        compares in the mixed mode; `MIXED_AGAINST_VANILLA` is our reading: those that tell of
        people on the relevant document and of machines on the others. Pairs that were not asked
        are left out.

    Returns
    -------
    pandas.DataFrame
        `relevant_author`, `nonrelevant_author`, metric ("CAS delta precision", ...), `value` from
        0 to 100, `low` and `high` of its 95 % interval, `p` of the paired t-test of the signed
        differences, and how many citations the compared answers have.

    Examples
    --------
    Of two questions, the first is answered well only where no author is named:

    >>> rows = [(query, *arm, good, good, 1) for arm in PLAIN_ARMS for query, good in
    ...         (("q1", float(arm.mode_relevant == "Vanilla")), ("q2", 1.0))]
    >>> columns = ["query_id", *Arm._fields, PRECISION, RECALL, "cited"]
    >>> sensitivities(pd.DataFrame(rows, columns=columns), seed=1)["value"].tolist()
    [50.0, 50.0, 50.0, 50.0]
    """
    rows = []
    there = set(answers[list(Arm._fields)].itertuples(index=False, name=None))
    for labelled, plain in pairs:
        if not {labelled, plain} <= there:
            continue
        for metric in (PRECISION, RECALL):
            told, not_told = (_values(answers, arm, metric) for arm in (labelled, plain))
            changes = paired_difference(abs(told - not_told), np.zeros(len(told)), seed=seed)
            numbers = (100 * cas(told, not_told), 100 * changes.low, 100 * changes.high)
            p = float(t_tests({"told": told, "plain": not_told}, correction="none")["p"].iloc[0])
            name = metric.replace("attribution", "CAS delta")
            rows.append((*labelled[:2], name, *numbers, p, _citations(answers, labelled, plain)))
    return pd.DataFrame(rows, columns=_COMPARED)


def biases(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Attribution bias (CAB) of each pair of authors with its interval and test, in points.

    Parameters
    ----------
    answers
        The frame of answers (`everycell.rag.attribution_results`) of one setting; pairs of authors
        whose arms are not among them are left out.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        `relevant_author`, `nonrelevant_author`, metric ("CAB delta precision", ...), `value` from
        -100 to 100, `low` and `high` of its 95 % interval, `p` of the paired t-test, and how many
        citations the compared answers have.

    Examples
    --------
    Of two questions, the first is answered well only where [Human] is on the relevant document:

    >>> question = Question("q1", ("a",), gold=1)
    >>> rows = [(query, *arm, good, good, 1) for arm in PLAIN_ARMS for query, good in
    ...         (("q1", float(question.labels(arm) == ["Human"])), ("q2", 1.0))]
    >>> columns = ["query_id", *Arm._fields, PRECISION, RECALL, "cited"]
    >>> biases(pd.DataFrame(rows, columns=columns), seed=1)["value"].tolist()
    [50.0, 50.0, 50.0, 50.0]
    """
    rows = []
    there = set(answers[list(Arm._fields)].itertuples(index=False, name=None))
    for authors in dict.fromkeys(arm[:2] for arm in (*PLAIN_ARMS, *MIXED_ARMS)):
        # The arms that tell opposite authors of the two sides, people on the relevant one first.
        human, machine = (
            Arm(*authors, *(_mode(*pair) for pair in zip(authors, told, strict=True)))
            for told in (("Human", "LLM"), ("LLM", "Human"))
        )
        if not {human, machine} <= there:
            continue
        for metric in (PRECISION, RECALL):
            first, second = (_values(answers, arm, metric) for arm in (human, machine))
            found = paired_difference(first, second, seed=seed)
            value = cab(first, second, relevant="Human", nonrelevant="LLM")
            name = metric.replace("attribution", "CAB delta")
            numbers = (100 * value, 100 * found.low, 100 * found.high, found.p)
            rows.append((*authors, name, *numbers, _citations(answers, human, machine)))
    return pd.DataFrame(rows, columns=_COMPARED)


def _mode(author: str, told: str) -> str:
    return "Informed" if author == told else "CF-informed"


def _values(answers: pd.DataFrame, arm: Arm, metric: str) -> np.ndarray:
    """A measure of every answer of an arm, in the order of questions."""
    return _of_arm(answers, arm).sort_values("query_id")[metric].to_numpy(dtype=float)


def _citations(answers: pd.DataFrame, *arms: Arm) -> int:
    """Citations of all answers of some arms."""
    return int(sum(_of_arm(answers, arm)["cited"].sum() for arm in arms))


def _of_arm(answers: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    return answers[(answers[list(Arm._fields)] == list(arm)).all(axis=1)]
