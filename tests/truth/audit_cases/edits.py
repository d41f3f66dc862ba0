"""Edits of published cells, made when they are read."""

from pathlib import Path

import pandas as pd

from everycell.verdicts.audits import Cells, cells_of

PUBLISHED = Path(__file__).parents[3] / "published"

#: (table, selector, new value), or (table, selector, new value, column).
Edit = tuple[str, dict[str, str], str] | tuple[str, dict[str, str], str, str]

#: Rankers of the tables of overlaps by their names in the tables of effectiveness.
RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}


def edited(cells: Cells, *edits: Edit) -> Cells:
    """Published cells with edits; a selector without matches is a mistake in the test."""

    def changed(name: str) -> pd.DataFrame:
        table = cells(name)
        for where, selector, value, *column in edits:
            if where != name:
                continue
            mask = pd.Series(True, index=table.index)
            for key, expected in selector.items():
                mask &= table[key] == expected
            assert mask.any(), (name, selector)
            table.loc[mask, column[0] if column else "value"] = value
        return table

    return changed


def exchanged(paper: str, table: str, effectiveness: str) -> list[Edit]:
    """Edits that put the fairness values of a table under the query sets of the other one."""
    source = cells_of(paper, PUBLISHED)(effectiveness)
    return [
        (
            table,
            {"row": row, "query_set": query_set, "metric": metric},
            source.query("row == @name and query_set == @query_set and metric == @metric")[
                "value"
            ].item(),
        )
        for row, name in RANKERS.items()
        for query_set in ("QS1", "QS2")
        for metric in ("TExFAIR", "NFaiRR")
    ]
