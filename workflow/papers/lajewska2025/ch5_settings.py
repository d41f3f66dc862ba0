"""Settings of chapter 5 of lajewska2025: answerability."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import Training, WithDropout


class SentenceClassifier(Training, WithDropout):
    """An answer-in-the-sentence classifier with all weights trained."""

    warmup_steps: int = Field(500, ge=0, description="Steps of linear learning-rate warm-up.")
    weight_decay: float = Field(0.01, ge=0, description="Weight decay of matrices.")
    length: int = Field(
        512, ge=16, le=512, description="Word pieces of question and sentence together."
    )


class FrozenClassifier(Settings):
    """A logistic regression over the embeddings of a frozen encoder."""

    sentences: int = Field(
        2500,
        ge=100,
        description="Maximum number of training sentences, from randomly drawn questions.",
    )
    length: int = Field(24, ge=8, le=512, description="Word pieces of a question or sentence.")


class FullClassifier(SentenceClassifier):
    """The classifier of the thesis."""

    model: PlainPath = Field(
        "bert-base-uncased",
        min_length=1,
        description="Name on the hub, or a folder with a BERT in safetensors and its tokenizer.",
    )
    revision: str | None = Field(None, description="Commit, tag or branch of the hub name.")
    seeds: int = Field(
        3, ge=1, le=20, description="Training runs of each classifier; the table shows their means."
    )
    squad: PlainPath | None = Field(
        None, description="File train-v2.0.json of SQuAD 2.0; null: the full tier cannot run."
    )
    squad_dev: PlainPath | None = Field(
        None, description="File dev-v2.0.json of SQuAD 2.0, for Table B.1; null: no Table B.1."
    )


class PromptedModels(Settings):
    """Language models that are asked whether passages and rankings answer a question."""

    models: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        {},
        description="Names of language models (`language_models`), each with its name in tables; "
        "empty: no Text 5.7.",
    )
    questions: int | None = Field(
        None, ge=1, description="Number of test questions, from the first on; null: all."
    )
    max_tokens: int = Field(4, ge=1, description="Maximum number of tokens in an answer.")


class Answerability(Settings):
    """Chapter 5 of lajewska2025: classifiers of sentences with an answer."""

    tiny: SentenceClassifier = SentenceClassifier(
        epochs=1, batch=32, learning_rate=5e-4, warmup_steps=100, length=48, dropout=0.0
    )
    frozen: FrozenClassifier = FrozenClassifier()
    full: FullClassifier = FullClassifier(epochs=3, batch=32, learning_rate=5e-5)
    prompted: PromptedModels = PromptedModels()


class PlantedPassages(Settings):
    """Judged passages of a synthetic question, in groups of similar texts."""

    groups: int = Field(
        4, ge=2, description="Number of groups at the level with too many passages."
    )
    largest: int = Field(
        12, ge=2, description="Passages in the largest group; the smallest has one."
    )
    high: int = Field(1, ge=0, description="Passages of the highest level.")


class AnnotatedPassages(Settings):
    """Chapter 5 of lajewska2025: choice of the passages to annotate."""

    size: int = Field(5, ge=1, description="Number of passages per question.")
    questions: int = Field(40, ge=1, description="Number of synthetic questions.")
    planted: PlantedPassages = PlantedPassages()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"answerability": Answerability, "annotated_passages": AnnotatedPassages}
