"""Folders of a repository: tiers of results, and the code of papers."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

#: Names of the tiers, which are also the folders below ``results``.
Tier = Literal["embedded", "released", "full"]
TIERS: tuple[Tier, ...] = ("embedded", "released", "full")
#: Folder of a repository that is on the path of imports, for the package `papers`.
WORKFLOW = "workflow"
#: Folder with the rules and the code of each paper.
PAPERS = f"{WORKFLOW}/papers"


def import_papers(root: Path | None = None) -> None:
    """Put the package `papers` of a repository, by default the current folder, on the path."""
    folder = (root or Path.cwd()).absolute() / WORKFLOW
    if (folder / "papers").is_dir() and str(folder) not in sys.path:
        # In front, since an installed package may have the same name.
        sys.path.insert(0, str(folder))


def papers_modules(pattern: str, root: Path | None = None) -> list[str]:
    """Names of the modules of papers whose file names match a pattern, such as ``*settings.py``."""
    folder = (root or Path.cwd()) / WORKFLOW
    paths = sorted((folder / "papers").glob(f"*/{pattern}"))
    return [".".join(path.relative_to(folder).with_suffix("").parts) for path in paths]


def papers_module(name: str) -> ModuleType:
    """Import a module of the repository in the current folder, such as ``papers.KEY.ch2``."""
    import_papers()
    return import_module(name)
