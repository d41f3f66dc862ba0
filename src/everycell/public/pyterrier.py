"""Fair re-rankers as PyTerrier transformers, for pipelines: ``bm25 >> protect >> FaIR(0.5)``.

Each transformer reads PyTerrier's columns and the columns set in its constructor; add them, for
example, with ``pt.apply.protected(lambda row: ...)``. PyTerrier is not installed with everycell:
``pip install python-terrier``.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pyterrier as pt

from everycell.base.arrays import IntArray
from everycell.fair_ranking.fa_ir import fa_ir, minimum_protected
from everycell.fair_ranking.felix import felix
from everycell.fair_ranking.pufr import pufr


class _Reranker(pt.Transformer):
    """Transformer that re-ranks the results of each query; new scores count down to 1."""

    columns: tuple[str, ...]

    def _order(self, results: pd.DataFrame) -> IntArray:
        """Positions of one query's results, best first."""
        raise NotImplementedError

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Re-rank each query's results."""
        pt.validate.result_frame(inp, extra_columns=["score", *self.columns])
        reranked = [inp.head(0)]
        for _, results in inp.groupby("qid", sort=False):
            by_score = results.sort_values("score", ascending=False, kind="stable")
            results = by_score.iloc[self._order(by_score)]
            scores = np.arange(len(results), 0, -1, dtype=float)
            reranked.append(results.assign(score=scores))
        return pt.model.add_ranks(pd.concat(reranked, ignore_index=True))


class FaIR(_Reranker):
    """FA*IR: a minimum number of protected documents in every prefix of a ranking.

    Parameters
    ----------
    share, significance : float
        As for :func:`~everycell.fair_ranking.fa_ir.minimum_protected`.
    protected : str
        Boolean column: whether a document is protected.

    Examples
    --------
    >>> results = pd.DataFrame({"qid": "q", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    >>> FaIR(0.9)(results.assign(protected=[False, False, True]))["docno"].tolist()
    ['c', 'a', 'b']
    """

    def __init__(
        self, share: float, *, significance: float = 0.1, protected: str = "protected"
    ) -> None:
        self.share, self.significance, self.columns = share, significance, (protected,)

    def _order(self, results: pd.DataFrame) -> IntArray:
        """Positions of one query's results, best first."""
        needed = minimum_protected(len(results), self.share, self.significance)
        return fa_ir(results["score"], results[self.columns[0]], needed)


class Pufr(_Reranker):
    """PUFR: moves protected documents up and others down, within the uncertainty of scores.

    Parameters
    ----------
    alpha : float
        Number of standard deviations, as for :func:`~everycell.fair_ranking.pufr.pufr`.
    deviation, protected : str
        Column with the standard deviation of each score, and Boolean column of protected documents.

    Examples
    --------
    >>> results = pd.DataFrame({"qid": "q", "docno": ["a", "b"], "score": [2.0, 1.9]})
    >>> Pufr(1.0)(results.assign(deviation=0.1, protected=[False, True]))["docno"].tolist()
    ['b', 'a']
    """

    def __init__(
        self, alpha: float, *, deviation: str = "deviation", protected: str = "protected"
    ) -> None:
        self.alpha, self.columns = alpha, (deviation, protected)

    def _order(self, results: pd.DataFrame) -> IntArray:
        """Positions of one query's results, best first."""
        deviations, protected = (results[column] for column in self.columns)
        return pufr(results["score"], deviations, protected, self.alpha)


class Felix(_Reranker):
    """FELIX: one ranking per query, drawn from a policy with fair exposure and few outliers.

    Parameters
    ----------
    feature : str
        Column with the feature in which documents may be outliers. Scores are used as merits and
        must be above 0.
    ranks : int
        Length of the rankings; other results are dropped.
    seed : int
        Seed of the draw, which also depends on the query id.
    **options
        Options of :func:`~everycell.fair_ranking.felix.felix`.

    Examples
    --------
    >>> results = pd.DataFrame({"qid": "q", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    >>> len(Felix("citations", ranks=2)(results.assign(citations=[9, 9, 1])))
    2
    """

    def __init__(self, feature: str, *, ranks: int = 10, seed: int = 0, **options: Any) -> None:
        self.columns, self.ranks, self.seed, self.options = (feature,), ranks, seed, options

    def _order(self, results: pd.DataFrame) -> IntArray:
        """Positions of one query's results, best first."""
        rng = np.random.default_rng([self.seed, crc32(str(results["qid"].iloc[0]).encode())])
        feature = results[self.columns[0]]
        policy = felix(results["score"], feature, self.ranks, rng=rng, **self.options)
        return policy.rankings[rng.choice(len(policy.weights), p=policy.weights)]
