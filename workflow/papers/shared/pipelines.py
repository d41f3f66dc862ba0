"""Figures of the rules that make a result, for papers that draw their pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.flow import AFTER, flow_chart


def pipeline(job: ResultJob) -> None:
    """Rules of a pipeline, from left to right, in the words of their messages."""
    boxes = rule_boxes(job.params.rules, job.params.get("groups", {}))
    job.write_figure(boxes, flow_chart(boxes))


def rule_boxes(
    rules_by_panel: Mapping[str, Mapping[str, Mapping[str, Any]]], groups: Mapping[str, str]
) -> pd.DataFrame:
    """Box of each rule; `groups` maps the start of its script, such as `KEY/ch5`, to a group."""
    rows = [
        {
            "panel": panel,
            "box": name,
            "text": rule["message"],
            "after": AFTER.join(rule["after"]),
            "group": next(
                (group for start, group in groups.items() if rule["script"].startswith(start)),
                "shared",
            ),
        }
        for panel, rules in rules_by_panel.items()
        for name, rule in rules.items()
    ]
    boxes = pd.DataFrame(rows)
    return boxes if groups else boxes.drop(columns="group")
