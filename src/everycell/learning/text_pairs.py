"""Tokenising, truncating and joining two texts for a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedTokenizerBase

from everycell.learning.batching import Ids, TokenPair

#: [CLS] and two [SEP].
SPECIAL = 3


@dataclass(frozen=True)
class PairLength:
    """How a query and a document are truncated to `total` tokens.

    "query_first" truncates the query to `query` tokens regardless of the document, so that it is
    the same for all candidates; "longest_first" truncates the longer text, which is the default of
    transformers.
    """

    total: int
    cut: Literal["query_first", "longest_first"] = "query_first"
    query: int | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        if self.total < SPECIAL + 2:
            raise ValueError(
                f"total is {self.total}: a pair needs at least {SPECIAL + 2} tokens, including "
                f"{SPECIAL} special tokens."
            )
        if self.cut not in ("query_first", "longest_first"):
            raise ValueError(f"cut is {self.cut!r}: it must be 'query_first' or 'longest_first'.")
        if self.query is not None and not (
            self.cut == "query_first" and 1 <= self.query < self.total - SPECIAL
        ):
            raise ValueError(
                f"query is {self.query} with cut {self.cut!r} and total {self.total}: a query "
                "length needs cut 'query_first' and must be from 1 to "
                f"{self.total - SPECIAL - 1}; change or omit it."
            )

    def room(self, query: int, document: int) -> tuple[int, int]:
        """Number of tokens of each text that are kept."""
        free = self.total - SPECIAL
        half = free // 2
        if self.cut == "query_first":
            query = min(query, half if self.query is None else self.query)
        elif query + document > free:
            # An odd token goes to the longer text, or to the document in a tie, as in tokenizers.
            query = min(query, max(half if query <= document else free - half, free - document))
        return query, min(document, free - query)


def tokenise(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]
) -> list[npt.NDArray[np.int32]]:
    """Token ids of texts, without truncation or special tokens."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        # No warning about long texts, since pairs are truncated later.
        verbose=False,
    )
    return [np.array(ids, dtype=np.int32) for ids in encoded["input_ids"]]


def join(
    tokenizer: PreTrainedTokenizerBase, query: Ids, document: Ids, length: PairLength
) -> TokenPair:
    """Truncate two texts, and join [CLS] q [SEP] and d [SEP] into one sequence."""
    query_length, document_length = length.room(len(query), len(document))
    start, end = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    return TokenPair(
        np.concatenate([start, query[:query_length], end]).astype(np.int32),
        np.concatenate([document[:document_length], end]).astype(np.int32),
    )
