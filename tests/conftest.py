"""What all tests share: where the checkout and the mirror are, and what a skip means in CI.

A skip hides a check. So the closing lines count the skipped tests by reason, and with
``EVERYCELL_CI=1`` a skip is a failure. Only two kinds of tests may then still skip: those that need
released data, where no mirror is, and those that need a newer Python, which .ci/run cannot install.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

# No property test fails because the machine was busy.
settings.register_profile("everycell", deadline=None)
settings.load_profile("everycell")

REPOSITORY = Path(__file__).resolve().parents[1]
NEEDS_DATA = "needs released data: set EVERYCELL_MIRROR"
NEEDS_PYTHON = "needs Python 3.12 or 3.13 beside 3.11"


def find_mirror() -> Path | None:
    """Return the folder of released data: EVERYCELL_MIRROR, else one beside the checkout."""
    named = os.environ.get("EVERYCELL_MIRROR")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    return folder if named or folder.is_dir() else None


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Return the folder of released data, or skip the test where there is none."""
    folder = find_mirror()
    if folder is None:
        pytest.skip(NEEDS_DATA)
    if not folder.is_dir():
        pytest.fail(f"EVERYCELL_MIRROR names {folder}, which is no folder: correct or unset it.")
    return folder


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
        taken = max(end - len(ordered), 0)
        ordered, quick = ordered + quick[:taken], quick[taken:]
    return ordered


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = in_shares(items, workers)


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return why a test or a file was skipped; None where it was not (an xfail is no skip)."""
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
    if reason.startswith(NEEDS_PYTHON):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"{report.nodeid} was skipped ({reason}), which CI does not allow: "
        "install what is missing in .ci/run, or remove the skip."
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    fail_on_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    report = yield
    fail_on_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, text in report.user_properties if report.when == "call" else ():
                if name == "log":
                    terminalreporter.write_line(f"{outcome} in {report.duration:.0f} s: {text}")
    reasons = Counter(skip_reason(r) for r in terminalreporter.getreports("skipped"))
    terminalreporter.write_line(f"Skipped tests: {reasons.total()}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"  {count} x {reason}")
