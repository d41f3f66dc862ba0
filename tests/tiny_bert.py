"""A BERT in a folder that is quickly made and quickly run: what it says means nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tiny_bert(
    kind: type[PreTrainedModel] = BertForMaskedLM, *, words: int, positions: int, size: int = 8
) -> PreTrainedModel:
    """A BERT of one layer with random weights, which are always the same."""
    torch.manual_seed(0)
    return kind(
        BertConfig(
            vocab_size=words,
            hidden_size=size,
            num_attention_heads=size // 8,
            intermediate_size=size,
            num_hidden_layers=1,
            max_position_embeddings=positions,
            num_labels=1,
            # Else the untrained weights are all but equal, and so are all scores.
            initializer_range=0.5,
        )
    )


def write_bert(folder: Path, model: PreTrainedModel, vocabulary: Sequence[str]) -> None:
    """Write a model with a vocabulary file as its tokenizer, as users may have it."""
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary))
    kind = {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind))
