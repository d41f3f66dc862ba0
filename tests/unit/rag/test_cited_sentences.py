"""Sentences of answers: marks belong to the sentence before them, and abbreviations end none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.rag.citations import find_citations
from everycell.rag.cited_sentences import (
    ABBREVIATIONS,
    BEFORE_NUMBER,
    cited_sentences,
    split_answer,
)
from everycell.rag.citing_styles import citing_style, read_grounded
from everycell.rag.interventions import Statement


def sentences(text):
    return [
        (text[sentence.start : sentence.end], [citation.number for citation in sentence.citations])
        for sentence in split_answer(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Owls hunt. [1] Foxes sleep. [2]", ["Owls hunt. [1]", "Foxes sleep. [2]"]),
        ("Owls hunt. [1] Foxes sleep. [2]\n", ["Owls hunt. [1]", "Foxes sleep. [2]"]),
        ("Owls hunt [1]. Foxes sleep [2].", ["Owls hunt [1].", "Foxes sleep [2]."]),
        ("Owls hunt.[1] Foxes sleep.[2]", ["Owls hunt.[1]", "Foxes sleep.[2]"]),
        ("Owls hunt. [1][3] [4], [5] Foxes.", ["Owls hunt. [1][3] [4], [5]", "Foxes."]),
        ("Owls hunt. [1]. Foxes sleep. [2].", ["Owls hunt. [1].", "Foxes sleep. [2]."]),
        ("Do they? [1] They do! [2]", ["Do they? [1]", "They do! [2]"]),
        (
            'He said "go." [1] She (too.) [2] “Yes.” [3] No.',
            ['He said "go." [1]', "She (too.) [2]", "“Yes.” [3]", "No."],
        ),
        ("Owls hunt.\n[1]\nFoxes sleep.\n[2]", ["Owls hunt.\n[1]", "Foxes sleep.\n[2]"]),
        ("Owls hunt.\n\n[1]\n\nFoxes sleep.", ["Owls hunt.\n\n[1]", "Foxes sleep."]),
        ("Owls hunt.\n[1] Foxes sleep.\n[2]", ["Owls hunt.\n[1]", "Foxes sleep.\n[2]"]),
        ("Owls hunt.¹ Foxes sleep.²", ["Owls hunt.¹", "Foxes sleep.²"]),
        ("Owls hunt.<sup>1</sup> Foxes.", ["Owls hunt.<sup>1</sup>", "Foxes."]),
        ("Owls hunt. 【1†source】Foxes sleep.", ["Owls hunt. 【1†source】", "Foxes sleep."]),
        ("Owls hunt. (Source: 1) Foxes sleep.", ["Owls hunt. (Source: 1)", "Foxes sleep."]),
        ("Owls hunt… [1] Foxes sleep. [2]", ["Owls hunt… [1]", "Foxes sleep. [2]"]),
        ("猫头鹰捕猎。[1]狐狸睡觉。【2】", ["猫头鹰捕猎。[1]", "狐狸睡觉。【2】"]),
        ("Owls hunt [1].\n\n[2] Foxes sleep.", ["Owls hunt [1].", "[2] Foxes sleep."]),
        ("[1] Owls hunt.\n[2] Foxes sleep.", ["[1] Owls hunt.", "[2] Foxes sleep."]),
        ("[1] Owls hunt. [2] Foxes sleep.", ["[1] Owls hunt.", "[2] Foxes sleep."]),
        ("- Owls hunt [1]\n- Foxes sleep [2]", ["- Owls hunt [1]", "- Foxes sleep [2]"]),
        ("1. Owls hunt. [1]\n2. [2] Foxes", ["1. Owls hunt. [1]", "2. [2] Foxes"]),
        ("## Owls\nThey hunt [1].", ["## Owls", "They hunt [1]."]),
        ("| owl [1] |\n| fox [2] |", ["| owl [1] |", "| fox [2] |"]),
        ("Owls hunt [1]\n\nFoxes sleep [2]", ["Owls hunt [1]", "Foxes sleep [2]"]),
        ("As Ode et al. [1] saw, owls hunt.", ["As Ode et al. [1] saw, owls hunt."]),
        ("Ode et al. (2020) [1] say so.", ["Ode et al. (2020) [1] say so."]),
        ("By Ode et al. [1] The end.", ["By Ode et al. [1]", "The end."]),
        ("No. [1] Yes.", ["No. [1]", "Yes."]),
        ("J. R. R. Tolkien [1] wrote.", ["J. R. R. Tolkien [1] wrote."]),
        ("It weighs 3.5 kg. [1] So.", ["It weighs 3.5 kg. [1]", "So."]),
        ("Owls (Strix sp.) hunt. [1]", ["Owls (Strix sp.) hunt. [1]"]),
        ("Take `a. B[1]` here. [2] So.", ["Take `a. B[1]` here. [2]", "So."]),
        (
            "<think>Foxes. [2] So.</think>Owls hunt [1].\n\nSources:\n[1] Owls. Ode.\n[2] Foxes.",
            ["Owls hunt [1]."],
        ),
        ("", []),
        (" [1] ", []),
        ("<think>So", []),
    ],
)
def test_split_answer(text, expected):
    assert [sentence for sentence, _ in sentences(text)] == expected
    for sentence, numbers in sentences(text):
        assert numbers == [citation.number for citation in find_citations(sentence)]


@pytest.mark.parametrize("abbreviation", ABBREVIATIONS)
def test_split_answer_abbreviations(abbreviation):
    text = f"Owls, {abbreviation}. [1] Ode and foxes, {abbreviation.capitalize()}. Ode, sleep. Yes."
    assert len(split_answer(text)) == 2


@pytest.mark.parametrize("abbreviation", BEFORE_NUMBER)
def test_split_answer_abbreviations_before_numbers(abbreviation):
    assert len(split_answer(f"See {abbreviation}. [1] 5 and {abbreviation}. 7 for it. Yes.")) == 2


@given(st.text(alphabet="aB. ?[1]\n-(\"'²。<think>/", max_size=60))
def test_split_answer_in_order_with_all_words(text):
    end = 0
    for sentence in split_answer(text):
        assert end <= sentence.start < sentence.end <= len(text)
        end = sentence.end


@given(
    st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=6), st.sampled_from([" ", "", "\n"])
)
def test_split_answer_each_mark_after_its_sentence(numbers, gap):
    text = " ".join(f"Owls hunt foxes.{gap}[{number}]" for number in numbers)
    assert [cited for _, cited in sentences(text)] == [[number] for number in numbers]


@pytest.mark.parametrize("text", ["a. [1] " * 20_000, "a. " + "[1] " * 40_000, "a.\n" * 20_000])
def test_split_answer_linear_time(text):
    assert split_answer(text)


def test_cited_sentences_without_marks_and_list_markers():
    text = "- Owls hunt. [1]\n- **Foxes** sleep.<sup>2</sup> [9]\n\nSources: [1], [2]"
    assert cited_sentences(text, 2).statements == (
        Statement("Owls hunt.", (0,)),
        Statement("**Foxes** sleep.", (1,)),
    )
    assert cited_sentences("Built in [1984] [1].", 2).statements == (
        Statement("Built in [1984].", (0,)),
    )


def test_cited_sentences_empty_parentheses():
    statements = cited_sentences("Owls hunt (see [1]). Foxes (red ones) sleep ([2]).", 2).statements
    assert [statement.text for statement in statements] == ["Owls hunt.", "Foxes (red ones) sleep."]


REASONED = "<think>Owls <co: 1>no</co: 1>. [2] Yes.</think>"


def test_citing_style_reasoning():
    sentence = citing_style("sentences").read(f"{REASONED}Owls hunt. [1]", 2)
    assert (
        sentence.answer.statements == (Statement("Owls hunt.", (0,)),) and sentence.sentences == 1
    )
    grounded = read_grounded(f"{REASONED}Grounded answer: Owls <co: 0>hunt</co: 0>.", 2)
    assert grounded.answer.statements == (Statement("hunt", (0,)),) and grounded.sentences == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Owls hunt. (Source: [1])\nFoxes sleep. (Sources: [2], [3])",
         [("Owls hunt.", (0,)), ("Foxes sleep.", (1, 2))]),
        ("Owls hunt.\nSource: [1]\n\nFoxes sleep.\n**Source:** [2]",
         [("Owls hunt.", (0,)), ("Foxes sleep.", (1,))]),
        ("Owls hunt (see [1]). Foxes ([2]; [3]) sleep.",
         [("Owls hunt.", (0,)), ("Foxes sleep.", (1, 2))]),
        ("Owls hunt **[1]**. Foxes sleep [2], [3].",
         [("Owls hunt.", (0,)), ("Foxes sleep.", (1, 2))]),
        ("**Owls hunt [1]**.", [("**Owls hunt**.", (0,))]),
        ("Owls hunt [1].\n\n[^1]: Owls of Europe.", [("Owls hunt.", (0,))]),
    ],
)  # fmt: skip
def test_cited_sentences_surroundings_of_marks(text, expected):
    statements = cited_sentences(text, 3).statements
    assert [(statement.text, statement.documents) for statement in statements] == expected


@pytest.mark.parametrize(
    "heading",
    ["Sources: {}.", "(Sources: {}.)", "Sources {}!", "*Sources: {}.*",
     "**Sources:** {}.", "Sources used: {}.", "Quellen: {}.", "References: {}。", "- Sources: {}."],
)  # fmt: skip
@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_cited_sentences_heading_with_numbers(heading, gap):
    """Above other sentences and at the end, with a full stop after the numbers."""
    text = f"Owls hunt.{gap}{heading.format('[1], [2]')}"
    assert cited_sentences(text, 3).statements == (Statement("Owls hunt.", (0, 1)),)
    text += f"{gap}Foxes sleep.{gap}{heading.format('[3]')}"
    assert cited_sentences(text, 3).statements == (
        Statement("Owls hunt.", (0, 1)),
        Statement("Foxes sleep.", (2,)),
    )


def test_cited_sentences_sentence_about_sources():
    text = "Sources disagree [1]. References are missing. The literature is old [2]."
    assert [statement.text for statement in cited_sentences(text, 3).statements] == [
        "Sources disagree.",
        "References are missing.",
        "The literature is old.",
    ]
