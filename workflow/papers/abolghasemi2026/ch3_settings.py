"""Settings of chapter 3 of abolghasemi2026: user satisfaction."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import WithDropout


class PlantedDialogues(Settings):
    """Synthetic dialogues with known satisfaction."""

    dialogues: int = Field(
        200, ge=1, description="Number of dialogues, with at least five samples each."
    )
    dissatisfied: float = Field(
        0.1, ge=0, le=1, description="Probability that a system turn is faulty."
    )
    noise: float = Field(0.05, ge=0, le=0.5, description="Probability that a label is flipped.")
    samples: int = Field(20, ge=1, description="Number of samples to rewrite per label.")


class PlantedAnnotators(Settings):
    """Synthetic annotators of rewritten dialogues, with known errors."""

    actual: int = Field(100, ge=0, description="Number of real dialogues among those to label.")
    satisfied: float = Field(
        0.03, ge=0, lt=0.5, description="Probability that a label of satisfaction is wrong."
    )
    coherent: float = Field(
        0.015, ge=0, lt=0.5, description="Probability that a label of coherence is wrong."
    )
    incoherent: float = Field(
        0.01, ge=0, le=1, description="Share of the rewritten dialogues that are incoherent."
    )
    flipped_satisfied: float = Field(
        0.75, ge=0, le=1, description="Share of satisfied dialogues whose rewriting dissatisfies."
    )
    flipped_dissatisfied: float = Field(
        0.3, ge=0, le=1, description="Share of dissatisfied dialogues whose rewriting satisfies."
    )


class FullCounterfactuals(Settings):
    """Counterfactuals of the full tier, with the labels of annotators."""

    model: str = Field(
        "gpt-4o", min_length=1, description="Name of a language model (`language_models`)."
    )
    samples: int | None = Field(
        None,
        ge=1,
        description="Number of samples to rewrite per label and benchmark; null: all.",
    )
    actual: int = Field(
        100, ge=0, description="Number of real dialogues per benchmark among those to label."
    )
    labels: PlainPath | None = Field(
        None, description="CSV file with the labels of annotators; null: no tables from labels."
    )


class Counterfactuals(Settings):
    """Counterfactual utterances of chapter 3 of abolghasemi2026."""

    model: str = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    template: str | None = Field(
        None,
        min_length=1,
        description="File with a custom prompt template; null: the default template.",
    )
    max_tokens: int = Field(64, ge=1, description="Maximum number of tokens in an answer.")
    temperature: float = Field(0.0, ge=0, le=2, description="0: greedy decoding.")
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\nUSER", "\nSYSTEM"], max_length=4, description="Stop sequences."
    )
    longest: int = Field(60, ge=1, description="Maximum number of words in a usable utterance.")
    samples: int = Field(
        40, ge=1, description="Number of samples to rewrite per label (released tier)."
    )
    folds: int = Field(
        10, ge=2, description="Number of folds, split by dialogue, for the surrogate judge."
    )
    planted: PlantedDialogues = PlantedDialogues()
    annotators: PlantedAnnotators = PlantedAnnotators()
    full: FullCounterfactuals = FullCounterfactuals()


class Estimator(Settings):
    """Training of one kind of estimator of user satisfaction."""

    steps: int = Field(ge=1, description="Training steps.")
    batch: int = Field(ge=1, description="Samples per step.")
    learning_rate: float = Field(gt=0, lt=1, description="Peak learning rate.")
    validations: int = Field(
        2, ge=1, description="Number of validations; the best checkpoint is kept."
    )
    samples: int | None = Field(
        None, ge=2, description="Number of training samples, from the first on; null: all."
    )


class TextEstimator(Estimator, WithDropout):
    """A BERT that reads the last words of a dialogue."""

    length: int = Field(128, ge=8, le=512, description="Maximum number of word pieces.")
    train_embeddings: bool = Field(
        False, description="Whether to train word and position embeddings too."
    )


class TurnEstimator(Estimator):
    """ASAP, which reads a dialogue turn by turn."""

    frozen: bool = Field(True, description="Whether to freeze the utterance encoder.")
    turns: int = Field(8, ge=1, description="Number of turns to read, counted from the last one.")
    utterance: int = Field(
        64, ge=3, le=512, description="Maximum number of word pieces of an utterance."
    )
    size: int = Field(128, ge=8, multiple_of=8, description="Hidden size of both transformers.")
    heads: int = Field(4, ge=1, description="Number of attention heads of both transformers.")
    layers: int = Field(2, ge=1, description="Number of layers of the transformer over turns.")
    hawkes_layers: int = Field(2, ge=1, description="Number of layers of the Hawkes process.")


class PlantedSatisfaction(Settings):
    """Sizes of the synthetic dialogues with known satisfaction."""

    dialogues: int = Field(120, ge=10, description="Number of training dialogues.")
    test_dialogues: int = Field(
        40, ge=5, description="Number of validation dialogues, and of test dialogues."
    )
    dissatisfied: float = Field(0.06, gt=0, lt=1, description="Share of faulty answers.")
    noise: float = Field(0.03, ge=0, lt=0.5, description="Share of flipped labels.")
    steps: int = Field(60, ge=1, description="Training steps.")
    pairs: int = Field(20, ge=2, description="Number of pairs that a language model labels.")


class FewShot(Settings):
    """Labels by language models prompted with two examples."""

    models: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        {"smollm2": "SmolLM2"},
        min_length=1,
        description="Names of language models (`language_models`), each with its name in tables.",
    )
    pairs: int | None = Field(
        50,
        ge=2,
        description="Number of samples of Main to label with their counterfactuals; null: all.",
    )
    max_tokens: int = Field(8, ge=1, description="Maximum number of tokens in an answer.")
    without_logprobs: list[str] = Field(
        [], description="Models among `models` that return no log-probabilities."
    )

    @model_validator(mode="after")
    def _known(self) -> FewShot:
        if unknown := sorted(set(self.without_logprobs) - set(self.models)):
            raise ValueError(
                f"`without_logprobs` contains {unknown[0]!r}, which is not in `models`"
            )
        return self


class FullSatisfaction(Settings):
    """Estimators of the full tier, which train all weights on a GPU."""

    model: str = Field(
        "bert-base-uncased", min_length=1, description="Hugging Face name or folder."
    )
    revision: str | None = Field(None, description="Commit, tag or branch of a Hugging Face model.")
    seeds: int = Field(
        3, ge=1, le=20, description="Training runs of each estimator; the tables show means."
    )
    bert: TextEstimator = TextEstimator(
        steps=5600, batch=6, learning_rate=2e-5, validations=5, length=500, train_embeddings=True
    )
    asap: TurnEstimator = TurnEstimator(
        steps=2100,
        batch=16,
        learning_rate=2e-5,
        validations=5,
        frozen=False,
        turns=16,
        size=768,
        heads=12,
    )
    few_shot: FewShot = FewShot(models={"zephyr": "Zephyr", "mistral-if": "MistralIF"}, pairs=None)


class Sampling(Settings):
    """Sampling of the training data."""

    factors: list[Annotated[int, Field(ge=2, le=50)]] = Field(
        [10, 20, 30, 40, 50],
        min_length=2,
        description="Factors of up-sampling of which the thesis shows the best two.",
    )
    share: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="Share of dissatisfied samples in the under-sampled training set.",
    )


class UserSatisfaction(Settings):
    """Estimators of chapter 3 of abolghasemi2026."""

    seeds: int = Field(
        1, ge=1, le=100, description="Training runs of each estimator (embedded and released tier)."
    )
    upsampling: list[Annotated[int, Field(ge=1, le=50)]] = Field(
        [1, 10, 20],
        min_length=1,
        description="Numbers of copies of each dissatisfied sample in the training set.",
    )
    sampling: Sampling = Sampling()
    bert: TextEstimator = TextEstimator(steps=100, batch=16, learning_rate=5e-4, dropout=0.0)
    asap: TurnEstimator = TurnEstimator(steps=200, batch=32, learning_rate=1e-3, samples=1500)
    orders: int = Field(
        100, ge=2, description="Number of random orders in which dissatisfied samples are added."
    )
    draws: int = Field(1000, ge=100, description="Bootstrap samples for intervals.")
    planted: PlantedSatisfaction = PlantedSatisfaction()
    few_shot: FewShot = FewShot()
    full: FullSatisfaction = FullSatisfaction()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"counterfactuals": Counterfactuals, "user_satisfaction": UserSatisfaction}
