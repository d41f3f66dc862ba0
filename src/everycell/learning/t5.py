"""T5 models: rewriting of queries in the context of earlier turns, monoT5 and duoT5.

monoT5 estimates whether a text is relevant to a query (Nogueira, Jiang, Pradeep and Lin, 2020).
duoT5 estimates which of two texts is more relevant (Pradeep, Nogueira and Lin, "The
Expando-Mono-Duo Design Pattern", 2021, section 3.3: the prompt, and the sum of both orders as the
score of a text, SYM-SUM).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import GenerationConfig, PreTrainedTokenizerBase, T5ForConditionalGeneration

from everycell.base.arrays import FloatArray
from everycell.learning.batching import Batch, map_batches
from everycell.learning.models import ModelError, load_weights, model_folder, quiet, read_tokenizer


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


def relevance_scores(
    model: T5ForConditionalGeneration,
    tokenizer: PreTrainedTokenizerBase,
    query: str,
    texts: Sequence[str],
    *,
    length: int = 512,
) -> FloatArray:
    """Scores of monoT5: the logarithm of the probability that each text is relevant.

    A prompt above the length loses its end, as in the authors' code of lajewska2025, chapter 3.
    """
    labels = [_label(tokenizer, word) for word in ("true", "false")]
    prompts = [f"Query: {query} Document: {text} Relevant:" for text in texts]
    start = model.config.decoder_start_token_id

    def forward(batch: Batch) -> torch.Tensor:
        decoder_ids = torch.full((len(batch["input_ids"]), 1), start, device=model.device)
        logits = model(**batch, decoder_input_ids=decoder_ids).logits[:, 0, labels]
        return torch.log_softmax(logits.float(), dim=1)[:, 0]

    scores = map_batches(
        forward,
        tokenizer(prompts, truncation=True, max_length=length)["input_ids"],
        pad_id=tokenizer.pad_token_id,
        device=model.device,
    )
    return np.array(scores, dtype=np.float64)


def pair_scores(
    model: T5ForConditionalGeneration,
    tokenizer: PreTrainedTokenizerBase,
    query: str,
    texts: Sequence[str],
    *,
    length: int = 512,
    batch: int = 16,
) -> FloatArray:
    """Scores of duoT5, which compares each text with every other text, in both orders."""
    labels = [_label(tokenizer, word) for word in ("true", "false")]
    pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts)) if i != j]
    scores = np.zeros(len(texts))
    start = model.config.decoder_start_token_id
    for first in range(0, len(pairs), batch):
        part = pairs[first : first + batch]
        prompts = [_prompt(tokenizer, query, texts[i], texts[j], length) for i, j in part]
        inputs = tokenizer(
            prompts, padding=True, return_token_type_ids=False, return_tensors="pt"
        ).to(model.device)
        decoder_ids = torch.full((len(part), 1), start, device=model.device)
        with torch.inference_mode():
            logits = model(**inputs, decoder_input_ids=decoder_ids).logits[:, 0, labels].double()
        probabilities = torch.softmax(logits, dim=1)[:, 0].cpu().numpy()
        for (i, j), probability in zip(part, probabilities, strict=True):
            scores[i] += probability
            scores[j] += 1 - probability
    return scores


def _label(tokenizer: PreTrainedTokenizerBase, word: str) -> int:
    ids = tokenizer(word, add_special_tokens=False)["input_ids"]
    if len(ids) != 1 or ids[0] == tokenizer.unk_token_id:
        raise ModelError(
            f"The tokenizer has no single token for {word!r}: use a T5 that was trained to compare "
            "pairs, such as castorini/duot5-base-msmarco, with its own tokenizer."
        )
    return ids[0]


def _prompt(
    tokenizer: PreTrainedTokenizerBase, query: str, first: str, second: str, length: int
) -> str:
    """Prompt for a pair of texts, which are truncated until the prompt fits the length."""

    def build(words: int | None) -> str:
        texts = [" ".join(text.split()[:words]) for text in (first, second)]
        return f"Query: {query} Document0: {texts[0]} Document1: {texts[1]} Relevant:"

    words = max(len(first.split()), len(second.split()))
    prompt = build(None)
    while words > 1 and len(tokenizer(prompt, verbose=False)["input_ids"]) > length:
        words = min(words - 1, words * 9 // 10)
        prompt = build(words)
    return prompt
