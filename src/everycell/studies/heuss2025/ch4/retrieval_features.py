"""Features of candidate documents from runs and terms, as in LETOR."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

#: Features computed from the terms of query and document.
TERM_FEATURES = (
    "document length",
    "query length",
    "covered query terms",
    "shared terms",
    "rarity of shared terms",
)


def retrieval_features(
    candidates: pd.DataFrame,
    runs: Mapping[str, pd.DataFrame],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
) -> pd.DataFrame:
    """Feature vectors of candidates."""
    keys = pd.MultiIndex.from_frame(candidates[["query_id", "document_id"]])
    table = pd.DataFrame(
        {
            "query": candidates["query_id"].to_numpy(),
            "relevance": candidates["relevance"].to_numpy(dtype=float),
        }
    )
    for name, run in runs.items():
        scores = run.set_index(["query", "document"])["score"].reindex(keys).to_numpy(dtype=float)
        if np.isnan(scores).any():
            query, document = keys[np.flatnonzero(np.isnan(scores))[0]]
            raise ValueError(
                f"The run {name} does not have document {document} for query {query}, expected all "
                "candidates; create the run again."
            )
        table[name] = scores
    table[list(TERM_FEATURES)] = _term_features(keys, queries, documents)
    return table


def _term_features(
    keys: pd.MultiIndex, queries: Mapping[str, str], documents: Mapping[str, str]
) -> np.ndarray:
    query_terms = {query: queries[query].split() for query in keys.unique(0)}
    document_terms = {document: documents[document].split() for document in documents}
    frequency = pd.Series(
        [term for terms in document_terms.values() for term in set(terms)]
    ).value_counts()
    rarity = np.log(len(document_terms) / frequency).to_dict()
    rows = []
    for query, document in keys:
        terms, words = query_terms[query], document_terms[document]
        shared = set(terms) & set(words)
        covered = len(shared) / max(len(set(terms)), 1)
        rows.append(
            (len(words), len(terms), covered, len(shared), sum(rarity[t] for t in sorted(shared)))
        )
    return np.array(rows, dtype=float).reshape(-1, len(TERM_FEATURES))
