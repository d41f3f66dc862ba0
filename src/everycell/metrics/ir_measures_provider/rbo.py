"""RBO as a measure of `ir_measures`: ``RBO(run='bm25.run')@10``.

==================  ==============================================================
parameter           meaning
==================  ==============================================================
cut-off (required)  number of documents considered in both runs
``run`` (required)  the run to compare with, in TREC format, with the same queries
``p``               persistence, 0.9 by default
==================  ==============================================================

Values are those of `crbo`, in [0, 1]. A query without results has no value. The qrels only
determine the set of queries.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from ir_measures import ParamInfo

from everycell.metrics.ir_measures_provider.definition import (
    CUTOFF,
    RunMeasure,
    register,
    top_documents,
)
from everycell.metrics.rank_overlap import PERSISTENCE, crbo
from everycell.trec.runs import read_run


class _RBO(RunMeasure):
    """RBO: rank-biased overlap with another run, extrapolated; Webber et al. (2010), Eq. 32."""

    __name__ = NAME = "RBO"
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "run": ParamInfo(dtype=str, required=True, desc="run to compare with, in TREC format"),
        "p": ParamInfo(dtype=float, default=PERSISTENCE, desc="persistence"),
    }

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """RBO of each query of the run."""
        depth = self["cutoff"]
        reference = read_run(self["run"])
        reference = reference[reference["query"].isin(run["query"])]
        return crbo(
            top_documents(run, depth), top_documents(reference, depth), self["p"], depth=depth
        ).to_dict()


RBO = register(_RBO)
