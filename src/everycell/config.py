"""Configuration: one typed model behind ``config.yaml``, its JSON schema and its errors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from everycell.engine.validation import describe_fault
from everycell.engine.yaml import load_yaml, yaml_fault

#: Where ``python -m everycell.config`` writes the schema, below the project folder.
SCHEMA = Path("workflow/schemas/config.schema.json")


class ConfigError(Exception):
    """The configuration cannot be used; the message names the key, the value and what may be."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _plain_path(path: str) -> str:
    """Path without "~", a leading "./" or a slash at its end, so that one folder has one name.

    Examples
    --------
    >>> _plain_path("./data/")
    'data'
    """
    return os.path.normpath(os.path.expanduser(path))


Probability = Annotated[float, Field(gt=0, lt=1)]


class Simulation(_Model):
    """Sizes of the simulated user studies."""

    studies: int = Field(
        1000, ge=500, le=100_000, description="Simulated studies a planted effect."
    )
    effects: list[Annotated[float, Field(ge=0, le=2)]] = Field(
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4],
        min_length=2,
        description="Planted shifts of the latent rating, in standard deviations of its noise.",
    )
    planted: float = Field(
        0.5, ge=0, le=2, description="Planted shift of the one study that is shown as a table."
    )


class UserStudies(_Model):
    """Chapters 4 and 7 of lajewska2025."""

    alpha: Probability = Field(0.05, description="Significance level of the tests.")
    power: Probability = Field(0.8, description="Power that the sample sizes are planned for.")
    simulation: Simulation = Simulation()


class Bm25(_Model):
    """Parameters of BM25."""

    k1: float = Field(2.75, gt=0, le=100, description="Saturation of the term frequency.")
    b: float = Field(1.0, ge=0, le=1, description="Weight of the document length.")


class Sizes(_Model):
    """Queries drawn from one collection."""

    test: int = Field(130, ge=2, description="Test queries of each task.")
    validation: int = Field(65, ge=2, description="Validation queries of each task.")


class PyDocsSizes(Sizes):
    """What is made of the documentation of installed packages."""

    packages: list[Literal["numpy", "scipy", "pandas", "sklearn", "networkx"]] = Field(
        ["numpy", "scipy", "pandas", "sklearn", "networkx"],
        min_length=1,
        description="Packages whose documentation is the collection.",
    )
    known_items: int = Field(
        130, ge=2, description="Test queries of the short-query task; as many validate."
    )


class Lengths(_Model):
    """Word pieces, special ones included, after which a text is cut."""

    training: int = Field(96, ge=8, le=512, description="A text in training.")
    text: int = Field(256, ge=8, le=512, description="A document that is scored.")
    query: int | None = Field(
        256, ge=8, description="A query of which only terms are counted; null: all of it."
    )
    zero_shot: int = Field(96, ge=8, le=512, description="A text for a model that is not trained.")
    expanded: int = Field(448, ge=8, le=512, description="A document with its expansion.")
    pair: int = Field(96, ge=16, le=512, description="Query and document of a cross-encoder.")


class Training(_Model):
    """How one kind of model is trained."""

    epochs: int = Field(ge=1, le=100, description="Passes over the training examples.")
    batch: int = Field(8, ge=1, description="Examples a step.")
    learning_rate: float = Field(gt=0, lt=1, description="Highest learning rate.")


class Models(_Model):
    """How the models of a chapter are trained."""

    pairs: int = Field(
        1300, ge=10, description="Relevant (query, document) pairs that are trained on, at most."
    )
    tilde: Training = Training(epochs=2, learning_rate=1e-3)
    tildev2: Training = Training(epochs=1, learning_rate=5e-4)
    cross_encoder: Training = Training(epochs=1, learning_rate=1e-3)
    multi_task: Training = Training(epochs=1, learning_rate=1e-3)


class SciDocs(_Model):
    """Where the published files of SciDocs are, and how they are read."""

    folder: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="Folder with the published files; null: the full tier cannot run."
    )
    documents: Literal["all", "listed"] = Field(
        "all", description="Papers in the index: those of the metadata file, or of the lists."
    )
    cleaning: Literal["none", "words"] = Field(
        "none", description="What is made of punctuation: kept, or blanks as in the authors' code."
    )
    missing: Literal["error", "drop"] = Field(
        "error", description="What a line of a list is whose paper has no metadata."
    )
    validation: Probability = Field(
        0.15, description="Share of the queries of a validation file that are not trained on."
    )


