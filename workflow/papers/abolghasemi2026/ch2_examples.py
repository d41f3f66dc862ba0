"""Worked example of chapter 2 of abolghasemi2026: TILDE and TILDEv2 score a document."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from everycell.jobs.result_job import ResultJob
from everycell.render.flow import AFTER, flow_chart
from everycell.retrieval.encoded import likelihood_scores, term_weight_scores

QUERY: str = "open file"
DOCUMENT: str = "read the file then close the file"
#: Made-up probability of each term of a toy vocabulary, given the document (TILDE).
PROBABILITIES = {"close": 0.8, "file": 0.9, "open": 0.3, "read": 0.7, "text": 0.2}
#: Made-up weight of each token of the document, without stop words (TILDEv2).
WEIGHTS = (("read", 1.2), ("file", 0.8), ("close", 0.5), ("file", 2.1))
#: The single query and the single document.
_ROW = np.array([0])


def scores_example(job: ResultJob) -> None:
    """Figure 2.1: the score of a toy document by TILDE and by TILDEv2."""
    boxes = pd.concat([tilde_boxes(), tildev2_boxes()], ignore_index=True)
    job.write_figure(boxes, flow_chart(boxes))


def query_counts() -> sparse.csr_array:
    """Counts of the vocabulary's terms in the query."""
    return sparse.csr_array([[QUERY.split().count(term) for term in PROBABILITIES]], dtype=float)


def tilde_boxes() -> pd.DataFrame:
    """Steps of TILDE: a likelihood of each term of the vocabulary, looked up for the query."""
    logarithms = np.log10(np.array([list(PROBABILITIES.values())]))
    [score] = likelihood_scores(logarithms, query_counts(), _ROW, _ROW)
    values = dict(zip(PROBABILITIES, logarithms[0], strict=True))
    lines = [f"{term} {value:.2f}" for term, value in values.items()]
    return _boxes(
        "TILDE: likelihood of the query",
        [
            ("values", "\n".join(["log10 P of all terms", *lines]), ["document"]),
            ("score", f"sum for the query's terms\n{score:.2f}", ["values", "terms"]),
        ],
    )


def tildev2_boxes() -> pd.DataFrame:
    """Steps of TILDEv2: a weight of each token, of which the query's terms take the largest."""
    largest = pd.DataFrame(WEIGHTS, columns=["term", "weight"]).groupby("term")["weight"].max()
    weights = sparse.csr_array([[largest.get(term, 0.0) for term in PROBABILITIES]])
    [score] = term_weight_scores(weights, query_counts(), _ROW, _ROW)
    tokens = [f"{term} {weight:.1f}" for term, weight in WEIGHTS]
    terms = [f"{term} {weight:.1f}" for term, weight in largest.items()]
    return _boxes(
        "TILDEv2: weights of shared terms",
        [
            ("tokens", "\n".join(["weights of its tokens", *tokens]), ["document"]),
            ("values", "\n".join(["largest weight per term", *terms]), ["tokens"]),
            ("score", f"sum for shared terms\n{score:.2f}", ["values", "terms"]),
        ],
    )


def _boxes(panel: str, steps: list[tuple[str, str, list[str]]]) -> pd.DataFrame:
    counts = "\n".join(
        f"{term} {QUERY.split().count(term)}" for term in dict.fromkeys(QUERY.split())
    )
    rows = [
        ("document", f"Document\n{DOCUMENT}", []),
        ("query", f"Query\n{QUERY}", []),
        ("terms", f"counts of its terms\n{counts}", ["query"]),
        *steps,
    ]
    frame = pd.DataFrame(rows, columns=["box", "text", "after"])
    return frame.assign(panel=panel, after=frame["after"].map(AFTER.join))
