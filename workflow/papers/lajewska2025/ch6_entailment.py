"""Entailment and contradiction by responses in chapter 6 of lajewska2025, by an NLI model.

Source: lajewska2025, section 6.4.1 (L1752): the probability that a response entails or contradicts
nuggets, according to ``cross-encoder/nli-roberta-base``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification

from everycell.base.arrays import FloatArray
from everycell.learning.models import ModelError, device, load_weights, model_folder, read_tokenizer

#: Labels of an NLI model, in any order and case.
LABELS = ("entailment", "contradiction", "neutral")


def load_inference(source: Path | str) -> tuple[Any, Any]:
    """Load an NLI model with its tokenizer, from safetensors."""
    folder = model_folder(source, network=False)
    kind = AutoModelForSequenceClassification
    model, missing = load_weights(kind, folder, str(source), dtype="auto")
    if missing:
        # transformers initialises missing weights at random.
        raise ModelError(
            f"{source}: its weights lack {missing[0]!r}, so it is not an NLI model; give a model "
            "that was trained to classify."
        )
    tokenizer = read_tokenizer(folder, str(source))
    labels = [str(name).lower() for name in model.config.id2label.values()]
    if sorted(labels) != sorted(LABELS):
        raise ModelError(
            f"{source}: its labels are {', '.join(labels)}; an NLI model has "
            f"{', '.join(LABELS)}. Correct id2label in its config.json, or give another model."
        )
    return model.to(device()).eval(), tokenizer


def inference_probabilities(
    model: Any,
    tokenizer: Any,
    pairs: Sequence[tuple[str, str]],
    *,
    length: int = 512,
    batch: int = 32,
) -> FloatArray:
    """Probabilities of `LABELS` for each pair of premise and hypothesis."""
    index_of = {str(name).lower(): int(index) for index, name in model.config.id2label.items()}
    columns = [index_of[label] for label in LABELS]
    batches = []
    for start in range(0, len(pairs), batch):
        premises, hypotheses = zip(*pairs[start : start + batch], strict=True)
        tokens = tokenizer(
            list(premises),
            list(hypotheses),
            truncation="only_first",
            max_length=length,
            padding=True,
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            logits = model(**tokens).logits.double()
        batches.append(torch.softmax(logits, dim=1)[:, columns].cpu().numpy())
    return np.concatenate(batches) if batches else np.zeros((0, len(LABELS)))
