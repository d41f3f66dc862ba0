"""Settings of chapter 6 of lajewska2025: responses from nuggets (GINGER)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from everycell.engine.settings import PlainPath, Probability, Settings


class ReleasedGinger(Settings):
    """Released tier: people's nuggets, and those of a classifier."""

    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description="Language models that write: names under `language_models`, and for tables.",
    )
    questions: int = Field(
        4, ge=0, le=38, description="Questions that they write for; each run asks them anew."
    )


class FullGinger(Settings):
    """Full tier: the thesis' models, or others in their place."""

    models: dict[str, str] = Field(
        {}, max_length=1, description="The language model that detects nuggets and writes."
    )
    inference: PlainPath | None = Field(
        "cross-encoder/nli-roberta-base",
        description="Model of natural language inference: a name on the hub, or a folder.",
    )
    revision: str | None = Field(None, description="Commit, tag or branch of its hub name.")


class Ginger(Settings):
    """Chapter 6 and appendix C of lajewska2025."""

    clusters: int = Field(3, ge=1, le=20, description="Clusters that a response is made of.")
    words: int = Field(35, ge=5, le=500, description="Most words of a cluster's summary.")
    sentences: int = Field(3, ge=1, le=20, description="Sentences of the one-step baseline.")
    annotators: int = Field(
        2, ge=1, le=3, description="Annotators of three who must have marked a nugget of people."
    )
    shortest: int = Field(3, ge=1, le=50, description="Words of the shortest nugget of people.")
    length: int = Field(128, ge=8, le=512, description="Word pieces of an encoded nugget.")
    max_tokens: int = Field(96, ge=8, le=4096, description="Tokens of an answer but a marked text.")
    marked_tokens: int = Field(1024, ge=64, le=8192, description="Tokens of a marked passage.")
    trained: Probability = Field(
        0.5, description="Share of the labelled topics that train the lexical judge."
    )
    prompts: dict[str, PlainPath] = Field(
        {},
        description=(
            "Files of prompts of one's own: detection, summary, fluency, follow_up, one_step."
        ),
    )
    released: ReleasedGinger = ReleasedGinger()
    full: FullGinger = FullGinger()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS: dict[str, Any] = {"ginger": Ginger}