class Encoders(_Model):
    """Folders of models, in safetensors with their tokenizers, that nothing here can fetch."""

    bert: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="BERT-base, uncased."
    )
    scibert: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="SciBERT, uncased, with its own vocabulary."
    )
    tilde_msmarco: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="A TILDE trained on MS MARCO (row d); null: the row is left out."
    )
    tildev2_msmarco: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="A TILDEv2 trained on MS MARCO (row g); null: the row is left out."
    )


class FullTraining(Training):
    """How one kind of model is trained on SciDocs."""

    negatives: int = Field(
        1, ge=1, description="Documents that are not relevant, for each relevant one."
    )
    schedule: Literal["linear", "constant"] = Field(
        "constant", description="What the learning rate does after the warm-up."
    )
    warmup: float = Field(0.0, ge=0, le=1, description="Share of the steps in which it rises.")
    bf16: bool = Field(False, description="Forward pass in bfloat16, on a GPU.")


class FullCrossEncoder(FullTraining):
    """How a cross-encoder is trained on SciDocs, validated after each epoch."""

    patience: int = Field(
        10, ge=1, description="Epochs without a better nDCG after which it stops."
    )
    dropout: float = Field(0.05, ge=0, lt=1, description="Rate of every dropout.")


class Full(_Model):
    """The thesis' settings, for BERT-base on SciDocs: one model a task."""

    lengths: Lengths = Lengths(
        training=512, text=512, query=None, zero_shot=512, expanded=512, pair=512
    )
    tilde: FullTraining = FullTraining(epochs=5, batch=8, learning_rate=2e-5)
    tildev2: FullTraining = FullTraining(
        epochs=5, batch=2, learning_rate=5e-6, negatives=2, schedule="linear", warmup=0.1, bf16=True
    )
    cross_encoder: FullCrossEncoder = FullCrossEncoder(
        epochs=30, batch=32, learning_rate=3e-5, bf16=True
    )


class QueryByExample(_Model):
    """Chapter 2 of abolghasemi2026."""

    pydocs: PyDocsSizes = PyDocsSizes()
    cacm: Sizes = Sizes()
    scidocs: SciDocs = SciDocs()
    encoders: Encoders = Encoders()
    full: Full = Full()
    bm25: Bm25 = Bm25()
    tuning: dict[Literal["k1", "b"], list[float]] = Field(
        {"k1": [0.9, 1.5, 2.75, 4.0, 6.0], "b": [0.4, 0.75, 1.0]},
        description="Grid of the BM25 that is tuned on the validation queries.",
    )
    jelinek_mercer: Probability = Field(
        0.1, description="Weight of the collection in the language model of Table 2.2."
    )
    dirichlet: float = Field(
        1000.0, gt=0, description="Prior of the Dirichlet-smoothed language model, in tokens."
    )
    lengths: Lengths = Lengths()
    models: Models = Models()
    expansion: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        [200, 300], description="Terms that TILDE proposes to append to a document."
    )
    scaling: Literal["query", "run"] = Field(
        "query", description="What z-scores are taken over before scores are added."
    )
    noise_seeds: int = Field(20, ge=2, description="Random systems behind the noise oracle.")
    alpha: Probability = Field(0.05, description="Significance level of the letters.")


class PassageIndexes(_Model):
    """Indexes of the MS MARCO passages: names of pyserini, or folders."""

    bm25: str = Field("msmarco-v1-passage", min_length=1, description="Of words, for BM25.")
    unicoil: str = Field(
        "msmarco-v1-passage.unicoil", min_length=1, description="Impacts of uniCOIL."
    )
    deepimpact: str = Field(
        "msmarco-v1-passage.deepimpact", min_length=1, description="Impacts of DeepImpact."
    )
    ance: str = Field("msmarco-v1-passage.ance", min_length=1, description="Vectors of ANCE.")
    distilbert_kd: str = Field(
        "msmarco-v1-passage.distilbert-dot-margin-mse-t2",
        min_length=1,
        description="Vectors of DistilBERT, distilled from three teachers.",
    )
    distilbert_tasb: str = Field(
        "msmarco-v1-passage.distilbert-dot-tas_b-b256",
        min_length=1,
        description="Vectors of DistilBERT with topic-aware sampling.",
    )
    tct_colbert: str = Field(
        "msmarco-v1-passage.tct_colbert", min_length=1, description="Vectors of TCT-ColBERT, v1."
    )
    sbert: str = Field("msmarco-v1-passage.sbert", min_length=1, description="Vectors of SBERT.")


