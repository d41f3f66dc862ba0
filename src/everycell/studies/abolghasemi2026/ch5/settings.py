"""Settings of chapter 5 of abolghasemi2026: attribution bias."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat

from everycell.engine.settings import Settings
from everycell.retrieval.settings import Bm25


class PlantedPreference(Settings):
    """A generator with a set preference for a label (`everycell.rag.planted`)."""

    strengths: list[FiniteFloat] = Field(
        [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0],
        min_length=1,
        description="Log-odds by which [Human] beats [LLM] in the figure of the planted bias.",
    )
    shown: list[FiniteFloat] = Field(
        [0.0, 1.0, 2.0], min_length=1, description="Those in the tables on surrogate data."
    )
    skill: FiniteFloat = Field(
        3.0, description="Log-odds by which a relevant document beats a non-relevant one."
    )
    base: FiniteFloat = Field(
        -2.0, description="Log-odds of citing a non-relevant document without a label."
    )


#: A word of a prompt for an author; a bracket could close the label.
_Word = Annotated[str, Field(pattern=r"^[^()\[\]\r\n]*[^()\[\]\s][^()\[\]\r\n]*$")]


class AuthorWords(Settings):
    """How prompts say who wrote a document."""

    human: _Word = Field("Human", description="A person.")
    llm: _Word = Field("LLM", description="A language model.")
    machine: _Word = Field("AI", description="A language model, where people are named.")


class ReadAnswers(Settings):
    """How answers are parsed (`everycell.studies.abolghasemi2026.ch5.reading`)."""

    forms: Literal["all", "plain"] = Field(
        "all", description="Forms of citations; plain: only `[1]`, as in the authors' library."
    )
    strays: Literal["ignored", "wrong"] = Field(
        "ignored", description="How to treat a citation of a non-existent document."
    )
    match: Literal["substring", "words", "whole"] = Field(
        "substring", description="How a right answer must occur in an answer."
    )


class AskedQuestions(Settings):
    """Number of questions of each setting of abolghasemi2026, chapter 5, for language models."""

    main: int = Field(60, ge=2, description="Of Tables 5.1 to 5.6.")
    extended: int = Field(60, ge=2, description="Of Tables 5.7 and 5.8.")
    depths: int = Field(60, ge=2, description="Of Figure 5.9, for each number of documents.")
    retrievers: int = Field(60, ge=2, description="Of Table 5.9, for each retriever.")


class CitedAnswers(Settings):
    """Cited answers of language models, and their sizes."""

    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description="Names under `language_models`, each with its name in the tables.",
    )
    without_logprobs: list[str] = Field(
        [], description="Of these, the ones that give no log-probabilities (no Table 5.6)."
    )
    questions: AskedQuestions = AskedQuestions()
    same_questions: bool = Field(
        False,
        description="Whether all arms of a setting have the same questions: those for which a "
        "model paraphrased every passage.",
    )
    k: int = Field(2, ge=2, description="Documents of a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    max_tokens: int = Field(128, ge=1, description="Tokens after which an answer is cut.")


class OpenQuestions(Settings):
    """Natural Questions of the released tier, and how their passages are retrieved."""

    questions: int = Field(2655, ge=1, description="Questions to draw; all if there are fewer.")
    length: int = Field(64, ge=8, le=512, description="Word pieces that encoders read of a text.")
    hits: int = Field(20, ge=2, description="Passages of a ranked list.")
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)


class FullCitedAnswers(CitedAnswers):
    """The full tier of chapter 5, whose data only the user can name."""

    nq: str | None = Field(
        None, min_length=1, description="Folder with Natural Questions, passages and runs."
    )
    msmarco_qa: str | None = Field(
        None, min_length=1, description="File dev_v2.1.json of MS MARCO QA, unpacked."
    )


class ParaphraseSizes(Settings):
    """How many passages are paraphrased, and by which model."""

    model: str | None = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    candidates: int = Field(40, ge=1, description="Largest number of questions to try.")
    longest: int | None = Field(70, ge=1, description="Words of a passage; null: any number.")
    attempts: int = Field(3, ge=1, description="Attempts per unit, the first greedy.")
    unit: Literal["sentence", "passage"] = Field(
        "sentence", description="Unit paraphrased with one prompt; in the thesis a passage."
    )


class Paraphrases(Settings):
    """Passages in the words of a language model."""

    template: str | None = Field(
        None, min_length=1, description="File with your own prompt template; null: the project's."
    )
    max_tokens: int = Field(80, ge=1, description="Tokens of a sentence's paraphrase.")
    passage_tokens: int = Field(512, ge=1, description="Tokens of a whole passage's.")
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\n"], max_length=4, description="Texts that end the paraphrase of a sentence."
    )
    temperature: float = Field(0.9, gt=0, le=2, description="Of the further attempts.")
    top_p: float = Field(0.9, gt=0, le=1, description="Of the further attempts.")
    copied: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Largest share of five-word sequences copied from the original.",
    )
    released: ParaphraseSizes = ParaphraseSizes()
    full: ParaphraseSizes = ParaphraseSizes(
        model=None, candidates=2000, longest=None, attempts=6, unit="passage"
    )

    def decoding(self, tier: str) -> dict[str, Any]:
        """How the first attempt at a unit of a tier is decoded."""
        if self.sizes(tier).unit == "sentence":
            return {"max_tokens": self.max_tokens, "stop": self.stop}
        return {"max_tokens": self.passage_tokens, "stop": []}

    def sizes(self, tier: str) -> ParaphraseSizes:
        """Sizes of a tier that asks language models."""
        return {"released": self.released, "full": self.full}[tier]


class Attribution(Settings):
    """Attribution bias of chapter 5 of abolghasemi2026."""

    k: int = Field(10, ge=2, description="Documents of a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5, 8, 10], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    planted: PlantedPreference = PlantedPreference()
    template: str | None = Field(
        None, min_length=1, description="File with your own prompt without authors; null: ours."
    )
    authors_template: str | None = Field(
        None, min_length=1, description="File with your own prompt with authors; null: ours."
    )
    names: str | None = Field(
        None, min_length=1, description="File with people's names, one per line; null: ours."
    )
    labels: AuthorWords = AuthorWords()
    reading: ReadAnswers = ReadAnswers()
    released: CitedAnswers = CitedAnswers()
    full: FullCitedAnswers = FullCitedAnswers(
        models={},
        same_questions=True,
        questions=AskedQuestions(main=500, extended=500, depths=500, retrievers=500),
        k=10,
        depths=[2, 5, 8, 10],
        max_tokens=256,
    )
    nq: OpenQuestions = OpenQuestions()
    paraphrases: Paraphrases = Paraphrases()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"attribution": Attribution}
