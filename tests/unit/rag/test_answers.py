"""Right answers: two normalisations, and three ways to match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.rag.answers import is_correct, normalise_answer, without_punctuation


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
def test_normalised_as_in_squad(text, normal):
    assert normalise_answer(text) == normal


def test_an_empty_answer_is_wrong():
    assert not is_correct("", ["Delft"])
    assert not is_correct("The", ["Delft"], match="substring")


def test_a_gold_answer_of_an_article_matches_nothing():
    assert not is_correct("the", ["The", "Delft"])


@pytest.mark.parametrize("gold", [[], ["the"], ["!"]])
def test_without_gold_there_is_no_answer(gold):
    with pytest.raises(ValueError, match="exclude the question"):
        is_correct("Delft", gold)


@given(st.text(alphabet="ab the.,", max_size=20), st.text(alphabet="ab the.,", min_size=1))
def test_the_whole_answer_is_one_of_its_words(output, gold):
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
        # What stands there counts, also if it is the number of a citation.
        ("In Delft [2].", "2", True, True),
    ],
)
def test_the_authors_library_looks_for_letters_and_keeps_articles(output, gold, substring, words):
    assert is_correct(output, [gold], match="substring") == substring
    assert is_correct(output, [gold], match="words") == words


def test_an_article_is_an_answer_where_articles_stay():
    assert is_correct("It is the.", ["The"], match="substring")
    assert without_punctuation(" The\nU.S.—a land_mark! ") == "the usa land_mark"


def test_an_unknown_way_to_match_is_named():
    with pytest.raises(ValueError, match="match is 'letters'; expected one of substring, words"):
        is_correct("Delft", ["Delft"], match="letters")
