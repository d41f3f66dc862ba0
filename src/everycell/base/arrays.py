"""Types of NumPy arrays by element type, and compiled loops over arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.integer]


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
