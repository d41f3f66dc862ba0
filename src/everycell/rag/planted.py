r"""A generator whose preference for a label is known: the control of attribution bias.

It cites each of its k documents by chance and independently, with probability

.. math:: \sigma(\mathrm{base} + \mathrm{skill} \cdot r + \mathrm{strength} \cdot h / 2),

where r is 1 for a relevant document and 0 for others, h is 1 for a document labelled as
human-written, -1 for machine-written and 0 without a label, and sigma is the logistic function.

The draws depend only on seed, query and place of a document, not on labels: labels with the same
effect give the same answer. So at strength 0 CAS and CAB are exactly 0, and with growing strength
the recall under [Human] never falls and that under [LLM] never rises: the measured CAB of recall
grows with it. Its expectation is known (`expected_quality`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from everycell.language_models.generation import Answer, Token
from everycell.metrics.attribution import Quality
from everycell.rag.draws import named_draws
from everycell.text.sentences import sentence_spans

#: Label of a document -> its effect, in halves of the strength.
EFFECTS = {"Human": 1, "LLM": -1, "": 0}


@dataclass(frozen=True)
class PlantedGenerator:
    """Cites relevant documents, and those of one label, more often than others."""

    strength: float
    skill: float = 3.0
    base: float = -2.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse parameters that are not numbers."""
        for name in ("strength", "skill", "base"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} is {getattr(self, name)}; give a finite number.")

    def probability(self, label: str, *, relevant: bool) -> float:
        """Probability of citing a document."""
        if label not in EFFECTS:
            raise ValueError(
                f"A document has the label {label!r}; expected one of "
                f"{', '.join(map(repr, EFFECTS))}."
            )
        odds = self.base + self.skill * relevant + self.strength * EFFECTS[label] / 2
        # Of large odds `exp` has no value.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def cite(self, query: str, labels: Sequence[str], relevant: Collection[int]) -> tuple[int, ...]:
        """Numbers of the documents that it cites, from 1, in their order."""
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
    ) -> Answer:
        """An answer: of each document that it cites the first sentence, and its number.

        The probability of a number is that with which the document is cited; all else is certain.
        """
        if len(texts) != len(labels):
            raise ValueError(
                f"{query}: there are {len(texts)} texts and {len(labels)} labels; give one of each "
                "for every document."
            )
        tokens: list[Token] = []
        for number in self.cite(query, labels, relevant):
            sentence = f"{' ' if tokens else ''}{_first_sentence(texts[number - 1])} ["
            p = self.probability(labels[number - 1], relevant=number in relevant)
            pieces = (sentence, 0.0), (str(number), math.log(p)), ("].", 0.0)
            tokens += [Token(text=text, logprob=logprob) for text, logprob in pieces]
        text = "".join(token.text for token in tokens)
        return Answer(text=text, finish="stop", tokens=tuple(tokens))


@lru_cache(maxsize=4096)
def _first_sentence(text: str) -> str:
    """The first sentence without what ends it."""
    spans = sentence_spans(text)
    return text[slice(*spans[0])].strip().rstrip(".?!") if spans else ""


def expected_quality(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> Quality:
    """Mean precision and recall of a planted generator over endlessly many queries."""
    if k < 1:
        raise ValueError(f"A query has {k} documents; give 1 or more.")
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    # Stable where q is near 0, and 1 there.
    share = -math.expm1(k * math.log1p(-q)) / (k * q) if 0 < q < 1 else (1.0 if q == 0 else 1 / k)
    return Quality(p * share, p)
