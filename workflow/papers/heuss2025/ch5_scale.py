"""Number of requests to each language model in the full tier of chapter 5 of heuss2025."""

from __future__ import annotations

from typing import Any

from everycell.language_models.requirements import Load

# Mean number of tokens of prompts with five documents of a hundred words, from recorded answers of
# SmolLM2 at the released tier.
PROMPT, DOCUMENTS = 787, 5
# Forged statements per question (section 5.4: 2,875 for 1,444 questions), and the maximum number of
# prompts per statement: one with the forged document, and three controls if it is recovered.
FORGED, MAX_PROMPTS = 2875 / 1444, 4


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, computed from its settings."""
    full = config.citation_faithfulness.full
    forged = round(full.questions * FORGED)
    requests = full.questions + MAX_PROMPTS * forged
    prompt = round(PROMPT / DOCUMENTS * full.depth)
    return [
        Load(
            "cited answers",
            requests,
            requests * prompt,
            requests * full.max_tokens,
            f"{full.questions:,} questions + {forged:,} forged statements × "
            f"{MAX_PROMPTS} prompts at most",
        )
    ]
