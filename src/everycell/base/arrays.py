"""Types of NumPy arrays by element type, and compiled loops over arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everycell.base.errors import DataError
from everycell.base.files import open_regular

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.integer]


def read_vectors(path: Path | str) -> FloatArray:
    """Vectors in the rows of an ``.npy`` file, which is mapped into memory, not read."""
    try:
        open_regular(Path(path)).close()
        # Writable in memory, since torch warns of an array that is not.
        vectors = np.load(path, mmap_mode="c", allow_pickle=False)
        if vectors.ndim != 2 or vectors.dtype.kind != "f":
            raise ValueError(f"it has the type {vectors.dtype} and the shape {vectors.shape}")
    # numpy raises errors without a common base for a damaged header.
    except Exception as error:
        raise DataError(
            path,
            fault=f"does not contain vectors ({str(error)[:200]})",
            fix="delete it and run the same command again",
        ) from None
    return vectors


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop with numba."""
    # Importing numba takes a second, and many jobs compile nothing.
    import numba

    try:
        dispatcher = numba.njit(cache=True)(loop)
    except RuntimeError:
        # numba has no writable folder for its cache.
        return numba.njit(loop)
    save = dispatcher._cache.save_overload

    def save_if_possible(*compiled_code: Any) -> None:
        """Save code in the cache; a full disk must not stop what the code computes."""
        with suppress(OSError):
            save(*compiled_code)

    dispatcher._cache.save_overload = save_if_possible
    return dispatcher
