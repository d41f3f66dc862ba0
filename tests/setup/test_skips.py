"""Skips: counted by reason in the closing lines, and failures in CI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_tool():
    pytest.skip("no tool")

@pytest.mark.skipif(True, reason="no tool")
def test_tool_by_mark():
    pass

def test_data(mirror):
    assert mirror.is_dir()

@pytest.mark.xfail
def test_known_bug():
    assert False

def test_checkout(repository):
    assert (repository / "tests" / "conftest.py").exists()
"""


@pytest.fixture
def checkout(tmp_path: Path, repository: Path) -> Path:
    tests = tmp_path / "checkout" / "tests"
    tests.mkdir(parents=True)
    shutil.copy2(repository / "tests" / "conftest.py", tests)
    (tests / "test_some.py").write_text(TESTS)
    (tests / "test_absent.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    return tests.parent


def run(checkout: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("EVERYCELL_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    return subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, env=kept | variables, check=False
    )


def test_skips_are_counted_by_reason(checkout):
    done = run(checkout)
    assert done.returncode == 0, done.stdout
    assert "Skipped tests: 4\n  2 x no tool\n" in done.stdout
    assert "  1 x needs released data: set EVERYCELL_MIRROR\n" in done.stdout
    assert "1 passed, 4 skipped, 1 xfailed" in done.stdout


def test_in_ci_only_released_data_and_a_newer_python_may_be_missing(checkout):
    (checkout / "tests" / "test_absent.py").unlink()
    (checkout / "tests" / "test_newer.py").write_text(
        "import pytest\ndef test_newer():\n"
        "    pytest.skip('needs Python 3.12 or 3.13 beside 3.11')\n"
    )
    done = run(checkout, EVERYCELL_CI="1")
    assert done.returncode != 0
    assert "was skipped (no tool), which CI does not allow" in done.stdout
    assert "Skipped tests: 2\n" in done.stdout
    assert "  1 x needs released data" in done.stdout
    assert "  1 x needs Python 3.12" in done.stdout


def test_in_ci_a_missing_module_stops_the_run(checkout):
    (checkout / "tests" / "test_some.py").unlink()
    done = run(checkout, EVERYCELL_CI="1")
    assert done.returncode != 0
    assert "which CI does not allow" in done.stdout


def test_a_mirror_beside_the_checkout_is_found(checkout):
    (checkout.parent / "shared" / "data").mkdir(parents=True)
    assert "2 passed, 3 skipped" in run(checkout).stdout


def test_a_named_mirror_comes_first_and_must_exist(checkout, tmp_path):
    assert "2 passed" in run(checkout, EVERYCELL_MIRROR=str(tmp_path)).stdout
    done = run(checkout, EVERYCELL_MIRROR=str(tmp_path / "gone"))
    assert done.returncode != 0
    assert "which is no folder: correct or unset it" in done.stdout


def test_what_tests_log_stands_in_the_closing_lines(checkout):
    (checkout / "tests" / "test_absent.py").unlink()
    (checkout / "tests" / "test_some.py").write_text(
        "def test_one(record_property):\n    record_property('log', 'a fault: the same bytes')\n"
    )
    assert "passed in 0 s: a fault: the same bytes\n" in run(checkout).stdout
