"""Settings of chapter 5 of heuss2025: faithfulness of citations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from everycell.engine.settings import Settings

Probability = Annotated[float, Field(ge=0, le=1)]


class AttributedQuestions(Settings):
    """Released tier: attributors whose mechanism is known, on Natural Questions."""

    questions: int = Field(200, ge=2, le=2655, description="Questions, at most.")
    depth: int = Field(5, ge=1, le=20, description="Documents of a question, from BM25.")
    length: int = Field(256, ge=8, le=512, description="Word pieces of an encoded document.")


class CitationFaithfulness(Settings):
    """Table 5.2 and Figures 5.3 to 5.7 of heuss2025: the control whose behaviour is known."""

    questions: int = Field(400, ge=2, le=100_000, description="Made-up questions.")
    readers: dict[str, Probability] = Field(
        {"all read": 0.0, "half remembered": 0.5, "all remembered": 1.0},
        min_length=1,
        description="Answerers -> probability that a statement is remembered and not read.",
    )
    memories: list[Probability] = Field(
        [0.0, 0.25, 0.5, 0.75, 1.0],
        min_length=1,
        description="Probabilities of remembering that the estimates are compared with.",
    )
    opens: list[Probability] = Field(
        [0.0, 0.3],
        min_length=1,
        description="Probabilities that a reader takes the bare words for the claim.",
    )
    matching: Probability = Field(
        0.6, description="Probability that what is remembered cites a document with its words."
    )
    steady: Probability = Field(
        0.8, description="Probability that a statement is said again when it could be."
    )
    released: AttributedQuestions = AttributedQuestions()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"citation_faithfulness": CitationFaithfulness}
