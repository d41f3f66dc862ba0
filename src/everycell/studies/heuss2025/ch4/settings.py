"""Settings of chapter 4 of heuss2025: RankingSHAP."""

from __future__ import annotations

from pydantic import Field

from everycell.engine.settings import Settings


class ListExplanations(Settings):
    """Figure 4.4 of heuss2025."""

    planted_lists: int = Field(
        60, ge=4, le=100_000, description="Simulated lists that train a ranker, on the stand-in."
    )
    explained_lists: int = Field(
        50, ge=2, le=100_000, description="Test lists that are explained, the first ones."
    )
    background: dict[str, int] = Field(
        {"MQ2008": 100, "MSLR-WEB10K": 20},
        description="Background samples by data set, 100 where it names none.",
    )
    lime_samples: int = Field(
        2000, ge=10, le=1_000_000, description="Masked inputs for a linear model of LIME."
    )
    folders: dict[str, str] = Field(
        {}, description="Folders with train.txt, vali.txt and test.txt, of MQ2008 and MSLR-WEB10K."
    )


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"list_explanations": ListExplanations}
