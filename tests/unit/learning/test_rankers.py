"""Rankers as objects: what each says of itself, and what it makes with a tiny model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from transformers import BertForMaskedLM

from everycell.base.errors import DataError
from everycell.learning import rankers, tilde, tildev2
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.cross_encoder import PairLength, score_pairs
from everycell.learning.models import load_model
from everycell.learning.rankers import (
    EncodingRanker,
    PairRanker,
    TextEncodingRanker,
    TrainedRanker,
    get_ranker,
    ranker_names,
    rankers_of,
)
from everycell.learning.text_vectors import splade_weights
from everycell.learning.training import train
from everycell.retrieval.encoded import read_encoded, write_encoded

SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "the", "##s", "bee", "river", "bridge", "model", "graph", "star", "verb"]
DOCUMENTS = {"d": "the bee river", "e": "bridge model bridge", "f": "star"}
QUERIES = {"q": "bee model model", "r": "verb star"}
LENGTHS = {
    "training": 12,
    "text": 10,
    "query": 9,
    "zero_shot": 8,
    "expanded": 14,
    "pair": 13,
}
ROWS = Dataset.from_dict(
    {
        "query": ["bee model", "star verb"],
        "positive": ["bee bee", "star"],
        "negatives": [["river", "star"], ["bridge", "graph"]],
    }
)
#: A ranker as one adds it: terms that are in both texts, weighed by a number that is learned.
TOY = '''
"""A ranker whose one weight is learned."""

from everycell.learning.rankers import Start, TextEncodingRanker, TrainedRanker


class ToyRanker(TrainedRanker, TextEncodingRanker):
    """Counts of terms, as TILDEv2 would have them with equal weights."""

    name = "toy"
    negatives = 2

    def training_input_options(self, lengths, *, few_steps):
        return {"length": lengths["training"]}

    def start(self, encoder, input_options, seed):
        from everycell.learning.models import load_model
        from everycell.learning.tilde import stop_ids
        from everycell.learning.tildev2 import from_encoder, ranking_loss

        loaded, tokenizer = load_model(encoder, "encoder", seed=seed)
        loss = ranking_loss(tokenizer, input_options["length"], stop_ids(tokenizer))
        return Start(from_encoder(loaded, bias=1.0, seed=seed), tokenizer, loss)

    def input_options(self, lengths, *, zero_shot, proposals):
        return {"length": lengths["text"]}

    def encode(self, model, documents, queries, input_options):
        from everycell.learning.models import load_model
        from everycell.learning.tilde import query_terms, stop_ids
        from everycell.retrieval.encoded import Encoded

        _, tokenizer = load_model(model, "tildev2")
        parts = [
            query_terms(
                tokenizer, list(texts.values()), input_options["length"], stop_ids(tokenizer)
            )
            for texts in (documents, queries)
        ]
        return Encoded("term_weights", *parts, list(documents), list(queries))


RANKER = ToyRanker()
'''


@pytest.fixture(scope="module")
def folder(model: BertForMaskedLM, tokenizer, tmp_path_factory) -> Path:
    """Return the folder of a tiny language model."""
    path = tmp_path_factory.mktemp("encoder")
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def weighing(folder: Path, tokenizer, tmp_path_factory) -> Path:
    """Return the folder of an untrained TILDEv2, most of whose weights are above 0."""
    path = tmp_path_factory.mktemp("tildev2")
    tildev2.from_encoder(load_model(folder, "encoder")[0], bias=0.3).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def dense(matrix) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def test_get_ranker_without_torch():
    code = (
        "import sys; from everycell.learning.rankers import Ranker, rankers_of; "
        "assert len(rankers_of(Ranker)) >= 7; "
        "print({'torch', 'transformers', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_input_options_names():
    assert [ranker.name for ranker in rankers_of(EncodingRanker)] == [
        name for name in ranker_names() if name not in ("cross-encoder", "mtft")
    ]
    for ranker in rankers_of(EncodingRanker):
        for zero_shot in (False, True):
            input_options = ranker.input_options(LENGTHS, zero_shot=zero_shot, proposals=3)
            assert input_options["length"] in (LENGTHS["zero_shot" if zero_shot else "text"], 14)
            assert set(input_options) <= {"length", "query_length", "proposals", "own"}
    for ranker in rankers_of(PairRanker):
        assert ranker.pair_input_options(LENGTHS) == {"pair_length": {"total": 13}}
        assert ranker.training_input_options(LENGTHS, few_steps=True) == ranker.pair_input_options(
            LENGTHS
        )


def test_training_input_options_own_only():
    read = {
        ranker.name: ranker.training_input_options(LENGTHS, few_steps=True)
        for ranker in rankers_of(TrainedRanker)
    }
    assert read["tilde"] == {"length": 12}
    assert read["tildev2"] == {"length": 12, "bias": 1.0, "scale": True}
    published = get_ranker("tildev2").training_input_options(LENGTHS, few_steps=False)
    assert published == {"length": 12, "bias": 0.0, "scale": False}


def test_tilde_encodes_what_stands_in_a_query(folder, tokenizer):
    input_options = get_ranker("tilde").input_options(LENGTHS, zero_shot=False, proposals=4)
    result = get_ranker("tilde").encode(folder, DOCUMENTS, QUERIES, input_options)
    assert (result.document_ids, result.query_ids) == (["d", "e", "f"], ["q", "r"])
    assert result.kind == "likelihoods" and result.proposed.shape == (3, 4)
    loaded, _ = load_model(folder, "masked-lm")
    columns = np.array(sorted(tokenizer.convert_tokens_to_ids(["bee", "model", "verb", "star"])))
    expected, proposed = tilde.encode(
        loaded, tokenizer, list(DOCUMENTS.values()), 10, columns, proposals=4
    )
    np.testing.assert_allclose(result.documents, expected, rtol=1e-5)
    np.testing.assert_array_equal(result.proposed, proposed)
    assert dense(result.queries).tolist() == [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]


def test_tilde_few_entries(folder):
    input_options = get_ranker("tilde").input_options(LENGTHS, zero_shot=False, proposals=300)
    result = get_ranker("tilde").encode(folder, DOCUMENTS, QUERIES, input_options)
    assert result.proposed.shape == (3, len(WORDS))


def test_tildev2_encodes_documents_and_counts_queries(weighing, tokenizer):
    input_options = get_ranker("tildev2").input_options(LENGTHS, zero_shot=True, proposals=4)
    result = get_ranker("tildev2").encode(weighing, DOCUMENTS, QUERIES, input_options)
    loaded, _ = load_model(weighing, "tildev2")
    stop = tilde.stop_ids(tokenizer)
    expected = tildev2.encode(loaded, tokenizer, list(DOCUMENTS.values()), 8, stop)
    assert result.kind == "term_weights" and expected.nnz
    np.testing.assert_allclose(dense(result.documents), dense(expected), rtol=1e-5)
    counts = tilde.query_terms(tokenizer, list(QUERIES.values()), 9, stop)
    np.testing.assert_array_equal(dense(result.queries), dense(counts))


def test_expansion_adds_proposed_terms_only(weighing, tokenizer):
    proposed = np.array([tokenizer.convert_tokens_to_ids(["graph", "bee"])] * 3)
    ranker = get_ranker("tildev2-expanded")
    input_options = ranker.input_options(LENGTHS, zero_shot=False, proposals=4)
    result, new_terms = ranker.encode_expanded(
        weighing, DOCUMENTS, QUERIES, input_options, proposed
    )
    assert new_terms.to_dict("list") == {
        "document_id": ["d", "e", "f"],
        # "bee" is in d.
        "found": [1, 2, 2],
        "added": [1, 2, 2],
    }
    stop = tilde.stop_ids(tokenizer)
    expanded = tildev2.expand(
        tokenizer, list(DOCUMENTS.values()), proposed, 14, stop, document_length=10
    )
    loaded, _ = load_model(weighing, "tildev2")
    expected = tildev2.encode(loaded, tokenizer, expanded.sequences, 14, stop)
    np.testing.assert_allclose(dense(result.documents), dense(expected), rtol=1e-5)


def test_splade_query_terms(folder, tokenizer):
    result = get_ranker("splade").encode(folder, DOCUMENTS, QUERIES, {"length": 8})
    loaded, _ = load_model(folder, "masked-lm")
    calls = splade_weights(loaded, tokenizer, list(QUERIES.values()), 8)
    documents = splade_weights(loaded, tokenizer, list(DOCUMENTS.values()), 8)
    pairs = pd.DataFrame({"query": ["q", "r"], "document": ["e", "d"]})
    expected = [dense(documents)[1] @ dense(calls)[0], dense(documents)[0] @ dense(calls)[1]]
    assert result.score(pairs)["score"].tolist() == pytest.approx(expected)


def test_dense_equals_vectors(folder):
    result = get_ranker("dense").encode(folder, DOCUMENTS, {"q": DOCUMENTS["e"]}, {"length": 8})
    assert result.kind == "vectors" and result.documents.shape == (3, 16)
    np.testing.assert_allclose(result.queries[0], result.documents[1], rtol=1e-5)


@pytest.mark.parametrize("name", ["cross-encoder", "mtft"])
def test_pair_ranker_trained_saved_scored(folder, tmp_path, name):
    ranker = get_ranker(name)
    input_options = ranker.training_input_options(LENGTHS, few_steps=True)
    start = ranker.start(folder, input_options, 3)
    options = TrainingOptions(learning_rate=1e-3, batch_size=2)
    record = train(
        start.model, ROWS, start.loss, options, tmp_path / "model", tokenizer=start.tokenizer
    )
    assert record.steps == 1
    pairs = [("q", "e"), ("r", "d"), ("q", "f")]
    model, tokenizer = ranker.load(tmp_path / "model")
    scores = ranker.score(
        model, tokenizer, QUERIES, DOCUMENTS, pairs, ranker.pair_input_options(LENGTHS)
    )
    expected = score_pairs(start.model, tokenizer, QUERIES, DOCUMENTS, pairs, PairLength(13))
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_mtft_loss(folder):
    losses = {}
    for name in ("cross-encoder", "mtft"):
        ranker = get_ranker(name)
        start = ranker.start(folder, ranker.pair_input_options(LENGTHS), 3)
        with torch.no_grad():
            losses[name] = float(start.loss(start.model.eval(), ROWS[:2]))
    assert losses["mtft"] > losses["cross-encoder"] > 0


def test_start_seed(folder):
    ranker = get_ranker("tildev2")
    input_options = ranker.training_input_options(LENGTHS, few_steps=True)
    first, again, other = (ranker.start(folder, input_options, seed).model for seed in (1, 1, 2))
    assert first.tok_proj.bias.item() == 1.0
    assert torch.equal(first.tok_proj.weight, again.tok_proj.weight)
    assert not torch.equal(first.tok_proj.weight, other.tok_proj.weight)


@pytest.fixture
def added(tmp_path, monkeypatch) -> Path:
    """Add a folder with the module of the toy ranker; return the module."""
    module = tmp_path / "toy.py"
    module.write_text(TOY)
    monkeypatch.setattr(rankers, "__path__", [*rankers.__path__, str(tmp_path)])
    yield module
    sys.modules.pop("everycell.learning.rankers.toy", None)


def test_get_ranker_new_module(added, folder, tmp_path):
    assert "toy" in ranker_names()
    ranker = get_ranker("toy")
    assert ranker in rankers_of(TrainedRanker) and ranker in rankers_of(TextEncodingRanker)
    start = ranker.start(folder, ranker.training_input_options(LENGTHS, few_steps=True), 1)
    model = tmp_path / "model"
    options = TrainingOptions(learning_rate=1e-3, batch_size=2)
    train(start.model, ROWS, start.loss, options, model, tokenizer=start.tokenizer)
    input_options = ranker.input_options(LENGTHS, zero_shot=False, proposals=0)
    write_encoded(ranker.encode(model, DOCUMENTS, QUERIES, input_options), tmp_path / "encoded.npz")
    pairs = pd.DataFrame({"query": ["q", "q", "r"], "document": ["e", "d", "f"]})
    # Model, twice in the query, once in e; bee once in both; star once in both.
    assert read_encoded(tmp_path / "encoded.npz").score(pairs)["score"].tolist() == [2.0, 1.0, 1.0]


def test_get_ranker_wrong_name(added):
    added.write_text(TOY.replace('name = "toy"', 'name = "tow"'))
    with pytest.raises(DataError) as error:
        get_ranker("toy")
    assert (error.value.path, error.value.value) == ("everycell.learning.rankers.toy", "tow")
