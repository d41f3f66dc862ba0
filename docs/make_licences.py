"""Write docs/licences.md from the locks and the installed packages' own words.

Run ``python docs/make_licences.py`` in the project folder, with all groups installed
(`make setup-test setup-bench`).
"""

import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

TARGET = Path("docs/licences.md")
ENVS = Path("envs")
NOT_STATED = "not stated in its metadata"
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.MULTILINE)
HEAD = """\
# Licences of the packages

What the locks in `envs/` bring, and the licence that each package states in its
metadata: its licence expression, or its classifiers, or the first line of its licence field.
Made by `python docs/make_licences.py`; a test fails when a lock and this file differ. None of
these packages is part of this repository; what is part of it is in the second table. The project's
own licence is in [LICENSE](../LICENSE), those of the data in [Data](data.md).

| package | version | locks | licence |
|---|---|---|---|
"""
#: Licence texts of what is part of this repository, beside it: NAME-VERSION.LICENSE.txt.
BUNDLED = "src/**/*.LICENSE.txt"
BUNDLED_HEAD = """
## Part of this repository

| library | version | licence text | begins |
|---|---|---|---|
"""


def bundled(root: Path) -> list[tuple[str, str, str, str]]:
    """Name, version, path of the licence text and its first line, of each bundled library."""
    found = []
    for path in sorted(root.glob(BUNDLED)):
        name, _, version = path.name.removesuffix(".LICENSE.txt").rpartition("-")
        first = path.read_text(encoding="utf-8").strip().partition("\n")[0]
        found.append((name, version, path.relative_to(root).as_posix(), first))
    return found


def locked(envs: Path) -> dict[tuple[str, str], list[str]]:
    """Package and version -> the locks that pin it, all sorted; without those of `make audit`."""
    found: dict[tuple[str, str], list[str]] = {}
    # They have an environment of their own, so what they state cannot be read here.
    for lock in sorted(set(envs.glob("*.lock")) - {envs / "audit.lock"}):
        for pin in _PIN.findall(lock.read_text(encoding="utf-8")):
            found.setdefault(pin, []).append(lock.stem)
    return dict(sorted(found.items(), key=lambda item: item[0][0].lower()))


def stated(package: metadata.PackageMetadata) -> str:
    """Licence that a package states of itself."""
    classifiers = [
        name.rpartition("::")[2].strip()
        for name in package.get_all("Classifier", [])
        if name.startswith("License ::") and name != "License :: OSI Approved"
    ]
    field = (package.get("License") or "").strip().partition("\n")[0]
    return package.get("License-Expression") or ", ".join(classifiers) or field[:80] or NOT_STATED


def render(licences: Mapping[str, str]) -> str:
    """Text of the file, a line a locked package; `licences` are by package."""
    rows = [
        f"| {name} | {version} | {', '.join(locks)} | {licences[name].replace('|', '/')} |\n"
        for (name, version), locks in locked(ENVS).items()
    ]
    parts = [
        f"| {name} | {version} | `{path}` | {first} |\n"
        for name, version, path, first in bundled(Path())
    ]
    return HEAD + "".join(rows) + BUNDLED_HEAD + "".join(parts)


if __name__ == "__main__":
    licences, missing = {}, []
    for name, version in locked(ENVS):
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        # A local build of torch calls itself 2.13.0+cpu.
        if package.version.partition("+")[0] != version:
            missing.append(f"{name} {version} ({package.version} is installed)")
        licences[name] = stated(package.metadata)
    if missing:
        sys.exit(f"Not as in the locks: {', '.join(missing)}; run `make setup-test setup-bench`.")
    TARGET.write_text(render(licences), encoding="utf-8")
