"""Ranking functions and queries as objects of Lucene."""

from __future__ import annotations

from typing import Any

from everycell.retrieval.java import TEXT_FIELD, lucene_classes
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


def expanded(feedback: Rm3, line: bytes, top: Any, searcher: Any) -> Any:
    """Weighted bag of the line's terms and of those that Anserini takes from the hits."""
    java = lucene_classes()
    hits = java.ScoredDocs.fromTopDocs(top, searcher)
    # Anserini divides by the sum of the weights, which would be 0 where all scores are.
    documents = sum(score > 0 for score in hits.scores)
    # It reads the document frequencies of a field "contents", whatever field is named here.
    reranker = java.Rm3Reranker(
        java.analyser,
        None,
        TEXT_FIELD,
        feedback.terms,
        documents,
        feedback.original_weight,
        False,
        True,
    )
    terms = java.AnalyzerUtils.analyze(java.analyser, java.text(line))
    # Only the weights are needed: its own search orders ties differently, and finds nothing here.
    context = java.RerankerContext(
        searcher, None, None, None, None, terms, java.MatchNoDocsQuery(), java.SearchArgs()
    )
    reranker.rerank(hits, context)
    weights = context.feedbackTerms
    # Lucene finds the documents of a term of weight 0, with score 0.
    weights.values().removeAll(java.Collections.singleton(java.Float(0.0)))
    return java.bag.buildQuery(TEXT_FIELD, weights)
