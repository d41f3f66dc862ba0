"""Tokenisation: hand-worked cases of UAX #29, Porter against nltk, word pieces by their rule."""

import itertools
import random
import unicodedata

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from everycell.base.errors import DataError
from everycell.metrics.term_counts import blank_tokens
from everycell.records.registry import load_registry
from everycell.sources import fetch
from everycell.text.tokenise import (
    _UNICODE_TOKEN,
    LONGEST,
    VOCABULARIES,
    lower,
    porter_stem,
    standard_tokens,
    tokeniser,
    whitespace_tokens,
)

NLTK = PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS)


def nltk_stem(word: str) -> str:
    """Stem by an independent program with the same departures from the paper."""
    return NLTK.stem(word, to_lowercase=False)


PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "cafe", ".", "日"]


@pytest.fixture
def vocabulary(tmp_path):
    """A vocabulary of eleven pieces."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def every(vocabulary):
    """All five tokenisations, with the small vocabulary."""
    plain = [tokeniser(name) for name in ("SA", "STM1", "STM2")]
    return plain + [tokeniser(name, vocabulary) for name in VOCABULARIES]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... --- !?! () ' \" ,", []),
        ("can't won''t 'quoted' o'", ["can't", "won", "t", "quoted", "o"]),
        ("3.14 1,000;2 1'000 .5 5. 1..2 2,a", "3.14 1,000;2 1'000 5 5 1 2 2 a".split()),
        ("U.S.A. e.g. a.1 1.a v2.0", ["U.S.A", "e.g", "a", "1", "1", "a", "v2.0"]),
        ("k1 x86_64 3rd 0xff", ["k1", "x86_64", "3rd", "0xff"]),
        ("_a_ __ a._b a_.b 1_,2 1_2", ["_a_", "a", "_b", "a_", "b", "1_", "2", "1_2"]),
        ("k:v http://x.org/a?b=c a@b.no", "k:v http x.org a b c a b.no".split()),
        ("a-b a/b a+b C++ #tag", ["a", "b", "a", "b", "a", "b", "C", "tag"]),
        ("tab\tnew\nline\r\x00nul\x1f\x7fdel", ["tab", "new", "line", "nul", "del"]),
        # A combining accent and a soft hyphen stay; a curly apostrophe joins, a dash does not.
        (
            "cafe\u0301 co\u00adop l\u2019eau a\u2013b",
            ["cafe\u0301", "co\u00adop", "l\u2019eau", "a", "b"],
        ),
        ("a\u00a0b a\u202fb a\u200bb", ["a", "b", "a", "b", "a", "b"]),
        ("日本語ひらカタカナｶﾅ", ["日", "本", "語", "ひ", "ら", "カタカナｶﾅ"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("ไทยคำ", ["ไทยคำ"]),
        ('צה"ל ג\' a"b', ['צה"ל', "ג'", "a", "b"]),
        ("٣٫١٤ ５５", ["٣٫١٤", "５５"]),
        ("\U0001f600\U0001f601!", ["\U0001f600", "\U0001f601"]),
        ("\U0001f44d\U0001f3fdok", ["\U0001f44d\U0001f3fd", "ok"]),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            ["\U0001f468\u200d\U0001f469\u200d\U0001f467"],
        ),
        (
            "\U0001f1f3\U0001f1f4\U0001f1f3\U0001f1f1",
            ["\U0001f1f3\U0001f1f4", "\U0001f1f3\U0001f1f1"],
        ),
        ("#\ufe0f\u20e3 1\u20e3 #1", ["#\ufe0f\u20e3", "1\u20e3", "1"]),
        ("α=0.5 \u2264 β", ["α", "0.5", "β"]),
    ],
)
def test_standard_by_hand(text, expected):
    assert standard_tokens(text) == expected


ASCII = st.text(st.sampled_from("aB1 _.,:;'\"-\t#"), max_size=40)
MIXED = st.text(
    st.sampled_from("aB1 _.:,'\"\u0301\u200d日ひカด\u05d0\U0001f44d\U0001f3fd\u00ad\u00e9")
)


@given(ASCII)
def test_standard_fast_path(text):
    assert standard_tokens(text) == [token for token in _UNICODE_TOKEN.findall(text) if token]


@given(MIXED)
def test_standard_split_at_blanks(text):
    assert standard_tokens(text) == [token for token in _UNICODE_TOKEN.findall(text) if token]


@given(st.text(max_size=60))
def test_standard_keeps_letters(text):
    tokens = standard_tokens(text)
    remainder = iter(text)
    assert all(character in remainder for token in tokens for character in token)
    remaining = regex.compile(r"[\p{WB=ALetter}\p{WB=Numeric}\p{WB=Katakana}\p{Script=Han}]")
    assert remaining.findall("".join(tokens)) == remaining.findall(text)
    assert standard_tokens(" ".join(tokens)) == tokens


@pytest.mark.parametrize("split", [standard_tokens, whitespace_tokens])
def test_standard_long_token(split):
    assert LONGEST == 255
    assert [len(token) for token in split("x" * 255 + " " + "y" * 600)] == [255, 255, 255, 90]
    assert [len(token) for token in split("é" * 256)] == [255, 1]


@pytest.mark.parametrize("character", ["_", "a", "é", "\u0301", "'", "日", "\U0001f44d"])
def test_standard_repeated_character(character, every):
    """Patterns that go back and forth would need hours here."""
    for tokenise in every:
        assert len(tokenise([character * 10_000, "a " * 10_000])[1]) == 10_000


def test_whitespace_java():
    """Character.isWhitespace: separators but for the no-break ones, and six control characters."""
    blank = {
        code
        for code in range(0x110000)
        if not 0xD800 <= code < 0xE000 and whitespace_tokens(chr(code)) == []
    }
    java = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Zs", "Zl", "Zp"}
        and code not in {0xA0, 0x2007, 0x202F}
    }
    assert blank == java | {9, 10, 11, 12, 13} | set(range(0x1C, 0x20))


def every_space(*, without=""):
    """Characters with the property White_Space, and the four separators of ASCII."""
    separators = {*map(chr, [*range(9, 14), *range(0x1C, 0x21), 0x85])}
    characters = (chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000)
    separators |= {one for one in characters if unicodedata.category(one) in ("Zs", "Zl", "Zp")}
    return sorted(separators - set(without))


CONTROLS = "\v\f\x1c\x1d\x1e\x1f\x85"
NO_BREAK = "\u00a0\u2007\u202f"
#: The table of the module: tokenisations, characters, and the tokens of "un" + character + "un".
SEPARATE, JOINED = ["un", "un"], "un{}un"
SPACES = [
    (("blank", "SA", "STM2"), every_space(), SEPARATE),
    (("STM1",), every_space(without=NO_BREAK + "\x85"), SEPARATE),
    (("STM1",), NO_BREAK + "\x85", JOINED),
    (("BERT-Token", "SciBERT-Token"), every_space(without=CONTROLS), SEPARATE),
    (("BERT-Token", "SciBERT-Token"), CONTROLS, ["unun"]),
    (("SA", "STM2"), "\u200b", SEPARATE),
    (("blank", "STM1"), "\u200b", JOINED),
    (("blank", "SA", "STM1", "STM2"), "\u200c\u200d\u00ad\u2060\ufeff\u200e", JOINED),
    (("BERT-Token", "SciBERT-Token"), "\u200b\u200c\u200d\u00ad\u2060\ufeff\u200e", ["unun"]),
]


@pytest.mark.parametrize(("names", "characters", "tokens"), SPACES)
def test_tokeniser_white_space(names, characters, tokens, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*PIECES, "unun"]), encoding="utf-8")
    for name in names:
        vocabulary = path if name in VOCABULARIES else None
        tokenise = blank_tokens if name == "blank" else tokeniser(name, vocabulary)
        for character in [*characters, "\r\n" if tokens is SEPARATE else characters[0]]:
            expected = [JOINED.format(character)] if tokens is JOINED else tokens
            assert tokenise([f"un{character}un"]) == [expected], (name, character)


def test_lower_case_keeps_the_length_of_every_character():
    every_character = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert all(len(lower(character)) == 1 for character in every_character)
    assert lower("ΌΣΟΣ") == "όσοσ"


SUFFIXES = (
    "s es sses ies ss eed ed ing at bl iz y ational tional enci anci izer bli abli alli entli eli "
    "ousli ization ation ator alism iveness fulness ousness aliti iviti biliti logi icate ative "
    "alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ion ou "
    "ism ate iti ous ive ize e ll bly logy"
).split()
STARTS = ["", "y", "a", "tr", "tree", "by", "cal", "toy", "oats", "depend", "hypothes", "é"]


def test_porter_equals_nltk_random():
    """Pairs of the suffixes that the algorithm names, behind stems of each measure."""
    words = ["".join(parts) for parts in itertools.product(STARTS, SUFFIXES, SUFFIXES)]
    sample = random.Random(0).sample([word for word in words if "yy" not in word], 10_000)
    assert [word for word in sample if porter_stem(word) != nltk_stem(word)] == []


@given(st.sampled_from(STARTS), st.lists(st.sampled_from(SUFFIXES), max_size=5))
def test_porter_equals_nltk_long(start, suffixes):
    word = start + "".join(suffixes)
    assume("yy" not in word)
    assert porter_stem(word) == nltk_stem(word)


@given(st.text("abeilnogsty'1", max_size=14))
def test_porter_equals_nltk(word):
    assume("yy" not in word)
    assert porter_stem(word) == nltk_stem(word)


def test_porter_differs_from_lucene():
    assert (porter_stem("byying"), nltk_stem("byying")) == ("byi", "by")


@pytest.mark.parametrize(
    ("word", "stem"),
    # Lucene and the paper: the paper has caresses, ponies, ...; the others are the departures.
    [
        *[("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("plastered", "plaster")],
        *[("conflated", "conflat"), ("hopping", "hop"), ("filing", "file"), ("sky", "sky")],
        *[("valenci", "valenc"), ("vileli", "vile"), ("triplicate", "triplic"), ("rate", "rate")],
        *[("possibly", "possibl"), ("stubbly", "stubbl"), ("technology", "technolog")],
        *[("geology", "geologi"), ("as", "as"), ("is", "is"), ("s", "s"), ("", "")],
    ],
)
def test_porter_by_hand(word, stem):
    assert porter_stem(word) == stem


def test_word_pieces_by_hand(vocabulary):
    tokenise = tokeniser("BERT-Token", vocabulary)
    texts = ["UNAFFABLE Café.", "日日un", "un\x00aff\u00a0xyz", "", "!" + "un" * 51, "[SEP]."]
    assert tokenise(texts) == [
        ["un", "##aff", "##able", "cafe", "."],
        ["日", "日", "un"],
        ["un", "##aff", "[UNK]"],
        [],
        ["[UNK]", "[UNK]"],
        ["[SEP]", "."],
    ]


def test_word_pieces_batches(every):
    texts = ["Well-known studies, 3.5", "", "café un.", "日本 \x01 _"] * 600
    for tokenise in every:
        assert tokenise(texts) == [tokenise([text])[0] for text in texts[:4]] * 600
        assert tokenise([]) == []


@given(st.lists(st.text(), max_size=4))
def test_terms_from_index(texts):
    """Lucene's whitespace analyzer reads the joined terms."""
    for name in ("SA", "STM1", "STM2"):
        terms = tokeniser(name)(texts)
        assert len(terms) == len(texts)
        assert [whitespace_tokens(" ".join(one)) for one in terms] == terms


def test_vocabularies_stand_in_the_registry():
    for key in VOCABULARIES.values():
        assert load_registry().entry(key).state == "mirror"


@pytest.mark.parametrize(
    ("name", "size", "terms"),
    [
        ("BERT-Token", 30_522, ["trans", "##me", "##mb", "##rane"]),
        ("SciBERT-Token", 31_090, ["transmembrane"]),
    ],
)
def test_word_pieces_real_vocabularies(name, size, terms, mirror, tmp_path):
    path = fetch(VOCABULARIES[name], tmp_path, mirror=mirror, network=False)
    assert len(path.read_text(encoding="utf-8").splitlines()) == size
    assert tokeniser(name, path)(["Transmembrane"]) == [terms]


def test_tokeniser_unpaired_surrogate(every):
    for tokenise in every:
        with pytest.raises(DataError) as error:
            tokenise(["", "ab\ud800"])
        assert error.value.row == "text 1 (counted from 0)"
