"""What studies have is found by their place: ``studies/KEY/chN/``, as the cards name a chapter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from everycell import studies
from everycell.verdicts.audits import Audit, audits_in


@cache
def audits_of(paper: str, chapter: str) -> Mapping[str, Audit]:
    """Audits of a chapter by name; none where the chapter has no module ``audits``."""
    module = Path(paper, f"ch{chapter}", "audits.py")
    if not any((folder / module).is_file() for folder in map(Path, studies.__path__)):
        return {}
    return audits_in(import_module(f"everycell.studies.{paper}.ch{chapter}.audits"))
