"""Properties of a collection that the stages of a retrieval experiment need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


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
