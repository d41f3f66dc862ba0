"""Settings of chapter 2 of abolghasemi2026: query by example."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from everycell.base.settings import PlainPath, Probability, Settings
from everycell.retrieval.settings import Bm25, Training


class Sizes(Settings):
    """Number of queries drawn from a collection."""

    test: int = Field(130, ge=2, description="Test queries of each task.")
    validation: int = Field(65, ge=2, description="Validation queries of each task.")


class PyDocsSizes(Sizes):
    """Size of the collection built from the documentation of installed packages."""

    packages: list[Literal["numpy", "scipy", "pandas", "sklearn", "networkx"]] = Field(
        ["numpy", "scipy", "pandas", "sklearn", "networkx"],
        min_length=1,
        description="Packages whose documentation is the collection.",
    )
    known_items: int = Field(
        130, ge=2, description="Test queries of the short-query task; validation has as many."
    )


class Lengths(Settings):
    """Maximum lengths of texts in word pieces, including special tokens."""

    training: int = Field(64, ge=8, le=512, description="Length of a text in training.")
    text: int = Field(256, ge=8, le=512, description="Length of a document to score.")
    query: int | None = Field(
        256, ge=8, description="Length of a query whose terms are counted; null: no limit."
    )
    zero_shot: int = Field(96, ge=8, le=512, description="Length of a text for a zero-shot model.")
    expanded: int = Field(448, ge=8, le=512, description="Length of an expanded document.")
    pair: int = Field(
        96, ge=16, le=512, description="Joint length of a cross-encoder's query and document."
    )


class Models(Settings):
    """Training of the models of a chapter."""

    pairs: int = Field(
        6000, ge=10, description="Maximum number of relevant (query, document) pairs to train on."
    )
    tilde: Training = Training(epochs=1, learning_rate=1e-3)
    tildev2: Training = Training(epochs=1, batch=16, learning_rate=5e-4)
    cross_encoder: Training = Training(epochs=1, batch=16, learning_rate=1e-3)
    multi_task: Training = Training(epochs=1, batch=16, learning_rate=1e-3)


class Concepts(Sizes):
    """The synthetic collection with planted relevance, and the rankers trained on it."""

    test: int = Field(100, ge=2, description="Test queries of each task.")
    validation: int = Field(60, ge=2, description="Validation queries of each task.")
    train: int = Field(440, ge=30, description="Training queries of each task.")
    expansion: list[Annotated[int, Field(ge=1, le=100)]] = Field(
        [65, 80], description="Numbers of terms that TILDE proposes per document."
    )
    lengths: Lengths = Lengths(training=16, text=16, query=16, zero_shot=16, expanded=40, pair=32)
    models: Models = Models(
        pairs=16000,
        tilde=Training(epochs=5, batch=32, learning_rate=3e-3),
        tildev2=Training(epochs=1, batch=16, learning_rate=2e-3),
        cross_encoder=Training(epochs=3, batch=32, learning_rate=2e-3),
        multi_task=Training(epochs=3, batch=32, learning_rate=2e-3),
    )

    @property
    def sizes(self) -> dict[str, int]:
        """Number of queries of each task by split."""
        return {"test": self.test, "validation": self.validation, "train": self.train}


class SciDocs(Settings):
    """Location and parsing of the published SciDocs files."""

    folder: PlainPath | None = Field(
        None, description="Folder with the published files; required by the full tier."
    )
    documents: Literal["all", "listed"] = Field(
        "all", description="Papers to index: all in the metadata file, or those in the lists."
    )
    cleaning: Literal["none", "words"] = Field(
        "none",
        description="Punctuation: kept (none), or replaced with blanks as in the authors' code.",
    )
    validation: Probability = Field(
        0.15, description="Share of the queries of a validation file held out from training."
    )


class Encoders(Settings):
    """Models in safetensors format with their tokenizers: folders or Hugging Face names."""

    bert: PlainPath | None = Field(None, description="BERT-base, uncased.")
    scibert: PlainPath | None = Field(
        None, description="SciBERT, uncased, with its own vocabulary."
    )
    tilde_msmarco: PlainPath | None = Field(
        None, description="A TILDE trained on MS MARCO (row d); null: the row is left out."
    )
    tildev2_msmarco: PlainPath | None = Field(
        None, description="A TILDEv2 trained on MS MARCO (row g); null: the row is left out."
    )


class FullTraining(Training):
    """Training of one kind of model on SciDocs."""

    negatives: int = Field(
        1, ge=1, description="Number of non-relevant documents per relevant one."
    )
    schedule: Literal["linear", "constant"] = Field(
        "constant", description="Schedule of the learning rate after the warm-up."
    )
    warmup: float = Field(0.0, ge=0, le=1, description="Share of the steps used for the warm-up.")


class FullCrossEncoder(FullTraining):
    """Training of a cross-encoder on SciDocs, validated after each epoch."""

    patience: int = Field(
        10, ge=1, description="Epochs without a better nDCG before training stops."
    )
    dropout: float = Field(0.05, ge=0, lt=1, description="Dropout rate of all layers.")


class Full(Settings):
    """Settings of the thesis for BERT-base on SciDocs, with one model per task."""

    seeds: int = Field(
        3, ge=1, le=20, description="Training runs of each ranker; Table 2.1 shows their means."
    )
    lengths: Lengths = Lengths(
        training=512, text=512, query=None, zero_shot=512, expanded=512, pair=512
    )
    tilde: FullTraining = FullTraining(epochs=5, batch=8, learning_rate=2e-5)
    tildev2: FullTraining = FullTraining(
        epochs=5, batch=2, learning_rate=5e-6, negatives=2, schedule="linear", warmup=0.1
    )
    cross_encoder: FullCrossEncoder = FullCrossEncoder(epochs=30, batch=32, learning_rate=3e-5)


class QueryByExample(Settings):
    """Chapter 2 of abolghasemi2026."""

    concepts: Concepts = Concepts()
    pydocs: PyDocsSizes = PyDocsSizes()
    cacm: Sizes = Sizes()
    scidocs: SciDocs = SciDocs()
    encoders: Encoders = Encoders()
    full: Full = Full()
    bm25: Bm25 = Bm25()
    tuning: dict[Literal["k1", "b"], list[float]] = Field(
        {"k1": [0.9, 1.5, 2.75, 4.0, 6.0], "b": [0.4, 0.75, 1.0]},
        description="Parameter grid of the BM25 tuned on validation queries.",
    )
    jelinek_mercer: Probability = Field(
        0.1, description="Weight of the collection model in the language model of Table 2.2."
    )
    dirichlet: float = Field(
        1000.0, gt=0, description="Dirichlet prior of the language model, in tokens."
    )
    lengths: Lengths = Lengths()
    models: Models = Models()
    expansion: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        [200, 300], description="Numbers of terms that TILDE proposes per document."
    )
    scaling: Literal["query", "run"] = Field(
        "query", description="Scope of the z-scores that are computed before scores are added."
    )
    noise_seeds: int = Field(
        20, ge=2, description="Number of random systems behind the noise oracle."
    )
    alpha: Probability = Field(0.05, description="Significance level of the letters.")


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"query_by_example": QueryByExample}
