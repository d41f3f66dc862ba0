"""Ranking functions of a lexical index, as Lucene computes them, and their queries.

The score of a document sums the scores in this table over the query terms that it contains. A
term occurs `q` times in the query, `f` times in the document and `F` times in the index. The index
has `T` tokens and `n` non-empty documents, and `d` documents contain the term:

=============  ==================================================================================
BM25           ``q * ln(1 + (n - d + 0.5) / (d + 0.5)) * f / (f + k1 * (1 - b + b * L / A))``
JelinekMercer  ``q * ln(1 + (1 - weight) * f / L / (weight * p))``
Dirichlet      ``max(0, q * (ln(1 + f / (mu * p)) + ln(mu / (L + mu))))``
=============  ==================================================================================

Here ``p = (F + 1) / (T + 1)`` and ``A = T / n``; `L` is the length of the document, which Lucene
stores in one byte. It is exact below 40; above, only the four leading bits of its excess over 24
are kept (219 becomes 216). A document without query terms scores 0. With BM25 and Jelinek-Mercer, a
document with a query term scores above 0; with Dirichlet, it may also score 0, if it is very long.

Source: ``BM25Similarity``, ``LMJelinekMercerSimilarity``, ``LMDirichletSimilarity`` and
``SmallFloat`` of Lucene 9.9. (In Elasticsearch 7, BM25 has an additional factor ``k1 + 1``, which
does not change the ranking.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from everycell.retrieval.java import TEXT_FIELD, java_classes, lucene_classes


@dataclass(frozen=True)
class BM25:
    """BM25 as Lucene computes it."""

    k1: float
    b: float


@dataclass(frozen=True)
class JelinekMercer:
    """Query likelihood with Jelinek-Mercer smoothing; `weight` is the collection's."""

    weight: float


@dataclass(frozen=True)
class Dirichlet:
    """Query likelihood with Dirichlet smoothing; Lucene replaces negative scores with 0."""

    mu: float


Ranker = BM25 | JelinekMercer | Dirichlet


@dataclass(frozen=True)
class Rm3:
    """Pseudo-relevance feedback with RM3: expand the query with terms of the best documents.

    This is Anserini's implementation, with its defaults and filters:

    1. The ranker retrieves `documents` documents. Those with score 0, which occur only with
       Dirichlet, are dropped.
    2. From each document, the `terms` most frequent terms are selected. Candidates have 2 to 20
       characters from a to z or 0 to 9, and occur in at most a tenth of the index's documents,
       including empty ones. This excludes word pieces such as "##ing" and, in an index of fewer
       than 10 documents, all terms. Ties are broken alphabetically.
    3. The weight of a term is a sum over the documents: the term's share of the terms selected in
       step 2, times the document's score. The `terms` heaviest terms are kept, and their weights
       are normalised to a sum of 1. Ties between 32-bit weights are broken alphabetically. The last
       bits of a weight depend on the order of the documents, so equal weights may not tie.
    4. The new query contains the terms of the original query, weighted by their share of it times
       `original_weight`, and those of step 3, times ``1 - original_weight``. A term's score is
       multiplied by its weight; terms with weight 0 are dropped.

    Source: ``Rm3Reranker`` and ``FeatureVector`` of Anserini, in pyserini 1.6, which everycell
    calls for steps 2 and 3. Unlike :meth:`everycell.retrieval.lucene.Index.search`, Anserini also
    returns documents whose only terms have weight 0, with score 0, and puts the smaller id first in
    ties.
    """

    documents: int = 10
    terms: int = 10
    original_weight: float = 0.5


def similarity(ranker: Ranker) -> Any:
    """Lucene's similarity for a ranking function."""
    java = lucene_classes()
    match ranker:
        case BM25(k1, b):
            return java.BM25Similarity(k1, b)
        case JelinekMercer(weight):
            return java.LMJelinekMercerSimilarity(weight)
        case Dirichlet(mu):
            return java.LMDirichletSimilarity(mu)


def bag_of_words(line: bytes, field: str = TEXT_FIELD) -> Any:
    """Query for documents with any term of a line; terms are weighted by their counts."""
    java = lucene_classes()
    return java.bag.buildQuery(field, java.analyser, java.text(line))


def expand_query(feedback: Rm3, line: bytes, top: Any, searcher: Any) -> Any:
    """Query with the line's terms and the terms that RM3 selects from the hits."""
    java, rm3 = lucene_classes(), _feedback_classes()
    hits = java.ScoredDocs.fromTopDocs(top, searcher)
    # Anserini divides by the sum of the weights, which is 0 if all scores are 0.
    documents = sum(score > 0 for score in hits.scores)
    # Anserini ignores the field given here: it reads document frequencies from "contents".
    reranker = rm3.Rm3Reranker(
        java.analyser,
        None,
        TEXT_FIELD,
        feedback.terms,
        documents,
        feedback.original_weight,
        False,
        True,
    )
    terms = rm3.AnalyzerUtils.analyze(java.analyser, java.text(line))
    # Only the weights are needed. The reranker's own search, which orders ties differently, gets a
    # query without matches.
    context = rm3.RerankerContext(
        searcher, None, None, None, None, terms, rm3.MatchNoDocsQuery(), rm3.SearchCollectionArgs()
    )
    reranker.rerank(hits, context)
    weights = context.feedbackTerms
    # For a term of weight 0, Lucene would return the documents that contain it, with score 0.
    weights.values().removeAll(rm3.Collections.singleton(rm3.Float(0.0)))
    return java.bag.buildQuery(TEXT_FIELD, weights)


@cache
def _feedback_classes() -> SimpleNamespace:
    return SimpleNamespace(
        **java_classes(
            {
                "org.apache.lucene.search": "MatchNoDocsQuery",
                "io.anserini.analysis": "AnalyzerUtils",
                "io.anserini.rerank": "RerankerContext",
                "io.anserini.rerank.lib": "Rm3Reranker",
                "io.anserini.search": "SearchCollection$Args",
                "java.lang": "Float",
                "java.util": "Collections",
            }
        )
    )
