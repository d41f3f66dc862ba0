"""The interface of rankers: their training data, their input, and how they encode or score."""

from __future__ import annotations

import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from everycell.engine.arrays import IntArray
from everycell.learning import rankers

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from everycell.retrieval.encoded import Encoded

#: Word pieces by what is read: ``training``, ``text``, ``query``, ``zero_shot``, ``expanded``,
#: ``pair``. A None keeps all of it.
Lengths = Mapping[str, int | None]
#: What a ranker reads, by name, as JSON: what `Ranker.encode` and its like are given.
Reading = Mapping[str, Any]
#: Texts by id.
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Start:
    """What a training starts from; the loss is as `everycell.learning.training.train` takes it."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    loss: Callable[..., Any]


class Ranker(ABC):
    """A ranker, by the name of its models and runs."""

    name: ClassVar[str]

    @property
    def pattern(self) -> str:
        """Regular expression of its name in files, for a ranker with a number in it."""
        return re.escape(self.name)


class TrainedRanker(Ranker):
    """A ranker that is trained on the pairs of a collection, from a pre-trained encoder."""

    negatives: ClassVar[int] = 1
    optimiser: ClassVar[str] = "adamw"
    training: ClassVar[Mapping[str, float]] = {"epochs": 1, "batch": 8, "learning_rate": 1e-3}

    @abstractmethod
    def training_reading(self, lengths: Lengths, *, few_steps: bool) -> Reading:
        """What it takes of the texts that it is trained on, and how it scores them.

        Only what concerns this ranker, so that a change for one trains no other.
        """

    @abstractmethod
    def start(self, encoder: Path, reading: Reading, seed: int) -> Start:
        """An untrained model on the encoder in a folder, and its loss."""


class EncodingRanker(Ranker):
    """A ranker whose scores come from documents and queries that were encoded apart, each once."""

    @abstractmethod
    def reading(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> Reading:
        """What it reads of texts that it encodes, and no more than concerns it."""


class TextEncodingRanker(EncodingRanker):
    """A ranker that encodes texts as they are."""

    @abstractmethod
    def encode(self, model: Path, documents: Texts, queries: Texts, reading: Reading) -> Encoded:
        """Documents and queries as it sees them."""


class ExpandingRanker(EncodingRanker):
    """A ranker that encodes documents with terms that another model proposes."""

    @abstractmethod
    def encode_expanded(
        self,
        model: Path,
        documents: Texts,
        queries: Texts,
        reading: Reading,
        proposed: IntArray,
    ) -> tuple[Encoded, pd.DataFrame]:
        """Expanded documents and queries as it sees them, and what was added."""


class PairRanker(Ranker):
    """A ranker that reads a query and a document together."""

    @abstractmethod
    def pair_reading(self, lengths: Lengths) -> Reading:
        """What it reads of a pair."""

    @abstractmethod
    def score(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        queries: Texts,
        documents: Texts,
        pairs: Sequence[tuple[str, str]],
        reading: Reading,
    ) -> npt.NDArray[np.float32]:
        """One score per pair, in order; higher is more relevant."""

    @abstractmethod
    def load(self, model: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """The trained model in a folder, ready to score."""


def ranker_names() -> list[str]:
    """Names of all rankers, sorted."""
    modules = pkgutil.iter_modules(rankers.__path__)
    return sorted(module.name.replace("_", "-") for module in modules)


def ranker_module(name: str) -> str:
    """Full name of the module of a ranker.

    Examples
    --------
    >>> ranker_module("cross-encoder")
    'everycell.learning.rankers.cross_encoder'
    """
    if name not in ranker_names():
        raise ValueError(
            f"There is no ranker {name!r}: name one of {', '.join(ranker_names())}, or add its "
            f"module to {rankers.__name__}."
        )
    return f"{rankers.__name__}.{name.replace('-', '_')}"


def ranker_named(name: str) -> Ranker:
    """The ranker of a name."""
    module = ranker_module(name)
    ranker = import_module(module).RANKER
    if ranker.name != name:
        raise ValueError(
            f"The ranker of {module} has the name {ranker.name!r}: give class and module one name."
        )
    return ranker


def rankers_of(kind: type[Ranker]) -> list[Ranker]:
    """Rankers of a kind, by name."""
    candidates = [ranker_named(name) for name in ranker_names()]
    return [ranker for ranker in candidates if isinstance(ranker, kind)]
