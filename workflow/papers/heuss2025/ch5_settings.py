"""Settings of chapter 5 of heuss2025: faithfulness of citations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from everycell.base.settings import PlainPath, Settings

Probability = Annotated[float, Field(ge=0, le=1)]


class AttributedQuestions(Settings):
    """Released tier: attributors on Natural Questions."""

    questions: int = Field(200, ge=2, le=2655, description="Maximum number of questions.")
    depth: int = Field(5, ge=1, le=20, description="Documents per question, retrieved by BM25.")
    length: int = Field(256, ge=8, le=512, description="Word pieces of an encoded document.")
    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description=(
            "Language models that choose a document for a known answer: key of "
            "`language_models` -> name in figures."
        ),
    )
    chosen: int = Field(
        40, ge=2, le=2655, description="Maximum number of questions for these models."
    )


class KiltFiles(Settings):
    """Full tier: files of KILT and a ColBERT, from which the questions' documents are made."""

    pages: PlainPath | None = Field(None, description="File kilt_knowledgesource.json.")
    questions: PlainPath | None = Field(
        None, description="File nq-test_without_answers-kilt.jsonl, or another task's."
    )
    tokenizer: PlainPath | None = Field(None, description="File tokenizer.json of GPT-2.")
    tokens: int = Field(100, ge=1, description="Maximum number of tokens of a chunk.")
    k1: float = Field(0.9, ge=0, description="Saturation of term frequencies in BM25.")
    b: float = Field(0.4, ge=0, le=1, description="Length normalisation of BM25.")
    candidates: int = Field(30, ge=1, description="Chunks per question that BM25 retrieves.")
    model: str | None = Field(
        None,
        min_length=1,
        description="ColBERT in safetensors that re-ranks them: a folder or a name on the hub.",
    )
    query_length: int = Field(
        32, ge=4, le=512, description="Word pieces of a query, filled up with [MASK]."
    )
    length: int = Field(256, ge=8, le=512, description="Maximum word pieces of a chunk.")


class AskedModels(Settings):
    """Full tier: language models that answer and cite."""

    models: dict[str, Literal["spans", "own template"]] = Field(
        {},
        description=(
            "Language models that answer: key of `language_models` -> form of citations (marked "
            "spans, as our prompt requests, or the model's own template). Tables show the first."
        ),
    )
    data: str | None = Field(
        None, min_length=1, description="Folder with questions, passages and retrieved.run."
    )
    template: PlainPath | None = Field(None, description="File with your own prompt.")
    questions: int = Field(1444, ge=2, description="Maximum number of questions.")
    depth: int = Field(5, ge=2, le=100, description="Documents per question.")
    longest: int | None = Field(
        None, ge=1, description="Maximum number of words of a statement to forge; null: no limit."
    )
    max_tokens: int = Field(
        512, ge=16, le=100_000, description="Maximum number of tokens of an answer."
    )
    kilt: KiltFiles = KiltFiles()


class CitationFaithfulness(Settings):
    """Table 5.2 and Figures 5.3 to 5.7 of heuss2025, with simulated readers."""

    questions: int = Field(400, ge=2, le=100_000, description="Number of synthetic questions.")
    readers: dict[str, Probability] = Field(
        {"all read": 0.0, "half remembered": 0.5, "all remembered": 1.0},
        min_length=1,
        description="Reader -> probability that a statement comes from memory, not from reading.",
    )
    memories: list[Probability] = Field(
        [0.0, 0.25, 0.5, 0.75, 1.0],
        min_length=1,
        description="True probabilities of remembering, to which estimates are compared.",
    )
    opens: list[Probability] = Field(
        [0.0, 0.3],
        min_length=1,
        description="Probabilities that a reader accepts bare words as support of a statement.",
    )
    matching: Probability = Field(
        0.6, description="Probability that a remembered statement cites a document with its words."
    )
    steady: Probability = Field(
        0.8, description="Probability that a statement is repeated if it can be."
    )
    released: AttributedQuestions = AttributedQuestions()
    full: AskedModels = AskedModels()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"citation_faithfulness": CitationFaithfulness}
