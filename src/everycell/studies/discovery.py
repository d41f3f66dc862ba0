"""Audits of a chapter are found by their place: ``workflow/papers/KEY/chN_audits.py``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from everycell import studies
from everycell.records.chapters import papers_module, papers_modules
from everycell.verdicts.audits import Audit, audits_in


@cache
def audits_of(paper: str, chapter: str) -> Mapping[str, Audit]:
    """Audits of a chapter by name; none where the chapter has no module of audits."""
    name = f"papers.{paper}.ch{chapter}_audits"
    if name in papers_modules("*_audits.py"):
        return audits_in(papers_module(name))
    module = Path(paper, f"ch{chapter}", "audits.py")
    if not any((folder / module).is_file() for folder in map(Path, studies.__path__)):
        return {}
    return audits_in(import_module(f"everycell.studies.{paper}.ch{chapter}.audits"))
