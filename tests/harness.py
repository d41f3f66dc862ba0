"""How the suite orders its tests, and what a skip means; `conftest.py` hands it to pytest."""

from __future__ import annotations

import importlib.util
import os
import time
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from everycell.records.papers import Paper, load_papers

REPOSITORY = Path(__file__).resolve().parents[1]
NEEDS_DATA = "needs released data: set EVERYCELL_MIRROR"
NEEDS_PYTHON = "needs Python 3.12 or 3.13 beside 3.11"
NEEDS_LIME = "needs the package lime: see bench/lime_peer.py"
NEEDS_R = "needs Rscript"
NO_TIME = "no time left for slow tests: run them with 'make test'"
#: Marks of tests that are left out where no time is left.
SLOW = ("slow", "page", "cluster")


@cache
def published() -> dict[str, Paper]:
    """Return the papers of the repository, which is read once; tests must not change them."""
    return load_papers(REPOSITORY / "published")


def load_script(path: str) -> ModuleType:
    """Import a module by path from a folder without packages, such as docs/."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, REPOSITORY / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_mirror() -> Path | None:
    """Return the folder of released data: EVERYCELL_MIRROR, else the one next to the checkout."""
    names = os.environ.get("EVERYCELL_MIRROR")
    folder = Path(names) if names else REPOSITORY.parent / "shared" / "data"
    return folder if names or folder.is_dir() else None


def in_shares(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Order tests so that each worker begins with a share of the files that have slow ones.

    `--dist worksteal` first gives each worker an equal run of the list, in its order, and what is
    stolen later comes from the ends: there shall only be quick tests. A file stays together, since
    its tests share fixtures.
    """
    slow = dict.fromkeys(item.path for item in items if item.get_closest_marker("slow"))
    worker_of = {path: number % workers for number, path in enumerate(slow)}
    quick = [item for item in items if item.path not in slow]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        ordered += [item for item in items if worker_of.get(item.path) == worker]
        end = len(items) * (worker + 1) // workers
        selection = max(end - len(ordered), 0)
        ordered, quick = ordered + quick[:selection], quick[selection:]
    return ordered


def skip_if_late(item: pytest.Item, until: float | None) -> None:
    """Skip a slow test that would begin after a time, in seconds of the Unix epoch; None: never."""
    if until is not None and time.time() > until and any(map(item.get_closest_marker, SLOW)):
        pytest.skip(NO_TIME)


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return the reason of a skip; None if the test ran (an xfail is not a skip)."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return None
    return report.longrepr[2].removeprefix("Skipped: ")


def fail_on_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure in CI."""
    reason = skip_reason(report)
    if reason is None or os.environ.get("EVERYCELL_CI") != "1":
        return
    if reason.startswith(NEEDS_DATA) and find_mirror() is None:
        return
    if reason.startswith((NEEDS_PYTHON, NEEDS_LIME, NEEDS_R, NO_TIME)):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"{report.nodeid} was skipped ({reason}), which CI does not allow: "
        "install what is missing in .ci/run, or remove the skip."
    )
