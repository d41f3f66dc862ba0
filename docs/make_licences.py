"""Write docs/licences.md from the locks and the metadata of the installed packages.

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

Packages in the locks in `envs/`, with the licence in their metadata: the licence expression, or the
classifiers, or the first line of the licence field. `python docs/make_licences.py` generates this
page; a test fails if a lock and this page differ. These packages are not part of this repository;
the second table has bundled libraries. The licence of the project is in [LICENSE](../LICENSE), and
the licences of the data are in [Data](data.md).

| package | version | locks | licence |
|---|---|---|---|
"""
#: Licence texts of bundled libraries, next to them: NAME-VERSION.LICENSE.txt.
BUNDLED = "src/**/*.LICENSE.txt"
BUNDLED_HEAD = """
## Part of this repository

| library | version | licence text | first line |
|---|---|---|---|
"""


def bundled_libraries(root: Path) -> list[tuple[str, str, str, str]]:
    """Name, version, path of the licence text and its first line, for each bundled library."""
    libraries = []
    for path in sorted(root.glob(BUNDLED)):
        name, _, version = path.name.removesuffix(".LICENSE.txt").rpartition("-")
        first_line = path.read_text(encoding="utf-8").strip().partition("\n")[0]
        libraries.append((name, version, path.relative_to(root).as_posix(), first_line))
    return libraries


def locked_packages(envs: Path) -> dict[tuple[str, str], list[str]]:
    """Locks by package and version, sorted; without the packages of `make audit`."""
    locks: dict[tuple[str, str], list[str]] = {}
    # Those have their own environment, so their metadata cannot be read here.
    for lock in sorted(set(envs.glob("*.lock")) - {envs / "audit.lock"}):
        for pin in _PIN.findall(lock.read_text(encoding="utf-8")):
            locks.setdefault(pin, []).append(lock.stem)
    return dict(sorted(locks.items(), key=lambda item: item[0][0].lower()))


def read_licence(package: metadata.PackageMetadata) -> str:
    """Licence in the metadata of a package."""
    classifiers = [
        name.rpartition("::")[2].strip()
        for name in package.get_all("Classifier", [])
        if name.startswith("License ::") and name != "License :: OSI Approved"
    ]
    field = (package.get("License") or "").strip().partition("\n")[0]
    return package.get("License-Expression") or ", ".join(classifiers) or field[:80] or NOT_STATED


def render(licences: Mapping[str, str]) -> str:
    """Text of the page, with one line per locked package; `licences` are by package."""
    rows = [
        f"| {name} | {version} | {', '.join(locks)} | {licences[name].replace('|', '/')} |\n"
        for (name, version), locks in locked_packages(ENVS).items()
    ]
    libraries = [
        f"| {name} | {version} | `{path}` | {first_line} |\n"
        for name, version, path, first_line in bundled_libraries(Path())
    ]
    return HEAD + "".join(rows) + BUNDLED_HEAD + "".join(libraries)


if __name__ == "__main__":
    licences, missing = {}, []
    for name, version in locked_packages(ENVS):
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
            continue
        # A local build of torch may have the version 2.13.0+cpu.
        if package.version.partition("+")[0] != version:
            missing.append(f"{name} {version} ({package.version} is installed)")
        licences[name] = read_licence(package.metadata)
    if missing:
        sys.exit(
            f"Not installed as in the locks: {', '.join(missing)}. "
            "Run `make setup-test setup-bench`."
        )
    TARGET.write_text(render(licences), encoding="utf-8")
