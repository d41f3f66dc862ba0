"""Settings of chapter 4 of heuss2025: RankingSHAP."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from everycell.base.settings import Settings

#: PWLime as in the text, and as in the authors' code; Figure 4.4 has means of absolute weights.
LIME_VARIANTS = ("PWLime, mean of weights", "PWLime, absolute mean")


class Folders(Settings):
    """Folders of the full tier, each with train.txt and test.txt."""

    mq2008: str | None = Field(None, description="A fold of MQ2008 (LETOR 4.0).")
    mslr_web10k: str | None = Field(None, description="A fold of MSLR-WEB10K.")


class ListExplanations(Settings):
    """Figure 4.4 of heuss2025."""

    planted_lists: int = Field(
        60,
        ge=10,
        le=100_000,
        description="Simulated lists on which a ranker is trained (surrogate data).",
    )
    explained_lists: dict[str, Annotated[int, Field(ge=2, le=100_000)]] = Field(
        {"planted": 30, "pydocs": 30},
        description="Number of test lists to explain, by data set; others: all, as in § 4.6.1.",
    )
    background: dict[str, int] = Field(
        {"mslr_web10k": 20, "mslr_slice": 20},
        description=(
            "Number of background samples of explanations, by data set; others: 100 (§ 4.6.1)."
        ),
    )
    lime_samples: dict[str, Annotated[int, Field(ge=10, le=1_000_000)]] = Field(
        {"mslr_slice": 1000},
        description=(
            "Masked inputs per linear model of LIME, by data set; others: 5000, the default of the "
            "package (§ 4.6.1)."
        ),
    )
    folders: Folders = Field(Folders(), description="Data of the full tier.")


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"list_explanations": ListExplanations}
