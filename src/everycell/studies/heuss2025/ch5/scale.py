"""What the chapter's full run asks of each language model."""

from __future__ import annotations

from typing import Any

from everycell.language_models.scale import Load

# Tokens for each document, with its share of the prompt: by SmolLM2, in the released tier's record
# prompts of five documents have 787 in the mean. Its passages have a hundred words.
PROMPT, DOCUMENTS = 787, 5
# Statements that are forged, for a question (section 5.4: 2,875 of 1,444 questions), and prompts
# that each takes at most: the forged one, and three controls where it was recovered.
FORGED, ASKED = 2875 / 1444, 4


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, by its settings."""
    full = config.citation_faithfulness.full
    forged = round(full.questions * FORGED)
    requests = full.questions + ASKED * forged
    prompt = round(PROMPT / DOCUMENTS * full.depth)
    return [
        Load(
            "cited answers",
            requests,
            requests * prompt,
            requests * full.max_tokens,
            f"{full.questions} questions + {forged} forged statements × {ASKED} prompts at most",
        )
    ]
