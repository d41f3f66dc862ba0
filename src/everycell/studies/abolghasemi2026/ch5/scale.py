"""What the chapter's full run asks of each language model."""

from __future__ import annotations

from typing import Any

from everycell.language_models.scale import Load
from everycell.studies.abolghasemi2026.ch5.arms import study_settings

# Tokens of a prompt: of a document, and of all else. By SmolLM2, in the released tier's record: of
# its prompts the 180 with five documents have 791 in the mean, the others, with two, 345.
DOCUMENT, REST = 149, 47
# A passage and its prompt in the record of paraphrases, which is of sentences there.
_PARAPHRASE = 351 + DOCUMENT


def full_loads(config: Any) -> list[Load]:
    """Loads of the full tier, by its settings."""
    sizes, tried = config.attribution.full, config.attribution.paraphrases
    loads = []
    for benchmark, retrievers in {
        "Natural Questions": ("uniCOIL", "TCT-ColBERT"),
        "MS MARCO QA": (),
    }.items():
        settings = study_settings(sizes.k, sizes.depths, other_retrievers=retrievers)
        counts = sizes.questions.model_dump()
        requests = [len(setting.arms) * counts[setting.name] for setting in settings]
        read = [
            number * (REST + setting.k * DOCUMENT)
            for number, setting in zip(requests, settings, strict=True)
        ]
        loads.append(
            Load(
                f"answers to {benchmark}",
                sum(requests),
                sum(read),
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
            passages * tried.passage_tokens,
            f"{sizes.questions.main} questions × {sizes.k} passages; what is rejected is asked "
            f"again, up to {tried.full.attempts} times in all",
        )
    )
    return loads
