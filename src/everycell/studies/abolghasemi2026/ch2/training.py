"""Training options of the rankers of chapter 2."""

from __future__ import annotations

from typing import Any

from everycell.learning.rankers import TrainedRanker
from everycell.studies.abolghasemi2026.ch2.settings import Concepts, Full, QueryByExample

#: More pairs than any task has, so that all are used.
ALL_PAIRS = 1_000_000


def training_on_surrogate_data(
    ranker: TrainedRanker, settings: QueryByExample | Concepts
) -> dict[str, Any]:
    """Options for training a ranker with a small encoder in few steps.

    A ranker without its own settings in config.yaml uses the defaults of its class.
    """
    names = {"cross-encoder": "cross_encoder", "mtft": "multi_task"}
    hyperparameters = getattr(settings.models, names.get(ranker.name, ranker.name), None)
    hyperparameters = ranker.training if hyperparameters is None else hyperparameters.model_dump()
    return {
        "pairs": settings.models.pairs,
        "negatives": ranker.negatives,
        "input_options": ranker.training_input_options(
            settings.lengths.model_dump(), few_steps=True
        ),
        "options": {
            "epochs": hyperparameters["epochs"],
            "batch_size": hyperparameters["batch"],
            "learning_rate": hyperparameters["learning_rate"],
            "optimiser": ranker.optimiser,
            "warmup_ratio": 0.1,
            # A few passes over the pairs hardly overfit, and dropout takes a fifth of the time.
            "dropout": 0.0,
            "checkpoint_steps": 100,
        },
    }


def training_on_scidocs(ranker: TrainedRanker, settings: Full, bf16: bool) -> dict[str, Any]:
    """Options for training a ranker on SciDocs with all pairs, as in the thesis."""
    hyperparameters = getattr(settings, ranker.name, settings.cross_encoder)
    return {
        "pairs": ALL_PAIRS,
        "negatives": hyperparameters.negatives,
        "input_options": ranker.training_input_options(
            settings.lengths.model_dump(), few_steps=False
        ),
        "options": {
            "epochs": hyperparameters.epochs,
            "batch_size": hyperparameters.batch,
            "learning_rate": hyperparameters.learning_rate,
            "optimiser": ranker.optimiser,
            "schedule": hyperparameters.schedule,
            "warmup_ratio": hyperparameters.warmup,
            "bf16": bf16,
            "patience": getattr(hyperparameters, "patience", None),
        },
    }
