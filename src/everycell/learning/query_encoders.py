"""Query encoders for published indexes of MS MARCO: uniCOIL and five dense encoders.

ANCE also encodes passages.

They reimplement pyserini's encoders, because its uniCOIL and ANCE do not load with transformers 5.
Weights are read from safetensors only.

===========  =====================================================================================
unicoil      weight per word piece, summed over occurrences, except [CLS]; 5 becomes 256
ance         RoBERTa's first token, a linear layer and a layer norm; 64 tokens
first        first token (both DistilBERTs)
mean         mean of all tokens, normalised to length 1 (SBERT)
tct_colbert  "[CLS] [Q] query", padded with [MASK] to 36 tokens; mean of all after the fourth
===========  =====================================================================================
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertModel,
    BertTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    RobertaConfig,
    RobertaModel,
    RobertaPreTrainedModel,
)

from everycell.learning.batching import map_batches
from everycell.learning.models import ModelError, load_weights, model_folder, quiet, read_tokenizer
from everycell.learning.tildev2 import TildeV2

Kind = Literal["unicoil", "ance", "first", "mean", "tct_colbert"]

# Maximum number of tokens of a query; None for the tokenizer's maximum.
_LENGTHS: dict[str, int | None] = {
    "unicoil": 128,
    "ance": 64,
    "first": None,
    "mean": None,
    "tct_colbert": 36,
}
# uniCOIL's weights up to 5 become whole numbers up to 256.
_RANGE, _STEPS = 5, 256
# Size of ANCE's vectors.
_ANCE_SIZE = 768


class Ance(RobertaPreTrainedModel):
    """RoBERTa with ANCE's head; its parts are named as in the published checkpoint."""

    config_class = RobertaConfig

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config)
        self.roberta = RobertaModel(config, add_pooling_layer=False)
        self.embeddingHead = torch.nn.Linear(config.hidden_size, _ANCE_SIZE)
        self.norm = torch.nn.LayerNorm(_ANCE_SIZE)
        self.post_init()

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Vector of each text, shape (b, 768)."""
        return self.norm(self.embeddingHead(self.roberta(**batch).last_hidden_state[:, 0]))


# The published configuration of TCT-ColBERT does not state the type of model; pyserini uses BERT.
_CLASSES: dict[str, tuple[Any, Any]] = {
    "unicoil": (TildeV2, AutoTokenizer),
    "ance": (Ance, AutoTokenizer),
    "tct_colbert": (BertModel, BertTokenizer),
}


def load_encoder(
    source: Path | str, kind: Kind, *, network: bool = False, revision: str | None = None
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a query encoder and its tokenizer, in eval mode on the CPU."""
    folder, name = model_folder(source, network=network, revision=revision), str(source)
    model_class, tokenizer_class = _CLASSES.get(kind, (AutoModel, AutoTokenizer))
    with quiet():
        model, missing = load_weights(model_class, folder, name)
        tokenizer = read_tokenizer(folder, name, tokenizer_class)
    # Poolers are for classification and not used here.
    if missing := [part for part in missing if "pooler" not in part]:
        raise ModelError(
            f"The weights of {name} lack {missing[0]!r}, which an encoder of the kind {kind} has: "
            "use the model that belongs to the index."
        )
    return model.eval(), tokenizer


def encode_queries(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    kind: Kind,
    queries: Sequence[str],
) -> Iterator[dict[str, int] | list[float]]:
    """Encode queries one by one, so that they do not depend on others in a batch."""
    length = _LENGTHS[kind]
    finish: Callable[[Any], torch.Tensor] = {
        "unicoil": lambda out: out,
        "ance": lambda out: out,
        "first": lambda out: out.last_hidden_state[:, 0],
        "mean": lambda out: functional.normalize(out.last_hidden_state.mean(dim=1)),
        "tct_colbert": lambda out: out.last_hidden_state[:, 4:].mean(dim=1),
    }[kind]
    for query in queries:
        text = query
        if kind == "tct_colbert":
            assert length is not None, "TCT-ColBERT pads its queries to a fixed length"
            text = f"[CLS] [Q] {query}" + "[MASK]" * length
        ids = tokenizer(
            text,
            truncation=True,
            max_length=length,
            add_special_tokens=kind != "tct_colbert",
            return_token_type_ids=False,
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            vector = finish(model(**ids))[0].cpu()
        if kind == "unicoil":
            yield _weights(tokenizer.convert_ids_to_tokens(ids["input_ids"][0]), vector.tolist())
        else:
            yield vector.tolist()


def encode_passages(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    *,
    length: int = 512,
) -> npt.NDArray[np.float32]:
    """ANCE's vectors of passages, in batches, shape (n, 768)."""
    vectors = map_batches(
        lambda batch: model(**batch).float(),
        tokenizer(list(texts), truncation=True, max_length=length)["input_ids"],
        pad_id=tokenizer.pad_token_id,
        device=model.device,
    )
    return np.stack(vectors)


def _weights(pieces: Sequence[str], weights: Sequence[float]) -> dict[str, int]:
    """Sum of the weights of each piece, as a whole number."""
    sums: defaultdict[str, float] = defaultdict(float)
    for piece, weight in zip(pieces, weights, strict=True):
        if piece != "[CLS]":
            sums[piece] += weight
    return {piece: round(weight / _RANGE * _STEPS) for piece, weight in sums.items()}
