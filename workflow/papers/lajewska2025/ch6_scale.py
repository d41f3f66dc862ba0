"""Number of requests to each language model in the full tier of chapter 6 of lajewska2025."""

from __future__ import annotations

from math import ceil
from typing import Any

from everycell.language_models.requirements import Load
from papers.lajewska2025.ch6_autonuggetizer import BATCH
from papers.lajewska2025.ch6_writing import ALL_WRITTEN, FURTHER

# Released responses per topic (the rows of Table 6.7), and facts per topic.
RESPONSES, FACTS = 8, 17.6
# Passages per question and kind, and kinds of passages: relevant ones and further kinds. Each has
# two baselines.
PASSAGES, KINDS = 5, 1 + len(FURTHER)
BASELINES = 2 * KINDS
# Words of a passage, a response, a fact and the fixed text of a prompt; tokens per word. These are
# estimates, because recorded answers of this chapter may not be redistributed.
_PASSAGE, _RESPONSE, _FACT, _PROMPT, _TOKENS = 130, 100, 12, 150, 1.35


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, computed from its settings."""
    ginger = config.ginger
    full, questions = ginger.full, ginger.full.questions
    batches = ceil(FACTS / BATCH)
    judgements = full.topics * RESPONSES * batches
    passages = questions * KINDS * PASSAGES
    variants = [
        variant for systems in (ALL_WRITTEN, *FURTHER.values()) for variant in systems.values()
    ]
    rewritten_variants = sum(rewritten is not None for _, rewritten in variants)
    per_question = BASELINES + len(variants) * (ginger.clusters + 2) + rewritten_variants
    responses = questions * (BASELINES + len(variants) + rewritten_variants)
    return [
        _load(
            "judgements",
            judgements,
            _RESPONSE + FACTS / batches * _FACT,
            full.max_tokens,
            f"{full.topics} topics × {RESPONSES} responses × {batches} batches of facts",
        ),
        _load(
            "rephrased passages",
            questions * PASSAGES,
            _PASSAGE,
            full.passage_tokens,
            f"{questions} questions × {PASSAGES} passages",
        ),
        _load(
            "nuggets",
            passages,
            _PASSAGE,
            full.passage_tokens,
            f"{questions} questions × {KINDS} kinds × {PASSAGES} passages",
        ),
        _load(
            "responses",
            questions * per_question,
            PASSAGES * _PASSAGE,
            ginger.max_tokens,
            f"{questions} questions × ({BASELINES} baselines + {len(variants)} variants × "
            f"({ginger.clusters + 1} summaries + 1 offer) + {rewritten_variants} rewritten)",
        ),
        _load(
            "ratings",
            3 * responses * full.ragas.runs,
            PASSAGES * _PASSAGE + _RESPONSE,
            full.passage_tokens,
            f"{responses} responses × 3 prompts × {full.ragas.runs} runs",
        ),
    ]


def _load(step: str, requests: int, words: float, answer_tokens: int, formula: str) -> Load:
    prompt_tokens = round(requests * (words + _PROMPT) * _TOKENS)
    return Load(step, requests, prompt_tokens, requests * answer_tokens, formula)