class QueryEncoders(_Model):
    """What encodes the queries for an index.

    A model's folder, its name on the hub, or a file of encoded queries (.jsonl).
    """

    unicoil: str = Field(
        "castorini/unicoil-msmarco-passage", min_length=1, description="For uniCOIL."
    )
    deepimpact: str = Field(
        "words",
        pattern=r"^words$|\.jsonl$",
        description="For DeepImpact: its distinct words, or a file of encoded queries.",
    )
    ance: str = Field("castorini/ance-msmarco-passage", min_length=1, description="For ANCE.")
    distilbert_kd: str = Field(
        "sebastian-hofstaetter/distilbert-dot-margin_mse-T2-msmarco",
        min_length=1,
        description="For DistilBERT, distilled.",
    )
    distilbert_tasb: str = Field(
        "sebastian-hofstaetter/distilbert-dot-tas_b-b256-msmarco",
        min_length=1,
        description="For DistilBERT with topic-aware sampling.",
    )
    tct_colbert: str = Field(
        "castorini/tct_colbert-msmarco", min_length=1, description="For TCT-ColBERT, v1."
    )
    sbert: str = Field(
        "sentence-transformers/msmarco-distilbert-base-v3",
        min_length=1,
        description="For SBERT.",
    )


class ReRankers(_Model):
    """Folders of cross-encoders, in safetensors with their tokenizers."""

    bert: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="BERT, trained on MS MARCO."
    )
    minilm: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="MiniLM, distilled on MS MARCO."
    )
    tinybert: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="TinyBERT, distilled on MS MARCO."
    )


class MsMarco(_Model):
    """The MS MARCO passages and what ranks them."""

    folder: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="Folder with collection.tsv and the judgements; null: no full tier."
    )
    qrels: str = Field(
        "qrels.dev.tsv", min_length=1, description="File of the judgements in that folder."
    )
    passages: int | None = Field(
        8_841_823, ge=1, description="Passages that the collection must have; null: any number."
    )
    hits: int = Field(1000, ge=10, le=10_000, description="Passages of a ranked list.")
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)
    indexes: PassageIndexes = PassageIndexes()
    encoders: QueryEncoders = QueryEncoders()
    rerankers: ReRankers = ReRankers()
    pair: int = Field(512, ge=16, le=512, description="Word pieces of a query with a passage.")
    swapped_candidates: Literal["swapped", "original"] = Field(
        "swapped",
        description="Whose BM25 list is re-ranked in the gender-swapped collection.",
    )


class Planted(_Model):
    """Sizes of the generated collection whose bias is known."""

    queries: int = Field(20, ge=1, le=999, description="Lists of each kind of ranking.")
    depth: int = Field(50, ge=10, le=100, description="Documents of a list, and cut-offs shown.")
    length: int = Field(40, ge=8, le=1000, description="Words of a document.")


class Rm3(_Model):
    """Parameters of pseudo-relevance feedback."""

    documents: int = Field(10, ge=1, description="Documents that it takes for relevant.")
    terms: int = Field(10, ge=1, description="Terms that it adds.")
    original_weight: float = Field(0.5, ge=0, le=1, description="Weight of the query as given.")


class CrossFitting(Training):
    """The cross-encoder of the released stand-in, one model for each fold of conversations."""

    folds: int = Field(5, ge=3, description="Folds that conversations are dealt into.")
    pairs: int = Field(800, ge=10, description="Relevant pairs that a model is trained on.")
    length: int = Field(128, ge=16, le=512, description="Word pieces of query and passage.")
    depth: int = Field(30, ge=1, description="Documents of BM25's list that are re-ranked.")


class TermFairness(_Model):
    """Chapter 4 of abolghasemi2026."""

    k: int = Field(10, ge=1, description="Ranks that are measured.")
    cutoffs: int = Field(50, ge=10, description="Largest cut-off of Figure 4.2 on MS MARCO.")
    persistence: float = Field(0.9, gt=0, lt=1, description="p of rank-biased overlap.")
    alpha: float = Field(0.05, gt=0, lt=1, description="Level of the tests.")
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)
    rm3: Rm3 = Rm3()
    cast_setting: Literal["judged", "topic"] = Field(
        "topic", description="CAsT passages that are ranked: the turn's, or its conversation's."
    )
    cast_relevant_from: int = Field(2, ge=1, le=4, description="Level that counts as relevant.")
    cross_encoder: CrossFitting = CrossFitting(epochs=1, learning_rate=1e-3)
    planted: Planted = Planted()
    msmarco: MsMarco = MsMarco()


