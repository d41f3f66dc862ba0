"""Two texts as one token sequence: how they are tokenised, cut and joined for a cross-encoder."""

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
    """How a query and a document that are too long together are cut to `total` tokens.

    "query_first" cuts queries to `query` tokens whatever the document, so that all candidates are
    compared with the same text; "longest_first" cuts the longer text, as transformers does by
    default.
    """

    total: int
    cut: Literal["query_first", "longest_first"] = "query_first"
    query: int | None = None

    def __post_init__(self) -> None:
        """Refuse lengths that leave no room."""
        if self.total < SPECIAL + 2:
            raise ValueError(
                f"total is {self.total}: a pair needs {SPECIAL + 2} tokens or more, {SPECIAL} of "
                "them special ones; give more."
            )
        if self.cut not in ("query_first", "longest_first"):
            raise ValueError(
                f"cut is {self.cut!r}: it must be 'query_first' or 'longest_first'; give one."
            )
        if self.query is not None and not (
            self.cut == "query_first" and 1 <= self.query < self.total - SPECIAL
        ):
            raise ValueError(
                f"query is {self.query} with cut {self.cut!r} and total {self.total}: it goes with "
                f"'query_first' and must be 1 to {self.total - SPECIAL - 1}; change it or leave it "
                "out."
            )

    def room(self, query: int, document: int) -> tuple[int, int]:
        """Tokens that are kept of each text."""
        free = self.total - SPECIAL
        half = free // 2
        if self.cut == "query_first":
            query = min(query, half if self.query is None else self.query)
        elif query + document > free:
            # The odd token goes to the longer text, or to the document: as in tokenizers.
            query = min(query, max(half if query <= document else free - half, free - document))
        return query, min(document, free - query)


def tokenise(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]
) -> list[npt.NDArray[np.int32]]:
    """Token ids of texts, uncut and without special tokens, in one call of the tokenizer."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        # No word on texts longer than the model reads: which of two is cut depends on both.
        verbose=False,
    )
    return [np.array(ids, dtype=np.int32) for ids in encoded["input_ids"]]


def join(
    tokenizer: PreTrainedTokenizerBase, query: Ids, document: Ids, length: PairLength
) -> TokenPair:
    """[CLS] q [SEP] and d [SEP] as one sequence for a model."""
    query_length, filled = length.room(len(query), len(document))
    start, end = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    return TokenPair(
        np.concatenate([start, query[:query_length], end]).astype(np.int32),
        np.concatenate([document[:filled], end]).astype(np.int32),
    )
