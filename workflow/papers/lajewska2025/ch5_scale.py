"""Number of requests to each language model in the full tier of chapter 5 of lajewska2025."""

from __future__ import annotations

from typing import Any

from everycell.language_models.requirements import Load

# Test questions, passages, and rankings of three passages (Table 5.5).
QUESTIONS, PASSAGES, RANKINGS = 38, 380, 4539
# Mean words of a test passage, of the fixed text of a prompt with its question, and of two
# examples; tokens per word.
_PASSAGE, _PROMPT, _EXAMPLES, _TOKENS = 162, 60, 85, 1.35


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, computed from its settings."""
    settings = config.answerability.prompted
    share = min(settings.questions or QUESTIONS, QUESTIONS) / QUESTIONS
    passages, rankings = round(share * PASSAGES), round(share * RANKINGS)
    words = passages * (_PASSAGE + _PROMPT) + rankings * (2 * (3 * _PASSAGE + _PROMPT) + _EXAMPLES)
    requests = passages + 2 * rankings
    return [
        Load(
            "answerability",
            requests,
            round(words * _TOKENS),
            requests * settings.max_tokens,
            f"{passages} passages + 2 setups × {rankings} rankings",
        )
    ]
