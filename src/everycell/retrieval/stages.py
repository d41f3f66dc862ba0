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
    """How the stages treat a collection; fields of stages that never run may be omitted.

    Attributes
    ----------
    tasks : list of str
        Tasks of its queries.
    setting : str, optional
        Source of the non-relevant documents in its main candidate lists.
    searched : bool
        Whether all documents are ranked, instead of candidates.
    vocabularies : mapping of str to str
        Tokenisation -> key of its vocabulary in the registry, if it is not the default.
    lexical : Lexical, optional
    lengths : mapping of str to (int or None)
        Maximum number of word pieces of each input: ``training``, ``text``, ``query``,
        ``zero_shot``, ``expanded``, ``pair``.
    proposals : int
        Number of likely terms to compute per document: the largest that any expansion uses.
    encoders : mapping of str to str
        Encoder -> folder that a rule creates, for encoders that are not in the registry.
    training : callable, optional
        Ranker -> `pairs`, `negatives`, `reading` and `options` for its training.

    Examples
    --------
    >>> Collection(tasks=["cite"], setting="mixed").lists
    {'tasks': ['cite'], 'setting': 'mixed'}
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