class Decoding(_Model):
    """How a language model chooses the tokens of its answer."""

    max_tokens: int = Field(
        128, ge=1, le=1_000_000, description="Tokens after which an answer is cut."
    )
    temperature: float = Field(
        0.0, ge=0, le=2, description="0: always the likeliest token; larger: more variety."
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description="Share of the probability that tokens are drawn from."
    )
    seed: int | None = Field(
        None, ge=0, lt=2**31, description="Of the draw; an endpoint may ignore it."
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), max_length=4, strict=False, description="Texts that end the answer; left out of it."
    )
    logprobs: bool = Field(
        False, description="Whether the log-probability of each token is asked for."
    )


class LocalSettings(_Model):
    """A language model that runs on this machine."""

    source: str = Field(
        min_length=1,
        description="A folder with safetensors, a name on the Hugging Face hub, or a GGUF file.",
    )
    revision: str | None = Field(None, description="Commit, tag or branch of a hub name.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="Numbers that it computes with."
    )
    threads: int = Field(
        1, ge=1, description="Cores that it computes on; with others, last bits may differ."
    )


class Prices(_Model):
    """What an endpoint charges."""

    prompt: float = Field(0.0, ge=0, description="For a million tokens of prompts.")
    answer: float = Field(0.0, ge=0, description="For a million tokens of answers.")
    currency: str = Field("USD", min_length=1, description="Only shown.")

    @property
    def known(self) -> bool:
        """Whether any was named."""
        return self.prompt > 0 or self.answer > 0


def _plain_url(url: str) -> str:
    """Address without a place for a key: what stands in it may be shown.

    Examples
    --------
    >>> _plain_url("https://me:secret@api.example.org/v1")
    Traceback (most recent call last):
    ValueError: an address holds no user, password, `?` or `#`: `key` names the environment \
variable of a key
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "an address holds no user, password, `?` or `#`: `key` names the environment variable "
            "of a key"
        )
    try:
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise ValueError("an address has a host, and after a colon a port of 1 to 65535")
    return url


def _variable(name: str) -> str:
    """Name of an environment variable; the error does not quote what may be the key itself.

    Examples
    --------
    >>> _variable("sk-secret")
    Traceback (most recent call last):
    ValueError: it names the environment variable that holds the key, in capitals, digits and _
    """
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise ValueError(
            "it names the environment variable that holds the key, in capitals, digits and _"
        )
    return name


class EndpointSettings(_Model):
    """A language model behind a server that speaks OpenAI's protocol."""

    url: Annotated[str, AfterValidator(_plain_url)] = Field(
        pattern=r"^https?://[^/\s]+", description="Address up to, not with, /chat/completions."
    )
    model: str = Field(min_length=1, description="Name of the model, as the server knows it.")
    version: str = Field(
        "", description="Version or date of the model, where its name does not say it."
    )
    key: Annotated[str, AfterValidator(_variable)] | None = Field(
        None, description="Name of the environment variable with the key; null: none is sent."
    )
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="What the server calls the limit of an answer."
    )
    timeout: float = Field(120.0, gt=0, description="Seconds for a whole answer.")
    retries: int = Field(5, ge=0, description="Times that a request is repeated after a fault.")
    wait: float = Field(1.0, gt=0, description="Seconds before the first repeat; then doubled.")
    workers: int = Field(4, ge=1, le=256, description="Requests side by side.")
    requests_per_minute: float | None = Field(None, gt=0, description="Most of them; null: any.")
    prices: Prices = Prices()
    budget: float | None = Field(
        None, ge=0, description="Most that a job may cost by the estimate; null: any sum."
    )

    @property
    def unencrypted(self) -> bool:
        """Whether the address is of plain http."""
        return urlsplit(self.url).scheme == "http"

    @property
    def on_this_machine(self) -> bool:
        """Whether the host of the address is this machine, by its name or number.

        Examples
        --------
        >>> hosts = ["localhost", "127.0.0.1", "[::1]", "localhost.example.org", "10.0.0.7"]
        >>> [EndpointSettings(url=f"http://{host}:8000", model="m").on_this_machine
        ...  for host in hosts]
        [True, True, True, False, False]
        """
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @model_validator(mode="after")
    def _key_is_encrypted(self) -> EndpointSettings:
        if self.key is not None and self.unencrypted and not self.on_this_machine:
            raise ValueError(
                f"the key would go to {urlsplit(self.url).hostname} over plain http, where others "
                "can read it: give an https address or one of this machine (such as the end of an "
                "ssh tunnel), or no `key`"
            )
        return self

    @model_validator(mode="after")
    def _budget_has_prices(self) -> EndpointSettings:
        if self.budget is not None and not self.prices.known:
            raise ValueError(
                "a `budget` without `prices` stops nothing: name them, or leave it out"
            )
        return self


