"""What a reader sees in place of an internal name of a column or a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

#: Names that mean the same in every table; a card has the names of its own (`Card.names`).
COMMON = {
    "acceptance_rate_pct": "acceptance rate (%)",
    "change_percent": "change (%)",
    "cost_usd": "cost (USD)",
    "effect_size": "effect size",
    "kendall_tau": "Kendall's τ",
    "median_time_s": "median time (s)",
    "n_annotators": "annotators",
    "n_workers": "workers",
    "p_paired": "p (paired)",
    "p_paired_corrected": "p (paired, corrected)",
    "p_unpaired": "p (unpaired)",
    "p_unpaired_corrected": "p (unpaired, corrected)",
    "p_value": "p",
    "query_sha256": "query (SHA-256)",
    "rerank_time_s": "re-ranking time (s)",
    "trec_id": "TREC id",
}


def shown_name(name: str, names: Mapping[str, str] = {}) -> str:
    """Return the name as a reader sees it.

    Examples
    --------
    >>> shown_name("p_value"), shown_name("J_4", {"J_4": "J (4 annotators)"})
    ('p', 'J (4 annotators)')
    >>> shown_name("avg_list_size"), shown_name("nDCG@10")
    ('avg list size', 'nDCG@10')
    """
    return names.get(name) or COMMON.get(name) or name.replace("_", " ")


def shown_label(level: str | None, label: Any, names: Mapping[str, str] = {}) -> Any:
    """Return a label of a laid out table as a reader sees it.

    Examples
    --------
    >>> shown_label("metric", "p_value"), shown_label("run", "bm25_k1"), shown_label("run", 5)
    ('p', 'bm25_k1', 5)
    """
    if level is None or level == "metric":
        return shown_name(str(label), names)
    return names.get(str(label), label)


def with_shown_names(laid: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return a laid out table with the names that a reader sees: of key columns and of metrics.

    Examples
    --------
    >>> laid = pd.DataFrame({"p_value": [0.5]}, index=pd.Index(["a_b"], name="run_tag"))
    >>> with_shown_names(laid, {"a_b": "A and B"}).to_dict("index")
    {'A and B': {'p': 0.5}}
    """
    labels = {axis: _with_shown_labels(getattr(laid, axis), names) for axis in ("index", "columns")}
    return laid.set_axis(labels["index"], axis="index").set_axis(labels["columns"], axis="columns")


def _with_shown_labels(index: pd.Index, names: Mapping[str, str]) -> pd.Index:
    heads = [None if name is None else shown_name(str(name), names) for name in index.names]
    levels = []
    for level, name in enumerate(index.names):
        labels = index.get_level_values(level)
        texts = [shown_label(name, label, names) for label in labels]
        # What nobody renames keeps its type: pandas would make 1.0 of the 1 beside a 0.5.
        levels.append(labels if texts == labels.tolist() else pd.Index(texts))
    if index.nlevels == 1:
        return levels[0].rename(heads[0])
    # Not by level: labels that were different may meet.
    return pd.MultiIndex.from_arrays(levels, names=heads)
