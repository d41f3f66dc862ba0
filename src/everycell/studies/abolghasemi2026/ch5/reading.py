"""Interpretation of answers: which citations count, and when an answer is correct.

The thesis states neither how citations of non-existent documents are treated nor how correct
answers are detected. Its authors' library ignores such citations, recognises only ``[1]``, and
accepts a correct answer as a substring anywhere (`everycell.rag.answers`). The default `Reading`
follows it except for the forms of citations, since language models use several. A supplementary
table compares the `READINGS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import pandas as pd

from everycell.rag.answers import Match, is_correct, usable_answers
from everycell.rag.citations import Cited, Forms, uncited_text

#: How to treat a citation of a non-existent document.
Strays = Literal["ignored", "wrong"]


class Reading(NamedTuple):
    """Rules for interpreting answers."""

    forms: Forms = "all"
    strays: Strays = "ignored"
    match: Match = "substring"

    def counted(self, cited: Cited) -> list[int]:
        """Distinct numbers that count as citations."""
        return [*cited.documents, *(cited.stray if self.strays == "wrong" else ())]

    def is_right(self, text: str, gold: tuple[str, ...], *, k: int) -> bool | None:
        """Whether an answer is correct; None if no correct answer is known."""
        usable = usable_answers(gold, match=self.match)
        if not usable:
            return None
        answer = text if self.match == "substring" else uncited_text(text, k)
        return is_correct(answer, usable, match=self.match)


DEFAULT = Reading()
#: Readings to compare: that of the authors' library, our default, and the strictest.
READINGS: Mapping[str, Reading] = {
    "library": Reading(forms="plain"),
    "default": DEFAULT,
    "strict": Reading(strays="wrong", match="squad"),
}
#: Columns of the table of readings -> digits shown.
READ = dict.fromkeys(READINGS, 3)


def align_readings(results: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Results of the same answers under several readings, one row per number."""
    parts = [
        table.rename(columns={"metric": "measure"}).assign(metric=name)
        for name, table in results.items()
    ]
    combined = pd.concat(parts, ignore_index=True)
    keys = [name for name in combined if name not in ("metric", "value")]
    groups = combined.groupby(keys, sort=False).ngroup()
    return combined.assign(_=groups).sort_values("_", kind="stable")[[*keys, "metric", "value"]]
