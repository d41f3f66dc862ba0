"""Order of tests in a parallel run: each worker begins with slow files, ends with quick ones."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

#: Writes down the order that a worker was given.
NOTE = """
import os
from pathlib import Path

import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    order = Path(__file__).with_name(os.environ.get("PYTEST_XDIST_WORKER", "alone"))
    order.write_text(" ".join(item.name.removeprefix("test_") for item in items))
"""
PYTEST_INI = "[pytest]\nmarkers = slow: long\ntestpaths = tests\n"
QUICK = "def test_{name}{number}():\n    pass\n\n"
SLOW = "import pytest\n\n@pytest.mark.slow\n"


def orders(folder: Path, repository: Path, *options: str) -> dict[str, str]:
    """Run toy tests; return the order that each process was given."""
    tests = folder / "tests"
    tests.mkdir()
    shutil.copy2(repository / "tests" / "conftest.py", tests)
    (folder / "conftest.py").write_text(NOTE)
    (folder / "pytest.ini").write_text(PYTEST_INI)
    for name, number, start in (("a", 4, ""), ("b", 2, SLOW), ("c", 4, ""), ("d", 2, SLOW)):
        body = "".join(QUICK.format(name=name, number=place) for place in range(number))
        (tests / f"test_{name}.py").write_text(start + body)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=kept, check=False
    )
    assert done.returncode == 0 and "12 passed" in done.stdout, done.stdout + done.stderr
    written = [path for path in folder.iterdir() if path.is_file() and not path.suffix]
    return {path.name: path.read_text() for path in written}


def test_each_worker_begins_with_a_share_of_the_slow_files(tmp_path, repository):
    # Half of the list is a worker's: files stay whole, and no test is lost.
    wanted = "b0 b1 a0 a1 a2 a3 d0 d1 c0 c1 c2 c3"
    found = orders(tmp_path, repository, "-n", "2", "--dist", "worksteal")
    assert found == {"gw0": wanted, "gw1": wanted}


def test_one_process_keeps_the_order_of_the_files(tmp_path, repository):
    wanted = "a0 a1 a2 a3 b0 b1 c0 c1 c2 c3 d0 d1"
    assert orders(tmp_path, repository) == {"alone": wanted}
