"""Loops that numba compiles at their first use and, if possible, caches on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop with numba."""
    # Importing numba takes a second, and many jobs compile nothing.
    import numba

    try:
        return numba.njit(cache=True)(loop)
    except RuntimeError:
        # numba has no writable folder for its cache.
        return numba.njit(loop)
