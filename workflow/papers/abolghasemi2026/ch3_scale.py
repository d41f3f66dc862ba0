"""Number of requests and tokens per language model in chapter 3 of abolghasemi2026, full tier."""

from __future__ import annotations

from typing import Any

from everycell.language_models.requirements import Load

# Numbers of test samples: Main and CF of MultiWOZ, then of SGD (Table 3.5).
SAMPLES = (851, 543, 924, 742)
# Mean SmolLM2 tokens of a prompt with two examples in the released tier's record, and of one for a
# counterfactual in the committed record of both tiers.
PROMPT, REWRITING_PROMPT = 513, 620


def full_loads(config: Any) -> list[Load]:
    """Requests and tokens per language model under the settings of the full tier."""
    few_shot = config.user_satisfaction.full.few_shot
    if few_shot.pairs is None:
        requests = sum(SAMPLES)
        counted = " + ".join(map(str, SAMPLES)) + " test samples (Table 3.5)"
    else:
        # Each pair has a sample of Main and one of CF, in two benchmarks.
        requests, counted = 4 * few_shot.pairs, f"{few_shot.pairs} pairs of each benchmark"
    own = config.counterfactuals
    rewritten = [SAMPLES[0], SAMPLES[2]]
    if own.full.samples is None:
        rewritings, counted_rewritings = sum(rewritten), "851 + 924 test samples (Table 3.5)"
    else:
        # Of each label, in two benchmarks.
        rewritings = 4 * own.full.samples
        counted_rewritings = f"{own.full.samples} samples of each label and benchmark"
    return [
        Load("labels", requests, requests * PROMPT, requests * few_shot.max_tokens, counted),
        Load(
            "counterfactuals",
            rewritings,
            rewritings * REWRITING_PROMPT,
            rewritings * own.max_tokens,
            counted_rewritings,
        ),
    ]
