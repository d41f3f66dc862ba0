"""Settings shared by all training runs."""

from __future__ import annotations

from pydantic import Field

from everycell.base.settings import Settings


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
