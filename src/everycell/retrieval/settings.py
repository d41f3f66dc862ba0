"""Settings of rankers, and properties of a collection that retrieval experiments need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(frozen=True)
class Lexical:
    """Parameters of the lexical rankers."""

    bm25: Mapping[str, float]
    jelinek_mercer: float
    dirichlet: float
    hits: int = 1000
    tuning: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Collection:
    """How the stages treat a collection; fields of unused stages may be omitted.

    - `setting`: source of the non-relevant documents in its main candidate lists;
    - `searched`: whether all documents are ranked, instead of candidates;
    - `vocabularies`: tokenisation -> key of its vocabulary, if it is not the default;
    - `lengths`: maximum number of word pieces of each input (``training``, ``text``, ``query``,
      ``zero_shot``, ``expanded``, ``pair``);
    - `proposals`: number of likely terms per document, the largest that any expansion uses;
    - `encoders`: encoder -> folder that a rule creates, for encoders outside the registry;
    - `training`: ranker -> `pairs`, `negatives`, `reading` and `options` for its training.
    """

    tasks: list[str] = field(default_factory=list)
    setting: str | None = None
    searched: bool = False
    vocabularies: Mapping[str, str] = field(default_factory=dict)
    lexical: Lexical | None = None
    lengths: Mapping[str, int | None] = field(default_factory=dict)
    proposals: int = 0
    encoders: Mapping[str, str] = field(default_factory=dict)
    training: Callable[[Any], Mapping[str, Any]] | None = None

    @property
    def lists(self) -> dict[str, Any]:
        """Tasks and setting, which identify the main candidate lists."""
        return {"tasks": self.tasks, "setting": self.setting}


class Training(Settings):
    """Settings of training for one kind of model."""

    epochs: int = Field(ge=1, le=100, description="Passes over the training examples.")
    batch: int = Field(8, ge=1, description="Examples per step.")
    learning_rate: float = Field(gt=0, lt=1, description="Highest learning rate.")


class WithDropout(Settings):
    """Settings of training with configurable dropout."""

    dropout: float | None = Field(
        None, ge=0, lt=1, description="Rate of all dropout layers; null keeps the model's rates."
    )
