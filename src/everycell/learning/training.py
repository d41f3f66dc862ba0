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

import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pydantic import JsonValue
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerBase,
    get_scheduler,
    set_seed,
)

from everycell.learning.batching import is_out_of_memory
from everycell.learning.checkpoints import Checkpoints, make_empty_folder
from everycell.learning.dropout import set_dropout
from everycell.learning.quiet import quiet
from everycell.learning.training_record import (
    RECORD,
    TrainingError,
    TrainingOptions,
    TrainingRecord,
    Validation,
    finished_record,
    sha256_of,
    weights_sha256,
)

if TYPE_CHECKING:
    from datasets import Dataset

LOG = logging.getLogger(__name__)
#: Seconds between two lines of progress.
PROGRESS_SECONDS = 10.0

Batch = dict[str, list[Any]]
Loss = Callable[[Any, Batch], torch.Tensor]


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
    the same arguments, training resumes from the last complete checkpoint; once `folder` is
    finished, its record is returned and nothing is trained. All random generators are
    seeded in each step, which also changes those of the caller.
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
        record = finished_record(folder, inputs)
        # A kill may have come between the last rename and this.
        shutil.rmtree(checkpoints, ignore_errors=True)
        return record
    if options.dropout is not None:
        set_dropout(model, options.dropout)
    run = _Run(model, examples, loss, options, inputs, checkpoints)
    run.go(validate)
    _write_model(model, tokenizer, run.record, folder)
    run.checkpoints.remove()
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
        self.rows_a_step = options.batch_size * options.accumulation
        self.steps_an_epoch = -(-len(examples) // self.rows_a_step)
        self.total = options.epochs * self.steps_an_epoch
        if options.max_steps is not None:
            self.total = min(self.total, options.max_steps)
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimiser = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.optimiser](
            [
                {
                    "params": [parameter for parameter in parameters if parameter.ndim > 1],
                    "weight_decay": options.weight_decay,
                },
                {
                    "params": [parameter for parameter in parameters if parameter.ndim <= 1],
                    "weight_decay": 0.0,
                },
            ],
            lr=options.learning_rate,
            # One pass over weights and moments, not one for each operation.
            fused=True,
        )
        self.schedule = get_scheduler(
            {"linear": "linear", "constant": "constant_with_warmup"}[options.schedule],
            self.optimiser,
            num_warmup_steps=round(options.warmup_ratio * self.total),
            num_training_steps=self.total,
        )
        self.checkpoints = Checkpoints(checkpoints, model, self.optimiser, self.schedule)
        state = self.checkpoints.resume(inputs)
        if state is not None:
            LOG.info(
                "%s: training resumes after step %d of %d.", checkpoints, state.steps, self.total
            )
        self.record = state or TrainingRecord(inputs=inputs, batch_size=options.batch_size)
        self.on_gpu = next(model.parameters()).device.type == "cuda"
        if options.bf16 and not self.on_gpu:
            LOG.warning("bf16 is for a GPU and this is a CPU: training continues in float32.")

    def go(self, validate: Callable[[Any], float] | None) -> None:
        """Do the steps that are left; leave the kept weights in the model."""
        every = self.options.validation_steps or self.steps_an_epoch
        first, begun = self.record.steps, time.monotonic()
        last_report = begun
        while self.record.steps < self.total and not self.record.stopped_early:
            self.step()
            done, now = self.record.steps, time.monotonic()
            if now - last_report > PROGRESS_SECONDS or done == self.total:
                last_report = now
                LOG.info(
                    "step %d of %d, loss %.4g, %.1f minutes left",
                    done,
                    self.total,
                    self.record.losses[-1],
                    (now - begun) / (done - first) * (self.total - done) / 60,
                )
            due = validate is not None and (done % every == 0 or done == self.total)
            if validate is not None and due:
                self.judge(validate)
            if done < self.total and (due or done % self.options.checkpoint_steps == 0):
                self.checkpoints.save(self.record)
        best = self.record.best_step
        if best is not None and best != self.record.steps:
            self.checkpoints.load_weights(best)
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
                if not is_out_of_memory(error):
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
            with self.precision():
                value = self.loss(self.model, self.examples[part.tolist()])
            value = value * (len(part) / len(rows))
            value.backward()
            total += value.item()
        return total

    def precision(self) -> torch.autocast:
        """Number format of a forward pass."""
        return torch.autocast("cuda", torch.bfloat16, enabled=self.options.bf16 and self.on_gpu)

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
        with torch.no_grad(), self.precision():
            value = float(validate(self.model))
        if not np.isfinite(value):
            raise TrainingError(
                f"The validation value after step {self.record.steps} is {value}: it has to be a "
                "finite number."
            )
        record = self.record
        best = max((validation.value for validation in record.validations), default=-np.inf)
        record.validations.append(Validation(step=record.steps, value=value))
        if value > best:
            record.best_step = record.steps
        assert record.best_step is not None, "a finite value is above none at all"
        since = [validation.step for validation in record.validations].index(record.best_step)
        worse = len(record.validations) - since - 1
        record.stopped_early = self.options.patience is not None and worse >= self.options.patience
        LOG.info("validation after step %d: %.4f", record.steps, value)


def _write_model(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None,
    record: TrainingRecord,
    folder: Path,
) -> None:
    partial = make_empty_folder(folder.with_name(f".{folder.name}.partial"))
    with quiet():
        model.save_pretrained(partial)
        if tokenizer is not None:
            tokenizer.save_pretrained(partial)
    text = json.dumps(record.model_dump(), indent=1, sort_keys=True)
    (partial / RECORD).write_text(text + "\n", encoding="utf-8")
    # safetensors makes files that only their owner can read; results are to be shared.
    for path in partial.iterdir():
        path.chmod((partial / RECORD).stat().st_mode)
    os.replace(partial, folder)
