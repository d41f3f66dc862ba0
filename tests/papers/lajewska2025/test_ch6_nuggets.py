"""Nuggets that a language model or people mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.templates import read_template
from papers.lajewska2025.ch6_nuggets import (
    SLOTS,
    TEMPLATE,
    agreed_spans,
    detection_prompt,
    marked_spans,
)
from papers.lajewska2025.spans import mark_characters

PASSAGE = "Owls hunt at night. They eat mice, and mice eat seeds."


@pytest.mark.parametrize(
    ("answer", "spans", "strays"),
    [
        (PASSAGE, (), ()),
        ("<IN>Owls hunt at night.</IN> They ...", ((0, 19),), ()),
        # The second mark of the same words is looked up behind the first one.
        ("They eat <IN>mice</IN>, and <IN>mice</IN> eat seeds.", ((29, 33), (39, 43)), ()),
        ("<IN>Owls\n hunt</IN>", ((0, 9),), ()),
        ("<IN>Owls hunt by night</IN> <IN></IN>", (), ("Owls hunt by night",)),
        # Of marks that overlap the first counts; a lone tag marks nothing.
        ("<IN>Owls hunt</IN> <IN>hunt at</IN> </IN> <IN>They", ((0, 9),), ()),
    ],
)
def test_marked_spans(answer, spans, strays):
    assert marked_spans(PASSAGE, answer) == (spans, strays)


@given(st.lists(st.tuples(st.integers(0, 54), st.integers(0, 54)), max_size=4))
def test_agreed_spans_one_person(pairs):
    spans = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    people = mark_characters([spans], len(PASSAGE), overlapping="union")
    result = agreed_spans(people, PASSAGE, minimum=1)
    assert all(end <= start for (_, end), (start, _) in zip(result, result[1:], strict=False))
    for start, end in result:
        assert PASSAGE[start:end] == PASSAGE[start:end].strip()
        assert people[0, start:end].any()


def test_agreed_spans_minimum():
    people = mark_characters([[(0, 19)], [(5, 30)], [(10, 15)]], len(PASSAGE))
    texts = [
        [PASSAGE[start:end] for start, end in agreed_spans(people, PASSAGE, minimum=minimum)]
        for minimum in (1, 2, 3)
    ]
    assert texts == [["Owls hunt at night. They eat"], ["hunt at night."], ["at"]]
    assert agreed_spans(people, PASSAGE, minimum=3, shortest=2) == ()


def test_detection_prompt_ends_with_the_passage():
    template = read_template(TEMPLATE, SLOTS, last="passage")
    assert detection_prompt(template, "What do owls eat?", PASSAGE)[-1].content.endswith(PASSAGE)
