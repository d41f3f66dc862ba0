"""The bar of a run on a terminal, and the jobs that run, below all that is said."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from snakemake_logger_plugin_everycell.durations import in_words

#: Running jobs that are named, the ones that began first.
NAMED = 4


class Bar:
    """A bar that shows a run until it is stopped."""

    def __init__(self, run: Any, console: Console | None = None) -> None:
        self._run = run
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None

    def start(self) -> None:
        """Draw it, and go on drawing it twice a second."""
        self._live = Live(
            get_renderable=self.drawn,
            console=self._console,
            refresh_per_second=2,
            transient=True,
            # Jobs write to standard error themselves.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def stop(self) -> None:
        """Take it away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def drawn(self) -> Group:
        """The bar as it is now."""
        run, now = self._run, time.time()
        line = Table.grid(padding=(0, 1))
        line.add_row(
            ProgressBar(total=run.total, completed=run.done, width=24),
            f"{run.done} of {run.total} jobs",
            Text(", ".join(filter(None, [in_words(now - run.began), run.left()])), style="dim"),
        )
        jobs = sorted(run.running.values(), key=lambda job: job.since)
        named = [
            Text(
                f"  {job.message} ({in_words(now - job.since)})", no_wrap=True, overflow="ellipsis"
            )
            for job in jobs[:NAMED]
        ]
        if len(jobs) > NAMED:
            named.append(Text(f"  and {len(jobs) - NAMED} more", style="dim"))
        return Group(line, *named)
