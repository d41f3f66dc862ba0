"""A small untrained BERT with a vocabulary of words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

#: Entries before the words, as in BERT's vocabularies: TILDE's markers are entries 1 and 2.
SPECIAL = ("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_untrained(words: Sequence[str], folder: Path, *, positions: int, seed: int) -> None:
    """Write a language model with random weights and its tokenizer to a folder."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=positions,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = BertForMaskedLM(config)
    model.bert.embeddings.position_embeddings.weight.data *= 0.5
    model.save_pretrained(folder)
    BertTokenizerFast(vocab=vocabulary, model_max_length=positions).save_pretrained(folder)
