"""Number of requests and tokens per language model in chapter 5 of abolghasemi2026, full tier."""

from __future__ import annotations

from typing import Any

from everycell.language_models.requirements import Load
from papers.abolghasemi2026.ch5_arms import study_settings

# SmolLM2 tokens of a document and of the remaining prompt, from the released tier's record: prompts
# with five documents (180) have 791 tokens on average, those with two have 345.
DOCUMENT, INSTRUCTIONS = 149, 47
# Tokens of a prompt in the record of paraphrases, where the unit is a sentence, and of a passage.
_PARAPHRASE = 351 + DOCUMENT


def full_loads(config: Any) -> list[Load]:
    """Requests and tokens per language model under the settings of the full tier."""
    sizes, paraphrase_settings = config.attribution.full, config.attribution.paraphrases
    loads = []
    for benchmark, retrievers in {
        "Natural Questions": ("uniCOIL", "TCT-ColBERT"),
        "MS MARCO QA": (),
    }.items():
        settings = study_settings(sizes.k, sizes.depths, other_retrievers=retrievers)
        counts = sizes.questions.model_dump()
        requests = [len(setting.arms) * counts[setting.name] for setting in settings]
        prompt_tokens = [
            number * (INSTRUCTIONS + setting.k * DOCUMENT)
            for number, setting in zip(requests, settings, strict=True)
        ]
        loads.append(
            Load(
                f"answers to {benchmark}",
                sum(requests),
                sum(prompt_tokens),
                sum(requests) * sizes.max_tokens,
                " + ".join(
                    f"{len(setting.arms)} arms × {number} ({setting.name}, k = {setting.k})"
                    for setting in settings
                    for number in [counts[setting.name]]
                ),
            )
        )
    passages = sizes.questions.main * sizes.k
    loads.append(
        Load(
            "paraphrases (each benchmark, first attempts)",
            passages,
            passages * _PARAPHRASE,
            passages * paraphrase_settings.passage_tokens,
            f"{sizes.questions.main} questions × {sizes.k} passages; rejected paraphrases are "
            f"requested again, up to {paraphrase_settings.full.attempts} attempts in all",
        )
    )
    return loads
