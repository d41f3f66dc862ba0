"""Loops that numba compiles at their first use and, if possible, caches on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any


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
