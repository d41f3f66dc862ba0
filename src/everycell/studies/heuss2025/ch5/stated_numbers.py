"""Numbers in the text that follow from Table 5.2 or from each other."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from everycell.studies.heuss2025.ch5.planted_citations import CITING


def derived_numbers(table: pd.DataFrame, stated: Mapping[str, float]) -> pd.DataFrame:
    """Numbers in the text that follow from other published numbers."""
    counts = table.set_index(["selection_step", "row"])["value"].astype(int)
    relevant, to_cite = counts["Pred. Rel."], counts["Pred. Cited"]
    recovered = stated["random document: statements recovered"]
    pairs = relevant[CITING[0]] + relevant[CITING[1]]
    numbers = {
        "answers that cite nothing": relevant[CITING[3]],
        "pairs with a random document": pairs,
        "random document: forged one cited, share": 100
        * stated["random document: forged one cited"]
        / recovered,
        "statements recovered, highest share": 100 * recovered / pairs,
        "documents predicted to be cited: otherwise": 100
        - stated["documents predicted to be cited: cited"],
        "answers that cite what was not predicted to be cited": 100
        * to_cite[CITING[2]]
        / to_cite.sum(),
    }
    return pd.DataFrame(numbers.items(), columns=["claim", "value"])
