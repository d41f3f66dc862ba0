"""Settings of rankers."""

from __future__ import annotations

from pydantic import Field

from everycell.base.settings import Settings


class Bm25(Settings):
    """Parameters of BM25."""

    k1: float = Field(2.75, gt=0, le=100, description="Saturation of the term frequency.")
    b: float = Field(1.0, ge=0, le=1, description="Weight of the document length.")


class Rm3(Settings):
    """Parameters of pseudo-relevance feedback."""

    documents: int = Field(10, ge=1, description="Documents assumed to be relevant.")
    terms: int = Field(10, ge=1, description="Number of expansion terms.")
    original_weight: float = Field(0.5, ge=0, le=1, description="Weight of the original query.")
