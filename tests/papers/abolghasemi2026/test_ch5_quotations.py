"""Answers for a record that is passed on: nothing of a passage, and all that is read of them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import Answer, Token
from everycell.rag.answers import is_correct
from everycell.rag.citations import citation_logprobs, find_citations, without_citations
from papers.abolghasemi2026.ch5_quotations import OMITTED, QUOTED, without_quotations

PASSAGE = "Delft is a city of canals in the west, and it was founded in 1246 by a count."
WORDS = "delft rye oats 12 canal old in the of a count [1] [2] [1, 2] [3].".split()


def answer_of(text, *, tokens=None):
    return Answer(text=text, finish="stop", tokens=tokens)


def words(text):
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It is old [1].", "It is old [1]."),
        # Seven words in a row may stay.
        ("a city of canals in the west.", "a city of canals in the west."),
        ("So: is a city of canals in the west!", f"So: {OMITTED}!"),
        # Case, punctuation and line breaks hide nothing.
        ("IS A CITY -- OF CANALS, IN\nTHE WEST", OMITTED),
        (f"[1] {PASSAGE}\n[2] {PASSAGE}", f"[1] {OMITTED}.\n[2] {OMITTED}."),
        # A citation ends a quotation.
        ("is a city of canals [1] in the west and", "is a city of canals [1] in the west and"),
    ],
)
def test_without_quotations(text, left):
    assert without_quotations(answer_of(text), ["Other words.", PASSAGE], []).text == left


def test_without_quotations_gold_answer():
    result = without_quotations(answer_of(PASSAGE), [PASSAGE], ["1246", "Leiden", "a count"])
    assert "1246" in result.text and "count" in result.text
    assert "canals" in PASSAGE and "canals" not in result.text
    assert not is_correct(result.text, ["Leiden"])


def test_without_quotations_changed_answer():
    # The gold answer overlaps the end of the quotation.
    text = "a city of canals in the west, and north of it"
    assert without_quotations(answer_of(text), [PASSAGE], ["and north"]) is None
    # The quotation ends in the noun of a citation.
    document = "one two three four five six seven document"
    assert without_quotations(answer_of(f"{document} 2"), [document], []) is None


def test_without_quotations_tokens():
    pieces = [("[", -1.0), ("1", -0.5), ("] Delft is", -0.25), (" a city of canals in the", -2.0)]
    pieces += [(" west, and", -0.1), (" so [", -0.2), ("2", -0.75), ("]", 0.0)]
    tokens = tuple(Token(text=text, logprob=value) for text, value in pieces)
    answer = answer_of("".join(text for text, _ in pieces), tokens=tokens)
    result = without_quotations(answer, [PASSAGE], [])
    assert result.text == f"[1] {OMITTED} so [2]"
    assert "".join(token.text for token in result.tokens) == result.text
    assert citation_logprobs(result, find_citations(result.text)) == [-0.5, -0.75]


@given(
    st.lists(st.sampled_from(WORDS), max_size=40),
    st.lists(st.sampled_from(WORDS), max_size=40),
    st.lists(st.sampled_from(["12", "old oats", "rye in the", "the"]), max_size=2),
    st.integers(1, 7),
)
def test_without_quotations_properties(text, document, gold, size):
    text, document = " ".join(text), without_citations(" ".join(document))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    tokens = tuple(Token(text=piece, logprob=-float(number)) for number, piece in enumerate(pieces))
    result = without_quotations(answer_of(text, tokens=tokens), [document], gold)
    if result is None:
        return
    known = {tuple(words(document)[at : at + QUOTED]) for at in range(len(words(document)))}
    for part in re.split(r"…|\[[^]]*\]", result.text):
        said_here = words(part)
        for at in range(len(said_here) - QUOTED + 1):
            assert tuple(said_here[at : at + QUOTED]) not in known
    assert "".join(token.text for token in result.tokens) == result.text
    before, after = find_citations(text), find_citations(result.text)
    assert [item.number for item in before] == [item.number for item in after]
    for item in gold:
        if item != "the":
            assert is_correct(without_citations(text) or "-", [item]) == is_correct(
                without_citations(result.text) or "-", [item]
            )


def test_without_quotations_substring():
    """The word that has them stays, which makes no other right answer one of whole words."""
    document = "In the year of the fire many parties were held by the harbour of the old town."
    answer_of = Answer(text=f"{document} So it is [1].", finish="stop")
    result = without_quotations(answer_of, [document], ["part", "the sea"])
    assert result.text == " … parties … . So it is [1]."
    for match, right in (("substring", True), ("words", False)):
        assert is_correct(result.text, ["part"], match=match) == right
