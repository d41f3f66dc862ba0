"""Right answers: two normalisations, and three ways to match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.rag.answers import (
    is_correct,
    normalise_answer,
    normalise_as_squad,
    usable_answers,
    without_punctuation,
)
from everycell.rag.interventions import same_words, shared_words, without_statement


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Cat", "cat"),
        ("an  apple\na day", "apple day"),
        ("theatre", "theatre"),
        ("7–6 (7-5)", "7–6 75"),
        ("the", ""),
        ("", ""),
        ("É, a ÉTÉ", "é été"),
    ],
)
def test_normalise_as_squad(text, normal):
    assert normalise_as_squad(text) == normal


#: Numbers that are different, in pairs.
DIFFERENT = [
    ("3.5", "35"),
    ("3,5", "35"),
    ("3.5", "3,5"),
    ("3.5", "5"),
    ("1/2", "12"),
    ("½", "12"),
    ("1½", "11/2"),
    ("10²", "102"),
    ("３．５", "35"),
    ("1⁄2", "12"),
    ("-5", "5"),
    ("\u22125", "5"),
    ("–5", "5"),
    ("-0.5", "0.5"),
    (".5", "5"),
    ("2:1", "21"),
    ("10:30", "1030"),
    ("1,000.5", "10005"),
    ("1.000", "1000"),
    ("1,00", "100"),
    ("50%", "50"),
    ("50 %", "50"),
    ("$5", "5"),
    ("$5", "€5"),
    ("-$5", "$5"),
    ("9/11", "911"),
    ("2020-05-12", "20200512"),
    ("12/05/2020", "12052020"),
    ("1.2.3", "123"),
    ("v1.2.3", "v12.3"),
    ("2-1", "21"),
    ("2–1", "21"),
    ("1,2,3", "123"),
    ("2^10", "210"),
    ("1e-5", "1e5"),
    ("5'10", "510"),
    ("<5", ">5"),
    ("p<.05", "p>.05"),
    ("p < 0.05", "p > 0.05"),
    ("p<=0.05", "p>=0.05"),
    ("US$5", "US5"),
    ("1\u202f000", "1"),
]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_is_correct_different_numbers(first, second):
    for form in ("{}", "about {} kg", "It is {}.", "({})", "[{}], so", "“{}”"):
        texts = [form.format(number) for number in (first, second)]
        for output, gold in (texts, texts[::-1]):
            assert not is_correct(output, [gold])
            assert not is_correct(output, [gold], match="whole")
            assert not same_words(output, gold)
            assert is_correct(output, [output])
            assert normalise_answer(output) == normalise_answer(normalise_answer(output))
    assert not shared_words(1)(first, second)
    for removed, other in ((first, second), (second, first)):
        assert without_statement(f"It has {other} kg.", removed) == f"It has {other} kg."
        removed_text = without_statement(f"It has {other} kg.", other)
        assert not any(character.isdigit() for character in removed_text)


def test_is_correct_comparison_before_a_blank():
    assert not is_correct("It is < 5.", ["> 5"])
    assert is_correct("It is < 5.", ["<5"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1,000", "1000"),
        ("1,234,567.5", "1234567.5"),
        ("1\u202f000", "1000"),
        ("1'000", "1000"),
        ("$1,000", "$1000"),
        ("\u22125", "-5"),
        ("2–1", "2-1"),
        (".5", "0.5"),
        ("50 %", "50%"),
        ("$ 5", "$5"),
        ("5 €", "€5"),
        ("½", "1/2"),
        ("1½", "1 1/2"),
        ("３．５", "3.5"),
        ("٣٫٥", "3.5"),
        ("5.", "5"),
        ("(5)", "5!"),
        ("1990's", "1990s"),
        ("COVID-19", "covid19"),
        ("May 5, 2020", "may 5 2020"),
        ("5 - 10", "5 10"),
        ("Delft–Leiden 7 – 8", "Delft-Leiden 7 8"),
        ("-> 5", "5"),
        ("p<.05", "p < 0.05"),
        ("US$5", "US $5"),
        ("“35”", '"35"'),
        ("1990’s", "1990's"),
        ("built—1995—there", "built 1995 there"),
        ("no--5", "no5"),
    ],
)
def test_is_correct_same_numbers(first, second):
    for output, gold in ((first, second), (second, first)):
        assert is_correct(output, [gold], match="whole")
        assert is_correct(f"It is {output}, or so.", [gold])
        assert same_words(output, gold)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("5%-10% or $5-$10", "5% 10% or $5 $10"),
        ("1999[2].", "1999 2"),
        ("May 5,2020", "may 5,2020"),
        ("pp. 5–7, see b.-5", "pp 5-7 see b -5"),
        ("5(3) and 53", "5 3 and 53"),
        ("The U.S. had a 3-year, 2.5% rise", "us had 3year 2.5% rise"),
    ],
)
def test_normalise_answer_numbers(text, normal):
    assert normalise_answer(text) == normal


@pytest.mark.parametrize("mark", ["<", ">", "<=", ">=", "$", "-", "="])
@pytest.mark.parametrize("space", ["", " "])
def test_normalise_answer_number_without_zero(mark, space):
    assert normalise_answer(f"p {mark}{space}.05") == normalise_answer(f"p {mark}{space}0.05")


@given(st.text(alphabet="05e 1,.-–−%<>=/:'\"()[]a+~^\u202f’—", max_size=12))
def test_normalise_answer_twice(text):
    assert normalise_answer(normalise_answer(text)) == normalise_answer(text)


@given(st.text(alphabet="ab the.,-'\"$%", max_size=20))
def test_normalise_answer_without_numbers(text):
    assert normalise_answer(text) == normalise_as_squad(text)


def test_is_correct_squad():
    assert is_correct("35 kg", ["3.5 kg"], match="squad")
    assert not is_correct("35 kg", ["3.6 kg"], match="squad")


def test_is_correct_empty_answer():
    assert not is_correct("", ["Delft"])
    assert not is_correct("The", ["Delft"], match="substring")


def test_is_correct_gold_article():
    assert not is_correct("the", ["The", "Delft"])


@pytest.mark.parametrize("gold", [[], ["the"], ["!"]])
def test_is_correct_no_gold(gold):
    with pytest.raises(DataError) as caught:
        is_correct("Delft", gold)
    assert (caught.value.column, caught.value.value) == ("gold answers", gold)


@given(st.text(alphabet="ab the.,", max_size=20), st.text(alphabet="ab the.,", min_size=1))
def test_same_words_whole_answer_is_one_word(output, gold):
    if not normalise_answer(gold):
        return
    full, words = (is_correct(output, [gold], match=m) for m in ("whole", "words"))
    assert full <= words
    for match in ("words", "substring"):
        assert is_correct(f"So it is {gold} after all", [gold], match=match)
    assert normalise_answer(normalise_answer(gold)) == normalise_answer(gold)


@pytest.mark.parametrize(
    ("output", "gold", "substring", "words"),
    [
        # A match may start inside a word.
        ("A party.", "art", True, False),
        ("In 1920.", "192", True, False),
        # Articles stay.
        ("A party.", "the party", False, True),
        ("By the Hague.", "Hague", True, True),
        # All punctuation goes, not that of ASCII alone.
        ("Open 7–6 again", "76", True, False),
        # Numbers in the text count, also numbers of citations.
        ("In Delft [2].", "2", True, True),
    ],
)
def test_is_correct_substring(output, gold, substring, words):
    assert is_correct(output, [gold], match="substring") == substring
    assert is_correct(output, [gold], match="words") == words


def test_is_correct_substring_article():
    assert is_correct("It is the.", ["The"], match="substring")
    assert without_punctuation(" The\nU.S.—a land_mark! ") == "the usa land_mark"


def test_usable_answers_by_match():
    assert usable_answers(["The", "-", "The Hague"]) == ["The Hague"]
    assert usable_answers(["The", "-"], match="substring") == ["The"]