class LanguageModels(_Model):
    """Language models by the names that experiments call them."""

    local: dict[str, LocalSettings] = Field(
        {"smollm2": LocalSettings(source="smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")},
        description="Models that run on this machine.",
    )
    endpoints: dict[str, EndpointSettings] = Field(
        {}, description="Models behind servers that speak OpenAI's protocol."
    )
    records: Annotated[str, AfterValidator(_plain_path)] = Field(
        "records", min_length=1, description="Folder of the answers that were given."
    )
    keep_prompts: bool = Field(
        True, description="Whether prompts are kept beside them; they may quote data."
    )
    ask: bool = Field(
        True, description="Whether models are asked what no record holds; false: replay only."
    )

    @model_validator(mode="after")
    def _names(self) -> LanguageModels:
        for name in (*self.local, *self.endpoints):
            if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
                raise ValueError(
                    f"the model {name!r} needs a name of small letters, digits and hyphens"
                )
        if twice := sorted(set(self.local) & set(self.endpoints)):
            raise ValueError(f"the model {twice[0]!r} stands under `local` and `endpoints`")
        return self


class PlantedDialogues(_Model):
    """Generated dialogues whose satisfaction is known."""

    dialogues: int = Field(200, ge=1, description="Dialogues, of five samples or more.")
    dissatisfied: float = Field(
        0.1, ge=0, le=1, description="Probability of a fault in a turn of the system."
    )
    noise: float = Field(
        0.05, ge=0, le=0.5, description="Probability that a label is turned round."
    )
    samples: int = Field(20, ge=1, description="Samples of each label that are rewritten.")


class Counterfactuals(_Model):
    """Counterfactual utterances of chapter 3 of abolghasemi2026."""

    model: str = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    template: str | None = Field(
        None, min_length=1, description="File of an own prompt template; null: the project's."
    )
    max_tokens: int = Field(64, ge=1, description="Tokens after which an answer is cut.")
    temperature: float = Field(0.0, ge=0, le=2, description="0: always the likeliest token.")
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\nUSER", "\nSYSTEM"], max_length=4, description="Texts that end an answer."
    )
    longest: int = Field(60, ge=1, description="Words of an utterance that can be used.")
    samples: int = Field(
        40, ge=1, description="Samples of each label that are rewritten (released tier)."
    )
    folds: int = Field(10, ge=2, description="Parts of the dialogues for the stand-in judge.")
    planted: PlantedDialogues = PlantedDialogues()


class SentenceClassifier(Training):
    """An answer-in-the-sentence classifier, all of whose weights are trained."""

    warmup_steps: int = Field(500, ge=0, description="Steps in which the learning rate rises.")
    weight_decay: float = Field(0.01, ge=0, description="Of matrices.")
    length: int = Field(512, ge=16, le=512, description="Word pieces of question and sentence.")


class FrozenClassifier(_Model):
    """A logistic regression over the vectors of an encoder that stays as it is."""

    sentences: int = Field(
        2500, ge=100, description="Training sentences, at most, of whole questions drawn at random."
    )
    length: int = Field(24, ge=8, le=512, description="Word pieces of a question or sentence.")


class FullClassifier(SentenceClassifier):
    """The thesis' classifier."""

    model: Annotated[str, AfterValidator(_plain_path)] = Field(
        "bert-base-uncased",
        min_length=1,
        description="Name on the hub, or a folder with a BERT in safetensors and its tokenizer.",
    )
    revision: str | None = Field(None, description="Commit, tag or branch of the hub name.")
    squad: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="File train-v2.0.json of SQuAD 2.0; null: the full tier cannot run."
    )


