r"""A generator with a known preference for a label: a control for attribution bias.

It cites each of its k documents independently, with probability

.. math:: \sigma(\mathrm{base} + \mathrm{skill} \cdot r + \mathrm{strength} \cdot h / 2),

where r is 1 for a relevant document and 0 for others, h is 1 for a document labelled as
human-written, -1 for machine-written and 0 without a label, and sigma is the logistic function.

The draws depend only on the seed, the query and the position of a document, so that labels with the
same effect give the same answer. At strength 0, CAS and CAB are therefore exactly 0. As the
strength grows, recall under [Human] never falls and recall under [LLM] never rises, so the measured
CAB of recall never falls. Its expectation is known (`expected_quality`).
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
        """Reject parameters that are not finite numbers."""
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
        # `exp` overflows for large exponents.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def cite(self, query: str, labels: Sequence[str], relevant: Collection[int]) -> tuple[int, ...]:
        """Numbers of the cited documents, from 1, in increasing order."""
        if not set(relevant) <= set(range(1, len(labels) + 1)):
            raise ValueError(
                f"{query}: the relevant documents are {sorted(relevant)}, but the documents are "
                f"numbered from 1 to {len(labels)}."
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
        """An answer with the first sentence and the number of each cited document.

        The probability of a number is that of citing the document; all other tokens are certain.
        """
        if len(texts) != len(labels):
            raise ValueError(
                f"{query}: there are {len(texts)} texts and {len(labels)} labels; give one text "
                "and one label per document."
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
    """The first sentence, without its final punctuation."""
    spans = sentence_spans(text)
    return text[slice(*spans[0])].strip().rstrip(".?!") if spans else ""


def expected_quality(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> Quality:
    """Expected precision and recall of a planted generator."""
    if k < 1:
        raise ValueError(f"k is {k}; a query has at least one document.")
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    # Numerically stable near q = 0, where its limit is 1.
    share = -math.expm1(k * math.log1p(-q)) / (k * q) if 0 < q < 1 else (1.0 if q == 0 else 1 / k)
    return Quality(p * share, p)
