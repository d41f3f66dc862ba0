"""Ranking functions of a lexical index, as Lucene computes them.

Lucene's scores, for a query with `q` occurrences of a term that occurs `f` times in a document (`n`
documents that are not empty, `d` of them with the term, `F` occurrences in the index of `T`
tokens). The score of a document is the sum over the query's terms that it holds:

=============  ==================================================================================
BM25           ``q * ln(1 + (n - d + 0.5) / (d + 0.5)) * f / (f + k1 * (1 - b + b * L / A))``
JelinekMercer  ``q * ln(1 + (1 - weight) * f / L / (weight * p))``
Dirichlet      ``max(0, q * (ln(1 + f / (mu * p)) + ln(mu / (L + mu))))``
=============  ==================================================================================

Here ``p = (F + 1) / (T + 1)`` and ``A = T / n``; `L` is the length of the document as Lucene keeps
it, in one byte: exact below 40, above with only the four leading bits of what exceeds 24 (219
becomes 216). No score is below 0, and a document without any query term scores 0, never above a
document with one. With BM25 and Jelinek-Mercer it is always below; with Dirichlet the two are equal
where the document with the term is so long that its score was cut at 0. Source: ``BM25Similarity``,
``LMJelinekMercerSimilarity``, ``LMDirichletSimilarity`` and ``SmallFloat`` of Lucene 9.9.
(Elasticsearch 7 has a further factor ``k1 + 1`` in BM25, which changes no order.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class BM25:
    """BM25 as Lucene computes it (see the head of this module)."""

    k1: float
    b: float

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(0 <= self.k1 < math.inf, "k1 of BM25", self.k1, "a finite number, 0 or more")
        require(0 <= self.b <= 1, "b of BM25", self.b, "a number from 0 to 1")


@dataclass(frozen=True)
class JelinekMercer:
    """Query likelihood, smoothed by a fixed share of the collection's model."""

    weight: float

    def __post_init__(self) -> None:
        """Check the range."""
        allowed = "a number above 0 and below 1"
        require(0 < self.weight < 1, "weight of JelinekMercer", self.weight, allowed)


@dataclass(frozen=True)
class Dirichlet:
    """Query likelihood with Dirichlet smoothing; Lucene cuts a term's score at 0."""

    mu: float

    def __post_init__(self) -> None:
        """Check the range."""
        require(0 < self.mu < math.inf, "mu of Dirichlet", self.mu, "a finite number above 0")


Ranker = BM25 | JelinekMercer | Dirichlet


@dataclass(frozen=True)
class Rm3:
    """Pseudo-relevance feedback: terms of the best documents join the query, which is run again.

    It is Anserini's implementation, with its defaults and filters:

    1. The ranker finds `documents`; those with score 0 (which only Dirichlet gives) are left out.
    2. From each come its `terms` most frequent terms, among those that have 2 to 20 characters, all
    from a to z or 0 to 9, and occur in at most a tenth of the index's documents, empty ones
    included. This excludes word pieces such as "##ing" and, in an index of fewer than 10 documents,
    all terms. Equal frequencies are cut in alphabetic order. 3. The weight of a term is the sum,
    over the documents, of its share of the document's terms from step 2, times the document's
    score. The `terms` heaviest are kept, their weights scaled to sum 1.
       (Equal 32-bit weights are cut in alphabetic order; but a sum depends in its last bits on the
       order of the documents, so weights that are mathematically equal may be cut differently.)
    4. The new query has the old one's terms, weighted by their share of it times
       `original_weight`, and those of step 3 times ``1 - original_weight``. A term's score is
       multiplied by its weight; terms of weight 0 are left out.

    Source: ``Rm3Reranker`` and ``FeatureVector`` of the Anserini in pyserini 1.6, which computes
    steps 2 and 3 here. Anserini itself also returns documents, with score 0, whose only terms are
    of weight 0, and has the smaller id first in ties, where :meth:`Index.search` has the greater.
    """

    documents: int = 10
    terms: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(self.documents >= 1, "documents of Rm3", self.documents, "1 or more")
        require(self.terms >= 1, "terms of Rm3", self.terms, "1 or more")
        weight = self.original_weight
        require(0 <= weight <= 1, "original_weight of Rm3", weight, "a number from 0 to 1")


def require(fine: bool, name: str, value: object, allowed: str) -> None:
    """Refuse a parameter that is out of range; the message says what is allowed."""
    if not fine:
        raise ValueError(f"{name} is {value!r}: give {allowed}.")
