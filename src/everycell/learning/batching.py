"""A model's answer for many token sequences: batches of like length, answers in the input's order.

Padding is work for nothing. Sequences are therefore sorted by length, and each batch is padded to
its own longest one only. What stands in a batch depends on the sequences and the limits alone, so a
second run gives the same numbers to the last bit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import torch

from everycell.engine.arrays import IntArray

LOG = logging.getLogger(__name__)
# Tokens in a batch. On a CPU the fastest of 512 to 16,384 for a BERT of 2 layers on one core; a GPU
# begins with many, and halves them where its memory is smaller.
_BATCH_TOKENS = {"cpu": 2048, "cuda": 131_072}

Ids: TypeAlias = Sequence[int] | IntArray
Batch: TypeAlias = Mapping[str, torch.Tensor]


class TokenPair(NamedTuple):
    """Two token sequences that the model reads as one, their special tokens included."""

    first: Ids
    second: Ids


def map_batches(
    forward: Callable[[Batch], torch.Tensor],
    sequences: Sequence[Ids] | Sequence[TokenPair],
    *,
    pad_id: int,
    batch_tokens: int | None = None,
    batch_size: int | None = None,
    device: torch.device | str = "cpu",
    what: str = "texts",
    log_seconds: float = 5.0,
) -> list[np.ndarray]:
    """Answer of a model for each sequence, without gradients, the longest sequences first.

    If a batch does not fit into memory, it is halved, and so are all later ones.
    """
    if batch_tokens is None:
        batch_tokens = _BATCH_TOKENS.get(torch.device(device).type, _BATCH_TOKENS["cpu"])
    if batch_tokens < 1 or (batch_size is not None and batch_size < 1):
        raise ValueError(
            f"A batch of at most {batch_tokens} tokens and {batch_size} sequences holds nothing: "
            "both limits must be 1 or more."
        )
    lengths = np.array([_length(sequence) for sequence in sequences], dtype=np.int64)
    if len(lengths) and lengths.min() < 1:
        raise ValueError(
            f"Number {int(lengths.argmin())} of the {what} has no token: a sequence needs at least "
            "one, so add the tokenizer's special tokens."
        )
    # Stable, so that sequences of one length keep their order.
    order = np.argsort(-lengths, kind="stable")
    results: list[np.ndarray] = [np.empty(0)] * len(lengths)
    limit = len(lengths) if batch_size is None else batch_size
    begun = last_report = time.monotonic()
    todo = int(lengths.sum())
    start = done = 0
    # A GPU computes a batch while the CPU pads the next, so answers are fetched one batch late.
    late: list[tuple[np.ndarray, torch.Tensor]] = []

    def fetch() -> None:
        for rows, answers in late:
            for row, answer in zip(rows, answers.cpu().numpy(), strict=True):
                results[row] = answer
        late.clear()

    while start < len(order):
        longest = int(lengths[order[start]])
        rows = order[start : start + max(1, min(limit, batch_tokens // longest))]
        answers = _try(forward, pad([sequences[row] for row in rows], pad_id, device))
        if answers is None:
            if len(rows) == 1:
                raise MemoryError(
                    f"Out of memory with a batch of one of the {what}, which has {longest} tokens: "
                    "cut the texts shorter, take a smaller model or a machine with more memory."
                )
            limit = len(rows) // 2
            batch_tokens = limit * longest
            LOG.warning(
                "Out of memory with a batch of %d %s of up to %d tokens: continuing with %d per "
                "batch.",
                *(len(rows), what, longest, limit),
            )
            continue
        if answers.shape[:1] != rows.shape:
            raise ValueError(
                f"`forward` gave a tensor of shape {answers.shape} for a batch of {len(rows)} "
                f"{what}: its first axis must have one row per sequence."
            )
        fetch()
        late.append((rows, answers))
        start += len(rows)
        done += int(lengths[rows].sum())
        now = time.monotonic()
        if now - last_report >= log_seconds:
            last_report = now
            left = (now - begun) * (todo - done) / done
            LOG.info("%d of %d %s, about %.0f s left.", start, len(order), what, left)
    fetch()
    return results


def pad(
    sequences: Sequence[Ids] | Sequence[TokenPair], pad_id: int, device: torch.device | str = "cpu"
) -> dict[str, torch.Tensor]:
    """A batch of token sequences, filled up on the right to the longest."""
    shape = (len(sequences), max(_length(sequence) for sequence in sequences))
    ids = np.full(shape, pad_id, dtype=np.int64)
    mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    pairs = isinstance(sequences[0], TokenPair)
    for row, sequence in enumerate(sequences):
        length = _length(sequence)
        mask[row, :length] = 1
        if isinstance(sequence, TokenPair):
            middle = len(sequence.first)
            ids[row, :middle] = sequence.first
            ids[row, middle:length] = sequence.second
            types[row, middle:length] = 1
        else:
            ids[row, :length] = sequence
    batch = {"input_ids": ids, "attention_mask": mask} | (
        {"token_type_ids": types} if pairs else {}
    )
    tensors = {name: torch.from_numpy(values) for name, values in batch.items()}
    if torch.device(device).type == "cuda":
        # From pinned memory, else the copy waits for all that the GPU still has to do.
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}


def _length(sequence: Ids | TokenPair) -> int:
    """Number of tokens."""
    if isinstance(sequence, TokenPair):
        return len(sequence.first) + len(sequence.second)
    return len(sequence)


def _try(forward: Callable[[Batch], torch.Tensor], batch: Batch) -> torch.Tensor | None:
    """The answers for a batch; None if it does not fit into memory.

    A function of its own, so that an error's traceback, which keeps the tensors of the failed
    batch alive, is gone when the next batch is tried.
    """
    try:
        with torch.no_grad():
            answers = forward(batch)
            return answers.float() if answers.dtype == torch.bfloat16 else answers
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out, on a GPU or on the CPU.

    Examples
    --------
    >>> out_of_memory(MemoryError()), out_of_memory(RuntimeError("shapes do not match"))
    (True, False)
    """
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        "DefaultCPUAllocator" in str(error) and "memory" in str(error)
    )
