"""Rankers, one per module, and their interface: training data, input, encoding or scoring.

Each ranker has its own module, so that an edit of one triggers no job of another.
"""

from __future__ import annotations

import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from everycell.retrieval.encoded import Encoded

#: Input (``training``, ``text``, ``query``, ``zero_shot``, ``expanded`` or ``pair``) -> maximum
#: number of word pieces, None for no maximum.
Lengths = Mapping[str, int | None]
#: Parameters of a ranker's inputs, as JSON, which `encode` and similar methods receive.
InputOptions = Mapping[str, Any]
#: Texts by id.
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Start:
    """Initial model, tokenizer and loss for `everycell.learning.training.train`."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    loss: Callable[..., Any]


class Ranker(ABC):
    """A ranker; its models and runs have its name."""

    name: ClassVar[str]

    @property
    def pattern(self) -> str:
        """Regular expression for its name in paths; the name may contain a number."""
        return re.escape(self.name)


class TrainedRanker(Ranker):
    """A ranker that is trained on the pairs of a collection, from a pre-trained encoder."""

    negatives: ClassVar[int] = 1
    optimiser: ClassVar[str] = "adamw"
    training: ClassVar[Mapping[str, float]] = {"epochs": 1, "batch": 8, "learning_rate": 1e-3}

    @abstractmethod
    def training_input_options(self, lengths: Lengths, *, few_steps: bool) -> InputOptions:
        """Parameters of training: maximum lengths, and how texts are scored.

        They include only parameters that this ranker uses, so that changing other parameters does
        not retrain it.
        """

    @abstractmethod
    def start(self, encoder: Path, input_options: InputOptions, seed: int) -> Start:
        """Create an untrained model from the encoder in a folder, and its loss."""


class EncodingRanker(Ranker):
    """A ranker that encodes documents and queries separately, each once."""

    @abstractmethod
    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """The parameters that this ranker uses to encode texts."""


class TextEncodingRanker(EncodingRanker):
    """A ranker that encodes texts without expansion."""

    @abstractmethod
    def encode(
        self, model: Path, documents: Texts, queries: Texts, input_options: InputOptions
    ) -> Encoded:
        """Encode documents and queries."""


class ExpandingRanker(EncodingRanker):
    """A ranker that encodes documents expanded with terms that another model proposes."""

    @abstractmethod
    def encode_expanded(
        self,
        model: Path,
        documents: Texts,
        queries: Texts,
        input_options: InputOptions,
        proposed: IntArray,
    ) -> tuple[Encoded, pd.DataFrame]:
        """Encode expanded documents and queries; also count the terms added."""


class PairRanker(Ranker):
    """A ranker that reads a query and a document together."""

    @abstractmethod
    def pair_input_options(self, lengths: Lengths) -> InputOptions:
        """Parameters for reading pairs."""

    @abstractmethod
    def score(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        queries: Texts,
        documents: Texts,
        pairs: Sequence[tuple[str, str]],
        input_options: InputOptions,
    ) -> npt.NDArray[np.float32]:
        """One score per pair, in order; higher is more relevant."""

    @abstractmethod
    def load(self, model: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """Load a trained model for scoring."""


def ranker_names() -> list[str]:
    """Names of all rankers, sorted."""
    modules = pkgutil.iter_modules(__path__)
    return sorted(module.name.replace("_", "-") for module in modules)


def ranker_module(name: str) -> str:
    """Full name of the module of a ranker."""
    if name not in ranker_names():
        raise DataError(
            column="ranker",
            value=name,
            expected=f"one of {', '.join(ranker_names())}",
            fix=f"correct the name, or add its module to {__name__}",
        )
    return f"{__name__}.{name.replace('-', '_')}"


def get_ranker(name: str) -> Ranker:
    """Get a ranker by its name."""
    module = ranker_module(name)
    ranker = import_module(module).RANKER
    if ranker.name != name:
        raise DataError(
            module, column="name", value=ranker.name, fix="name the ranker after its module"
        )
    return ranker


def rankers_of(kind: type[Ranker]) -> list[Ranker]:
    """Rankers of a kind, sorted by name."""
    candidates = [get_ranker(name) for name in ranker_names()]
    return [ranker for ranker in candidates if isinstance(ranker, kind)]
