"""KStem: known stems, stop words, texts in batches."""

import pytest

from everycell.text.tokenise import LONGEST

pytest.importorskip("jnius_config", reason="needs Lucene: run `make setup-lucene`")
from everycell.retrieval import kstem as module
from everycell.retrieval.kstem import kstem, kstem_tokeniser


def test_kstem_known_stems():
    # Words of Krovetz's dictionary stay words, which Porter's stemmer does not do.
    stems = {"cities": "city", "reading": "reading", "studies": "study", "organizers": "organize",
             "x𝒳y": "x𝒳y", "日": "日", "a" * LONGEST: "a" * LONGEST}  # fmt: skip
    assert kstem(list(stems)) == list(stems.values())
    assert kstem([]) == []


def test_kstem_tokeniser_stop_words(monkeypatch):
    monkeypatch.setattr(module, "_REMEMBERED", 2)
    terms_of = kstem_tokeniser({"the", "of", "don't"})
    texts = ["The cities of x𝒳y", "", "don't studies, cities"]
    expected = [["city", "x𝒳y"], [], ["study", "city"]]
    # The same if stems are forgotten in between.
    assert terms_of(texts) == [terms for text in texts for terms in terms_of([text])] == expected
