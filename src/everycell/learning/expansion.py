"""Expansion of documents with terms that TILDE predicts (abolghasemi2026, section 2.4).

The m vocabulary entries with the highest logits are filtered: stop ids and entries that are already
in the document are dropped. So fewer than m are added (in the thesis, about 49 of 200 and 128 of
300).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from everycell.base.arrays import IntArray
from everycell.learning.tilde import Ids, token_ids


@dataclass(frozen=True)
class Expansion:
    """Expanded documents as token ids, and numbers of new terms per document.

    `missing` counts the proposed terms that the document did not contain; `added` counts those that
    fitted into the length.
    """

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
    document_length: int | None = None,
) -> Expansion:
    """Append the proposed terms that a document does not contain, the most likely first.

    The result is [CLS] document [SEP] new terms [SEP], as in the authors' code. New terms need not
    be words ("##ing"), so the result consists of token ids: text would be split into other word
    pieces.
    """
    documents = token_ids(
        tokenizer, texts, length if document_length is None else min(document_length, length)
    )
    terms = [
        row[~np.isin(row, np.concatenate([ids, stop]))]
        for row, ids in zip(proposed, documents, strict=True)
    ]
    counts = np.array([len(new) for new in terms], dtype=np.int64)
    # One token is reserved for the [SEP] after the new terms.
    room = np.array([max(0, length - len(ids) - 1) for ids in documents], dtype=np.int64)
    added = np.minimum(counts, room)
    sequences = [
        [*ids, *new[:count].tolist(), tokenizer.sep_token_id] if count else ids
        for ids, new, count in zip(documents, terms, added, strict=True)
    ]
    return Expansion(sequences, counts, added)
