"""Settings of chapter 6 of lajewska2025: responses from nuggets (GINGER)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from everycell.base.settings import PlainPath, Probability, Settings

Prompt = Literal[
    "detection",
    "summary",
    "depth",
    "fluency",
    "follow_up",
    "facets",
    "aspects",
    "rephrase",
    "one_step",
    "chain_of_thought",
    "create",
    "importance",
    "assign",
]


class ReleasedGinger(Settings):
    """Released tier: human nuggets, and nuggets of a classifier."""

    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description="Language models that write: key of `language_models` -> name in tables.",
    )
    questions: int = Field(
        3, ge=2, le=44, description="Number of questions; each run sends them to the models again."
    )


class PlantedResponses(Settings):
    """Responses with a known share of nuggets (Table 6.1, embedded tier)."""

    topics: int = Field(44, ge=5, le=1000, description="Topics.")
    nuggets: int = Field(
        11, ge=2, le=100, description="Nuggets per topic, as many detected as human ones."
    )
    stated: Probability = Field(
        0.35, description="Share of the detected nuggets that the baseline states."
    )
    gain: float = Field(0.2, ge=0, lt=0.5, description="How much larger GINGER's share is.")
    denied: Probability = Field(
        0.1, description="Share of the detected nuggets that both systems deny."
    )
    complete: Probability = Field(
        0.3, description="Share of the human nuggets that both systems state."
    )
    agreement: Probability = Field(
        0.1, description="Intraclass correlation of the nuggets of one topic."
    )
    error: Probability = Field(0.1, description="Probability that the judge errs.")
    certainty: Probability = Field(
        0.9, description="Probability that the judge gives to its label."
    )
    studies: int = Field(
        1000, ge=100, le=100_000, description="Simulated studies of the negative control."
    )

    @model_validator(mode="after")
    def _check_shares(self) -> PlantedResponses:
        if self.stated + self.gain + self.denied >= 1:
            raise ValueError("`stated`, `gain` and `denied` must be less than 1 together")
        return self


class Crowd(Settings):
    """Crowd study with planted votes (embedded tier), and rejection of workers."""

    queries: int = Field(44, ge=5, le=1000, description="Queries of each comparison.")
    workers: int = Field(5, ge=1, le=99, description="Workers per query, an odd number.")
    share: float = Field(
        0.2,
        ge=0,
        lt=0.5,
        description="Planted shift of the probability of a vote from 0.5, where the thesis reports "
        "a preference.",
    )
    rating: float = Field(
        0.6,
        ge=0,
        le=5,
        description="Planted shift of the rating of a follow-up question, in standard deviations.",
    )
    agreement: Probability = Field(
        0.1, description="Intraclass correlation of the votes on one query."
    )
    inattentive: Probability = Field(0.3, description="Share of workers who answer at random.")
    rejected_from: int = Field(
        5,
        ge=1,
        le=9,
        description="Failed attention checks, out of 8, from which a worker is rejected; 9: none.",
    )
    studies: int = Field(
        1000, ge=100, le=100_000, description="Simulated studies of the negative control."
    )

    @model_validator(mode="after")
    def _check_workers(self) -> Crowd:
        if self.workers % 2 == 0:
            raise ValueError(
                f"`workers` is {self.workers}; use an odd number, so that no query ties"
            )
        return self


class RetrievedInput(Settings):
    """Passages of a ranker, for the input "retrieved"."""

    run: PlainPath | None = Field(
        None,
        description="TREC run whose queries are turns of CAsT, such as 89_1; null: BM25 among the "
        "released passages.",
    )
    passages: PlainPath | None = Field(
        None,
        description="File with the texts of its passages: lines of id, tab, text; or with .gz.",
    )
    depth: int = Field(5, ge=1, le=100, description="Passages per question.")

    @model_validator(mode="after")
    def _check_files(self) -> RetrievedInput:
        if (self.run is None) != (self.passages is None):
            raise ValueError("`run` and `passages` belong together; set both or neither")
        return self


class Ragas(Settings):
    """Runs of RAGAs, whose mean is a response's score."""

    runs: int = Field(5, ge=1, le=100, description="Number of runs with other seeds.")
    temperature: float = Field(
        0.3, ge=0, le=2, description="Temperature of the judge's answers; 0: greedy."
    )


