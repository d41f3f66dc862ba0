"""T5 as a rewriter: a random one of one layer, whole, damaged and of another kind."""

import json

import pytest
import torch
from tiny_t5 import write_t5

from everycell.learning.models import ModelError
from everycell.learning.t5 import count_tokens, generate, load_t5

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


def test_a_beam_of_one_writes_the_likeliest_token_each_time(t5):
    texts = ["why rain falls", "hail", "why snow falls rain", "rain rain"]
    result = generate(*t5, texts, beams=1, new_tokens=6, batch=3)
    assert result == [greedy(*t5, text, 6) for text in texts]
    assert any(result)


def test_the_search_is_the_same_again_and_in_other_batches(t5):
    texts = ["why rain falls", "hail", "why snow"]
    result = generate(*t5, texts, beams=3, new_tokens=5)
    assert result == generate(*t5, texts, beams=3, new_tokens=5, batch=1)
    assert not set(" ".join(result)) & set("<>")


def test_a_text_is_cut_at_its_end(t5):
    model, tokenizer = t5
    # The end token is kept.
    long, short = "why rain falls hail hail snow", "why rain"
    options = {"beams": 2, "new_tokens": 6}
    cut = generate(model, tokenizer, [long], length=3, **options)
    assert cut == generate(model, tokenizer, [short], **options)
    assert count_tokens(tokenizer, short) == 3


def test_nothing_to_write(t5):
    assert generate(*t5, []) == []


@pytest.mark.parametrize("name", ["length", "new_tokens", "beams", "batch"])
def test_sizes_are_one_or_more(t5, name):
    with pytest.raises(ValueError, match=f"{name} is 0: it must be 1 or more"):
        generate(*t5, ["why"], **{name: 0})


def test_weights_that_are_cut_short_are_refused(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelError, match=f"The weights of {tmp_path} cannot be read"):
        load_t5(tmp_path)


def test_a_model_that_lacks_a_part_is_refused(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_layers": 2}))
    with pytest.raises(ModelError, match="lack 'encoder.block.1"):
        load_t5(tmp_path)
