"""Swapping genders with "her" decided by tags, beside the rule by words."""

import gzip
import re

import pandas as pd
import pytest

from everycell.text.gender_swap import swap_gender
from everycell.text.part_of_speech import Tagger, read_tagger
from everycell.text.tagged_gender_swap import gender_swapper, swap_gender_by_tags

TAGS = ["NN", "PRP", "PRP$"]


def _always(tag):
    return Tagger({"bias": {tag: 1.0}}, {}, TAGS)


@pytest.mark.parametrize(
    ("tag", "swapped"),
    [
        ("PRP", "He saw HIM and Him coat, she took her own; James's him."),
        ("PRP$", "He saw HIS and His coat, she took her own; James's his."),
        # Another tag: the words around it decide.
        ("NN", "He saw HIM and His coat, she took her own; James's him."),
    ],
)
def test_swap_gender_by_tags_case(tag, swapped):
    text = "She saw HER and Her coat, he took his own; Mary's her."
    assert swap_gender_by_tags(text, _always(tag)) == swapped


@pytest.mark.parametrize("text", ["", "hers and here", "He saw him.", "tell him/her stories"])
def test_swap_gender_by_tags_no_token(text):
    """Without a token "her", the swap is that by words."""
    assert swap_gender_by_tags(text, _always("PRP$")) == swap_gender(text)


def test_swap_gender_by_tags_following_word():
    tagger = Tagger({"i+1 word coat": {"PRP$": 1.0}, "bias": {"PRP": 0.5}}, {}, TAGS)
    assert swap_gender_by_tags("Her coat is like her.", tagger) == "His coat is like him."


def test_gender_swapper_none():
    assert gender_swapper(None) is swap_gender


def test_gender_swapper_file(tmp_path):
    file = tmp_path / "tagger.json"
    file.write_text('{"weights": {"bias": {"PRP$": 1}}, "tagdict": {}, "classes": ["PRP$", "NN"]}')
    assert gender_swapper(file)("saw her") == "saw his"


@pytest.fixture
def tagger(mirror, tmp_path):
    file = tmp_path / "tagger.json"
    packed = (mirror / "nltk/averaged_perceptron_tagger.json.gz").read_bytes()
    file.write_bytes(gzip.decompress(packed))
    return read_tagger(file)


def _words(text):
    return re.findall(r"[^\W\d_]+", text.lower())


@pytest.mark.released
def test_swap_gender_by_tags_grepbiasir(mirror, tagger):
    """The figures of docs/fairness.md: counterparts by the authors, who wrote both genders."""
    files = sorted((mirror / "gender-bias-ir/grepbiasir").glob("queries-doc*.csv"))
    frame = pd.concat(map(pd.read_csv, files))
    male, female = (
        frame[frame["content_gender"] == gender].set_index(["q_id", "relevant"]) for gender in "MF"
    )
    both = male.index.intersection(female.index)
    agreed = []
    for column in ("doc_title", "document"):
        for pair in zip(male.loc[both, column], female.loc[both, column], strict=True):
            for text, counterpart in (pair, pair[::-1]):
                words, *swaps, expected = map(
                    _words,
                    (text, swap_gender(text), swap_gender_by_tags(text, tagger), counterpart),
                )
                if len(words) == len(expected):
                    agreed += [
                        [choice == right for choice in choices]
                        for word, *choices, right in zip(words, *swaps, expected, strict=True)
                        if word == "her"
                    ]
    assert (len(agreed), *map(sum, zip(*agreed, strict=True))) == (44, 41, 23)


@pytest.mark.released
def test_swap_gender_by_tags_cast(mirror, tagger):
    """The figures of docs/fairness.md: "her" in CAsT, also in place of "his" and "him"."""
    from papers.shared.term_fairness_cast import FILES, read_cast_passages

    files = [_released(mirror, key) for key in FILES.values()]
    texts = read_cast_passages(*files).documents["text"]
    occurrences = different = documents = 0
    for text in texts:
        changed = sum(
            first != second
            for first, second in zip(
                _words(swap_gender(text)), _words(swap_gender_by_tags(text, tagger)), strict=True
            )
        )
        occurrences += _words(text).count("her")
        different += changed
        documents += changed > 0
    assert (occurrences, different, documents) == (283, 55, 35)
    right = {"his": [0, 0, 0], "him": [0, 0, 0]}
    male = re.compile(r"(?<![^\W\d_])hi[sm](?![^\W\d_])", re.IGNORECASE)
    for text in filter(male.search, texts):
        written = male.sub(_as_her, text)
        swaps = _words(swap_gender(written)), _words(swap_gender_by_tags(written, tagger))
        for original, *choices in zip(_words(text), *swaps, strict=True):
            if original in right:
                counts = (1, *(choice == original for choice in choices))
                right[original] = [sum(pair) for pair in zip(right[original], counts, strict=True)]
    assert right == {"his": [902, 860, 834], "him": [239, 205, 100]}


def _as_her(pronoun):
    word = pronoun[0]
    return "HER" if word.isupper() else "Her" if word[0].isupper() else "her"


def _released(mirror, key):
    path = mirror / key
    return path if path.exists() else path.with_name(f"{path.name}.gz")
