"""Settings of the group-bias experiment (TExFAIR: abolghasemi2024, abolghasemi2026)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from everycell.base.settings import PlainPath, Settings
from everycell.retrieval.settings import Bm25, Rm3, Training


class PassageIndexes(Settings):
    """Indexes of the MS MARCO passages: names in Pyserini, or folders."""

    bm25: str = Field("msmarco-v1-passage", min_length=1, description="Inverted index for BM25.")
    unicoil: str = Field(
        "msmarco-v1-passage.unicoil", min_length=1, description="Impacts of uniCOIL."
    )
    deepimpact: str = Field(
        "msmarco-v1-passage.deepimpact", min_length=1, description="Impacts of DeepImpact."
    )
    ance: str = Field("msmarco-v1-passage.ance", min_length=1, description="Embeddings of ANCE.")
    distilbert_kd: str = Field(
        "msmarco-v1-passage.distilbert-dot-margin-mse-t2",
        min_length=1,
        description="Embeddings of DistilBERT, distilled from three teachers.",
    )
    distilbert_tasb: str = Field(
        "msmarco-v1-passage.distilbert-dot-tas_b-b256",
        min_length=1,
        description="Embeddings of DistilBERT with topic-aware sampling.",
    )
    tct_colbert: str = Field(
        "msmarco-v1-passage.tct_colbert", min_length=1, description="Embeddings of TCT-ColBERT, v1."
    )
    sbert: str = Field("msmarco-v1-passage.sbert", min_length=1, description="Embeddings of SBERT.")


class QueryEncoders(Settings):
    """Query encoder of each index."""

    unicoil: str = Field(
        "castorini/unicoil-msmarco-passage", min_length=1, description="For uniCOIL."
    )
    deepimpact: str = Field(
        "words",
        pattern=r"^words$|\.jsonl$",
        description="For DeepImpact: `words` (its authors' rule), or a file of encoded queries.",
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


class ReRankers(Settings):
    """Cross-encoders (safetensors) with their tokenizers: names on the hub, or folders."""

    bert: str | None = Field(
        "xpmir/cross-encoder-bert-base-BCE",
        min_length=1,
        description="BERT, trained on MS MARCO.",
    )
    minilm: str | None = Field(
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        min_length=1,
        description="MiniLM, distilled on MS MARCO.",
    )
    tinybert: str | None = Field(
        "cross-encoder/ms-marco-TinyBERT-L2-v2",
        min_length=1,
        description="TinyBERT, distilled on MS MARCO.",
    )


class MsMarco(Settings):
    """The MS MARCO passages and their rankers."""

    folder: PlainPath | None = Field(
        None, description="Folder with collection.tsv and the judgements; null: no full tier."
    )
    qrels: str = Field(
        "qrels.dev.tsv", min_length=1, description="File with judgements in this folder."
    )
    passages: int | None = Field(
        8_841_823,
        ge=1,
        description="Number of passages that the collection must have; null: any number.",
    )
    hits: int = Field(1000, ge=10, le=10_000, description="Passages per ranked list.")
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)
    indexes: PassageIndexes = PassageIndexes()
    encoders: QueryEncoders = QueryEncoders()
    rerankers: ReRankers = ReRankers()
    pair: int = Field(
        512,
        ge=16,
        le=512,
        description="Maximum number of word pieces of a query and a passage together.",
    )
    swapped_candidates: Literal["swapped", "original"] = Field(
        "swapped",
        description="BM25 list that is re-ranked in the gender-swapped collection.",
    )


class Planted(Settings):
    """Sizes of the synthetic collection with known bias."""

    queries: int = Field(20, ge=1, le=999, description="Lists per kind of ranking.")
    ranker_queries: int = Field(60, ge=3, le=999, description="Lists per planted ranker.")
    depth: int = Field(
        50, ge=10, le=100, description="Documents per list, and largest cut-off shown."
    )
    length: int = Field(40, ge=8, le=1000, description="Words per document.")


class CrossFitting(Training):
    """The cross-encoder of the released tier, one model per fold of conversations."""

    folds: int = Field(5, ge=3, description="Number of folds of conversations.")
    pairs: int = Field(800, ge=10, description="Relevant training pairs per model.")
    length: int = Field(
        128,
        ge=16,
        le=512,
        description="Maximum number of word pieces of a query and a passage together.",
    )
    depth: int = Field(30, ge=1, description="Number of top documents of BM25 that are re-ranked.")


class TermFairness(Settings):
    """Chapter 4 of abolghasemi2026, and abolghasemi2024."""

    k: int = Field(10, ge=1, description="Cut-off of the measures.")
    cutoffs: int = Field(50, ge=10, description="Largest cut-off of Figure 4.2 on MS MARCO.")
    persistence: float = Field(0.9, gt=0, lt=1, description="p of rank-biased overlap.")
    alpha: float = Field(0.05, gt=0, lt=1, description="Significance level of the tests.")
    pronouns: Literal["words", "tags"] = Field(
        "words",
        description="What decides how `her` is swapped: words around it, or part-of-speech tags.",
    )
    bm25: Bm25 = Bm25(k1=0.9, b=0.4)
    rm3: Rm3 = Rm3()
    cast_setting: Literal["judged", "topic"] = Field(
        "topic", description="CAsT passages to rank: judged for the turn, or in its conversation."
    )
    cast_relevant_from: int = Field(
        2, ge=1, le=4, description="Lowest relevance level that counts as relevant."
    )
    text: int = Field(
        96,
        ge=8,
        le=512,
        description="Maximum number of word pieces of an encoded text of CAsT or GrepBiasIR.",
    )
    cross_encoder: CrossFitting = CrossFitting(epochs=1, learning_rate=1e-3)
    planted: Planted = Planted()
    msmarco: MsMarco = MsMarco()


#: Blocks of ``config.yaml`` by their keys.
BLOCKS = {"term_fairness": TermFairness}
