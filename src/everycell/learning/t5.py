"""T5 models that rewrite a query in the context of earlier turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import GenerationConfig, PreTrainedTokenizerBase, T5ForConditionalGeneration

from everycell.learning.models import ModelError, load_weights, model_folder, read_tokenizer
from everycell.learning.quiet import quiet


def load_t5(
    source: Path | str, *, network: bool = False, revision: str | None = None
) -> tuple[T5ForConditionalGeneration, PreTrainedTokenizerBase]:
    """Load a T5 and its tokenizer, in eval mode and float32 on the CPU."""
    folder, name = model_folder(source, network=network, revision=revision), str(source)
    with quiet():
        model, missing = load_weights(T5ForConditionalGeneration, folder, name)
        tokenizer = read_tokenizer(folder, name)
    if missing:
        raise ModelError(
            f"The weights of {name} lack {missing[0]!r}, so it is not a T5: use a T5 that was "
            "trained to rewrite queries."
        )
    return model.eval(), tokenizer


def count_tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> int:
    """Number of tokens of a text, including the end token."""
    return len(tokenizer(text, verbose=False)["input_ids"])


def generate(
    model: T5ForConditionalGeneration,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    *,
    length: int = 512,
    new_tokens: int = 64,
    beams: int = 10,
    batch: int = 8,
) -> list[str]:
    """Generate an output for each text, by beam search."""
    sizes = {"length": length, "new_tokens": new_tokens, "beams": beams, "batch": batch}
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}: it must be 1 or more.")
    settings = GenerationConfig(
        max_new_tokens=new_tokens,
        num_beams=beams,
        early_stopping=beams > 1,
        do_sample=False,
        pad_token_id=model.config.pad_token_id,
        eos_token_id=model.config.eos_token_id,
        decoder_start_token_id=model.config.decoder_start_token_id,
    )
    outputs: list[str] = []
    for start in range(0, len(texts), batch):
        inputs = tokenizer(
            list(texts[start : start + batch]),
            truncation=True,
            max_length=length,
            padding=True,
            return_token_type_ids=False,
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            generated = model.generate(**inputs, generation_config=settings)
        outputs += tokenizer.batch_decode(generated, skip_special_tokens=True)
    return [text.strip() for text in outputs]
