"""Random numbers that depend only on a name, not on earlier draws."""

from __future__ import annotations

import hashlib

import numpy as np


def named_draws(name: str) -> np.random.Generator:
    """Random generator that depends only on a name, such as a seed and a question."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
