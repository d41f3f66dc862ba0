"""A job ends with the Snakemake that started it.

If Snakemake is killed, its jobs live on. Such an orphan could overwrite files that a later run made
with other settings. So each job watches its ancestors, and ends when one of them is gone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import psutil

#: Seconds between two checks.
PAUSE = 0.5


def snakemake_ancestors() -> list[psutil.Process]:
    """Ancestors of this process, up to the outermost Snakemake; empty if there is none.

    On a cluster this is the job's Snakemake on its node, which may outlive the one that submitted
    it.
    """
    ancestors = psutil.Process().parents()
    while ancestors and not _is_snakemake(ancestors[-1]):
        ancestors.pop()
    return ancestors


def _is_snakemake(process: psutil.Process) -> bool:
    try:
        return any(part.endswith("snakemake") for part in process.cmdline()[:3])
    except psutil.Error:
        return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        # A process that reuses the id of an ended one does not count, nor does a zombie.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end_with_snakemake(ancestors: Sequence[psutil.Process] | None = None) -> None:
    """End this process silently once one of its ancestors is gone."""
    watched = snakemake_ancestors() if ancestors is None else list(ancestors)
    if not watched:
        return

    def watch() -> None:
        pause = threading.Event()
        while all(map(_is_alive, watched)):
            pause.wait(PAUSE)
        os._exit(1)

    threading.Thread(target=watch, name="end_with_snakemake", daemon=True).start()
