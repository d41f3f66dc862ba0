"""Settings of chapter 5 of abolghasemi2026: attribution bias."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat

from everycell.base.settings import Settings
from everycell.retrieval.settings import Bm25


class PlantedPreference(Settings):
    """A generator with a planted preference for a label."""

    strengths: list[FiniteFloat] = Field(
        [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0],
        min_length=1,
        description="Log-odds of preferring [Human] to [LLM] in the figure of the planted bias.",
    )
    shown: list[FiniteFloat] = Field(
        [0.0, 1.0, 2.0], min_length=1, description="Log-odds in the tables on surrogate data."
    )
    skill: FiniteFloat = Field(
        3.0, description="Log-odds of preferring a relevant document to a non-relevant one."
    )
    base: FiniteFloat = Field(
        -2.0, description="Log-odds of citing a non-relevant document without a label."
    )


#: A word for an author in a prompt; it must not have brackets, which could end the label.
_Word = Annotated[str, Field(pattern=r"^[^()\[\]\r\n]*[^()\[\]\s][^()\[\]\r\n]*$")]


class AuthorWords(Settings):
    """Words for the author of a document in prompts."""

    human: _Word = Field("Human", description="Label of a person.")
    llm: _Word = Field("LLM", description="Label of a language model.")
    machine: _Word = Field(
        "AI", description="Label of a language model where people are labelled with their names."
    )


class ReadAnswers(Settings):
    """Parsing of answers (`papers.abolghasemi2026.ch5_answers`)."""

    forms: Literal["all", "plain"] = Field(
        "all", description="Forms of citations; plain: only `[1]`, as in the authors' library."
    )
    strays: Literal["ignored", "wrong"] = Field(
        "ignored", description="Treatment of a citation of a non-existent document."
    )
    match: Literal["substring", "words", "whole", "squad"] = Field(
        "substring", description="Method of matching a correct answer in a generated answer."
    )


class AskedQuestions(Settings):
    """Number of questions per setting of chapter 5 of abolghasemi2026, for language models."""

    main: int = Field(60, ge=2, description="Questions in Tables 5.1 to 5.6 and 5.10 to 5.15.")
    extended: int = Field(60, ge=2, description="Questions in Tables 5.7 and 5.8.")
    depths: int = Field(60, ge=2, description="Questions in Figure 5.9 per number of documents.")
    retrievers: int = Field(60, ge=2, description="Questions in Table 5.9 per retriever.")


class FewQuestions(Settings):
    """Number of questions of a language model that receives only a part of the prompts."""

    opposite: int = Field(30, ge=2, description="Questions in Tables 5.4 and 5.5.")
    random: int = Field(
        40, ge=2, description="Questions with the relevant document at a random position."
    )
    longest: int = Field(80, ge=1, description="Maximum number of words in a passage.")


class CitedAnswers(Settings):
    """Language models that generate answers with citations, and the size of the experiments."""

    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description="Names of language models (`language_models`), each with its name in tables.",
    )
    without_logprobs: list[str] = Field(
        [],
        description="Models in `models` that return no log-probabilities (no values in Table 5.6).",
    )
    questions: AskedQuestions = AskedQuestions()
    few: dict[str, FewQuestions] = Field(
        {},
        description="Models in `models` that receive only prompts with short passages by people: "
        "with opposite labels (Tables 5.4 and 5.5), and without labels in random order.",
    )
    same_questions: bool = Field(
        False,
        description="Whether all arms of a setting use the same questions: those with a "
        "paraphrase of every passage.",
    )
    k: int = Field(2, ge=2, description="Number of documents in a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    max_tokens: int = Field(128, ge=1, description="Maximum number of tokens in an answer.")


class OpenQuestions(Settings):
    """Natural Questions in the released tier, and retrieval of their passages."""

    questions: int = Field(
        2655, ge=1, description="Number of questions to draw; all if there are fewer."
    )
    length: int = Field(
        64, ge=8, le=512, description="Maximum number of word pieces of a text in encoders."
    )
    hits: int = Field(20, ge=2, description="Number of passages to retrieve.")
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)


class Retrievers(Settings):
    """Table 5.9: uniCOIL and TCT-ColBERT on Natural Questions; the thesis states no checkpoints."""

    unicoil: str | None = Field(
        None,
        min_length=1,
        description="Run of uniCOIL: a file, or `encode`; null: unicoil.run in the folder, if any.",
    )
    tct_colbert: str | None = Field(
        None,
        min_length=1,
        description="Run of TCT-ColBERT: a file, or `encode`; null: tct-colbert.run, if any.",
    )
    unicoil_encoder: str = Field(
        "castorini/unicoil-noexp-msmarco-passage",
        min_length=1,
        description="uniCOIL for passages without expansion (our choice).",
    )
    tct_colbert_encoder: str = Field(
        "castorini/tct_colbert-msmarco", min_length=1, description="TCT-ColBERT (our choice)."
    )
    length: int = Field(
        512, ge=8, le=512, description="Maximum number of word pieces of a passage (our choice)."
    )


class FullCitedAnswers(CitedAnswers):
    """The full tier of chapter 5, for which the user provides the data."""

    nq: str | None = Field(
        None, min_length=1, description="Folder with Natural Questions, passages and runs."
    )
    msmarco_qa: str | None = Field(
        None, min_length=1, description="File dev_v2.1.json of MS MARCO QA, unpacked."
    )
    retrievers: Retrievers = Field(Retrievers(), description="Other retrievers than BM25 for `nq`.")


class ParaphraseSizes(Settings):
    """Number of passages to paraphrase, and the language model to use."""

    model: str | None = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    candidates: int = Field(40, ge=1, description="Maximum number of questions to try.")
    longest: int | None = Field(
        70, ge=1, description="Maximum number of words in a passage; null: no limit."
    )
    attempts: int = Field(
        3, ge=1, description="Maximum number of attempts per unit; the first uses greedy decoding."
    )
    unit: Literal["sentence", "passage"] = Field(
        "sentence", description="Unit paraphrased with one prompt; in the thesis a passage."
    )


class Paraphrases(Settings):
    """Paraphrases of passages by a language model."""

    template: str | None = Field(
        None,
        min_length=1,
        description="File with a custom prompt template; null: the default template.",
    )
    max_tokens: int = Field(
        80, ge=1, description="Maximum number of tokens in the paraphrase of a sentence."
    )
    passage_tokens: int = Field(
        512, ge=1, description="Maximum number of tokens in the paraphrase of a passage."
    )
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\n"], max_length=4, description="Stop sequences for the paraphrase of a sentence."
    )
    temperature: float = Field(
        0.9, gt=0, le=2, description="Temperature of all attempts after the first."
    )
    top_p: float = Field(0.9, gt=0, le=1, description="Top-p of all attempts after the first.")
    copied: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Maximum share of five-word sequences copied from the original.",
    )
    released: ParaphraseSizes = ParaphraseSizes()
    full: ParaphraseSizes = ParaphraseSizes(
        model=None, candidates=2000, longest=None, attempts=6, unit="passage"
    )

    def decoding(self, tier: str) -> dict[str, Any]:
        """Decoding settings of the first attempt at a unit of a tier."""
        if self.sizes(tier).unit == "sentence":
            return {"max_tokens": self.max_tokens, "stop": self.stop}
        return {"max_tokens": self.passage_tokens, "stop": []}

    def sizes(self, tier: str) -> ParaphraseSizes:
        """Sizes of a tier that uses language models."""
        return {"released": self.released, "full": self.full}[tier]


class Attribution(Settings):
    """Attribution bias of chapter 5 of abolghasemi2026."""

    k: int = Field(10, ge=2, description="Number of documents in a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5, 8, 10], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    planted: PlantedPreference = PlantedPreference()
    template: str | None = Field(
        None,
        min_length=1,
        description="File with a custom prompt template without authors; null: the default.",
    )
    authors_template: str | None = Field(
        None,
        min_length=1,
        description="File with a custom prompt template with authors; null: the default.",
    )
    names: str | None = Field(
        None,
        min_length=1,
        description="File with people's names, one per line; null: the default names.",
    )
    labels: AuthorWords = AuthorWords()
    reading: ReadAnswers = ReadAnswers()
    released: CitedAnswers = CitedAnswers(
        models={"smollm2": "SmolLM2", "qwen-coder": "Qwen2.5-Coder"},
        few={"qwen-coder": FewQuestions()},
    )
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
