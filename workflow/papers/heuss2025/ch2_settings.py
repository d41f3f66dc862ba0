"""Settings of chapter 2 of heuss2025: FELIX."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from everycell.base.settings import Settings


class FairExposure(Settings):
    """Tables 2.2 and 2.3 of heuss2025."""

    seeds: int = Field(
        5,
        ge=2,
        le=200,
        description="Training runs of the ranker, each with its own split and seed.",
    )
    epochs: int = Field(
        30,
        ge=1,
        le=1000,
        description="Maximum number of training epochs with early stopping, as in the text.",
    )
    epochs_of_code: int = Field(
        10,
        ge=1,
        le=1000,
        description="Number of training epochs according to the authors' code.",
    )
    samples: int = Field(
        1000, ge=10, le=100_000, description="Rankings drawn from a Plackett-Luce policy."
    )
    marginals: Literal["entropy", "centre"] = Field(
        "entropy", description="Which of the matrices with fair exposures is decomposed."
    )
    planted_lists: int = Field(
        24, ge=4, le=10_000, description="Lists with planted outliers (surrogate data)."
    )
    simulated_lists: int = Field(
        100, ge=2, le=100_000, description="Lists per point of the simulation of Figure 2.2."
    )
    compared_lists: int = Field(
        12,
        ge=2,
        le=10_000,
        description="Lists on which choices and bounds of the simulation are compared.",
    )

    @property
    def readings(self) -> dict[str, int]:
        """Name -> epochs of the rankers of the text and of the authors' code."""
        return {f"up to {self.epochs}": self.epochs, str(self.epochs_of_code): self.epochs_of_code}


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"fair_exposure": FairExposure}
