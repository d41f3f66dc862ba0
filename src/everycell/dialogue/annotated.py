"""Results of annotation: success of generators, agreement, confirmed counterfactuals.

Source: abolghasemi2026, sections 3.5.4 and 3.6.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.collections.satisfaction_samples import Sample
from everycell.dialogue.annotation import QUESTIONS, Item
from everycell.text import settled_sheets


def success(labels: pd.DataFrame) -> pd.DataFrame:
    r"""Share of the generated utterances that flip the label (CSS).

    .. math:: CSS = 100 \cdot \frac{\text{counterfactuals that are settled as intended}}
                                    {\text{generated utterances}}

    Examples
    --------
    >>> labels = pd.DataFrame({"benchmark": "toy", "counterfactual": True,
    ...                        "intended": [0, 0, 1, 1], "satisfied": [0, 1, 1, pd.NA],
    ...                        "fault": ["", "", "", "empty"]})
    >>> success(labels)[["row", "generated", "usable", "flipped", "CSS"]].to_numpy().tolist()[1:]
    [['Dissatisfaction', 2, 1, 1, 50.0], ['Overall', 4, 3, 2, 50.0]]
    """
    made = labels[labels["counterfactual"]]
    flipped = (made["satisfied"] == made["intended"]).fillna(False).astype(bool)
    usable = made["fault"] == ""
    rows = []
    for benchmark in dict.fromkeys(made["benchmark"]):
        of_one = made["benchmark"] == benchmark
        for row, chosen in (
            ("Satisfaction", of_one & (made["intended"] == 0)),
            ("Dissatisfaction", of_one & (made["intended"] == 1)),
            ("Overall", of_one),
        ):
            counts = (int(chosen.sum()), int((chosen & usable).sum()))
            kept = int((chosen & usable & flipped).sum())
            share = 100 * kept / counts[0] if counts[0] else float("nan")
            rows.append((benchmark, row, *counts, kept, share))
    return pd.DataFrame(rows, columns=["benchmark", "row", "generated", "usable", "flipped", "CSS"])


def agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """Agreement of the first two annotators, on counterfactuals and real dialogues.

    Examples
    --------
    >>> labels = pd.DataFrame({"benchmark": "toy", "counterfactual": True, "fault": "",
    ...     "intended": [0, 0, 1, 1], "satisfied_1": [0, 0, 1, 1], "satisfied_2": [0, 1, 1, 1],
    ...     "satisfied": [0, 0, 1, 1], "coherent_1": 1, "coherent_2": 1, "coherent": 1})
    >>> agreement(labels)[["question", "percent agreement", "Cohen kappa"]].to_numpy().tolist()
    [['satisfied', 75.0, 0.5], ['coherent', 100.0, nan]]
    """
    rows = []
    shown = labels[labels["fault"] == ""]
    for (benchmark, made), group in shown.groupby(["benchmark", "counterfactual"], sort=False):
        kind = "counterfactual" if made else "real"
        for question in QUESTIONS:
            as_intended = float("nan")
            if question == "satisfied":
                as_intended = 100 * float((group[question] == group["intended"]).mean())
            rows.append(
                {"benchmark": benchmark, "dialogues": kind, "question": question}
                | settled_sheets.agreement_on(group, question)
                | {"as intended": as_intended}
            )
    return pd.DataFrame(rows)


def confirmed(items: Sequence[Item], labels: pd.DataFrame) -> list[Sample]:
    """Counterfactuals whose settled label is the intended one: the CF set.

    As in the thesis, only the flip decides; `labels` shows which are incoherent.
    """
    kept = labels["counterfactual"] & (labels["satisfied"] == labels["intended"]).fillna(False)
    names = set(labels.loc[kept.astype(bool), "item"])
    return [item.sample for item in items if item.name in names]
