"""Loops that numba compiles at their first use and, where it can, caches on disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Loop as numba compiles it; a light installation without numba has ModuleNotFoundError."""
    # numba takes a second to import, and many jobs compile nothing.
    import numba

    try:
        return numba.njit(cache=True)(loop)
    except RuntimeError:
        # In a read-only checkout without a home, numba has no folder to write; it says so here.
        return numba.njit(loop)
