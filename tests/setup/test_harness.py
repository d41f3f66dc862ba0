"""Order of tests in a parallel run, and skips: failures in CI, where nothing may be left out."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness import (
    NEEDS_DATA,
    NEEDS_LIME,
    NEEDS_PYTHON,
    NEEDS_R,
    NO_TIME,
    fail_on_skip,
    find_mirror,
    in_shares,
    skip_if_late,
    skip_reason,
)


def toys(*files):
    """Tests as pytest lists them: (file, how many, their mark)."""
    return [
        SimpleNamespace(
            path=Path(name),
            name=f"{name}{number}",
            get_closest_marker=lambda name, mark=mark: mark if name == mark else None,
        )
        for name, count, mark in files
        for number in range(count)
    ]


def test_in_shares():
    items = toys(("a", 4, "page"), ("b", 2, "slow"), ("c", 4, None), ("d", 2, "slow"))
    # Half of the list is a worker's: files stay whole, and no test is lost.
    expected = "b0 b1 a0 a1 a2 a3 d0 d1 c0 c1 c2 c3"
    assert [item.name for item in in_shares(items, 2)] == expected.split()


def report(reason=None, **more):
    skipped = reason is not None
    longrepr = ("test.py", 1, f"Skipped: {reason}") if skipped else None
    return SimpleNamespace(
        nodeid="test.py::test", skipped=skipped, longrepr=longrepr, outcome="skipped", **more
    )


def test_skip_reason():
    assert skip_reason(report("no tool")) == "no tool"
    assert skip_reason(report()) is None
    assert skip_reason(report("a bug", wasxfail="a bug")) is None


@pytest.mark.parametrize(
    ("reason", "mirror", "outcome"),
    [
        ("no tool", None, "failed"),
        (NEEDS_PYTHON, None, "skipped"),
        (NEEDS_LIME, None, "skipped"),
        (NEEDS_R, None, "skipped"),
        (NO_TIME, None, "skipped"),
        (NEEDS_DATA, None, "skipped"),
        (NEEDS_DATA, Path(), "failed"),
    ],
)
def test_fail_on_skip_in_ci(monkeypatch, reason, mirror, outcome):
    monkeypatch.setenv("EVERYCELL_CI", "1")
    monkeypatch.setattr("harness.find_mirror", lambda: mirror)
    result = report(reason)
    fail_on_skip(result)
    assert result.outcome == outcome
    assert ("which CI does not allow" in str(result.longrepr)) == (outcome == "failed")


@pytest.mark.parametrize("mark", ["slow", "page", "cluster"])
def test_skip_if_late(mark):
    slow, quick = toys(("a", 1, mark), ("b", 1, "released"))
    now = time.time()
    skip_if_late(slow, None)
    skip_if_late(slow, now + 60)
    skip_if_late(quick, now - 1)
    with pytest.raises(pytest.skip.Exception, match="no time left"):
        skip_if_late(slow, now - 1)


def test_fail_on_skip_elsewhere(monkeypatch):
    monkeypatch.delenv("EVERYCELL_CI", raising=False)
    result = report("no tool")
    fail_on_skip(result)
    assert result.outcome == "skipped"


def test_find_mirror(monkeypatch, tmp_path):
    monkeypatch.setattr("harness.REPOSITORY", tmp_path / "checkout")
    monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
    assert find_mirror() is None
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    assert find_mirror() == beside
    monkeypatch.setenv("EVERYCELL_MIRROR", "gone")
    assert find_mirror() == Path("gone")
