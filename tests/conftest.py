"""Fixtures of all tests: the checkout and the mirror; skips are failures in CI.

A skip hides a check. So the closing lines count the skipped tests by reason, and with
``EVERYCELL_CI=1`` a skip is a failure. Only five kinds of tests may then still skip: those that
need released data, where no mirror is, those that need a newer Python, which .ci/run cannot
install, those that need lime, which is not in the locks, or R, and slow ones after the time of
``--slow-until``.
"""

import os
from collections import Counter
from pathlib import Path

import fault_suite
import pytest
from harness import (
    NEEDS_DATA,
    REPOSITORY,
    fail_on_skip,
    find_mirror,
    in_shares,
    skip_if_late,
    skip_reason,
)

# Its settings are those of the papers of the repository, in which it is imported first.
import everycell.config  # noqa: F401

# Tables are as wide as COLUMNS says, which the shell or the runner of the tests may set.
os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Return the folder of released data, or skip the test."""
    folder = find_mirror()
    if folder is None:
        pytest.skip(NEEDS_DATA)
    if not folder.is_dir():
        pytest.fail(f"EVERYCELL_MIRROR names {folder}, which is not a folder: correct or unset it.")
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=2, help="kills of a run at random moments")
    parser.addoption(
        "--slow-until", type=float, help="begin no slow test after this time (seconds since 1970)"
    )
    parser.addoption("--site", type=Path, help="a site built by `make docs`, instead of a new one")
    parser.addoption("--fault-table", type=Path, help="page into which the faults' table goes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    fault_suite.mark(items)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = in_shares(items, workers)


def pytest_runtest_setup(item: pytest.Item) -> None:
    # After `skipif`, so that a missing tool is still named; before the fixtures, which take most of
    # the time of many slow tests.
    skip_if_late(item, item.config.getoption("--slow-until"))


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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if page := config.getoption("--fault-table"):
        fault_suite.write_into(page, fault_suite.table(fault_suite.outcomes(terminalreporter)))
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, text in report.user_properties if report.when == "call" else ():
                if name == "log":
                    terminalreporter.write_line(f"{outcome} in {report.duration:.0f} s: {text}")
    reasons = Counter(skip_reason(r) for r in terminalreporter.getreports("skipped"))
    terminalreporter.write_line(f"Skipped tests: {reasons.total()}")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"  {count} x {reason}")
