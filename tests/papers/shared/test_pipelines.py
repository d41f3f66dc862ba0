"""Boxes of rules."""

import pandas as pd

from papers.shared.pipelines import rule_boxes

RULES = {
    "": {
        "one": {"message": "First", "script": "toy2025/ch1:one", "after": []},
        "two": {"message": "Second", "script": "index", "after": ["one", "other"]},
    }
}


def test_rule_boxes_groups():
    boxes = rule_boxes(RULES, {"toy2025/ch1": "chapter 1"})
    columns = ["panel", "box", "text", "after", "group"]
    expected = [
        ("", "one", "First", "", "chapter 1"),
        ("", "two", "Second", "one; other", "shared"),
    ]
    pd.testing.assert_frame_equal(boxes, pd.DataFrame(expected, columns=columns))


def test_rule_boxes_without_groups():
    assert "group" not in rule_boxes(RULES, {})
