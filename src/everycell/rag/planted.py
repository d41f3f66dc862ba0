r"""A generator whose preference for a label is known: the control of attribution bias.

It cites each of its k documents by chance and independently, with probability

.. math:: \sigma(\mathrm{base} + \mathrm{skill} \cdot r + \mathrm{strength} \cdot h / 2),

where r is 1 for a relevant document and 0 for others, h is 1 for a document that is said to be by
people, -1 for one by a machine and 0 where nothing is said, and sigma is the logistic function.

The draws depend on seed, query and place of a document alone, not on labels: two answers that saw
labels of the same effect are the same answer. So at strength 0 CAS and CAB are exactly 0, and with
growing strength the recall under [Human] never falls and that under [LLM] never rises: the measured
CAB of recall grows with it. What it comes to in the long run is known (`expected_quality`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from everycell.metrics.attribution import Quality
from everycell.rag.attribution_arms import Arm, Question, ask_all
from everycell.rag.attribution_tables import told_author
from everycell.rag.draws import named_draws
from everycell.text.sentences import sentence_spans

#: Label of a document -> its effect, in halves of the strength.
EFFECTS = {"Human": 1, "LLM": -1, "": 0}


@dataclass(frozen=True)
class PlantedGenerator:
    """Cites relevant documents more often than others, and those of one label too.

    Parameters
    ----------
    strength : float
        Log-odds by which [Human] beats [LLM]; negative for the opposite preference, 0 for none.
    skill : float
        Log-odds by which a relevant document beats another.
    base : float
        Log-odds of citing a document that is not relevant and bears no label.
    seed : int
        Of all draws.

    Raises
    ------
    ValueError
        A log-odds that is no finite number.

    Examples
    --------
    >>> generator = PlantedGenerator(strength=3.0)
    >>> generator.cite("q4", ["LLM", "LLM", "LLM", "Human"], relevant=[4])
    (4,)
    >>> generator.cite("q4", ["Human", "Human", "Human", "LLM"], relevant=[4])
    (3,)
    """

    strength: float
    skill: float = 3.0
    base: float = -2.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters that are no numbers."""
        for name in ("strength", "skill", "base"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)}; give a finite number.")

    def probability(self, label: str, *, relevant: bool) -> float:
        """Probability of citing a document.

        Examples
        --------
        >>> round(PlantedGenerator(strength=2, base=-1).probability("Human", relevant=False), 9)
        0.5
        """
        if label not in EFFECTS:
            raise ValueError(
                f"A document has the label {label!r}; allowed are {', '.join(map(repr, EFFECTS))}."
            )
        odds = self.base + self.skill * relevant + self.strength * EFFECTS[label] / 2
        # Of large odds `exp` has no value.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def cite(self, query: str, labels: Sequence[str], relevant: Collection[int]) -> tuple[int, ...]:
        """Numbers of the documents that it cites, from 1, in their order.

        Parameters
        ----------
        query : str
            Id of the query.
        labels
            "Human", "LLM" or "" of each document, in the order of the prompt.
        relevant
            Numbers of the relevant documents.

        Raises
        ------
        ValueError
            An unknown label, or a relevant document that is not there.
        """
        if not set(relevant) <= set(range(1, len(labels) + 1)):
            raise ValueError(
                f"{query}: the relevant documents are {sorted(relevant)}; there are {len(labels)}, "
                "numbered from 1."
            )
        draws = named_draws(f"{self.seed}\t{query}").random(len(labels))
        return tuple(
            number
            for number, (label, draw) in enumerate(zip(labels, draws, strict=True), start=1)
            if draw < self.probability(label, relevant=number in relevant)
        )

    def answer(
        self, query: str, labels: Sequence[str], relevant: Collection[int], texts: Sequence[str]
    ) -> str:
        """An answer as a text: of each document that it cites the first sentence, and its number.

        Parameters
        ----------
        query, labels, relevant
            As `cite`.
        texts
            The documents, in English.

        Examples
        --------
        >>> generator = PlantedGenerator(strength=0.0, skill=99.0, base=-50.0)
        >>> generator.answer("q1", ["", ""], [2], ["Leiden is old.", "Delft is, too. And small."])
        'Delft is, too [2].'
        """
        if len(texts) != len(labels):
            raise ValueError(
                f"{query}: there are {len(texts)} texts and {len(labels)} labels; give one of each "
                "for every document."
            )
        cited = self.cite(query, labels, relevant)
        return " ".join(f"{_first_sentence(texts[number - 1])} [{number}]." for number in cited)


@lru_cache(maxsize=4096)
def _first_sentence(text: str) -> str:
    """The first sentence without what ends it."""
    spans = sentence_spans(text)
    return text[slice(*spans[0])].strip().rstrip(".?!") if spans else ""


