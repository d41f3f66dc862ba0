"""T5 that compares pairs: a random one, against its own forward pass on single pairs."""

import numpy as np
import pytest
import torch
from tiny_t5 import write_t5

from everycell.learning.duo_t5 import pair_scores
from everycell.learning.models import ModelError
from everycell.learning.t5 import load_t5

WORDS = ["true", "false", "rain", "hail", "snow", "falls", "Query", "Relevant", "Document0"]
TEXTS = ["rain falls", "snow", "hail falls hail", "rain"]


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duo")
    write_t5(folder, WORDS, factor=3.0)
    return load_t5(folder)


def better(t5, query, one, other):
    """Probability that one text is better than the other, by a single forward pass."""
    model, tokenizer = t5
    prompt = f"Query: {query} Document0: {one} Document1: {other} Relevant:"
    read = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        logits = model(**read, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    true, false = (tokenizer.convert_tokens_to_ids(word) for word in ("true", "false"))
    return float(torch.softmax(logits[[true, false]].double(), 0)[0])


def test_scores_are_sums_over_both_orders(t5):
    expected = [
        sum(
            better(t5, "rain", one, other) + 1 - better(t5, "rain", other, one)
            for other in TEXTS
            if other is not one
        )
        for one in TEXTS
    ]
    result = pair_scores(*t5, "rain", TEXTS, batch=5)
    np.testing.assert_allclose(result, expected, atol=1e-5)
    assert result.max() - result.min() > 0.05
    assert result.sum() == pytest.approx(len(TEXTS) * (len(TEXTS) - 1))


def test_the_order_of_texts_does_not_matter(t5):
    result = pair_scores(*t5, "rain", TEXTS)
    np.testing.assert_allclose(pair_scores(*t5, "rain", TEXTS[::-1])[::-1], result, atol=1e-6)


@pytest.mark.parametrize("texts", [[], ["rain"]])
def test_one_text_has_nothing_to_be_compared_with(t5, texts):
    assert pair_scores(*t5, "rain", texts).tolist() == [0.0] * len(texts)


def test_what_stands_behind_long_texts_stays(t5):
    long = ["rain " * 200, "snow " * 300]
    result = pair_scores(*t5, "rain", long, length=60)
    # As if both had been cut to the same number of words; the prompt has 12 other tokens.
    cut = [
        pair_scores(*t5, "rain", [" ".join(text.split()[:words]) for text in long])
        for words in range(15, 26)
    ]
    assert any(np.allclose(result, item, atol=1e-6) for item in cut)


def test_a_t5_that_was_not_trained_for_it_is_named(tmp_path):
    write_t5(tmp_path / "other", ["true", "rain"])
    model = load_t5(tmp_path / "other")
    with pytest.raises(ModelError, match="no single token for 'false': use a T5 that was trained"):
        pair_scores(*model, "rain", ["a", "b"])
