"""Released data: fetch registered files and verify their hashes."""

from everycell.sources.fetch import fetch, fetch_set

__all__ = ["fetch", "fetch_set"]
