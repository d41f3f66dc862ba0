"""Released data: a registry of files and a checked way to fetch them."""

from everycell.sources.fetch import check, fetch, fetch_set
from everycell.sources.registry import Registry, SourceError, load_registry

__all__ = ["Registry", "SourceError", "check", "fetch", "fetch_set", "load_registry"]
