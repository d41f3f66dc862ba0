"""Mutation tests: faults in planted_faults.yaml and the tests that catch them.

Run ``python bench/planted_faults.py [--commit main] [--only TEXT] [--minutes 10] [--seed 1]``. Each
fault is planted alone in a copy of a commit. The script runs the doctests of the module, the tests
that import the module, and then the other tests of its package, without slow tests. A failed test
counts only if it passes without the fault. All faults take about an hour on one core. With
``--minutes``, faults come in random order until the time is over; ``--seed`` repeats an order.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
#: Maximum seconds for all tests of a fault.
LIMIT = 600
PYTEST = (
    "-q",
    "-x",
    "-n0",
    "--tb=no",
    "-ocache_dir=.pytest_cache",
    "--cache-clear",
    "--hypothesis-profile=quick",
)


def run_tests(copy, tests, limit):
    """Output of pytest, and the ids of failed tests; an empty output after a timeout."""
    # No byte code, since Python checks only time and size, and a fault may change neither.
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *PYTEST, *tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "", []
    # The output would not do: ids of tests may contain blanks and dashes.
    failed = copy / ".pytest_cache/v/cache/lastfailed"
    return output, list(json.loads(failed.read_text())) if failed.exists() else []


def tests_of(copy, fault):
    """Groups of tests of the faulty module, the most specific first."""
    if "tests" in fault:
        return [[fault["tests"]]]
    *package, module = Path(fault["file"]).with_suffix("").parts[1:]
    names = rf"{re.escape('.'.join(package))}(\.{module}\b| import [^)]*?\b{module}\b)"
    importing = [
        str(path.relative_to(copy))
        for folder in ("unit", "truth", "papers")
        for path in sorted((copy / "tests" / folder).rglob("test_*.py"))
        if re.search(names, path.read_text(encoding="utf-8"))
    ]
    # Test files with the name of the module come first.
    importing.sort(key=lambda path: module not in path)
    of_paper = package[0] == "papers"
    folder = Path("tests", *package[:2]) if of_paper else Path("tests/unit", *package[1:3])
    return [[fault["file"], *importing], ["-m", "not slow", str(folder)]]


def catching_test(copy, fault, broken):
    """The first test that fails only with the fault, or the reason why there is none.

    Tests that also fail without the fault are added to `broken` and skipped.
    """
    path = copy / fault["file"]
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text.count(fault["before"]) != 1:
        return "not planted: the file does not contain the text `before` exactly once"
    end, has_run = time.monotonic() + LIMIT, False
    groups = tests_of(copy, fault)
    while groups:
        tests = [*groups[0], *(f"--deselect={name}" for name in broken)]
        path.write_text(text.replace(fault["before"], fault["after"]), encoding="utf-8")
        try:
            output, failed = run_tests(copy, tests, end - time.monotonic())
        finally:
            path.write_text(text, encoding="utf-8")
        if not output:
            return "not caught in time"
        if failed and " passed" in run_tests(copy, failed, LIMIT)[0]:
            return failed[0]
        if failed:
            broken += failed
        else:
            groups.pop(0)
            has_run |= " passed" in output
    return "not caught" if has_run else "not caught: no test ran"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default="main", help="commit to copy")
    parser.add_argument(
        "--only", default="", help="only faults in files with this text in the name"
    )
    parser.add_argument("--minutes", type=float, help="begin no further fault after this time")
    parser.add_argument("--seed", type=int, default=None, help="of the order with --minutes")
    options = parser.parse_args()
    faults = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    faults = [fault for fault in faults if options.only in fault["file"]]
    end = time.monotonic() + 60 * (options.minutes or 1e9)
    if options.minutes:
        seed = random.randrange(10**6) if options.seed is None else options.seed
        random.Random(seed).shuffle(faults)
        print(f"Order with --seed {seed}.\n")
    tried, caught, broken = 0, 0, []
    print("| File | Fault | Caught by | Seconds |\n| --- | --- | --- | ---: |")
    with tempfile.TemporaryDirectory() as name:
        for command in (
            ("clone", "--quiet", "--shared", ROOT, name),
            ("-C", name, "checkout", "--quiet", options.commit),
        ):
            subprocess.run(["git", *command], check=True)
        for fault in faults:
            start = time.monotonic()
            if start > end:
                break
            tried += 1
            outcome = catching_test(Path(name), fault, broken)
            caught += "::" in outcome and ": " not in outcome
            seconds = time.monotonic() - start
            print(f"| {fault['file']} | {fault['why']} | {outcome} | {seconds:.0f} |", flush=True)
    print(f"\n{caught} of {tried} faults are caught.")
    if broken:
        print("Skipped, since they also fail without a fault:", ", ".join(broken))


if __name__ == "__main__":
    main()
