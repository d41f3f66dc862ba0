"""Nuggets that a language model or people mark."""

from __future__ import annotations

import pytest

from everycell.language_models.templates import read_template
from papers.lajewska2025.ch6_nuggets import (
    SLOTS,
    TEMPLATE,
    detection_prompt,
    marked_spans,
)

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


def test_detection_prompt_ends_with_the_passage():
    template = read_template(TEMPLATE, SLOTS, last="passage")
    assert detection_prompt(template, "What do owls eat?", PASSAGE)[-1].content.endswith(PASSAGE)
