"""The page of licences follows the locks and what the installed packages state."""

from __future__ import annotations

import re
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest
from harness import load_script

REPOSITORY = Path(__file__).resolve().parents[2]
make_licences = load_script("docs/make_licences.py")

ROW = re.compile(r"^\| (\S+) \| (\S+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], tuple[list[str], str]]:
    text = (REPOSITORY / "docs" / "licences.md").read_text(encoding="utf-8")
    result = {(name, version): (locks.split(", "), message)
             for name, version, locks, message in ROW.findall(text)}  # fmt: skip
    for head in ("package", "library"):
        result.pop((head, "version"))
    for name, version, _, _ in make_licences.bundled_libraries(REPOSITORY):
        assert result.pop((name, version))
    return result


def test_licences_page_packages(rows):
    locked = make_licences.locked_packages(REPOSITORY / "envs")
    assert len(locked) > 100
    assert {pin: locks for pin, (locks, _) in rows.items()} == locked, (
        "run: python docs/make_licences.py"
    )


def test_licences_page_licences(rows):
    compared = 0
    for (name, version), (_, message) in rows.items():
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of a group that is not installed here
        if package.version.partition("+")[0] == version:
            assert message == make_licences.read_licence(package.metadata).replace("|", "/"), name
            compared += 1
    assert compared > 60


def test_read_licence():
    package = Message()
    assert make_licences.read_licence(package) == make_licences.NOT_STATED
    package["License"] = "Mine\nand a long text"
    assert make_licences.read_licence(package) == "Mine"
    package["Classifier"] = "License :: OSI Approved :: MIT License"
    assert make_licences.read_licence(package) == "MIT License"
    package["License-Expression"] = "MIT"
    assert make_licences.read_licence(package) == "MIT"


def test_bundled_libraries_licence():
    [(name, version, path, first)] = make_licences.bundled_libraries(REPOSITORY)
    text = (REPOSITORY / path).read_text(encoding="utf-8")
    assert first.startswith("Copyright") and "Permission is hereby granted" in text
    assert (REPOSITORY / path).with_name(f"{name}-{version}.js").is_file()
