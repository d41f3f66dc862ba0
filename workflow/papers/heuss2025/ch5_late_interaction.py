"""Re-ranking with ColBERTv2 for chapter 5 of heuss2025: MaxSim, a sum of maximal similarities."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch.nn import functional
from transformers import BertModel, BertPreTrainedModel, PreTrainedTokenizerBase

from everycell.collections.cited_questions import read_cited_questions
from everycell.jobs.job import Job
from everycell.learning.batching import pad
from everycell.learning.models import (
    ModelError,
    device,
    load_weights,
    model_folder,
    quiet,
    read_tokenizer,
    set_gpu_precision,
    use_one_thread,
)
from everycell.trec.runs import read_run, write_run

#: Tokens after [CLS] that mark queries and documents.
QUERY, DOCUMENT = "[unused0]", "[unused1]"
#: Size of vectors, which the configuration of the published checkpoint does not state.
SIZE = 128


class ColBert(BertPreTrainedModel):
    """BERT with a linear layer; its parts are named as in the published checkpoint."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.linear = torch.nn.Linear(config.hidden_size, getattr(config, "dim", SIZE), bias=False)
        self.post_init()

    def forward(self, ids: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Vectors of length 1 per token, shape (b, tokens, size)."""
        states = self.bert(input_ids=ids, attention_mask=attended.long()).last_hidden_state
        return functional.normalize(self.linear(states).float(), dim=-1)


def kilt_rerank(job: Job) -> None:
    """Re-rank BM25's candidates with a late-interaction model."""
    params = job.params
    use_one_thread()
    set_gpu_precision(params.gpu_precision)
    model, tokenizer = load_colbert(job.folder_of("model"))
    model.to(device())
    collection = read_cited_questions(Path(job.input.questions).parent)
    questions = dict(zip(collection.questions["query"], collection.questions["text"], strict=True))
    passages = dict(
        zip(collection.passages["document_id"], collection.passages["text"], strict=True)
    )
    parts = []
    for query, candidates in read_run(Path(job.input.run)).groupby("query", sort=False):
        texts = [passages[document] for document in candidates["document"]]
        scores = max_sim(
            model,
            tokenizer,
            questions[query],
            texts,
            query_length=params.query_length,
            length=params.length,
        )
        parts.append(candidates[["query", "document"]].assign(score=scores))
    write_run(pd.concat(parts, ignore_index=True), Path(job.output.run), tag="colbertv2")


def load_colbert(source: Path | str) -> tuple[ColBert, PreTrainedTokenizerBase]:
    """Load a ColBERT in safetensors and its tokenizer, in eval mode on the CPU."""
    folder, name = model_folder(source), str(source)
    with quiet():
        model, missing = load_weights(ColBert, folder, name)
        tokenizer = read_tokenizer(folder, name)
    if missing:
        raise ModelError(
            f"The weights of {name} lack {missing[0]!r}, which a ColBERT has: use ColBERTv2, such "
            "as colbert-ir/colbertv2.0."
        )
    vocabulary = tokenizer.get_vocab()
    for token in (QUERY, DOCUMENT):
        if token not in vocabulary:
            raise ModelError(
                f"The vocabulary of {name} lacks {token}, which marks queries or documents: use "
                "the tokenizer that belongs to the model."
            )
    return model.eval(), tokenizer


def max_sim(
    model: ColBert,
    tokenizer: PreTrainedTokenizerBase,
    query: str,
    texts: Sequence[str],
    *,
    query_length: int,
    length: int,
) -> list[float]:
    """Scores of texts: sums over the query's tokens of the largest similarity to a text's token.

    A query is filled up with [MASK], to which no token attends but whose vectors count. Punctuation
    of texts does not count.
    """
    vocabulary = tokenizer.get_vocab()
    ids = _marked_ids(tokenizer, [query], QUERY, query_length)[0]
    filling = query_length - len(ids)
    query_ids = torch.tensor([ids + [vocabulary[tokenizer.mask_token]] * filling])
    attended = torch.tensor([[True] * len(ids) + [False] * filling])
    rows = _marked_ids(tokenizer, texts, DOCUMENT, length)
    batch = pad(rows, tokenizer.pad_token_id)
    documents, is_token = batch["input_ids"], batch["attention_mask"].bool()
    punctuation = torch.tensor([vocabulary.get(mark, -1) for mark in string.punctuation])
    counted = is_token & ~torch.isin(documents, punctuation)
    with torch.inference_mode():
        query_vectors = model(query_ids.to(model.device), attended.to(model.device))[0]
        vectors = model(documents.to(model.device), is_token.to(model.device))
        similarities = vectors @ query_vectors.T
        similarities[~counted.to(model.device)] = -torch.inf
        return similarities.amax(dim=1).sum(dim=1).tolist()


def _marked_ids(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], mark: str, length: int
) -> list[list[int]]:
    """Ids of texts with [CLS], the mark and [SEP], of at most `length` tokens in all."""
    marker = tokenizer.convert_tokens_to_ids(mark)
    encoded = tokenizer(list(texts), truncation=True, max_length=length - 1)["input_ids"]
    return [[ids[0], marker, *ids[1:]] for ids in encoded]
