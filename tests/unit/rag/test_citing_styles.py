"""Answers with marked spans, tidy and untidy. All outputs are invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.rag.citing_styles import (
    citing_style,
    grounded_prompt,
    own_template_prompt,
    read_grounded,
    read_template,
)
from everycell.rag.interventions import CitedAnswer, Statement

TIDY = """Relevant Documents: 0,1,3
Cited Documents: 1,3
Answer: Leiden has a university since 1575, and canals.
Grounded answer: <co: 3>Leiden</co: 3> has a university since <co: 1,3>1575</co: 1,3>, and canals.
"""


def marked(text: str, k: int = 5, first: int = 0):
    return read_grounded(f"Answer: x\nGrounded answer: {text}", k, first=first)


def test_read_grounded() -> None:
    result = read_grounded(TIDY, 5)
    assert result.answer == CitedAnswer(
        (Statement("Leiden", (3,)), Statement("1575", (1, 3))),
        (0, 1, 3),
        (1, 3),
        "Leiden has a university since 1575, and canals.",
    )
    assert (result.sentences, result.stray, result.mended) == (1, (), 0)


@pytest.mark.parametrize(
    ("text", "expected", "mended", "plain"),
    [
        ("<co: 2>in the\n\n old town</co: 2>.", [("in the old town", (2,))], 0, "in the old town."),
        ("<co: 1,\n2>old</co: 1,\n2>.", [("old", (1, 2))], 0, "old."),
        # Other numbers at the end, no end, and no beginning.
        (
            "<co: 0,1>An owl</co: 0> hunts <co: 2>mice</co: 4>.",
            [("An owl", (0, 1)), ("mice", (2,))],
            2,
            "An owl hunts mice.",
        ),
        ("<co: 1>Owls hunt. Foxes too.", [("Owls hunt.", (1,))], 1, "Owls hunt. Foxes too."),
        ("Owls</co: 1> hunt.", [], 0, "Owls hunt."),
        # Nested; crossed, the numbers say which one is closed.
        (
            "<co: 0>the <co: 1>old</co: 1> town</co: 0>",
            [("the old town", (0,)), ("old", (1,))],
            0,
            "the old town",
        ),
        ("<co: 0>a <co: 1>b</co: 0> c</co: 1>", [("a b", (0,)), ("b c", (1,))], 0, "a b c"),
    ],
)
def test_read_grounded_marks(text: str, expected: list, mended: int, plain: str) -> None:
    result = marked(text)
    assert [tuple(item) for item in result.answer.statements] == expected
    assert (result.mended, result.answer.text) == (mended, plain)


def test_read_grounded_stray_numbers() -> None:
    result = read_grounded(
        "Relevant Documents: 0,9\nCited Documents: None\nGrounded answer: <co: 7>Owl</co: 7>", 5
    )
    assert result.stray == (9, 7)
    assert result.answer == CitedAnswer((Statement("Owl", ()),), (0,), (), "Owl")
    # Of ours, documents count from 1.
    result = marked("<co: 0,5>Owl</co: 0,5>", first=1)
    assert result.stray == (0,) and result.answer.statements == (Statement("Owl", (4,)),)


@pytest.mark.parametrize("nothing", ["", "\n", "I cannot answer that.", "Answer: By night."])
def test_read_grounded_no_marks(nothing: str) -> None:
    result = read_grounded(nothing, 3).answer
    assert (result.statements, result.relevant, result.to_cite) == ((), (), ())


def test_read_grounded_cut_off() -> None:
    cut = "Relevant Documents: 0,1\nCited Documents: 1\nAnswer: Owls hunt."
    assert read_grounded(cut, 3).answer == CitedAnswer((), (0, 1), (1,), "Owls hunt.")
    assert marked("Owls <co: 1>hunt</co: 1> and <co: 2").answer.statements == (
        Statement("hunt", (1,)),
    )


def test_read_grounded_spelling_of_labels() -> None:
    dressed = (
        "**Relevant Documents:** 1\n**cited documents**: 1\n## Grounded Answer: <co:1>A</co:1>"
    )
    assert read_grounded(dressed, 3).answer == CitedAnswer((Statement("A", (1,)),), (1,), (1,), "A")
    bare = "By <co: 0>night</co: 0>."
    assert read_grounded(bare, 1).answer.statements == (Statement("night", (0,)),)


@given(st.text("co<>/: ,012\nab."), st.integers(1, 4))
def test_read_grounded_any_text(output: str, k: int) -> None:
    result = marked(output, k)
    assert all(
        0 <= position < k for item in result.answer.statements for position in item.documents
    )
    assert all(item.text and "\n" not in item.text for item in result.answer.statements)
    assert not set(result.stray) & set(range(k))


@given(st.lists(st.tuples(st.sampled_from(["owl", "fox hunts", "1575"]), st.integers(0, 3))))
def test_read_grounded_round_trip(parts: list) -> None:
    written = " and ".join(f"<co: {position}>{text}</co: {position}>" for text, position in parts)
    result = marked(written)
    assert [(item.text, *item.documents) for item in result.answer.statements] == parts
    assert result.mended == 0


def test_own_template_prompt() -> None:
    prompt = own_template_prompt("Who\nhunts?", ["Owls\n hunt."])
    assert (prompt[0].content, prompt[0].documents) == ("Who hunts?", ("Owls hunt.",))


def test_citing_style_invalid(tmp_path) -> None:
    with pytest.raises(DataError) as caught:
        citing_style("marks")
    assert (caught.value.column, caught.value.value) == ("citing style", "marks")
    mine = tmp_path / "mine.txt"
    with pytest.raises(DataError, match="the style 'own template' does not use") as caught:
        citing_style("own template", mine)
    assert caught.value.path == mine
    mine.write_text("$documents")
    with pytest.raises(DataError, match="lacks"):
        citing_style("spans", mine)


@pytest.mark.parametrize("name", ["sentences", "spans", "own template"])
def test_citing_style_empty_document(name: str) -> None:
    prompt = citing_style(name).prompt("Who?", [" ", "Owls."])
    assert "(empty)" in f"{prompt[-1]}"


@pytest.mark.parametrize("inside", ["", " ", "\n"])
def test_read_grounded_empty_mark(inside):
    result = read_grounded(f"Grounded answer: <co: 0>{inside}</co: 0><co: 1>Owls</co: 1> hunt.", 2)
    assert result.answer.statements == (Statement("Owls", (1,)),)
    assert (result.stray, result.mended) == ((), 0)


def test_grounded_prompt_numbers_from_1() -> None:
    request = grounded_prompt(read_template(), "Where?", ["In Holland."])
    assert request[-1].content.splitlines()[-3:] == ["[1] In Holland.", "", "Question: Where?"]
