"""A random T5 of one layer, with a tokenizer of words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

SPECIAL = ["<pad>", "</s>", "<unk>"]


def write_t5(folder: Path, words: Sequence[str], *, factor: float = 20.0) -> None:
    """Write the model and its tokenizer, which knows these words and the special ones.

    `factor` is the size of its random weights.
    """
    vocabulary = [*SPECIAL, *words]
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=8,
        d_kv=4,
        d_ff=8,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=factor,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer = Tokenizer(
        models.WordLevel({word: position for position, word in enumerate(vocabulary)}, "<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
