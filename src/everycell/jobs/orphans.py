"""End jobs whose Snakemake process has ended.

If Snakemake is killed, its jobs continue. Such an orphan could overwrite files that a later run
made with different settings, so each job watches its ancestors and exits when one of them ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

import psutil

#: Seconds between two checks.
PAUSE = 0.5


def snakemake_ancestors() -> list[psutil.Process]:
    """Ancestors of this process, up to the outermost Snakemake; empty without Snakemake.

    On a cluster, this is the Snakemake process on the job's node, which may outlive the process
    that submitted the job.
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
        # `is_running` detects that another process reuses the id.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end_with_snakemake(ancestors: Sequence[psutil.Process] | None = None) -> None:
    """End this process silently as soon as one of its ancestors ends."""
    watched = snakemake_ancestors() if ancestors is None else list(ancestors)
    if not watched:
        return

    def watch() -> None:
        pause = threading.Event()
        while all(map(_is_alive, watched)):
            pause.wait(PAUSE)
        os._exit(1)

    threading.Thread(target=watch, name="end_with_snakemake", daemon=True).start()
