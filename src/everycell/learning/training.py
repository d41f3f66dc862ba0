"""Training of a transformers model in a plain loop that can be killed and started again.

A loop of our own rather than transformers' Trainer, for four reasons: a checkpoint of the Trainer
appears file by file, so that one that a kill cut short is not told from a whole one; it holds no
record of the data and options that it belongs to; when memory runs out it starts all over with
half the batch, where here only the micro-batch shrinks and the step stays the same; and its
folders hold pickles, where here weights and optimiser are safetensors and the rest is JSON.

What is random in a step (dropout, the order of the rows) depends on the seed and the number of the
step alone. So a checkpoint holds no state of a random generator, and a training that was killed
ends with the same bytes as one that was not, on a CPU with the same number of threads.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from safetensors.torch import load_file, save_file
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerBase,
    get_scheduler,
    set_seed,
)

from everycell.learning.batching import out_of_memory

if TYPE_CHECKING:
    from datasets import Dataset

LOG = logging.getLogger(__name__)
#: Seconds between two lines of progress.
PROGRESS_SECONDS = 10.0
RECORD = "training.json"
_WEIGHTS, _OPTIMISER, _STATE = "model.safetensors", "optimiser.safetensors", "state.json"

Batch = dict[str, list[Any]]
Loss = Callable[[Any, Batch], torch.Tensor]


class TrainingError(Exception):
    """A training cannot start, go on or be taken up again; the message says why."""


class TrainingOptions(BaseModel):
    """How a model is trained.

    Attributes
    ----------
    learning_rate : float
        Highest rate, above 0.
    seed : int
        0 to 2**32 - 1: order of the rows, dropout.
    epochs : int
        Passes over the rows, 1 or more.
    max_steps : int or None
        Steps after which to stop, even within an epoch.
    batch_size : int
        Rows that go through the model at once.
    accumulation : int
        Batches whose gradients make one step; the last step of an epoch may have fewer rows.
    schedule : {"linear", "constant"}
        What the rate does after the warm-up: falls in a straight line, which would reach 0 one step
        after the last one, or stays.
    warmup_ratio : float
        Share of the steps, 0 to 1, in which the rate rises from 0.
    weight_decay : float
        0 or more; on matrices only (as in transformers' Trainer: no bias, no layer norm).
    optimiser : {"adamw", "adam"}
        Decay apart from the gradient (AdamW), or added to it (Adam).
    max_gradient_norm : float or None
        Longer gradients are scaled down to it (transformers' default is 1); None: never.
    bf16 : bool
        Forward pass in bfloat16. Only on a GPU; on a CPU it is left out, and the log says so.
    validation_steps : int or None
        Steps between two validations; None: after each epoch. After the last step in any case.
    patience : int or None
        Stop after so many validations in a row without a better value; None: never.
    checkpoint_steps : int
        Steps between two checkpoints; one is written at each validation, too. It changes no result.

    Examples
    --------
    >>> TrainingOptions(learning_rate=2e-5, epochs=5, optimiser="adam").batch_size
    8
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
    validation_steps: int | None = Field(default=None, ge=1)
    patience: int | None = Field(default=None, ge=1)
    checkpoint_steps: int = Field(default=500, ge=1)


class Validation(BaseModel):
    """Value of the validation measure after a step; higher is better."""

    model_config = ConfigDict(frozen=True)

    step: int
    value: float


class TrainingRecord(BaseModel):
    """What a training did; `training.json` of a finished folder, and the state of a checkpoint.

    Attributes
    ----------
    inputs : dict
        What decides the result: options, settings of the caller, version of torch, sha256 of
        examples and weights.
    steps : int
        Steps done.
    losses : list of float
        Mean loss of the rows of each step.
    validations : list of Validation
        Empty if nothing was validated.
    best_step : int or None
        Step whose weights were kept: the first with the best value. None without validation: the
        weights are those of the last step.
    stopped_early : bool
        Whether patience ended the training.
    batch_size : int
        Rows that went through the model at once in the end: less than the option if memory ran out.
    """

    model_config = ConfigDict(extra="forbid")

    inputs: dict[str, JsonValue]
    steps: int = 0
    losses: list[float] = []
    validations: list[Validation] = []
    best_step: int | None = None
    stopped_early: bool = False
    batch_size: int

    @model_validator(mode="after")
    def _whole(self) -> TrainingRecord:
        if len(self.losses) != self.steps:
            raise ValueError(f"{len(self.losses)} losses for {self.steps} steps")
        return self


def train(
    model: PreTrainedModel,
    examples: Dataset,
    loss: Loss,
    options: TrainingOptions,
    folder: Path,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    validate: Callable[[Any], float] | None = None,
    settings: Mapping[str, JsonValue] | None = None,
) -> TrainingRecord:
    """Train a model and write it to a folder that is whole or not there.

    Checkpoints go to a folder beside it, `<folder>.checkpoints`, which is removed at the end: a
    workflow may clear `folder` before it runs a rule again without losing them. Called again with
    the same arguments, training goes on from the last whole checkpoint; once `folder` is finished,
    its record is returned and nothing is trained. All random generators are seeded anew in each
    step, so the caller's are not what they were.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        With its initial weights, on its device. Changed in place; ends with the kept weights, in
        eval mode. Left as it is where `folder` was finished before: load that.
    examples : datasets.Dataset
        Rows that JSON can hold; one or more.
    loss : callable
        Gets the model, in training mode, and a dict of lists (column: values of the rows); returns
        the mean loss of the rows, a scalar. A loss that compares the rows of a batch (in-batch
        negatives) sees fewer of them with accumulation, or after memory ran out.
    options : TrainingOptions
    folder : Path
        Gets `model.safetensors`, `config.json`, the tokenizer's files and `training.json`.
    tokenizer : transformers.PreTrainedTokenizerBase, optional
        Saved beside the model.
    validate : callable, optional
        Gets the model in eval mode, without gradients; returns a value, higher is better. The
        weights with the best one are kept.
    settings : mapping, optional
        What else decides the result (lengths, options of the loss): recorded, and compared before
        a checkpoint is taken up.

    Returns
    -------
    TrainingRecord
        What `training.json` says.

    Raises
    ------
    TrainingError
        No rows; `folder` or its checkpoints belong to another training; a loss that is not finite;
        one row that is too large for the memory.
    ValueError
        Patience without `validate`.

    Examples
    --------
    >>> import tempfile
    >>> from datasets import Dataset
    >>> from transformers import BertConfig, BertModel
    >>> size = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
    >>> model = BertModel(BertConfig(vocab_size=9, num_hidden_layers=1, **size))
    >>> def loss(model, batch):
    ...     return model(torch.tensor(batch["ids"])).last_hidden_state[:, 0, 0].mean()
    >>> rows = Dataset.from_dict({"ids": [[1, 2], [3, 4], [5, 6]]})
    >>> folder = Path(tempfile.mkdtemp()) / "model"
    >>> options = TrainingOptions(learning_rate=0.01, epochs=2, batch_size=2)
    >>> train(model, rows, loss, options, folder).steps
    4
    >>> sorted(path.name for path in folder.iterdir())
    ['config.json', 'model.safetensors', 'training.json']
    """
    if not len(examples):
        raise TrainingError("There are no rows to train on: give one or more.")
    if options.patience is not None and validate is None:
        raise ValueError("patience needs a function `validate`: give one, or set patience to None.")
    inputs: dict[str, JsonValue] = {
        "options": options.model_dump(),
        "settings": dict(settings or {}),
        "torch": torch.__version__,
        "examples": sha256_of(json.dumps(row).encode() for row in examples),
        "weights": weights_sha256(model),
    }
    checkpoints = folder.with_name(f"{folder.name}.checkpoints")
    if folder.is_dir() and any(folder.iterdir()):
        record = _finished(folder, inputs)
        # A kill may have come between the last rename and this.
        shutil.rmtree(checkpoints, ignore_errors=True)
        return record
    run = _Run(model, examples, loss, options, inputs, checkpoints)
    run.resume()
    run.go(validate)
    _write_model(model, tokenizer, run.record, folder)
    shutil.rmtree(run.checkpoints, ignore_errors=True)
    return run.record


class _Run:
    """A training under way: model, optimiser, what was done so far, and its checkpoints."""

    def __init__(
        self,
        model: PreTrainedModel,
        examples: Dataset,
        loss: Loss,
        options: TrainingOptions,
        inputs: dict[str, JsonValue],
        checkpoints: Path,
    ) -> None:
        self.model, self.examples, self.loss, self.options = model, examples, loss, options
        self.checkpoints = checkpoints
        self.record = TrainingRecord(inputs=inputs, batch_size=options.batch_size)
        self.rows_a_step = options.batch_size * options.accumulation
        self.steps_an_epoch = -(-len(examples) // self.rows_a_step)
        self.total = options.epochs * self.steps_an_epoch
        if options.max_steps is not None:
            self.total = min(self.total, options.max_steps)
        parameters = [each for each in model.parameters() if each.requires_grad]
        self.optimiser = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.optimiser](
            [
                {
                    "params": [each for each in parameters if each.ndim > 1],
                    "weight_decay": options.weight_decay,
                },
                {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0},
            ],
            lr=options.learning_rate,
        )
        self.schedule = get_scheduler(
            {"linear": "linear", "constant": "constant_with_warmup"}[options.schedule],
            self.optimiser,
            num_warmup_steps=round(options.warmup_ratio * self.total),
            num_training_steps=self.total,
        )
        self.on_gpu = next(model.parameters()).device.type == "cuda"
        if options.bf16 and not self.on_gpu:
            LOG.warning("bf16 is for a GPU and this is a CPU: training goes on in float32.")

    # -- steps ---------------------------------------------------------------------------------

    def go(self, validate: Callable[[Any], float] | None) -> None:
        """Do the steps that are left; leave the kept weights in the model."""
        every = self.options.validation_steps or self.steps_an_epoch
        first, begun = self.record.steps, time.monotonic()
        shown = begun
        while self.record.steps < self.total and not self.record.stopped_early:
            self.step()
            done, now = self.record.steps, time.monotonic()
            if now - shown > PROGRESS_SECONDS or done == self.total:
                shown = now
                LOG.info(
                    "step %d of %d, loss %.4g, %.1f minutes left",
                    done,
                    self.total,
                    self.record.losses[-1],
                    (now - begun) / (done - first) * (self.total - done) / 60,
                )
            validated = validate is not None and (done % every == 0 or done == self.total)
            if validated:
                self.judge(validate)
            if done < self.total and (validated or done % self.options.checkpoint_steps == 0):
                self.save()
        if self.record.best_step not in (None, self.record.steps):
            self.load_weights(self.checkpoints / _name(self.record.best_step))
        self.model.eval()

    def step(self) -> None:
        """One step of the optimiser; with smaller micro-batches should memory run out."""
        done = self.record.steps
        epoch, start = divmod(done, self.steps_an_epoch)
        order = np.random.default_rng([self.options.seed, epoch]).permutation(len(self.examples))
        rows = order[start * self.rows_a_step : (start + 1) * self.rows_a_step]
        while True:
            try:
                value = self.gradients(rows)
                break
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                self.smaller(error)
        if not np.isfinite(value):
            raise TrainingError(
                f"The loss of step {done + 1} is {value}: lower learning_rate (it is "
                f"{self.options.learning_rate:g}) or look at the rows."
            )
        if self.options.max_gradient_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.max_gradient_norm)
        self.optimiser.step()
        self.schedule.step()
        self.record.steps += 1
        self.record.losses.append(value)

    def gradients(self, rows: np.ndarray) -> float:
        """Gradients of the mean loss of rows, and that loss."""
        self.optimiser.zero_grad()
        self.model.train()
        state = np.random.SeedSequence([self.options.seed, self.record.steps]).generate_state(1)
        set_seed(int(state[0]))
        total = 0.0
        size = self.record.batch_size
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            with torch.autocast("cuda", torch.bfloat16, enabled=self.options.bf16 and self.on_gpu):
                value = self.loss(self.model, self.examples[part.tolist()])
            value = value * (len(part) / len(rows))
            value.backward()
            total += value.item()
        return total

    def smaller(self, error: BaseException) -> None:
        """Halve the micro-batch, or give up."""
        if self.record.batch_size == 1:
            raise TrainingError(
                "Memory ran out with a single row in a batch: shorten the texts, take a smaller "
                "model or a larger machine."
            ) from error
        self.record.batch_size = (self.record.batch_size + 1) // 2
        LOG.warning(
            "Memory ran out in step %d: from here on %d rows go through the model at once, in as "
            "many parts as a step needs.",
            self.record.steps + 1,
            self.record.batch_size,
        )

    def judge(self, validate: Callable[[Any], float]) -> None:
        """Validate; note whether it is the best value yet, and whether patience is at its end."""
        self.model.eval()
        with torch.no_grad():
            value = float(validate(self.model))
        if not np.isfinite(value):
            raise TrainingError(
                f"The validation value after step {self.record.steps} is {value}: it has to be a "
                "finite number."
            )
        record = self.record
        best = max((each.value for each in record.validations), default=-np.inf)
        record.validations.append(Validation(step=record.steps, value=value))
        if value > best:
            record.best_step = record.steps
        since = [each.step for each in record.validations].index(record.best_step)
        worse = len(record.validations) - since - 1
        record.stopped_early = self.options.patience is not None and worse >= self.options.patience
        LOG.info("validation after step %d: %.4f", record.steps, value)

    # -- checkpoints ---------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint under another name, then rename it; keep two and the best one."""
        target = self.checkpoints / _name(self.record.steps)
        partial = _empty(self.checkpoints / "partial")
        save_file(_tensors(self.model), partial / _WEIGHTS)
        save_file(
            {
                f"{number}.{key}": value.contiguous()
                for number, values in self.optimiser.state_dict()["state"].items()
                for key, value in values.items()
            },
            partial / _OPTIMISER,
        )
        state = {
            "record": self.record.model_dump(),
            "schedule": self.schedule.state_dict(),
            "sha256": {name: _file_sha256(partial / name) for name in (_WEIGHTS, _OPTIMISER)},
        }
        (partial / _STATE).write_text(json.dumps(state), encoding="utf-8")
        # Only a checkpoint that was found to be corrupt can be there already.
        shutil.rmtree(target, ignore_errors=True)
        os.replace(partial, target)
        kept = [*_steps(self.checkpoints)[-2:], self.record.best_step]
        for step in set(_steps(self.checkpoints)) - set(kept):
            shutil.rmtree(self.checkpoints / _name(step))

    def resume(self) -> None:
        """Go on from the last whole checkpoint, if there is one."""
        for step in reversed(_steps(self.checkpoints)):
            folder = self.checkpoints / _name(step)
            try:
                state = _read_state(folder)
                record = TrainingRecord.model_validate(state["record"])
                if record.best_step not in (None, step):
                    _read_state(self.checkpoints / _name(record.best_step))
            except (OSError, ValueError, KeyError, TypeError) as error:
                LOG.warning("%s cannot be taken up (%s): it is left out.", folder, error)
                continue
            _refuse_other(self.checkpoints, record.inputs, self.record.inputs)
            self.load_weights(folder)
            self.load_optimiser(folder)
            self.schedule.load_state_dict(state["schedule"])
            # The schedule sets the rate only when it steps.
            for group, rate in zip(
                self.optimiser.param_groups, self.schedule.get_last_lr(), strict=True
            ):
                group["lr"] = rate
            self.record = record
            LOG.info("%s: training goes on after step %d of %d.", folder, step, self.total)
            return
        if self.checkpoints.is_dir():
            LOG.warning("%s has no whole checkpoint: training starts anew.", self.checkpoints)
            shutil.rmtree(self.checkpoints)

    def load_weights(self, folder: Path) -> None:
        saved = load_file(folder / _WEIGHTS)
        with torch.no_grad():
            for name, tensor in _tensors(self.model).items():
                tensor.copy_(saved[name])

    def load_optimiser(self, folder: Path) -> None:
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in load_file(folder / _OPTIMISER).items():
            number, key = name.split(".", 1)
            state.setdefault(int(number), {})[key] = tensor
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})


