"""Lemmas of nuggets, as by NLTK's lemmatiser with its default part of speech."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from papers.lajewska2025.ch6_lemmas import lemmatiser, noun_lemma

NOUNS = frozenset("dog church box knife woman city axis ax axe gas wa species".split())
EXCEPTIONS = {"axes": ["ax", "axis"], "knives": ["knife"], "geese": ["goose"]}


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("dogs", "dog"),
        ("churches", "church"),
        ("boxes", "box"),
        ("knives", "knife"),
        ("women", "woman"),
        ("cities", "city"),
        # The shortest of several.
        ("axes", "ax"),
        ("gas", "gas"),
        # NLTK is known for this one: "wa" is a noun of WordNet.
        ("was", "wa"),
        ("species", "species"),
        # An exception without a noun, and an unknown word, stay.
        ("geese", "geese"),
        ("running", "running"),
    ],
)
def test_noun_lemma(word, lemma):
    assert noun_lemma(word, NOUNS, EXCEPTIONS) == lemma


def test_lemmatiser_drops_stop_words_and_short_words(tmp_path):
    contents = {
        "stop_words": "they\nhave\n",
        "nouns": "\n".join(sorted(NOUNS)) + "\n",
        "exceptions": "knives knife\n",
    }
    files = {name: tmp_path / name for name in contents}
    for name, content in contents.items():
        files[name].write_text(content)
    terms = lemmatiser(SimpleNamespace(**{name: str(path) for name, path in files.items()}))
    assert terms("They have 3 Knives, boxes & C# churches.") == ["knife", "church"]