def planted_answers(
    generator: PlantedGenerator,
    questions: Sequence[Question],
    arms: Iterable[Arm],
    texts: Mapping[str, str],
) -> pd.DataFrame:
    """Answers of a planted generator, with the probabilities of what it cites.

    Parameters
    ----------
    generator, questions, arms
        Who is asked, and what.
    texts
        Text of each document by its id, in English.

    Returns
    -------
    pandas.DataFrame
        What `everycell.rag.attribution_arms.ask_all` gives, without the text; `right`, NaN, as it
        answers nothing; and `relevant_probability`, `other_probability`: sums, over the citations
        of an answer, of the probabilities with which the generator cites these documents.

    Examples
    --------
    >>> even = PlantedGenerator(strength=0, skill=0, base=0)
    >>> arm = Arm("LLM", "Human", "Vanilla", "Vanilla")
    >>> texts = {"a": "Leiden is old.", "b": "Delft is, too."}
    >>> found = planted_answers(even, [Question("q1", ("a", "b"), gold=2)], [arm], texts)
    >>> (found["relevant_probability"] == 0.5 * found["relevant_citations"]).all()
    np.True_
    """

    def answer(question: Question, labels: list[str]) -> str:
        shown = [texts[document] for document in question.documents]
        return generator.answer(question.id, labels, [question.gold], shown)

    found = ask_all(questions, arms, answer).drop(columns="text").assign(right=np.nan)
    for side, author, mode in (
        ("relevant", "relevant_author", "mode_relevant"),
        ("other", "nonrelevant_author", "mode_nonrelevant"),
    ):
        told = [told_author(*pair) for pair in zip(found[author], found[mode], strict=True)]
        of_one = [generator.probability(label, relevant=side == "relevant") for label in told]
        found[f"{side}_probability"] = found[f"{side}_citations"] * np.asarray(of_one)
    return found


def expected_quality(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> Quality:
    """Mean precision and recall of a planted generator over endlessly many queries.

    Parameters
    ----------
    generator
        What cites.
    k : int
        Documents of a query, 1 or more; one of them is relevant.
    relevant, nonrelevant : str
        Label of that one, and of all others.

    Returns
    -------
    Quality
        Recall is the probability p of citing the relevant document. With the number N of others
        cited, binomial of k - 1 and q, precision is
        ``p E[1 / (1 + N)] = p (1 - (1 - q)^k) / (k q)``, as without citations it is 0.

    Raises
    ------
    ValueError
        No document, or an unknown label.

    Examples
    --------
    >>> even = PlantedGenerator(strength=0, skill=0, base=0)
    >>> expected_quality(even, 2, relevant="", nonrelevant="")
    Quality(precision=0.375, recall=0.5)
    """
    if k < 1:
        raise ValueError(f"A query has {k} documents; give 1 or more.")
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    # Stable where q is near 0, and 1 there.
    share = -math.expm1(k * math.log1p(-q)) / (k * q) if 0 < q < 1 else (1.0 if q == 0 else 1 / k)
    return Quality(p * share, p)


def expected_measures(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> dict[str, float]:
    """What the tables of a planted generator come to over endlessly many queries.

    Parameters
    ----------
    generator, k, relevant, nonrelevant
        As `expected_quality`.

    Returns
    -------
    dict
        Metric, as in the tables, to value: precision and recall in percent; the mean number of
        cited documents, ``p + (k - 1) q`` with the probabilities p of citing the relevant document
        and q of citing another one; and the two confidences (AC), which are p and q themselves,
        since all citations of a kind have one probability.

    Examples
    --------
    >>> even = PlantedGenerator(strength=0, skill=0, base=0)
    >>> list(expected_measures(even, 3, relevant="", nonrelevant="").values())[1:]
    [50.0, 1.5, 0.5, 0.5]
    """
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    expected = expected_quality(generator, k, relevant=relevant, nonrelevant=nonrelevant)
    return {
        "attribution precision": 100 * expected.precision,
        "attribution recall": 100 * expected.recall,
        "avg cited total": p + (k - 1) * q,
        "AC relevant": p,
        "AC non-relevant": q,
    }


def expected_bias(generator: PlantedGenerator, k: int) -> dict[str, float]:
    """Bias (CAB) of a planted generator over endlessly many queries.

    Parameters
    ----------
    generator, k
        As `expected_quality`.

    Returns
    -------
    dict
        "CAB delta precision" and "CAB delta recall" in points, from -100 to 100.

    Examples
    --------
    >>> expected_bias(PlantedGenerator(strength=0), 10)
    {'CAB delta precision': 0.0, 'CAB delta recall': 0.0}
    """
    human, machine = (
        expected_quality(generator, k, relevant=relevant, nonrelevant=other)
        for relevant, other in (("Human", "LLM"), ("LLM", "Human"))
    )
    return {
        "CAB delta precision": 100 * (human.precision - machine.precision),
        "CAB delta recall": 100 * (human.recall - machine.recall),
    }
