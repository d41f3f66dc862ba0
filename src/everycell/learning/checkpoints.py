"""Checkpoints of a training run: complete states of model, optimiser and schedule."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from safetensors.torch import load_file, save_file
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from everycell.base.files import sha256
from everycell.base.untrusted import read_json
from everycell.base.validation import validate_json

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
        record = validate_json(TrainingRecord, text)
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


_LOG = logging.getLogger(__name__)
_WEIGHTS, _OPTIMISER, _STATE = "model.safetensors", "optimiser.safetensors", "state.json"


class Checkpoints:
    """A folder with the last two checkpoints of a training run, and the best one.

    A checkpoint is written under a temporary name and then renamed, so it is complete. If its files
    were damaged later, it is skipped.
    """

    def __init__(
        self,
        folder: Path,
        model: torch.nn.Module,
        optimiser: Optimizer,
        schedule: LRScheduler,
    ) -> None:
        self.folder = folder
        self._model, self._optimiser, self._schedule = model, optimiser, schedule

    def save(self, record: TrainingRecord) -> None:
        """Write a checkpoint for the steps of a record, and remove old checkpoints."""
        target = self.folder / _step_name(record.steps)
        partial = make_empty_folder(self.folder / "partial")
        save_file(tensors_of(self._model), partial / _WEIGHTS)
        save_file(
            {
                f"{number}.{key}": value.contiguous()
                for number, values in self._optimiser.state_dict()["state"].items()
                for key, value in values.items()
            },
            partial / _OPTIMISER,
        )
        state = {
            "record": record.model_dump(),
            "schedule": self._schedule.state_dict(),
            "sha256": {name: sha256(partial / name) for name in (_WEIGHTS, _OPTIMISER)},
        }
        (partial / _STATE).write_text(json.dumps(state), encoding="utf-8")
        # If a checkpoint of this step already exists, it is damaged.
        shutil.rmtree(target, ignore_errors=True)
        os.replace(partial, target)
        steps = [*_list_steps(self.folder)[-2:], record.best_step]
        for step in set(_list_steps(self.folder)) - set(steps):
            shutil.rmtree(self.folder / _step_name(step))

    def resume(self, inputs: dict[str, JsonValue]) -> TrainingRecord | None:
        """Resume from the last complete checkpoint."""
        for step in reversed(_list_steps(self.folder)):
            folder = self.folder / _step_name(step)
            try:
                state = _read_state(folder)
                record = TrainingRecord.model_validate(state["record"])
                if record.best_step is not None and record.best_step != step:
                    _read_state(self.folder / _step_name(record.best_step))
            except (OSError, ValueError, KeyError, TypeError) as error:
                _LOG.warning(
                    "The checkpoint %s is skipped, since it is damaged: %s.", folder, error
                )
                continue
            check_same_inputs(self.folder, record.inputs, inputs)
            self.load_weights(step)
            self._load_optimiser(folder)
            self._schedule.load_state_dict(state["schedule"])
            # The schedule sets the learning rate only when it steps.
            for group, rate in zip(
                self._optimiser.param_groups, self._schedule.get_last_lr(), strict=True
            ):
                group["lr"] = rate
            return record
        if self.folder.is_dir():
            _LOG.warning(
                "%s has no complete checkpoint: training starts from the first step.", self.folder
            )
            shutil.rmtree(self.folder)
        return None

    def load_weights(self, step: int) -> None:
        """Load the weights of the checkpoint after a step into the model."""
        saved = load_file(self.folder / _step_name(step) / _WEIGHTS)
        with torch.no_grad():
            for name, tensor in tensors_of(self._model).items():
                tensor.copy_(saved[name])

    def remove(self) -> None:
        """Remove all checkpoints."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _load_optimiser(self, folder: Path) -> None:
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in load_file(folder / _OPTIMISER).items():
            number, key = name.split(".", 1)
            state.setdefault(int(number), {})[key] = tensor
        groups = self._optimiser.state_dict()["param_groups"]
        self._optimiser.load_state_dict({"state": state, "param_groups": groups})


def make_empty_folder(folder: Path) -> Path:
    """Make an empty folder, after removing an existing one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _step_name(step: int) -> str:
    return f"step-{step:08d}"


def _list_steps(checkpoints: Path) -> list[int]:
    return sorted(int(path.name.removeprefix("step-")) for path in checkpoints.glob("step-*"))


def _read_state(folder: Path) -> dict[str, Any]:
    """Read the state of a checkpoint, and check the hashes of its files."""
    state = read_json(folder / _STATE)
    for name, expected in state["sha256"].items():
        if sha256(folder / name) != expected:
            raise ValueError(f"{folder.name}/{name} does not have the sha256 in {_STATE}")
    return state
