"""What a reader sees in place of an internal name of a column or a metric."""

from __future__ import annotations

from collections.abc import Mapping

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

    Parameters
    ----------
    name
        Of a key column or a metric.
    names
        Internal name -> shown name, before those that hold for all tables.

    Returns
    -------
    str
        Where nobody names it, the same with blanks for underscores.

    Examples
    --------
    >>> shown_name("p_value"), shown_name("J_4", {"J_4": "J (4 annotators)"})
    ('p', 'J (4 annotators)')
    >>> shown_name("avg_list_size"), shown_name("nDCG@10")
    ('avg list size', 'nDCG@10')
    """
    return names.get(name) or COMMON.get(name) or name.replace("_", " ")
