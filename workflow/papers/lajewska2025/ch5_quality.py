"""Quality of the annotations in chapter 5 of lajewska2025: flags, and agreement beyond chance.

Source: lajewska2025, section 5.3.4 (p. 82) and Figure 5.1 (p. 78). Marks are those of
`papers.lajewska2025.spans.mark_characters`: one row per person, one column per character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.statistics.agreement import fleiss_kappa
from papers.lajewska2025.cast_snippets_data import GROUPS, mark_texts, paths, read_group

#: Longest annotation that is not flagged, as a share of the text, by task.
LONGEST = {"Paragraph": 0.5, "Sentence": 0.75}
#: Largest share of the sentences of a passage that may be selected.
MOST_SENTENCES = 0.75
#: Others who must have marked what an annotation marks.
OTHERS = 2


def flag_marks(marks: BoolArray, longest: float) -> pd.DataFrame:
    """Flags of each person's annotation of a text."""
    by_others = marks.sum(axis=0) - marks
    confirmed = by_others >= OTHERS
    return pd.DataFrame(
        {
            "too long": marks.mean(axis=1) > longest,
            "partly unconfirmed": (marks & ~confirmed).any(axis=1),
            "wholly unconfirmed": marks.any(axis=1) & ~(marks & confirmed).any(axis=1),
        }
    )


def flag_selections(selected: BoolArray) -> pd.DataFrame:
    """Flags of each person's selection of the sentences of a passage."""
    by_others = selected.sum(axis=0) - selected
    return pd.DataFrame(
        {
            "none selected": ~selected.any(axis=1),
            "too many sentences": selected.mean(axis=1) > MOST_SENTENCES,
            "none in common": ~(selected & (by_others > 0)).any(axis=1),
        }
    )


def read_selections(files: Sequence[Path]) -> dict[tuple[str, str], BoolArray]:
    """Sentences that each person selected, shape (people, sentences), by turn and passage.

    Seven released rows have no answers, or those to another passage; they are left out.
    """
    selections = {}
    for path in files:
        raw = pd.read_csv(path, dtype=str, keep_default_na=False)
        for (turn, passage), rows in raw.groupby(["Input.turn_id", "Input.passage_id"], sort=False):
            # Every row has columns for the sentences of all passages.
            answers = rows.filter(regex=rf"^Answer\.{re.escape(f'{turn}--{passage}')}--\d+\.on$")
            answers = answers.loc[(answers != "").any(axis="columns")]
            selections[turn, passage] = answers.to_numpy() == "True"
    return selections


def selection_group(group: str) -> str:
    """Group of the step that precedes the annotation of sentences."""
    return group.replace("sentence", "selection")


def flags_of_groups(files: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Shares of the released annotations, and of selections, that each criterion flags."""
    rows = []
    for group, (task, name, _) in GROUPS.items():
        marks = mark_texts(read_group(files[group]), group)
        steps = {task: flag_shares(flag_marks(text, LONGEST[task]) for text in marks.values())}
        if task == "Sentence":
            selections = read_selections(paths(files[selection_group(group)]))
            steps["Selection of sentences"] = flag_shares(map(flag_selections, selections.values()))
        rows += [
            (step, name, metric, value)
            for step, shares in steps.items()
            for metric, value in shares.items()
        ]
    return pd.DataFrame(rows, columns=["task", "row", "metric", "value"])


def flag_shares(flags: Iterable[pd.DataFrame]) -> Mapping[str, float]:
    """Number of annotations, and the share in percent that has each flag."""
    table = pd.concat(flags, ignore_index=True)
    return {"annotations": len(table)} | (100 * table.mean()).to_dict()


def agreement_beyond_chance(texts: Iterable[BoolArray]) -> dict[str, float]:
    """Fleiss' kappa and Krippendorff's alpha over the characters of all texts."""
    marks = np.concatenate(list(texts), axis=1)
    return {
        "Fleiss' kappa": fleiss_kappa(marks.T.astype(int)),
        "Krippendorff's alpha": krippendorff_alpha(marks),
    }


def krippendorff_alpha(marks: BoolArray) -> float:
    """Krippendorff's alpha, with a nominal weight, of the people who mark characters.

    Without missing values it differs from Fleiss' kappa in the expected disagreement only, which
    is that of two labels drawn without replacement.
    """
    return 1 - (1 - fleiss_kappa(marks.T.astype(int))) * (1 - 1 / marks.size)
