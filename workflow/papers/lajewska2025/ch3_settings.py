"""Settings of chapter 3 of lajewska2025: conversational retrieval."""

from __future__ import annotations

from pydantic import Field

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import Bm25, Rm3


class CastBm25(Settings):
    """BM25 parameters of the systems of chapter 3."""

    organisers: Bm25 = Field(
        Bm25(k1=4.46, b=0.82), description="Parameters of the track's organisers."
    )
    default: Bm25 = Field(Bm25(k1=1.2, b=0.75), description="Defaults of Elasticsearch.")
    tuned: Bm25 = Field(Bm25(k1=0.95, b=0.45), description="As tuned for WaterlooClarke.")


class Rewriters(Settings):
    """T5 models that rewrite turns: names on the hub, or folders with safetensors."""

    canard: str | None = Field(
        "castorini/t5-base-canard@refs/pr/2", min_length=1, description="Trained on CANARD."
    )
    qrecc: str | None = Field(
        None, min_length=1, description="Trained on QReCC; null: trained here, on `qrecc`."
    )


class RewriterTraining(Settings):
    """Fine-tuning of T5 on QReCC (section 3.3.2, page 42)."""

    start: str = Field(
        "google-t5/t5-base", min_length=1, description="Pretrained T5: a hub name or a folder."
    )
    epochs: int = Field(3, ge=1, description="Epochs (page 42).")
    batch: int = Field(2, ge=1, description="Batch size (page 42).")
    learning_rate: float = Field(5e-5, gt=0, description="Learning rate (page 42).")
    validation_steps: int = Field(
        10_000, ge=1, description="Steps between validations, as in the authors' code."
    )


class CastModels(Settings):
    """Models of the systems in full: hub names, or folders with safetensors."""

    ance: str = Field(
        "castorini/ance-msmarco-passage", min_length=1, description="ANCE, FirstP (page 42)."
    )
    mono_t5: str = Field(
        "castorini/monot5-base-msmarco", min_length=1, description="monoT5 (page 41)."
    )
    duo_t5: str = Field(
        "castorini/duot5-base-msmarco", min_length=1, description="duoT5 (page 43)."
    )
    length: int = Field(
        512, ge=8, le=512, description="Maximum number of tokens of a prompt of T5, or a passage."
    )


class CastPassages(Settings):
    """Passages that the collections must have; null: any number."""

    year_2020: int | None = Field(38_636_520, ge=1, description="MS MARCO and TREC CAR.")
    year_2021: int | None = Field(39_945_395, ge=1, description="MS MARCO, KILT and WaPo, split.")


class CastBm25Grid(Settings):
    """Grid on which BM25 is tuned: that of the authors' files (data/fine_tuning/bm25)."""

    b: list[float] = Field(
        [round(0.1 * n, 1) for n in range(3, 10)], min_length=1, description="Values of b."
    )
    k1: list[float] = Field(
        [round(0.1 * n, 1) for n in range(5, 21)], min_length=1, description="Values of k1."
    )


class CastSystems(Settings):
    """Chapter 3 of lajewska2025."""

    collection_2020: PlainPath | None = Field(
        None, description="Folder with the published collections of CAsT 2020; null: not used."
    )
    collection_2021: PlainPath | None = Field(
        None, description="Folder with the published collections of CAsT 2021; null: not used."
    )
    passages: CastPassages = CastPassages()
    bm25_grid: CastBm25Grid = CastBm25Grid()
    first_pass: int = Field(
        1000, ge=10, description="Passages of a first pass on the collections (page 41)."
    )

    runs_2020: PlainPath | None = Field(
        None,
        description="Folder with the authors' runs of 2020; null: run the systems themselves.",
    )
    organisers_run: PlainPath | None = Field(
        None,
        description="The organisers' document run of 2021; null: not in the full tier.",
    )
    organisers_passages: PlainPath | None = Field(
        None,
        description="The same run with passages, for a supplementary table; null: no such table.",
    )
    models: CastModels = CastModels()
    qrecc: PlainPath | None = Field(
        None, description="Folder with qrecc_train.json and qrecc_test.json; null: not used."
    )
    rewriter_training: RewriterTraining = RewriterTraining()
    rewriters: Rewriters = Rewriters()
    bm25: CastBm25 = CastBm25()
    rm3: Rm3 = Rm3(documents=17, terms=26)
    rrf: int = Field(60, ge=1, description="Constant of reciprocal rank fusion.")
    context: int = Field(
        64, ge=8, description="Maximum number of words in a query that includes earlier turns."
    )
    query: int = Field(
        128, ge=8, le=512, description="Maximum number of word pieces of a query in encoders."
    )
    candidates: int = Field(
        100, ge=10, description="Passages in a ranked list, and the cut-off of the measures."
    )
    pairwise: int = Field(
        50, ge=2, description="Number of top passages that are compared in pairs."
    )


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"cast_systems": CastSystems}
