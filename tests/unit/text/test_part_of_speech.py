"""Tags of the averaged perceptron, compared with NLTK's with the same weights."""

import gzip
import json
import random

import pytest
from nltk.tag.perceptron import PerceptronTagger
from nltk.tokenize import NLTKWordTokenizer

from everycell.text.part_of_speech import Tagger, read_tagger, tagged_words

TAGS = ["NN", "PRP", "PRP$", "VB"]
WORDS = ["her", "Her", "cat", "cat-like", "1999", "19", "7th", "saw", "-", "'s", "x", "."]


def _nltk(tagger):
    peer = PerceptronTagger(load=False)
    peer.model.weights, peer.tagdict = tagger.weights, tagger.tagdict
    peer.classes = peer.model.classes = set(tagger.classes)
    return peer


class _RandomWeights(dict):
    """Weights of every feature that is asked for, drawn by its name."""

    def __contains__(self, feature):
        return True

    def __getitem__(self, feature):
        return self.get(feature)

    def get(self, feature, default=None):
        draw = random.Random(feature)
        return {tag: draw.choice([-1.0, 0.5, 1.0]) for tag in draw.sample(TAGS, 2)}


@pytest.mark.parametrize("seed", range(20))
def test_tagger_random_sentences(seed):
    tagger = Tagger(_RandomWeights(), {"cat": "NN"}, TAGS)
    sentence = random.Random(seed).choices(WORDS, k=1 + seed)
    assert tagger.tag(sentence) == [tag for _, tag in _nltk(tagger).tag(sentence)]


def test_tagger_tie():
    """Equal scores: the last tag in the alphabet, as in NLTK."""
    assert Tagger({}, {}, ["NN", "PRP", "CD"]).tag(["x"]) == ["PRP"]


def test_tagger_no_words():
    assert Tagger({}, {}, TAGS).tag([]) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "She didn't see the cat's toy, did she?",
        "It's 3.5 (or 1,000) of them; we'll see...",
        "A well-known man -- him/her -- left.",
        "$5 & more: 20% of it!",
    ],
)
def test_tagged_words_tokens(sentence):
    tokens = [sentence[slice(*span)] for span in tagged_words(sentence, Tagger({}, {}, TAGS))]
    assert tokens == NLTKWordTokenizer().tokenize(sentence)


def test_tagged_words_sentences():
    """A word at the start of the second sentence does not see the first."""
    tagger = Tagger({"i-1 word -START2-": {"PRP": 1.0}}, {}, TAGS)
    tags = tagged_words("See her. See him.", tagger)
    assert [span for span, tag in tags.items() if tag == "PRP"] == [(0, 3), (9, 12)]


@pytest.mark.released
def test_read_tagger_released(mirror, tmp_path):
    file = tmp_path / "tagger.json"
    file.write_bytes(
        gzip.decompress((mirror / "nltk/averaged_perceptron_tagger.json.gz").read_bytes())
    )
    tagger = read_tagger(file)
    assert len(tagger.classes) == 45
    assert len(tagger.tagdict) == len(json.loads(file.read_text())["tagdict"]) == 1549
    text = (mirror / "nltk/SOURCE.txt").read_text()
    words = text.split()
    assert tagger.tag(words) == [tag for _, tag in _nltk(tagger).tag(words)]
