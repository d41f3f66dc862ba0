"""Training of transformers models in a simple loop that can be killed and resumed.

It replaces transformers' Trainer for four reasons. The Trainer writes a checkpoint file by file, so
incomplete checkpoints cannot be recognised. Its checkpoints have no record of the data and options.
If memory runs out, it restarts with half the batch size; here only the micro-batch shrinks, and the
steps stay the same. Its folders contain pickles; here weights and optimiser are safetensors, and
the rest is JSON.

Randomness in a step (dropout, the order of the rows) depends only on the seed and the number of the
step. So checkpoints need no state of a random generator, and a run that was killed and resumed
gives the same bytes as an uninterrupted run, on a CPU with the same number of threads.
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

from everycell.learning.batching import Rows, is_out_of_memory
from everycell.learning.checkpoints import (
    RECORD,
    Checkpoints,
    TrainingError,
    TrainingOptions,
    TrainingRecord,
    Validation,
    finished_record,
    make_empty_folder,
    sha256_of,
    weights_sha256,
)
from everycell.learning.models import quiet

if TYPE_CHECKING:
    from datasets import Dataset

LOG = logging.getLogger(__name__)
#: Seconds between two lines of progress.
PROGRESS_SECONDS = 10.0

Loss = Callable[[Any, Rows], torch.Tensor]


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
    """Train a model, and write it to a folder when it is finished.

    Checkpoints are in `<folder>.checkpoints`, so that a workflow may clear `folder` before it
    reruns a rule; they are removed at the end. Called again with the same arguments, training
    resumes from the last complete checkpoint. If `folder` contains a finished model, only the
    record of this model is returned. Each step seeds the global random generators.
    """
    if not len(examples):
        raise TrainingError("There are no rows to train on: give one or more.")
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
        # The process may have been killed before it removed them.
        shutil.rmtree(checkpoints, ignore_errors=True)
        return record
    if options.dropout is not None:
        set_dropout(model, options.dropout)
    run = _Run(model, examples, loss, options, inputs, checkpoints)
    run.finish(validate)
    _write_model(model, tokenizer, run.record, folder)
    run.checkpoints.remove()
    return run.record


class _Run:
    """A training run: model, optimiser, record and checkpoints."""

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
        self.rows_per_step = options.batch_size * options.accumulation
        self.steps_per_epoch = -(-len(examples) // self.rows_per_step)
        self.total = options.epochs * self.steps_per_epoch
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
            # One pass over weights and moments, instead of one per operation.
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
            LOG.warning("bf16 needs a GPU, but the model is on a CPU: training in float32.")

    def finish(self, validate: Callable[[Any], float] | None) -> None:
        """Run the remaining steps, and load the best weights into the model."""
        interval = self.options.validation_steps or self.steps_per_epoch
        first_step, start_time = self.record.steps, time.monotonic()
        last_report = start_time
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
                    (now - start_time) / (done - first_step) * (self.total - done) / 60,
                )
            is_due = validate is not None and (done % interval == 0 or done == self.total)
            if validate is not None and is_due:
                self.run_validation(validate)
            if done < self.total and (is_due or done % self.options.checkpoint_steps == 0):
                self.checkpoints.save(self.record)
        best = self.record.best_step
        if best is not None and best != self.record.steps:
            self.checkpoints.load_weights(best)
        self.model.eval()

    def step(self) -> None:
        """Take a step of the optimiser, with smaller micro-batches if memory runs out."""
        done = self.record.steps
        epoch, start = divmod(done, self.steps_per_epoch)
        order = np.random.default_rng([self.options.seed, epoch]).permutation(len(self.examples))
        rows = order[start * self.rows_per_step : (start + 1) * self.rows_per_step]
        while True:
            try:
                value = self.compute_gradients(rows)
                break
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                self.halve_batch(error)
        if not np.isfinite(value):
            raise TrainingError(
                f"The loss of step {done + 1} is {value}: lower learning_rate (it is "
                f"{self.options.learning_rate:g}) or check the rows."
            )
        if self.options.max_gradient_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.max_gradient_norm)
        self.optimiser.step()
        self.schedule.step()
        self.record.steps += 1
        self.record.losses.append(value)

    def compute_gradients(self, rows: np.ndarray) -> float:
        """Compute the gradients of the mean loss of rows, and return the loss."""
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

    def halve_batch(self, error: BaseException) -> None:
        """Halve the micro-batch, or raise an error if it has a single row."""
        if self.record.batch_size == 1:
            raise TrainingError(
                "Memory ran out with a single row in a batch: shorten the texts, or use a smaller "
                "model or a machine with more memory."
            ) from error
        self.record.batch_size = (self.record.batch_size + 1) // 2
        LOG.warning(
            "Memory ran out in step %d: continuing with micro-batches of %d rows, and the same "
            "number of rows per step.",
            self.record.steps + 1,
            self.record.batch_size,
        )

    def run_validation(self, validate: Callable[[Any], float]) -> None:
        """Validate, and record the best step and whether to stop early."""
        self.model.eval()
        with torch.no_grad(), self.precision():
            value = float(validate(self.model))
        if not np.isfinite(value):
            raise TrainingError(
                f"The validation value after step {self.record.steps} is {value}: it must be a "
                "finite number."
            )
        record = self.record
        best = max((validation.value for validation in record.validations), default=-np.inf)
        record.validations.append(Validation(step=record.steps, value=value))
        if value > best:
            record.best_step = record.steps
        assert record.best_step is not None, "the first finite value is the best so far"
        best_index = [validation.step for validation in record.validations].index(record.best_step)
        worse = len(record.validations) - best_index - 1
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
    # safetensors creates files that only their owner can read, but results are shared.
    for path in partial.iterdir():
        path.chmod((partial / RECORD).stat().st_mode)
    os.replace(partial, folder)


def set_dropout(model: PreTrainedModel, rate: float) -> None:
    """Set the rate of every dropout layer: between layers, in attention, before the output."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = rate
