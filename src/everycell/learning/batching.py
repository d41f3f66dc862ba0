"""Application of a model to token sequences, in batches of similar length.

Padding wastes computation, so sequences are sorted by length and a batch is padded only to its
longest sequence. Unless memory runs out, the batches depend only on the sequences and the limits,
so repeated runs give bit-identical results.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from transformers import PreTrainedModel

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError

LOG = logging.getLogger(__name__)
# Tokens per batch. On one CPU core, 2,048 is the fastest size from 512 to 16,384 for a BERT with 2
# layers. A GPU starts with large batches, which are halved if its memory is too small.
_BATCH_TOKENS = {"cpu": 2048, "cuda": 131_072}

Ids: TypeAlias = Sequence[int] | IntArray
#: Rows of a training set: column -> values.
Rows: TypeAlias = dict[str, list[Any]]
Batch: TypeAlias = Mapping[str, torch.Tensor]


class TokenPair(NamedTuple):
    """Two token sequences, with special tokens, that the model reads as one."""

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
    """Output of a model for each sequence, in order and without gradients.

    If a batch does not fit into memory, it is halved, as are all later batches.
    """
    if batch_tokens is None:
        batch_tokens = _BATCH_TOKENS.get(torch.device(device).type, _BATCH_TOKENS["cpu"])
    lengths = np.array([_length(sequence) for sequence in sequences], dtype=np.int64)
    # Stable, so that sequences of the same length keep their order.
    order = np.argsort(-lengths, kind="stable")
    results: list[np.ndarray] = [np.empty(0)] * len(lengths)
    limit = len(lengths) if batch_size is None else batch_size
    start_time = last_report = time.monotonic()
    total_tokens = int(lengths.sum())
    start = tokens_done = 0
    # Outputs are fetched one batch late, so that the CPU pads a batch while the GPU computes.
    pending: list[tuple[np.ndarray, torch.Tensor]] = []

    def fetch() -> None:
        for rows, outputs in pending:
            for row, output in zip(rows, outputs.cpu().numpy(), strict=True):
                results[row] = output
        pending.clear()

    while start < len(order):
        longest = int(lengths[order[start]])
        rows = order[start : start + max(1, min(limit, batch_tokens // longest))]
        outputs = _try_batch(forward, pad([sequences[row] for row in rows], pad_id, device))
        if outputs is None:
            if len(rows) == 1:
                raise MemoryError(
                    f"Memory ran out for one of the {what}, which has {longest} tokens: shorten "
                    "the texts, or use a smaller model or a machine with more memory."
                )
            limit = len(rows) // 2
            batch_tokens = limit * longest
            LOG.warning(
                "Memory ran out for a batch of %d %s of up to %d tokens: continuing with %d per "
                "batch.",
                *(len(rows), what, longest, limit),
            )
            continue
        fetch()
        pending.append((rows, outputs))
        start += len(rows)
        tokens_done += int(lengths[rows].sum())
        now = time.monotonic()
        if now - last_report >= log_seconds:
            last_report = now
            seconds_left = (now - start_time) * (total_tokens - tokens_done) / tokens_done
            LOG.info("%d of %d %s, about %.0f s left.", start, len(order), what, seconds_left)
    fetch()
    return results


def pad(
    sequences: Sequence[Ids] | Sequence[TokenPair], pad_id: int, device: torch.device | str = "cpu"
) -> dict[str, torch.Tensor]:
    """Make a batch of token sequences, padded on the right to the longest."""
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
        # A copy from memory that is not pinned would wait until the GPU is idle.
        tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}


def _length(sequence: Ids | TokenPair) -> int:
    """Number of tokens."""
    if isinstance(sequence, TokenPair):
        return len(sequence.first) + len(sequence.second)
    return len(sequence)


def _try_batch(forward: Callable[[Batch], torch.Tensor], batch: Batch) -> torch.Tensor | None:
    """Output for a batch; None if it does not fit into memory.

    This is a separate function because the traceback of an error keeps the tensors of the failed
    batch in memory.
    """
    try:
        with torch.no_grad():
            outputs = forward(batch)
            return outputs.float() if outputs.dtype == torch.bfloat16 else outputs
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error means that memory ran out, on a GPU or the CPU."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        "DefaultCPUAllocator" in str(error) and "memory" in str(error)
    )


def cache_tokens(
    tokenise: Callable[[Sequence[str]], Sequence[Ids]],
) -> Callable[[Sequence[str]], list[Ids]]:
    """Wrap a tokeniser so that it tokenises each text only once."""
    ids_by_text: dict[str, Ids] = {}

    def tokenise_cached(texts: Sequence[str]) -> list[Ids]:
        new_texts = [text for text in dict.fromkeys(texts) if text not in ids_by_text]
        ids_by_text.update(zip(new_texts, tokenise(new_texts), strict=True))
        return [ids_by_text[text] for text in texts]

    return tokenise_cached


def check_length(model: PreTrainedModel, length: int) -> None:
    """Raise an error if a length exceeds the number of positions of a model."""
    limit = model.config.max_position_embeddings
    if length > limit:
        raise DataError(
            column="length",
            value=length,
            expected=f"at most {limit} tokens, the input of the model",
            fix="use a shorter length",
        )
