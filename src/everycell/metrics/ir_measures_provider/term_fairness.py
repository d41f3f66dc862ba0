"""TExFAIR, NFaiRR and AWRF as measures of `ir_measures`: ``TExFAIR(counts='c.parquet')@10``.

=====================  ================================================================
parameter              meaning
=====================  ================================================================
cut-off (required)     number of documents considered
``counts`` (required)  file written by `count_terms`; for NFaiRR, its documents are also
                       the background from which the ideal list is built
``unknown``            treatment of documents without counts, 'error' (default) or
                       'neutral'
``tau``                only NFaiRR: largest number of group terms of a neutral document
=====================  ================================================================

All groups have equal target shares; for other targets, see `everycell.fairness`. Values are those
of `fairness_by_query`. A query without results has no value. The qrels only determine the set of
queries.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from ir_measures import ParamInfo

from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.fairness_report import find_most_neutral
from everycell.metrics.ir_measures_provider.definition import CUTOFF, RunMeasure, register
from everycell.metrics.nfairr import TAU
from everycell.metrics.ranked_counts import ranked_counts


class _TermFairness(RunMeasure):
    """A measure of group fairness that uses the counts of group terms in documents."""

    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "counts": ParamInfo(dtype=str, required=True, desc="file written by count_terms"),
        "unknown": ParamInfo(
            dtype=str,
            choices=["error", "neutral"],
            default="error",
            desc="treatment of documents without counts",
        ),
    }

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """Fairness of each query of the run."""
        counts, cutoff = self["counts"], self["cutoff"]
        tau = self["tau"] if "tau" in self.SUPPORTED_PARAMS else TAU
        ranked = ranked_counts(run, counts, depth=cutoff, unknown=self["unknown"])
        background = find_most_neutral(counts, cutoff, tau=tau)
        values = fairness_by_query(ranked, [cutoff], tau=tau, background=background)
        return dict(zip(values["query"], values[str(self.NAME)], strict=True))


class _TExFAIR(_TermFairness):
    """TExFAIR: balance of the exposure of the groups' terms, abolghasemi2026, Eq. 4.13."""

    __name__ = NAME = "TExFAIR"


class _NFaiRR(_TermFairness):
    """NFaiRR: rank-weighted neutrality of documents, abolghasemi2026, Eqs. 4.1 to 4.3."""

    __name__ = NAME = "NFaiRR"
    SUPPORTED_PARAMS = _TermFairness.SUPPORTED_PARAMS | {
        "tau": ParamInfo(
            dtype=(int, float),
            default=TAU,
            desc="documents with at most this many group terms are neutral",
        )
    }


class _AWRF(_TermFairness):
    """AWRF: distance of the groups' exposure from equal shares (0 is fair), Eqs. 4.4 to 4.6."""

    __name__ = NAME = "AWRF"


TExFAIR, NFaiRR, AWRF = register(_TExFAIR), register(_NFaiRR), register(_AWRF)
