"""Released data: a checked way to fetch what the registry names."""

from everycell.sources.fetch import fetch, fetch_set

__all__ = ["fetch", "fetch_set"]
