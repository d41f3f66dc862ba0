"""What a training is told and what it did: options, and the record that is kept of them."""

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
    """A training cannot start, continue or be resumed; the message says why."""


class TrainingOptions(BaseModel):
    """How a model is trained.

    `batch_size` rows go through the model at once, and `accumulation` batches make one step. The
    weight decay applies to matrices only. `patience` counts validations without a better value.
    None switches off a limit; for `dropout` it keeps the model's own rates, and for
    `validation_steps` it means once per epoch. `checkpoint_steps` changes no result.
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
    """Record of a training: `training.json` of a finished folder, or the state of a checkpoint."""

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
    """Record of a finished training."""
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
        record = TrainingRecord.model_validate_json(text)
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{folder} is not empty and has no readable {RECORD}, so it is not a finished "
            "training: "
            "remove it or name another folder."
        ) from error
    check_same_inputs(folder, record.inputs, inputs)
    return record


def check_same_inputs(
    folder: Path, actual: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]
) -> None:
    """Compare what two trainings depend on; how often checkpoints are written changes nothing."""
    flat_found, flat_wanted = _flat(actual), _flat(expected)
    differences = [
        f"{key} {flat_found.get(key)!r}, now {flat_wanted.get(key)!r}"
        for key in sorted(flat_found.keys() | flat_wanted.keys())
        if flat_found.get(key) != flat_wanted.get(key)
    ]
    if differences:
        raise TrainingError(
            f"{folder} belongs to another training ({'; '.join(differences)}): remove it or name "
            "another folder."
        )


def _flat(inputs: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    flat: dict[str, JsonValue] = {}
    for name, value in inputs.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": part for key, part in value.items()}
        else:
            flat[name] = value
    flat.pop("options.checkpoint_steps", None)
    return flat


def tensors_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights and buffers by name, each once (a tied weight has several names)."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def weights_sha256(model: torch.nn.Module) -> str:
    """Hash over the names and values of a model's weights."""
    return sha256_of(
        name.encode() + tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
        for name, tensor in tensors_of(model).items()
    )


def sha256_of(parts: Iterable[bytes]) -> str:
    """Hash over parts, each with its length.

    Examples
    --------
    >>> sha256_of([b"ab", b"c"]) == sha256_of([b"a", b"bc"])
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
