"""Dropout rate of a model."""

from __future__ import annotations

import torch
from transformers import PreTrainedModel


def set_dropout(model: PreTrainedModel, rate: float) -> None:
    """Set the rate of every dropout layer: between layers, in attention, before the output."""
    if not 0 <= rate < 1:
        raise ValueError(f"The dropout rate is {rate}: it must be at least 0 and below 1.")
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = rate
