"""Checkpoints of a training run: complete states of model, optimiser and schedule."""

from __future__ import annotations

import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from pydantic import JsonValue
from safetensors.torch import load_file, save_file
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from everycell.base.files import sha256
from everycell.learning.training_record import TrainingRecord, check_same_inputs, tensors_of

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
    state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    for name, expected in state["sha256"].items():
        if sha256(folder / name) != expected:
            raise ValueError(f"{folder.name}/{name} does not have the sha256 in {_STATE}")
    return state
