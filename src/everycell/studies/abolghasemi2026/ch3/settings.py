"""Settings of chapter 3 of abolghasemi2026: user satisfaction."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from everycell.engine.settings import Settings
from everycell.learning.settings import WithDropout


class PlantedDialogues(Settings):
    """Generated dialogues whose satisfaction is known."""

    dialogues: int = Field(200, ge=1, description="Dialogues, of five samples or more.")
    dissatisfied: float = Field(
        0.1, ge=0, le=1, description="Probability of a fault in a turn of the system."
    )
    noise: float = Field(0.05, ge=0, le=0.5, description="Probability that a label is flipped.")
    samples: int = Field(20, ge=1, description="Samples of each label to rewrite.")


class Counterfactuals(Settings):
    """Counterfactual utterances of chapter 3 of abolghasemi2026."""

    model: str = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    template: str | None = Field(
        None, min_length=1, description="File with your own prompt template; null: the project's."
    )
    max_tokens: int = Field(64, ge=1, description="Tokens after which an answer is cut.")
    temperature: float = Field(0.0, ge=0, le=2, description="0: greedy decoding.")
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\nUSER", "\nSYSTEM"], max_length=4, description="Texts that end an answer."
    )
    longest: int = Field(60, ge=1, description="Largest number of words in a usable utterance.")
    samples: int = Field(40, ge=1, description="Samples of each label to rewrite (released tier).")
    folds: int = Field(10, ge=2, description="Folds of the dialogues for the surrogate judge.")
    planted: PlantedDialogues = PlantedDialogues()


class Estimator(Settings):
    """How one kind of estimator of user satisfaction is trained."""

    steps: int = Field(ge=1, description="Training steps.")
    batch: int = Field(ge=1, description="Samples per step.")
    learning_rate: float = Field(gt=0, lt=1, description="Highest learning rate.")
    validations: int = Field(2, ge=1, description="Number of validations; the best state is kept.")
    samples: int | None = Field(
        None, ge=2, description="Training samples, the first ones of a benchmark; null: all."
    )


class TextEstimator(Estimator, WithDropout):
    """A BERT that reads the last words of a dialogue."""

    length: int = Field(128, ge=8, le=512, description="Word pieces that it reads.")
    train_embeddings: bool = Field(
        False, description="Whether word and position embeddings are trained too."
    )


class TurnEstimator(Estimator):
    """ASAP, which reads a dialogue turn by turn."""

    frozen: bool = Field(True, description="Whether the encoder of utterances is frozen.")
    turns: int = Field(8, ge=1, description="Turns that it reads, the last ones.")
    utterance: int = Field(64, ge=3, le=512, description="Word pieces of an utterance.")
    size: int = Field(128, ge=8, multiple_of=8, description="Width of both transformers.")
    heads: int = Field(4, ge=1, description="Heads of their attention.")
    layers: int = Field(2, ge=1, description="Layers of the transformer over turns.")
    hawkes_layers: int = Field(2, ge=1, description="Layers of the Hawkes process.")


class PlantedSatisfaction(Settings):
    """Sizes of the generated dialogues whose satisfaction is known."""

    dialogues: int = Field(120, ge=10, description="Dialogues of the training part.")
    test_dialogues: int = Field(
        40, ge=5, description="Dialogues of the validation and of the test part."
    )
    dissatisfied: float = Field(0.06, gt=0, lt=1, description="Share of faulty answers.")
    noise: float = Field(0.03, ge=0, lt=0.5, description="Share of flipped labels.")
    steps: int = Field(60, ge=1, description="Training steps.")
    pairs: int = Field(20, ge=2, description="Pairs that a language model labels.")


class FewShot(Settings):
    """Labels of language models that are shown two examples."""

    models: dict[str, Annotated[str, Field(min_length=1)]] = Field(
        {"smollm2": "SmolLM2"},
        min_length=1,
        description="Language models (`language_models`), with their names in the tables.",
    )
    pairs: int | None = Field(
        50,
        ge=2,
        description="Samples of Main, with their counterfactuals, that are labelled; null: all.",
    )
    max_tokens: int = Field(8, ge=1, description="Tokens of an answer.")
    without_logprobs: list[str] = Field(
        [], description="Those of `models` that give no log-probabilities of their answers."
    )

    @model_validator(mode="after")
    def _known(self) -> FewShot:
        if unknown := sorted(set(self.without_logprobs) - set(self.models)):
            raise ValueError(
                f"`without_logprobs` names {unknown[0]!r}, which is not among `models`"
            )
        return self


class FullSatisfaction(Settings):
    """Estimators of the full tier, all of whose weights are trained, with a GPU."""

    model: str = Field(
        "bert-base-uncased", min_length=1, description="Name on the hub, or a folder."
    )
    revision: str | None = Field(None, description="Commit, tag or branch of a hub name.")
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


class UserSatisfaction(Settings):
    """Estimators of chapter 3 of abolghasemi2026."""

    seeds: int = Field(
        1, ge=1, le=100, description="Training runs of each estimator (embedded and released tier)."
    )
    upsampling: list[Annotated[int, Field(ge=1, le=50)]] = Field(
        [1, 10, 20],
        min_length=1,
        description="How often a dissatisfied sample is repeated in the training set.",
    )
    bert: TextEstimator = TextEstimator(steps=100, batch=16, learning_rate=5e-4, dropout=0.0)
    asap: TurnEstimator = TurnEstimator(steps=200, batch=32, learning_rate=1e-3, samples=1500)
    orders: int = Field(
        100, ge=2, description="Random orders in which dissatisfied samples are added."
    )
    draws: int = Field(
        1000, ge=100, description="Draws for the intervals of the gain from counterfactuals."
    )
    planted: PlantedSatisfaction = PlantedSatisfaction()
    few_shot: FewShot = FewShot()
    full: FullSatisfaction = FullSatisfaction()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"counterfactuals": Counterfactuals, "user_satisfaction": UserSatisfaction}
