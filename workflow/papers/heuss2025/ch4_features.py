"""Lists with features for chapter 4 of heuss2025: planted, from runs and terms, or LETOR."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.letor import read_letor
from everycell.jobs.job import Job
from everycell.trec.runs import read_run

#: Number of features, and weights of the informative ones, largest first.
FEATURES, WEIGHTS = 20, (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
#: Documents per list.
DOCUMENTS = 20
#: Shares of documents below the labels 1 to 4.
_SHARES = (0.5, 0.75, 0.9, 0.97)
#: Standard deviation of the noise that is added to weighted sums of features.
_NOISE = 0.1
#: Features computed from the terms of query and document.
TERM_FEATURES = (
    "document length",
    "query length",
    "covered query terms",
    "shared terms",
    "rarity of shared terms",
)


def planted(job: Job) -> None:
    """Simulated lists whose labels depend on a few features with known weights."""
    rng = np.random.default_rng(job.params.seed)
    for part in ("train", "test"):
        job.write_frame(planted_features(job.params.lists, rng), part)


def retrieval_features(job: Job) -> None:
    """Features of candidates from runs and terms."""
    inputs, params = job.input, job.params
    candidates = pd.read_parquet(inputs.candidates)
    listed = candidates[
        (candidates["setting"] == params.setting) & (candidates["task"] == params.task)
    ]
    runs = {name: read_run(path) for name, path in zip(params.features, inputs.runs, strict=True)}
    terms = [
        pd.read_parquet(inputs[name]).set_index(key)["terms"].to_dict()
        for name, key in (("queries", "query"), ("documents", "document_id"))
    ]
    for output, split in (("train", "validation"), ("test", "test")):
        part_candidates = listed[listed["split"] == split]
        job.write_frame(features_from_runs(part_candidates, runs, *terms), output)


def letor(job: Job) -> None:
    """Judged feature vectors from files in LETOR format, one or more per part."""
    for part in ("train", "test"):
        files = map(Path, job.input[part])
        tables = [read_letor(path, features=job.params.features) for path in files]
        job.write_frame(pd.concat(tables, ignore_index=True), part)


def planted_weights() -> np.ndarray:
    """Weight of each feature, shape (FEATURES,), which an explanation should recover.

    Informative features are spread over the columns, so that column order does not reveal them.
    """
    weights = np.zeros(FEATURES)
    weights[FEATURES - 3 :: -3] = [*WEIGHTS, *[0] * (len(weights[FEATURES - 3 :: -3]) - 6)]
    return weights


def planted_features(lists: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw lists of documents.

    Features are uniform from 0 to 1. Labels from 0 to 4 depend on quantiles of the weighted sum of
    features plus noise.
    """
    vectors = rng.random((lists * DOCUMENTS, FEATURES))
    gains = vectors @ planted_weights() + _NOISE * rng.normal(size=len(vectors))
    labels = np.searchsorted(np.quantile(gains, _SHARES), gains)
    table = pd.DataFrame(vectors, columns=[f"feature_{n}" for n in range(1, FEATURES + 1)])
    table.insert(0, "relevance", labels.astype(float))
    table.insert(0, "query", np.repeat(np.arange(1, lists + 1), DOCUMENTS).astype(str))
    return table


def features_from_runs(
    candidates: pd.DataFrame,
    runs: Mapping[str, pd.DataFrame],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
) -> pd.DataFrame:
    """Feature vectors of candidates."""
    keys = pd.MultiIndex.from_frame(candidates[["query", "document_id"]])
    table = pd.DataFrame(
        {
            "query": candidates["query"].to_numpy(),
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
