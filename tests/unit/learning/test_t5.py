"""T5 as a rewriter: a random one of one layer, whole, damaged and of another kind."""

import json

import numpy as np
import pytest
import torch
from tiny_t5 import write_t5

from everycell.learning.models import ModelError
from everycell.learning.t5 import count_tokens, generate, load_t5, pair_scores

WORDS = ["why", "rain", "hail", "snow", "falls"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a random T5 with a tokenizer of words."""
    folder = tmp_path_factory.mktemp("t5")
    write_t5(folder, WORDS)
    return folder


@pytest.fixture(scope="module")
def t5(folder):
    """Load it."""
    return load_t5(folder)


def greedy(model, tokenizer, text, steps):
    """The likeliest token each time, by the model's own forward pass."""
    read = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    written = [0]
    for _ in range(steps):
        with torch.inference_mode():
            logits = model(**read, decoder_input_ids=torch.tensor([written])).logits
        written.append(int(logits[0, -1].argmax()))
        if written[-1] == 1:
            break
    return tokenizer.decode(written, skip_special_tokens=True).strip()


def test_generate_single_beam(t5):
    texts = ["why rain falls", "hail", "why snow falls rain", "rain rain"]
    result = generate(*t5, texts, beams=1, new_tokens=6, batch=3)
    assert result == [greedy(*t5, text, 6) for text in texts]
    assert any(result)


def test_generate_repeatable(t5):
    texts = ["why rain falls", "hail", "why snow"]
    result = generate(*t5, texts, beams=3, new_tokens=5)
    assert result == generate(*t5, texts, beams=3, new_tokens=5, batch=1)
    assert not set(" ".join(result)) & set("<>")


def test_generate_truncates(t5):
    model, tokenizer = t5
    # The end token is kept.
    long, short = "why rain falls hail hail snow", "why rain"
    options = {"beams": 2, "new_tokens": 6}
    cut = generate(model, tokenizer, [long], length=3, **options)
    assert cut == generate(model, tokenizer, [short], **options)
    assert count_tokens(tokenizer, short) == 3


def test_generate_empty(t5):
    assert generate(*t5, []) == []


def test_load_t5_truncated_weights(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelError, match=f"The weights of {tmp_path} cannot be read"):
        load_t5(tmp_path)


def test_load_t5_missing_part(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_layers": 2}))
    with pytest.raises(ModelError, match="lack 'encoder.block.1"):
        load_t5(tmp_path)


DUO_WORDS = ["true", "false", "rain", "hail", "snow", "falls", "Query", "Relevant", "Document0"]
TEXTS = ["rain falls", "snow", "hail falls hail", "rain"]


@pytest.fixture(scope="module")
def duo_t5(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duo")
    write_t5(folder, DUO_WORDS, factor=3.0)
    return load_t5(folder)


def better(duo_t5, query, one, other):
    """Probability that one text is better than the other, by a single forward pass."""
    model, tokenizer = duo_t5
    prompt = f"Query: {query} Document0: {one} Document1: {other} Relevant:"
    read = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        logits = model(**read, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    true, false = (tokenizer.convert_tokens_to_ids(word) for word in ("true", "false"))
    return float(torch.softmax(logits[[true, false]].double(), 0)[0])


def test_pair_scores_both_orders(duo_t5):
    expected = [
        sum(
            better(duo_t5, "rain", one, other) + 1 - better(duo_t5, "rain", other, one)
            for other in TEXTS
            if other is not one
        )
        for one in TEXTS
    ]
    result = pair_scores(*duo_t5, "rain", TEXTS, batch=5)
    np.testing.assert_allclose(result, expected, atol=1e-5)
    assert result.max() - result.min() > 0.05
    assert result.sum() == pytest.approx(len(TEXTS) * (len(TEXTS) - 1))


def test_pair_scores_permuted(duo_t5):
    result = pair_scores(*duo_t5, "rain", TEXTS)
    np.testing.assert_allclose(pair_scores(*duo_t5, "rain", TEXTS[::-1])[::-1], result, atol=1e-6)


@pytest.mark.parametrize("texts", [[], ["rain"]])
def test_pair_scores_single_text(duo_t5, texts):
    assert pair_scores(*duo_t5, "rain", texts).tolist() == [0.0] * len(texts)


def test_pair_scores_long_texts(duo_t5):
    long = ["rain " * 200, "snow " * 300]
    result = pair_scores(*duo_t5, "rain", long, length=60)
    # As if both had been cut to the same number of words; the prompt has 12 other tokens.
    cut = [
        pair_scores(*duo_t5, "rain", [" ".join(text.split()[:words]) for text in long])
        for words in range(15, 26)
    ]
    assert any(np.allclose(result, item, atol=1e-6) for item in cut)


def test_pair_scores_other_t5(tmp_path):
    write_t5(tmp_path / "other", ["true", "rain"])
    model = load_t5(tmp_path / "other")
    with pytest.raises(ModelError, match="no single token for 'false': use a T5 that was trained"):
        pair_scores(*model, "rain", ["a", "b"])
