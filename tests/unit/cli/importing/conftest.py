"""Fixtures of the tests of `everycell import`."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path