class Answerability(_Model):
    """Chapter 5 of lajewska2025, classifiers of sentences with an answer."""

    tiny: SentenceClassifier = SentenceClassifier(
        epochs=1, batch=32, learning_rate=5e-4, warmup_steps=100, length=48
    )
    frozen: FrozenClassifier = FrozenClassifier()
    full: FullClassifier = FullClassifier(epochs=3, batch=32, learning_rate=5e-5)


class CastBm25(_Model):
    """BM25 of the systems of the chapter."""

    organisers: Bm25 = Field(Bm25(k1=4.46, b=0.82), description="That of the track's organisers.")
    default: Bm25 = Field(Bm25(k1=1.2, b=0.75), description="That of Elasticsearch.")
    tuned: Bm25 = Field(Bm25(k1=0.95, b=0.45), description="As tuned for WaterlooClarke.")


class Rewriters(_Model):
    """T5 models that rewrite turns: names on the hub, or folders with safetensors."""

    canard: str | None = Field(
        "castorini/t5-base-canard", min_length=1, description="Trained on CANARD."
    )
    qrecc: str | None = Field(None, min_length=1, description="Trained on QReCC; null: none.")


class CastSystems(_Model):
    """Chapter 3 of lajewska2025."""

    runs_2020: Annotated[str, AfterValidator(_plain_path)] | None = Field(
        None, description="Folder with the authors' runs of 2020; null: no full tier."
    )
    rewriters: Rewriters = Rewriters()
    bm25: CastBm25 = CastBm25()
    rm3: Rm3 = Rm3(documents=17, terms=26)
    rrf: int = Field(60, ge=1, description="Constant of reciprocal rank fusion.")
    context: int = Field(64, ge=8, description="Words of a query that holds what was said before.")
    query: int = Field(128, ge=8, le=512, description="Word pieces that encoders read of a query.")
    candidates: int = Field(100, ge=10, description="Passages of a ranked list, and cut-off.")
    pairwise: int = Field(
        50, ge=2, description="First passages of a list that are compared with each other."
    )


class Estimator(_Model):
    """How one kind of estimator of user satisfaction is trained."""

    steps: int = Field(ge=1, description="Steps of a training.")
    batch: int = Field(ge=1, description="Samples a step.")
    learning_rate: float = Field(gt=0, lt=1, description="Highest learning rate.")
    validations: int = Field(
        2, ge=1, description="Times that it is validated; the best state of them is kept."
    )
    samples: int | None = Field(
        None, ge=2, description="Training samples, the first ones of a benchmark; null: all."
    )


class TextEstimator(Estimator):
    """A BERT that reads the last words of a dialogue."""

    length: int = Field(128, ge=8, le=512, description="Word pieces that it reads.")
    train_embeddings: bool = Field(
        False, description="Whether the vectors of words and places are trained too."
    )


class TurnEstimator(Estimator):
    """ASAP, which reads a dialogue turn by turn."""

    frozen: bool = Field(True, description="Whether the encoder of utterances stays as it is.")
    turns: int = Field(8, ge=1, description="Turns that it reads, the last ones.")
    utterance: int = Field(64, ge=3, le=512, description="Word pieces of an utterance.")
    size: int = Field(128, ge=8, multiple_of=8, description="Width of both transformers.")
    heads: int = Field(4, ge=1, description="Heads of their attention.")
    layers: int = Field(2, ge=1, description="Layers of the transformer over turns.")
    hawkes_layers: int = Field(2, ge=1, description="Layers of the Hawkes process.")


class PlantedSatisfaction(_Model):
    """Sizes of the generated dialogues whose satisfaction is known."""

    dialogues: int = Field(120, ge=10, description="Dialogues of the training part.")
    test_dialogues: int = Field(40, ge=5, description="Of the validation and of the test part.")
    dissatisfied: float = Field(0.06, gt=0, lt=1, description="Share of faulty answers.")
    noise: float = Field(0.03, ge=0, lt=0.5, description="Share of labels that are turned round.")
    steps: int = Field(60, ge=1, description="Steps of a training.")


class FewShot(_Model):
    """Labels of a language model that is shown two examples."""

    samples: int = Field(50, ge=2, description="Samples of Main and of CF that it labels.")
    max_tokens: int = Field(8, ge=1, description="Tokens of an answer.")
    model: str = Field("smollm2", min_length=1, description="Of `language_models`.")


