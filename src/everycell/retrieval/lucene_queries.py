"""Lucene objects for ranking functions and queries."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from everycell.retrieval.java import TEXT_FIELD, java_classes, lucene_classes
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer, Ranker, Rm3


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
    raise ValueError(f"The ranker is {ranker!r}: it must be a BM25, JelinekMercer or Dirichlet.")


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
