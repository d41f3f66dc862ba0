"""Options and records of training runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

#: Name of the record in the folder of a model.
RECORD = "training.json"


class TrainingError(Exception):
    """A training run cannot start, continue or be resumed."""


class TrainingOptions(BaseModel):
    """How a model is trained.

    A step has `accumulation` batches of `batch_size` rows. Weight decay applies to matrices only.
    Training stops after `patience` validations without a better value. None means no limit; for
    `dropout`, it keeps the model's own rates, and for `validation_steps`, it means once per epoch.
    `checkpoint_steps` does not affect the result.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    learning_rate: float = Field(gt=0)
    seed: int = Field(default=0, ge=0, lt=2**32)
    epochs: int = Field(default=1, ge=1)
    max_steps: int | None = Field(default=None, ge=1)
    batch_size: int = Field(default=8, ge=1)
    accumulation: int = Field(default=1, ge=1)
    schedule: Literal["linear", "constant"] = "linear"
    warmup_ratio: float = Field(default=0.0, ge=0, le=1)
    weight_decay: float = Field(default=0.0, ge=0)
    optimiser: Literal["adamw", "adam"] = "adamw"
    max_gradient_norm: float | None = Field(default=1.0, gt=0)
    bf16: bool = False
    dropout: float | None = Field(default=None, ge=0, lt=1)
    validation_steps: int | None = Field(default=None, ge=1)
    patience: int | None = Field(default=None, ge=1)
    checkpoint_steps: int = Field(default=500, ge=1)


class Validation(BaseModel):
    """Value of the validation measure after a step; higher is better."""

    model_config = ConfigDict(frozen=True)

    step: int
    value: float


class TrainingRecord(BaseModel):
    """Record of a training run, in the `training.json` of a model or in a checkpoint."""

    model_config = ConfigDict(extra="forbid")

    inputs: dict[str, JsonValue]
    steps: int = 0
    losses: list[float] = []
    validations: list[Validation] = []
    best_step: int | None = None
    stopped_early: bool = False
    batch_size: int

    @model_validator(mode="after")
    def _check(self) -> TrainingRecord:
        if len(self.losses) != self.steps:
            raise ValueError(f"{len(self.losses)} losses for {self.steps} steps")
        return self


def finished_record(folder: Path, inputs: Mapping[str, JsonValue]) -> TrainingRecord:
    """Record of a finished training run with the given inputs."""
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
        record = TrainingRecord.model_validate_json(text)
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{folder} is not empty and has no readable {RECORD}, so it is not a finished model: "
            "remove it or choose another folder."
        ) from error
    check_same_inputs(folder, record.inputs, inputs)
    return record


def check_same_inputs(
    folder: Path, actual: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]
) -> None:
    """Raise an error if two training runs have different inputs, ignoring `checkpoint_steps`."""
    flat_actual, flat_expected = _flatten(actual), _flatten(expected)
    differences = [
        f"{key} {flat_actual.get(key)!r}, now {flat_expected.get(key)!r}"
        for key in sorted(flat_actual.keys() | flat_expected.keys())
        if flat_actual.get(key) != flat_expected.get(key)
    ]
    if differences:
        raise TrainingError(
            f"{folder} belongs to a different training run ({'; '.join(differences)}): remove it "
            "or choose another folder."
        )


def _flatten(inputs: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    flat: dict[str, JsonValue] = {}
    for name, value in inputs.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": part for key, part in value.items()}
        else:
            flat[name] = value
    flat.pop("options.checkpoint_steps", None)
    return flat


def tensors_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights and buffers by name; tied weights occur only once."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def weights_sha256(model: torch.nn.Module) -> str:
    """Hash of the names and values of a model's weights."""
    return sha256_of(
        name.encode() + tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
        for name, tensor in tensors_of(model).items()
    )


def sha256_of(parts: Iterable[bytes]) -> str:
    """Hash of several parts and their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