class FullSatisfaction(_Model):
    """Estimators of the full tier, all of whose weights are trained, with a GPU."""

    model: str = Field(
        "bert-base-uncased", min_length=1, description="Name on the hub, or a folder."
    )
    revision: str | None = Field(None, description="Commit, tag or branch of a hub name.")
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


class UserSatisfaction(_Model):
    """Estimators of chapter 3 of abolghasemi2026."""

    seeds: int = Field(1, ge=1, le=100, description="Trainings of each estimator.")
    upsampling: list[Annotated[int, Field(ge=1, le=50)]] = Field(
        [1, 10, 20],
        min_length=1,
        description="How often a dissatisfied sample stands in the training set.",
    )
    bert: TextEstimator = TextEstimator(steps=100, batch=16, learning_rate=5e-4)
    asap: TurnEstimator = TurnEstimator(steps=200, batch=32, learning_rate=1e-3, samples=1500)
    orders: int = Field(
        100, ge=2, description="Random orders in which dissatisfied samples are added."
    )
    draws: int = Field(
        1000, ge=100, description="Draws of the intervals of what counterfactuals gain."
    )
    planted: PlantedSatisfaction = PlantedSatisfaction()
    few_shot: FewShot = FewShot()
    full: FullSatisfaction = FullSatisfaction()


class PlantedPreference(_Model):
    """A generator that prefers a label as much as it is told to (`everycell.rag.planted`)."""

    strengths: list[FiniteFloat] = Field(
        [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0],
        min_length=1,
        description="Log-odds by which [Human] beats [LLM] in the figure of the planted bias.",
    )
    shown: list[FiniteFloat] = Field(
        [0.0, 1.0, 2.0], min_length=1, description="Those in the stand-ins of the chapter's tables."
    )
    skill: FiniteFloat = Field(
        3.0, description="Log-odds by which a relevant document beats another."
    )
    base: FiniteFloat = Field(
        -2.0, description="Log-odds of citing another document that bears no label."
    )


class AskedQuestions(_Model):
    """Questions of each setting of chapter 5 of abolghasemi2026 that language models are asked."""

    main: int = Field(60, ge=2, description="Of Tables 5.1 to 5.6.")
    extended: int = Field(60, ge=2, description="Of Tables 5.7 and 5.8.")
    depths: int = Field(60, ge=2, description="Of Figure 5.9, for each number of documents.")
    retrievers: int = Field(60, ge=2, description="Of Table 5.9, for each retriever.")


