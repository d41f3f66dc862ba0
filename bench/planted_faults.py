"""Which planted faults the tests catch: a table of the faults of planted_faults.yaml.

Run: ``python bench/planted_faults.py [--commit main] [--only TEXT]``. Each fault is planted alone
in a copy of a commit. Its tests are the doctests of its module, the tests that import the module,
and then the rest of its package's folder, slow tests left out. A failed test counts only if it
passes without the fault.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
#: Seconds for all tests of a fault.
LIMIT = 600
PYTEST = (
    "-q",
    "-x",
    "-n0",
    "-p",
    "no:cacheprovider",
    "--tb=no",
    "-rfE",
    "--hypothesis-profile=quick",
)


def run_tests(copy, tests, limit):
    """Output of pytest; empty if it took longer than the limit."""
    # Byte code is trusted by time and size, and a fault may change neither.
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
        return process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ""


def tests_of(copy, fault):
    """Groups of tests of the faulty module, the closest first."""
    if "tests" in fault:
        return [[fault["tests"]]]
    *package, module = Path(fault["file"]).with_suffix("").parts[1:]
    names = rf"{re.escape('.'.join(package))}(\.{module}\b| import [^)]*?\b{module}\b)"
    close = [
        str(path.relative_to(copy))
        for folder in ("unit", "truth")
        for path in sorted((copy / "tests" / folder).rglob("test_*.py"))
        if re.search(names, path.read_text(encoding="utf-8"))
    ]
    # A stem that the file's name has comes first.
    close.sort(key=lambda path: module not in path)
    folder = Path("tests/unit", *package[1:3])
    return [[fault["file"], *close], ["-m", "not slow", str(folder)]]


def catching_test(copy, fault, broken):
    """The first test that fails with the fault and passes without it, or why there is none.

    Tests that fail without it too are added to `broken`, and left out.
    """
    path = copy / fault["file"]
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text.count(fault["before"]) != 1:
        return "not planted: the text before is not in the file once"
    end, ran = time.monotonic() + LIMIT, False
    groups = tests_of(copy, fault)
    while groups:
        tests = [*groups[0], *(f"--deselect={name}" for name in broken)]
        path.write_text(text.replace(fault["before"], fault["after"]), encoding="utf-8")
        try:
            output = run_tests(copy, tests, end - time.monotonic())
        finally:
            path.write_text(text, encoding="utf-8")
        if not output:
            return "not caught in time"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)", output, re.MULTILINE)
        if failed and " passed" in run_tests(copy, [failed[1]], LIMIT):
            return failed[1]
        if failed:
            broken.append(failed[1])
        else:
            groups.pop(0)
            ran |= " passed" in output
    return "not caught" if ran else "not caught: no test ran"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commit", default="main", help="what to copy")
    parser.add_argument("--only", default="", help="faults of files with this text in their name")
    options = parser.parse_args()
    faults = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    faults = [fault for fault in faults if options.only in fault["file"]]
    caught, broken = 0, []
    print("| File | Fault | Caught by | Seconds |\n| --- | --- | --- | ---: |")
    with tempfile.TemporaryDirectory() as name:
        for command in (
            ("clone", "--quiet", "--shared", ROOT, name),
            ("-C", name, "checkout", "--quiet", options.commit),
        ):
            subprocess.run(["git", *command], check=True)
        for fault in faults:
            start = time.monotonic()
            outcome = catching_test(Path(name), fault, broken)
            caught += "::" in outcome and ": " not in outcome
            seconds = time.monotonic() - start
            print(f"| {fault['file']} | {fault['why']} | {outcome} | {seconds:.0f} |", flush=True)
    print(f"\n{caught} of {len(faults)} faults are caught.")
    if broken:
        print("Left out, since they fail without a fault too:", ", ".join(broken))


if __name__ == "__main__":
    main()
