"""The three depths of a rebuild, whose name is the first folder below ``results``."""

from typing import Literal

Tier = Literal["embedded", "released", "full"]
TIERS: tuple[Tier, ...] = ("embedded", "released", "full")
