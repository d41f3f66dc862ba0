"""Loops that numba compiles: also where their cache has no folder."""

from pathlib import Path

import numpy as np
import pytest

import everycell
from everycell.base.arrays import compiled


def total(values):
    """Sum of values, which `compiled` compiles."""
    result = 0.0
    for value in values:
        result += value
    return result


@pytest.mark.fault("full_disk")
def test_compiled_without_a_writable_folder(monkeypatch):
    from numba.core import caching

    def refuse(_locator):
        raise PermissionError

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)
    loop = compiled(total)
    assert loop(np.ones(3)) == 3
    assert not hasattr(loop.stats, "cache_path") or loop.stats.cache_path is None


def test_compiled_is_used_for_all_loops():
    own = Path(everycell.__file__).parent
    files = [path for path in own.rglob("*.py") if "njit" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(own).as_posix() for path in files] == ["base/arrays.py"]
