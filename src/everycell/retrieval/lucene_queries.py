"""Ranking functions and queries as objects of Lucene."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from everycell.retrieval.java import TEXT_FIELD, java_classes, lucene_classes
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer, Ranker, Rm3


def similarity(ranker: Ranker) -> Any:
    """Similarity of Lucene for a ranking function; ValueError for anything else."""
    java = lucene_classes()
    match ranker:
        case BM25(k1, b):
            return java.BM25Similarity(k1, b)
        case JelinekMercer(weight):
            return java.LMJelinekMercerSimilarity(weight)
        case Dirichlet(mu):
            return java.LMDirichletSimilarity(mu)
    raise ValueError(f"The ranker is {ranker!r}: give a BM25, JelinekMercer or Dirichlet.")


def bag(line: bytes, field: str = TEXT_FIELD) -> Any:
    """Query for documents with any of the terms, each weighted by its count in the line."""
    java = lucene_classes()
    return java.bag.buildQuery(field, java.analyser, java.text(line))


def expand_query(feedback: Rm3, line: bytes, top: Any, searcher: Any) -> Any:
    """Weighted bag of the line's terms and of those that Anserini takes from the hits."""
    java, rm3 = lucene_classes(), _feedback_classes()
    hits = java.ScoredDocs.fromTopDocs(top, searcher)
    # Anserini divides by the sum of the weights, which would be 0 where all scores are.
    documents = sum(score > 0 for score in hits.scores)
    # It reads the document frequencies of a field "contents", whatever field is named here.
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
    # Only the weights are needed: its own search orders ties differently, and finds nothing here.
    context = rm3.RerankerContext(
        searcher, None, None, None, None, terms, rm3.MatchNoDocsQuery(), rm3.SearchCollectionArgs()
    )
    reranker.rerank(hits, context)
    weights = context.feedbackTerms
    # Lucene finds the documents of a term of weight 0, with score 0.
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
