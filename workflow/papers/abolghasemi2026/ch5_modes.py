"""Figures 5.3 and 5.4: authors and labels of the documents in each mode."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.rag.prompts import Question
from everycell.render.flow import AFTER, flow_chart
from papers.abolghasemi2026.ch5_arms import MIXED_ARMS, PLAIN_ARMS, Arm

#: A toy list: the second of three documents is relevant.
TOY = Question("toy", ("first", "second", "third"), 2)


def plain_modes(job: ResultJob) -> None:
    """Figure 5.3: the three modes, for a relevant document by a model."""
    boxes = arm_boxes([arm for arm in PLAIN_ARMS if arm.relevant_author == "LLM"])
    job.write_figure(boxes, flow_chart(boxes))


def mixed_mode(job: ResultJob) -> None:
    """Figure 5.4: a mixed mode, for documents by people."""
    modes = ("Informed", "CF-informed")
    arms = [arm for arm in MIXED_ARMS if arm.relevant_author == "Human" and arm[2:] == modes]
    boxes = arm_boxes(arms)
    job.write_figure(boxes, flow_chart(boxes))


def arm_boxes(arms: Sequence[Arm]) -> pd.DataFrame:
    """Documents with authors and labels, the model that answers, one panel per arm."""
    rows = []
    for arm in arms:
        modes = dict.fromkeys((arm.mode_relevant, arm.mode_nonrelevant))
        panel = " and ".join(modes) + " mode"
        names = []
        for number, label in enumerate(arm.labels(TOY), start=1):
            is_relevant = number == TOY.gold
            author = arm.relevant_author if is_relevant else arm.nonrelevant_author
            kind = "relevant" if is_relevant else "not relevant"
            displayed = f"label: {label}" if label else "no label"
            names.append(f"document {number}")
            rows.append(
                (
                    panel,
                    names[-1],
                    f"by {author}",
                    f"document {number}, {kind}\nby {author}\n{displayed}",
                    "",
                )
            )
        rows.append((panel, "question", "prompt", "question", ""))
        rows.append((panel, "model", "prompt", "language model", AFTER.join([*names, "question"])))
        rows.append((panel, "answer", "prompt", "answer with citations", "model"))
    return pd.DataFrame(rows, columns=["panel", "box", "group", "text", "after"])
