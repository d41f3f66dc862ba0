"""Documents with terms that TILDE thinks likely and that they lack (abolghasemi2026, section 2.4).

The m entries with the highest logits are found first and then filtered: what the document has
already and the stop ids are left out, so that fewer than m are added (in the thesis about 49 of 200
and 128 of 300).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from everycell.engine.arrays import IntArray
from everycell.learning.tilde import Ids, token_ids


@dataclass(frozen=True)
class Expansion:
    """Expanded documents."""

    sequences: list[list[int]]
    missing: IntArray
    added: IntArray


def expand(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    proposed: IntArray,
    length: int,
    stop: Ids,
    *,
    own: int | None = None,
) -> Expansion:
    """Append to documents the proposed terms that they lack, the likeliest first.

    The result is [CLS] document [SEP] new terms [SEP], as the authors' code has it: token ids and
    no text, since new terms need not be words ("##ing"), and a text made from them would be cut
    into other word pieces.
    """
    documents = token_ids(tokenizer, texts, length if own is None else min(own, length))
    terms = [
        row[~np.isin(row, np.concatenate([ids, stop]))]
        for row, ids in zip(proposed, documents, strict=True)
    ]
    counts = np.array([len(new) for new in terms], dtype=np.int64)
    # One place is for the [SEP] behind the new terms.
    room = np.array([max(0, length - len(ids) - 1) for ids in documents], dtype=np.int64)
    added = np.minimum(counts, room)
    sequences = [
        [*ids, *new[:count].tolist(), tokenizer.sep_token_id] if count else ids
        for ids, new, count in zip(documents, terms, added, strict=True)
    ]
    return Expansion(sequences, counts, added)
