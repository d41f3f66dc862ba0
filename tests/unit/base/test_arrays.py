"""Loops that numba compiles, also where their cache has no folder; vectors in damaged files."""

import io
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest
from data_errors import refused

import everycell
from everycell.base.arrays import compiled, read_vectors


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


def test_read_vectors(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6, dtype=np.float16).reshape(3, 2))
    assert read_vectors(path).tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("<f4", (10**12, 8)),
        ("<f4", (3, 2, 1)),
        ("<f4", (-1, -6)),
        ("<i4", (3, 2)),
        ("<U0", (10**9, 10**6)),
        ("|O", (3, 2)),
    ],
)
def test_read_vectors_declared_shape(tmp_path, dtype, shape):
    header = io.BytesIO()
    declared = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, declared)
    (tmp_path / "x.npy").write_bytes(header.getvalue() + bytes(24))
    with refused(path="x.npy", fault=ANY, fix=ANY):
        read_vectors(tmp_path / "x.npy")
