"""GFR as a measure of `ir_measures`: ``GFR(groups='groups.csv',max_rel=3)@10``.

======================  ================================================================
parameter               meaning
======================  ================================================================
cut-off (required)      number of documents considered
``groups`` (required)   CSV with a column ``document`` and a column per group: the share
                        of the document in the group
``max_rel`` (required)  highest relevance level of the collection, whether or not a
                        document has it; `max_gain` of `gfr`
``divergence``          as for `AttributeSet`, 'JSD' by default
``utility``             as for `gfr`, 'ERR' by default
======================  ================================================================

The gains are the relevance levels of the qrels; levels below 0 and unjudged documents count as 0.
To use the gains 1 and 3 for two levels, as FairWeb-1 does, write 1 and 3 in the qrels, with
``max_rel=3``. The target is an equal share of each group, and a document without groups belongs
equally to all of them. For other targets, several attribute sets or weights, see `gfr`.

Values are those of `gfr`, in [0, 1). A query without results has the value 0, as for nDCG.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
from ir_measures import ParamInfo

from everycell.base.csv_files import read_table
from everycell.metrics.divergences import Divergence
from everycell.metrics.group_fairness import AttributeSet
from everycell.metrics.ir_measures_provider.definition import (
    CUTOFF,
    RunMeasure,
    register,
    top_documents,
)
from everycell.metrics.ranked_group_fairness import Utility, gfr


class _GFR(RunMeasure):
    """GFR: group fairness and relevance, sakai2023, Eq. 1."""

    __name__ = NAME = "GFR"
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "groups": ParamInfo(
            dtype=str, required=True, desc="CSV with the share of each document in each group"
        ),
        "max_rel": ParamInfo(
            dtype=int, required=True, desc="highest relevance level of the collection"
        ),
        "divergence": ParamInfo(
            dtype=str,
            choices=get_args(Divergence),
            default="JSD",
            desc="divergence of the groups from their target",
        ),
        "utility": ParamInfo(
            dtype=str,
            choices=get_args(Utility),
            default="ERR",
            desc="utility of the rank at which a user stops",
        ),
    }

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """GFR of each query of the run."""
        above = qrels[qrels["relevance"] > self["max_rel"]]
        if len(above):
            query, document, relevance = above.iloc[0]
            raise ValueError(
                f"Document {document!r} of query {query!r} has the relevance {relevance}, above "
                f"the highest level of {self}; set max_rel to the highest level of the collection."
            )
        shares = _read_shares(Path(self["groups"]))
        ranked = top_documents(run, self["cutoff"])
        ranked = ranked.merge(qrels, on=["query", "document"], how="left")
        rows, queries = pd.factorize(ranked["query"])
        position = rows, ranked["rank"].to_numpy() - 1
        shape = len(queries), int(ranked["rank"].max())
        gains, listed = np.zeros(shape), np.zeros(shape, dtype=bool)
        gains[position] = ranked["relevance"].fillna(0).clip(lower=0)
        listed[position] = True
        equal_shares = np.full(shares.shape[1], 1 / shares.shape[1])
        memberships = np.full((*shape, len(equal_shares)), equal_shares)
        document_shares = shares.reindex(ranked["document"]).to_numpy()
        memberships[position] = np.where(np.isnan(document_shares), equal_shares, document_shares)
        scores = gfr(
            gains,
            {"groups": memberships},
            {"groups": AttributeSet(tuple(equal_shares), self["divergence"])},
            max_gain=self["max_rel"],
            utility=self["utility"],
            listed=listed,
        )
        return dict(zip(queries, scores.combined[:, -1].tolist(), strict=True))


def _read_shares(path: Path) -> pd.DataFrame:
    """Shares of documents (rows) in the groups (columns)."""
    table = read_table(path, ("document",)).set_index("document")
    duplicates = table.index[table.index.duplicated()]
    shares = table.apply(pd.to_numeric, errors="coerce")
    invalid = shares.index[~((shares >= 0).all(axis=1) & np.isclose(shares.sum(axis=1), 1))]
    if len(duplicates) or len(invalid) or shares.shape[1] < 2:
        fault = f"document {duplicates[0]!r} twice" if len(duplicates) else "fewer than two groups"
        if len(invalid):
            fault = f"invalid shares for document {invalid[0]!r}"
        raise ValueError(
            f"{path} has {fault}; give one row per document, and one column per group (two or "
            "more) with shares between 0 and 1 that sum to 1."
        )
    return shares


GFR = register(_GFR)
