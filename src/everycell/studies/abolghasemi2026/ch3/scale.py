"""What the chapter's full run asks of each language model."""

from __future__ import annotations

from typing import Any

from everycell.language_models.scale import Load

# Test samples: Main and CF of MultiWOZ, then of SGD (Table 3.5).
SAMPLES = (851, 543, 924, 742)
# Tokens of a prompt with two examples: mean by SmolLM2 in the released tier's record.
PROMPT = 513


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, by its settings."""
    few_shot = config.user_satisfaction.full.few_shot
    if few_shot.pairs is None:
        requests = sum(SAMPLES)
        counted = " + ".join(map(str, SAMPLES)) + " test samples (Table 3.5)"
    else:
        # Of each benchmark, Main and CF.
        requests, counted = 4 * few_shot.pairs, f"{few_shot.pairs} pairs of each benchmark"
    return [
        Load("labels", requests, requests * PROMPT, requests * few_shot.max_tokens, counted),
    ]
