"""Settings of lajewska2025 that several chapters share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from everycell.base.settings import Probability, Settings


class Simulation(Settings):
    """Sizes of the simulated user studies."""

    studies: int = Field(
        1000, ge=500, le=100_000, description="Simulated studies per planted effect."
    )
    effects: list[Annotated[float, Field(ge=0, le=2)]] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4],
        min_length=2,
        description="Planted shifts of the latent rating, in standard deviations of its noise.",
    )
    planted: float = Field(
        0.5, ge=0, le=2, description="Planted shift in the simulated study that a table shows."
    )
    worker_sd: float = Field(
        0.77,
        gt=0,
        le=5,
        description="Spread of workers in chapter 7, in standard deviations of the rating noise.",
    )


class UserStudies(Settings):
    """Chapters 4 and 7 of lajewska2025."""

    alpha: Probability = Field(0.05, description="Significance level of the tests.")
    power: Probability = Field(0.8, description="Power for which the sample sizes are computed.")
    simulation: Simulation = Simulation()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"user_studies": UserStudies}
