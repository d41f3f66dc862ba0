"""Right answers: SQuAD's normalisation, and three ways to match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.rag.answers import is_correct, normalise_answer


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
    assert not is_correct("The", ["Delft"], match="letters")


def test_a_gold_answer_of_an_article_matches_nothing():
    assert not is_correct("the", ["The", "Delft"])


@pytest.mark.parametrize("gold", [[], ["the"], ["!"]])
def test_without_gold_there_is_no_answer(gold):
    with pytest.raises(ValueError, match="leave the question out"):
        is_correct("Delft", gold)


@given(st.text(alphabet="ab the.,", max_size=20), st.text(alphabet="ab the.,", min_size=1))
def test_each_way_to_match_implies_the_next(output, gold):
    if not normalise_answer(gold):
        return
    whole, words, letters = (
        is_correct(output, [gold], match=m) for m in ("whole", "words", "letters")
    )
    assert whole <= words <= letters
    assert is_correct(f"So it is {gold} after all", [gold])
    assert normalise_answer(normalise_answer(gold)) == normalise_answer(gold)