class CitedAnswers(_Model):
    """Cited answers of language models, and their sizes."""

    models: dict[str, str] = Field(
        {"smollm2": "SmolLM2"},
        description="Names under `language_models`, each with its name in the tables.",
    )
    without_logprobs: list[str] = Field(
        [], description="Of these, the ones that give no log-probabilities (no Table 5.6)."
    )
    questions: AskedQuestions = AskedQuestions()
    k: int = Field(2, ge=2, description="Documents of a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    max_tokens: int = Field(128, ge=1, description="Tokens after which an answer is cut.")


class OpenQuestions(_Model):
    """Natural Questions of the released tier, and how their passages are retrieved."""

    questions: int = Field(2655, ge=1, description="Questions, drawn; all where there are fewer.")
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


class ParaphraseSizes(_Model):
    """How many passages are said again, and by which model."""

    model: str | None = Field(
        "smollm2", min_length=1, description="Name of a language model (`language_models`)."
    )
    candidates: int = Field(40, ge=1, description="Questions that are tried at most.")
    longest: int | None = Field(70, ge=1, description="Words of a passage; null: any number.")
    attempts: int = Field(3, ge=1, description="Attempts at a sentence, the first one greedy.")


class Paraphrases(_Model):
    """Passages in the words of a language model."""

    template: str | None = Field(
        None, min_length=1, description="File of an own prompt template; null: the project's."
    )
    max_tokens: int = Field(80, ge=1, description="Tokens of a sentence's paraphrase.")
    stop: list[Annotated[str, Field(min_length=1)]] = Field(
        ["\n"], max_length=4, description="Texts that end an answer."
    )
    temperature: float = Field(0.9, gt=0, le=2, description="Of the further attempts.")
    top_p: float = Field(0.9, gt=0, le=1, description="Of the further attempts.")
    copied: float = Field(
        0.5, ge=0, le=1, description="Share of sequences of five words that may be the original's."
    )
    released: ParaphraseSizes = ParaphraseSizes()
    full: ParaphraseSizes = ParaphraseSizes(model=None, candidates=2000, longest=None, attempts=6)


class Attribution(_Model):
    """Attribution bias of chapter 5 of abolghasemi2026."""

    k: int = Field(10, ge=2, description="Documents of a prompt.")
    depths: list[Annotated[int, Field(ge=2)]] = Field(
        [2, 5, 8, 10], min_length=1, description="Numbers of documents in Figure 5.9."
    )
    planted: PlantedPreference = PlantedPreference()
    template: str | None = Field(
        None, min_length=1, description="File of an own prompt without authors; null: ours."
    )
    authors_template: str | None = Field(
        None, min_length=1, description="File of an own prompt with authors; null: ours."
    )
    names: str | None = Field(
        None, min_length=1, description="File of people's names, a line each; null: ours."
    )
    released: CitedAnswers = CitedAnswers()
    full: FullCitedAnswers = FullCitedAnswers(
        models={},
        questions=AskedQuestions(main=500, extended=500, depths=500, retrievers=500),
        k=10,
        depths=[2, 5, 8, 10],
        max_tokens=256,
    )
    nq: OpenQuestions = OpenQuestions()
    paraphrases: Paraphrases = Paraphrases()


class Config(_Model):
    """All that ``config.yaml`` may hold.

    Examples
    --------
    >>> Config().seed
    20261121
    """

    mirror: str | None = Field(
        None,
        description="Folder with a copy of the released data; EVERYCELL_MIRROR overrides it.",
    )
    cache: Annotated[str, AfterValidator(_plain_path)] = Field(
        "resources", min_length=1, description="Folder of the fetched files."
    )
    network: bool = Field(True, description="Whether a fetch may use the network.")
    seed: int = Field(20261121, ge=0, lt=2**32, description="Seed of all random numbers.")
    container: str | None = Field(
        None,
        description="Image with the environments of all rules (docs/clusters.md): a file or a URL.",
    )
    user_studies: UserStudies = UserStudies()
    query_by_example: QueryByExample = QueryByExample()
    term_fairness: TermFairness = TermFairness()
    counterfactuals: Counterfactuals = Counterfactuals()
    user_satisfaction: UserSatisfaction = UserSatisfaction()
    attribution: Attribution = Attribution()
    language_models: LanguageModels = LanguageModels()
    answerability: Answerability = Answerability()
    cast_systems: CastSystems = CastSystems()

    def mirror_folder(self, environment: Mapping[str, str] | None = None) -> Path | None:
        """Mirror to use: the environment's, else the configured one, else none.

        Examples
        --------
        >>> Config(mirror="/a").mirror_folder({"EVERYCELL_MIRROR": "/b"}).as_posix()
        '/b'
        """
        environment = os.environ if environment is None else environment
        chosen = environment.get("EVERYCELL_MIRROR") or self.mirror
        return Path(_plain_path(chosen)) if chosen else None


def parse_config(content: Any, *, name: str = "config.yaml") -> Config:
    """Validate a configuration.

    Raises
    ------
    ConfigError
        One sentence for the first fault: the key, the value found and what is allowed.

    Examples
    --------
    >>> parse_config({"sead": 1})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    everycell.config.ConfigError: config.yaml: `sead` is no key (did you mean `seed`?); allowed \
are: mirror, cache, network, seed, ...
    >>> parse_config({"user_studies": {"alpha": "high"}})
    Traceback (most recent call last):
        ...
    everycell.config.ConfigError: config.yaml: `user_studies.alpha` is 'high'; allowed is: a \
valid number, above 0, below 1.
    """
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{name}: holds a {type(content).__name__}; it must hold `key: value`.")
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{name}: {describe_fault(Config, error)}") from None


def read_config(path: Path) -> Config:
    """Read and validate a configuration file; an empty one means the defaults."""
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); restore the file.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is no UTF-8 text; save it as UTF-8.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is no YAML, {yaml_fault(error)}; mend that line.") from None
    return parse_config(content, name=path.name)


def json_schema() -> str:
    """JSON schema of the configuration, as text of the committed file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | Config.model_json_schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.parent.mkdir(parents=True, exist_ok=True)
    SCHEMA.write_text(json_schema(), encoding="utf-8")