class FullGinger(Settings):
    """Full tier: language models that judge the released responses, or write new ones."""

    model: str | None = Field(
        None,
        min_length=1,
        description="Language model that detects nuggets and writes: a key of `language_models`.",
    )
    duo: str | None = Field(
        "castorini/duot5-base-msmarco",
        min_length=1,
        description=(
            "duoT5, which ranks clusters pairwise (page 102): a folder with safetensors, or a name "
            "on the hub; null: cosine similarity of embeddings."
        ),
    )
    inference: str = Field(
        "cross-encoder/nli-roberta-base",
        min_length=1,
        description="NLI model: a folder with safetensors, or a name on the hub.",
    )
    inference_revision: str | None = Field(
        None, min_length=1, description="Commit, tag or branch of the hub name."
    )
    questions: int = Field(44, ge=2, le=44, description="Number of questions.")
    retrieved: RetrievedInput = RetrievedInput()
    ragas: Ragas = Ragas()
    votes: PlainPath | None = Field(
        None,
        description="CSV file with the answers of a crowd study (Tables 6.2, 6.3, 6.5 and C.8).",
    )
    trec_rag: PlainPath | None = Field(
        None,
        description=(
            "Folder with TREC RAG 2024: topics, a run, and segments of MS MARCO V2.1. If it is "
            "set, Tables 6.7 and 6.8 evaluate responses written by `model`, otherwise the released "
            "ones."
        ),
    )
    passage_tokens: int = Field(
        512, ge=16, le=4096, description="Maximum number of tokens of a passage with its marks."
    )

    judges: dict[str, Literal["GPT4o", "Gemini", "Claude"]] = Field(
        {},
        description=(
            "Language models that judge: key of `language_models` -> judge of the thesis whose "
            "facts it uses."
        ),
    )
    topics: int = Field(301, ge=1, le=301, description="Number of judged topics per system.")
    max_tokens: int = Field(
        256, ge=16, le=4096, description="Maximum number of tokens of the labels of ten facts."
    )
    response_tokens: int = Field(
        256,
        ge=16,
        le=4096,
        description="Maximum number of tokens of a sentence or paragraph that is written.",
    )
    nugget_tokens: int = Field(
        768,
        ge=32,
        le=8192,
        description="Maximum number of tokens of a created list of thirty facts.",
    )

    @model_validator(mode="after")
    def _check_judges(self) -> FullGinger:
        judges = list(self.judges.values())
        repeated = [judge for judge in judges if judges.count(judge) > 1]
        if repeated:
            raise ValueError(f"two models replace the judge {repeated[0]}; set one per judge")
        return self


class Ginger(Settings):
    """Chapter 6 and appendix C of lajewska2025."""

    clusters: int = Field(3, ge=1, le=20, description="Clusters per response.")
    words: int = Field(
        35, ge=5, le=500, description="Maximum number of words of the sentence on a cluster."
    )
    sentences: int = Field(3, ge=1, le=20, description="Sentences of the one-step baseline.")
    length: int = Field(128, ge=8, le=512, description="Word pieces of an encoded nugget.")
    max_tokens: int = Field(96, ge=8, le=4096, description="Maximum number of tokens of an answer.")
    reasoning_tokens: int = Field(
        512,
        ge=32,
        le=8192,
        description="Maximum number of tokens of an answer with a chain of thought.",
    )
    trained: Probability = Field(
        0.5, description="Share of the labelled topics on which the lexical judge is trained."
    )
    prompts: dict[Prompt, PlainPath] = Field({}, description="Files with your own prompts.")
    planted: PlantedResponses = PlantedResponses()
    crowd: Crowd = Crowd()
    released: ReleasedGinger = ReleasedGinger()
    full: FullGinger = FullGinger()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"ginger": Ginger}
