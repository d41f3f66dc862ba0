"""Settings of chapter 3 of lajewska2025: conversational retrieval."""

from __future__ import annotations

from pydantic import Field

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import Bm25, Rm3


class CastBm25(Settings):
    """BM25 parameters of the systems of chapter 3."""

    organisers: Bm25 = Field(
        Bm25(k1=4.46, b=0.82), description="Parameters of the track's organisers."
    )
    default: Bm25 = Field(Bm25(k1=1.2, b=0.75), description="Defaults of Elasticsearch.")
    tuned: Bm25 = Field(Bm25(k1=0.95, b=0.45), description="As tuned for WaterlooClarke.")


class Rewriters(Settings):
    """T5 models that rewrite turns: names on the hub, or folders with safetensors."""

    canard: str | None = Field(
        "castorini/t5-base-canard@refs/pr/2", min_length=1, description="Trained on CANARD."
    )
    qrecc: str | None = Field(None, min_length=1, description="Trained on QReCC; null: not used.")


class CastSystems(Settings):
    """Chapter 3 of lajewska2025."""

    runs_2020: PlainPath | None = Field(
        None, description="Folder with the authors' runs of 2020; null: no full tier."
    )
    organisers_run: PlainPath | None = Field(
        None,
        description="The organisers' document run of 2021; null: not in the full tier.",
    )
    organisers_passages: PlainPath | None = Field(
        None,
        description="The same run with passages, for a supplementary table; null: no such table.",
    )
    rewriters: Rewriters = Rewriters()
    bm25: CastBm25 = CastBm25()
    rm3: Rm3 = Rm3(documents=17, terms=26)
    rrf: int = Field(60, ge=1, description="Constant of reciprocal rank fusion.")
    context: int = Field(
        64, ge=8, description="Maximum number of words in a query that includes earlier turns."
    )
    query: int = Field(
        128, ge=8, le=512, description="Maximum number of word pieces of a query in encoders."
    )
    candidates: int = Field(
        100, ge=10, description="Passages in a ranked list, and the cut-off of the measures."
    )
    pairwise: int = Field(
        50, ge=2, description="Number of top passages that are compared in pairs."
    )


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"cast_systems": CastSystems}
