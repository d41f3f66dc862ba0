"""Settings of chapter 3 of heuss2025: PUFR."""

from __future__ import annotations

from pydantic import Field

from everycell.engine.settings import Settings


class UncertainRanking(Settings):
    """Table 3.1 and Figures 3.2 to 3.7 of heuss2025."""

    fisher_pairs: int = Field(
        3200, ge=10, le=10_000_000, description="Training pairs that the Fisher information sums."
    )
    prior: float = Field(
        1e-5, gt=0, description="Precision of the last layer's weights before training."
    )
    samples: int = Field(
        150, ge=2, le=100_000, description="Heads that are sampled, beside the closed form."
    )
    protected_from: float = Field(
        1.0, gt=0, le=1, description="Least neutrality of a protected document."
    )
    constrained: int = Field(
        50, ge=2, le=1000, description="First documents that the constrained ranking re-orders."
    )
    significance: float = Field(0.1, gt=0, lt=1, description="Of FA*IR, in each prefix.")
    losses: list[float] = Field(
        [0.01, 0.02], min_length=1, description="Loss of nDCG@100 that a method may have."
    )


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"uncertain_ranking": UncertainRanking}
