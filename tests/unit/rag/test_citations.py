"""Citations in answers: all forms, bad input, and their probabilities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import Answer, NotOfferedError, Token
from everycell.rag.citation_marks import LONGEST_RANGE, unread_marks
from everycell.rag.citations import (
    Cited,
    citation_logprobs,
    divide_citations,
    find_citations,
    may_cite,
    without_citations,
    written_citations,
)


def numbers(text, **options):
    return [citation.number for citation in find_citations(text, **options)]


@pytest.mark.parametrize(
    ("text", "expected_citations"),
    [
        ("", []),
        ("No source says so.", []),
        ("Delft lies between two cities [1].", [1]),
        ("Both say so [1][2].", [1, 2]),
        ("Both say so [1] [2] [1].", [1, 2, 1]),
        ("[1, 2]", [1, 2]),
        ("[1,2;3/4 & 5]", [1, 2, 3, 4, 5]),
        ("[2 and 3]", [2, 3]),
        ("[1, 2, and 3]", [1, 2, 3]),
        ("[1 2]", [1, 2]),
        ("[1-3]", [1, 2, 3]),
        ("[1–3, 7]", [1, 2, 3, 7]),
        ("[3-1]", [3, 1]),
        ("[Document 2]", [2]),
        ("[Doc. 2, Passage 4]", [2, 4]),
        ("[[2]]", [2]),
        ("[[1], [2]]", [1, 2]),
        ("([3])", [3]),
        ("【4】 and ［５］", [4, 5]),
        ("[١] [２] [३]", [1, 2, 3]),
        ("As Document 2 says, and document 10 denies.", [2, 10]),
        ("Documents 1, 2 and 3 agree, sources 4-6 too.", [1, 2, 3, 4, 5, 6]),
        ("documents 1, 2, and 3", [1, 2, 3]),
        ("Document 1 and 3 people", [1]),
        ("Document [2] has it.", [2]),
        ("Document #2", [2]),
        ("[0] [11] [2015]", [0, 11, 2015]),
        # The prompt's labels beside a number.
        (
            "[1, Human] [2 (author: Human)] [3 LLM] [AI, 4] [5: Human] [human - 6]",
            [1, 2, 3, 4, 5, 6],
        ),
        ("[1 (author: Ada Ode)] [2 (written by a person)] [3 (AI)]", [1, 2, 3]),
        ("[1, Human, 2, LLM] [Author: Human, 3]", [1, 2, 3]),
        ("[1-3, Human]", [1, 2, 3]),
        ("[1] (author: Human) A title. It was so.", [1]),
        (
            "[Human] [author: LLM] [1, Ada Ode] [1 (see Ada Ode)] [1 human right] [1Human] [GPT-4]",
            [],
        ),
        (
            "[Source: 1] [Documents: 2, 3] [doc: #4] [Note: 1] [and: 1] [2 and: 3] [Source:: 1]",
            [1, 2, 3, 4],
        ),
        # Marks before and behind.
        ("[1.] [1, 2,] [3,] [4;] [1-2.]", [1, 1, 2, 3, 4, 1, 2]),
        (r"\[1\] \[2, 3\]", [1, 2, 3]),
        ("【1†source】【2, 3†L1-L9】 【4:0†source】 【†1】", [1, 2, 3, 0]),
        ("[#2] [^1] [#3, #4]", [2, 1, 3, 4]),
        ("[1,,] [1.,] [#] [^] [2^1^]", []),
        # Numerals that have no decimal digits.
        ("[二] 【一】 [十] 【十二】 [二十] [九十九]", [2, 1, 10, 12, 20, 99]),
        ("［一、三］ [一-三]", [1, 3, 1, 2, 3]),
        ("[一二] [十十] [二百] [一个] 第二 [②]", []),
        # Something else in brackets, or not closed.
        ("[a] [-1] [1-] [,1] [1..3] [x1] [1.5] [1:2] [1:] [1,000]", []),
        ("[ ] [] [note 1 above] [and 1]", []),
        ("[1", []),
        ("1] and [", []),
        ("² [²]", []),
        ("undocumented 3, resources 4, documentation 5", []),
        ("document 1.5, source 40%", []),
        ("[1234567]", []),
    ],
)
def test_find_citations_forms(text, expected_citations):
    assert numbers(text) == expected_citations


def test_find_citations_plain():
    text = "[1] [2, 3] [4-6] Document 7 【8】 [[9]]"
    assert numbers(text, forms="plain") == [1, 9]


def test_find_citations_long_range():
    assert numbers(f"[1-{LONGEST_RANGE}]") == list(range(1, LONGEST_RANGE + 1))
    assert numbers(f"[1-{LONGEST_RANGE + 1}]") == [1, LONGEST_RANGE + 1]
    assert numbers("[1-999999]") == [1, 999999]
    assert numbers("the war [1939-1945]") == [1939, 1945]


def test_find_citations_positions():
    text = "It is so [12], say Documents 3 and 45 [Document 6]."
    cited = find_citations(text)
    assert [text[c.start : c.end] for c in cited] == ["12", "3", "45", "6"]


def test_divide_citations_repeated_and_stray():
    result = find_citations("[8][2] once more [8], [0] and [11].")
    assert divide_citations(result, 10) == Cited((8, 2), (0, 11))
    assert divide_citations(result, 9, first=0) == Cited((8, 2, 0), (11,))
    assert divide_citations([], 10) == Cited((), ())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[1" * 100_000,
        "[1, " * 60_000,
        "[" + " " * 200_000 + "1]",
        "documents " * 30_000,
        "documents" + " " * 200_000,
        "documents 1" + " ," * 100_000,
        "[" + "1-" * 100_000 + "]",
        "[1 " + "(author " * 60_000 + "]",
        "[1 (author " + "x" * 200_000 + "]",
        "[1" + " , Human" * 60_000 + " no]",
        "[1" + "," * 200_000 + "]",
        "[" + "十" * 200_000 + "]",
        "[x1]" * 50_000,
        "x" * 200_000 + "¹" * 200_000,
    ],
)
def test_find_citations_hostile_text(text):
    """Where time grows with the square of the length, this does not end."""
    assert len(find_citations(text)) <= 1
    assert len(without_citations(text)) <= len(text)
    assert len(unread_marks(text)) <= 50_000


def test_citation_logprobs_many_tokens():
    text = "word " * 10_000 + "".join(f"[{number}]" for number in range(1, 11))
    assert numbers(text) == list(range(1, 11))


@given(st.text(alphabet="[]1230 ,-–aD【】ocument.:#^(二十)AIH", max_size=60))
def test_find_citations_any_text(text):
    for citation in find_citations(text):
        assert 0 <= citation.start < citation.end <= len(text)
    if not find_citations(text):
        assert without_citations(text) == text


@given(st.lists(st.integers(1, 10), max_size=12))
def test_find_citations_round_trip(cited):
    assert numbers("So it is " + " ".join(f"[{number}]" for number in cited)) == cited
    if cited:
        assert numbers(f"So it is [{', '.join(map(str, cited))}].") == cited


def test_without_citations():
    text = "Delft [2], [1, 3] not [sic] and Document 4【5】 [6 (author: Human)]."
    assert without_citations(text) == "Delft, not [sic] and Document 4."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In [1984] [2].", "In [1984]."),
        ("From [1939-1945], [3]", "From [1939-1945],"),
        ("[1984, 2]", "[1984, 2]"),
        # Of no document, but no year either.
        ("In [11] [999] [2100] [0].", "In."),
    ],
)
def test_without_citations_year(text, expected):
    assert without_citations(text, k=10) == expected
    # It is read as a citation of no document, and documents lose it before they are shown.
    assert "19" not in without_citations(text)
    assert not {1, 4, 10} & set(divide_citations(find_citations(text), 10).documents)


def test_without_citations_number_of_a_document():
    assert without_citations("So it is [1984].", k=2000) == "So it is."


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("Yes ", -9), ("[", -8), ("1", -1), ("0", -2), ("][2", -4), ("]", -7)], [-3, -4]),
        # A token of two citations counts for both; numbers inside a range have no probability.
        ([("[1][2]", -0.5)], [-0.5, -0.5]),
        ([("[", -9), ("1", -1), ("-", -9), ("3", -2), ("]", -9)], [-1, -2]),
        ([("【", -9), ("二", -1), ("】", -9)], [-1]),
    ],
)
def test_citation_logprobs(pieces, expected):
    tokens = tuple(Token(text=text, logprob=value) for text, value in pieces)
    answer = Answer(text="".join(text for text, _ in pieces), finish="stop", tokens=tokens)
    assert citation_logprobs(answer, find_citations(answer.text)) == expected


def test_citation_logprobs_tokens_after_the_text():
    tokens = (Token(text="[1]", logprob=-1), Token(text="\nStop", logprob=-2))
    answer = Answer(text="[1]", finish="stop", tokens=tokens)
    assert citation_logprobs(answer, find_citations("[1]")) == [-1]


def test_citation_logprobs_missing():
    with pytest.raises(NotOfferedError, match="confidence"):
        citation_logprobs(Answer(text="[1]", finish="stop"), find_citations("[1]"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("He lost[3] it.", "He lost it."),
        ("Beckett[2] won", "Beckett won"),
        ("a cat\t[3]", "a cat"),
        ("[[9]3] x", " x"),
        ("[1[2]3] x", " x"),
    ],
)
def test_without_citations_keeps_letters(text, plain):
    assert without_citations(text) == plain
    assert not find_citations(without_citations(text))


@pytest.mark.parametrize(
    ("text", "expected_citations"),
    [
        ("【4:1†source】", [1]),
        ("[citation:2] [cite: 1]", [2, 1]),
        ("[E1, E2] [D3] [S4-S6]", [1, 2, 3, 4, 5, 6]),
        ("[1 to 3] [1]-[3] [4] – [6]", [1, 2, 3, 1, 2, 3, 4, 5, 6]),
        ("[1, 2]-[4], [2015]-[2017]", [1, 2, 3, 4, 2015, 2017]),
        ("At night¹ and day,² ³ say owls.⁴", [1, 2, 3, 4]),
    ],
)
def test_find_citations_forms_of_chat_models(text, expected_citations):
    assert numbers(text) == expected_citations
    assert unread_marks(text) == []


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("A [F1, F2], b [1], c [x], [note 1].", ["[F1, F2]", "[note 1]"]),
        ("At night¹², on 3 km² or metres², 10⁶ [²].", ["night¹²", "km²", "metres²", "10⁶", "[²]"]),
        ("the owl³ [E 0 0] [3E2] [E1E2]", ["owl³", "[E 0 0]", "[3E2]", "[E1E2]"]),
    ],
)
def test_unread_marks(text, unread):
    assert unread_marks(text) == unread


def test_unread_marks_plain():
    assert unread_marks("[1] [2, 3] night¹", forms="plain") == ["[2, 3]", "night¹"]


@pytest.mark.parametrize("text", ["[1 to 3]", "[1]-[3]"])
def test_written_citations_range(text):
    cited = find_citations(text)
    assert [item.number for item in written_citations(cited, text)] == [1, 3]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Owls weigh [1, 5] range kg.", ["[1, 5]"]),
        ("The array is [1, 2, 3] and x = [4, 5].", ["[1, 2, 3]", "[4, 5]"]),
        ("On a scale of [1-5], it is a 3.", ["[1-5]"]),
        ("Owls hunt$^{2}$ at night $[3]$.", ["$[3]$", "$^{2}$"]),
        ("Owls hunt^1 at 10^2.", ["^1"]),
    ],
)
def test_unread_marks_values_and_maths(text, marks):
    assert find_citations(text) == []
    assert unread_marks(text) == marks


def test_may_cite_numbers_only():
    assert may_cite(" [1") and not may_cite("]")
