"""Figure 2.1: scores of the toy document by hand."""

import math

import pytest

from papers.abolghasemi2026 import ch2_examples
from papers.abolghasemi2026.ch2_examples import tilde_boxes, tildev2_boxes


def score(boxes) -> float:
    return float(boxes.set_index("box").loc["score", "text"].split("\n")[1])


def test_tilde_boxes_by_hand():
    assert score(tilde_boxes()) == pytest.approx(math.log10(0.3) + math.log10(0.9), abs=0.005)


def test_tildev2_boxes_by_hand():
    # "file" has the weights 0.8 and 2.1; "open" is not in the document.
    assert score(tildev2_boxes()) == 2.1


def test_scores_repeated_query_term(monkeypatch):
    monkeypatch.setattr(ch2_examples, "QUERY", "file file")
    assert score(tilde_boxes()) == pytest.approx(2 * math.log10(0.9), abs=0.005)
    assert score(tildev2_boxes()) == 4.2
