"""Names of the three tiers, which are also the folders below ``results``."""

from typing import Literal

Tier = Literal["embedded", "released", "full"]
TIERS: tuple[Tier, ...] = ("embedded", "released", "full")