def _write_model(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None,
    record: TrainingRecord,
    folder: Path,
) -> None:
    partial = _empty(folder.with_name(f".{folder.name}.partial"))
    model.save_pretrained(partial)
    if tokenizer is not None:
        tokenizer.save_pretrained(partial)
    text = json.dumps(record.model_dump(), indent=1, sort_keys=True)
    (partial / RECORD).write_text(text + "\n", encoding="utf-8")
    # safetensors makes files that only their owner can read; results are to be shared.
    for path in partial.iterdir():
        path.chmod((partial / RECORD).stat().st_mode)
    os.replace(partial, folder)


def _finished(folder: Path, inputs: dict[str, JsonValue]) -> TrainingRecord:
    try:
        text = (folder / RECORD).read_text(encoding="utf-8")
        record = TrainingRecord.model_validate_json(text)
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{folder} is not empty and has no readable {RECORD}, so it is no model of ours: "
            "remove it or name another folder."
        ) from error
    _refuse_other(folder, record.inputs, inputs)
    return record


def _refuse_other(
    folder: Path, found: Mapping[str, JsonValue], wanted: Mapping[str, JsonValue]
) -> None:
    """Compare what two trainings depend on; how often checkpoints are written changes nothing."""
    flat_found, flat_wanted = _flat(found), _flat(wanted)
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


def _tensors(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    """Weights and buffers by name, each once (a tied weight has several names)."""
    return dict(model.named_parameters()) | dict(model.named_buffers())


def _name(step: int) -> str:
    return f"step-{step:08d}"


def _steps(checkpoints: Path) -> list[int]:
    return sorted(int(path.name.removeprefix("step-")) for path in checkpoints.glob("step-*"))


def _read_state(folder: Path) -> dict[str, Any]:
    """State of a checkpoint whose files are what they were when it was written."""
    state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    for name, expected in state["sha256"].items():
        if _file_sha256(folder / name) != expected:
            raise ValueError(f"{folder.name}/{name} has another sha256 than {_STATE} says")
    return state


def _empty(folder: Path) -> Path:
    """Make a folder, without what an earlier process left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def weights_sha256(model: torch.nn.Module) -> str:
    """Hash over the names and values of a model's weights."""
    return sha256_of(
        name.encode() + tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
        for name, tensor in _tensors(model).items()
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
