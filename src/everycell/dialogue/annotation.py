"""Human annotation between generated counterfactuals and a test set, as files.

A folder of sheets holds it (`everycell.text.sheets`), one row per dialogue. They are blind:
counterfactuals are mixed with real dialogues, in another order for each annotator, under neutral
names.

Source: abolghasemi2026, section 3.5.4 (two annotators, a third on disagreement, two questions,
counterfactuals mixed among real dialogues) and 3.6.1.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.satisfaction_samples import COUNTERFACTUAL, Sample, Turn
from everycell.dialogue.counterfactuals import FAULTS, Rewriting, dialogue_text, rewritten
from everycell.text import settled_sheets, sheets
from everycell.text.sheets import Form, SheetError

#: Questions of a sheet, answered by 0 (no) or 1 (yes).
QUESTIONS: Mapping[str, str] = {
    "satisfied": "Is the user satisfied after the last utterance of the system?",
    "coherent": "Does the last utterance of the system fit what was said before?",
}
FORM = Form(("dialogue",), QUESTIONS, "everycell annotation sheets")
_GUIDELINES = """\
# Guidelines

Each row of your sheet is a dialogue between a user and a system that finds and books things. Read
it to its end, then write 0 (no) or 1 (yes) into the columns `satisfied` and `coherent`.

- `satisfied`: put yourself in the user's place, after the last utterance of the system and before
  saying anything else. 1 if the system understood what the user wants and met it, in whole or in
  part, asked for what it must know, or said how it can be had. 0 if it misunderstood, could not do
  it, or left it open.
- `coherent`: 1 if the last utterance belongs to this dialogue; 0 if it speaks of something else,
  such as a restaurant where the user asked for a hotel. A useless utterance can be coherent.

Judge the last utterance alone; what went wrong before does not count if it is mended now. Write
what you like into `comment`. Change nothing else, add and remove no rows (sorting them is fine),
save as CSV (UTF-8), and speak with no other annotator until all are done.
"""


@dataclass(frozen=True)
class Item:
    """A dialogue in the pool.

    Attributes
    ----------
    name : str
        Its name on the sheets.
    sample : Sample
        A real dialogue with its label, or a counterfactual with its intended label.
    counterfactual : bool
    fault : str
        Why a counterfactual cannot be shown (`everycell.dialogue.counterfactuals.FAULTS`), or "".
        Such an item is on no sheet, and counts as not flipped.
    """

    name: str
    sample: Sample
    counterfactual: bool
    fault: str = ""


def draw_real(
    real: Sequence[Sample], rewritings: Sequence[Rewriting], *, number: int, seed: int
) -> list[Sample]:
    """Draw real dialogues to mix with counterfactuals.

    They are from the same benchmarks, and are not counterfactuals themselves (by the end of their
    id). Originals of counterfactuals, and dialogues that extend or begin an original, are used only
    if there are no others, the originals last: side by side, the two would give away which is
    which.

    Examples
    --------
    >>> samples = [Sample(name, "toy", (("SYSTEM", f"At {name}."),), True) for name in "abc"]
    >>> drawn = draw_real(samples, [Rewriting(samples[0], "", "", "")], number=2, seed=1)
    >>> sorted(sample.id for sample in drawn)
    ['b', 'c']
    """
    # Compared by words: the same dialogue may have another id in another file.
    originals = {made.sample.turns for made in rewritings}
    benchmarks = {made.sample.benchmark for made in rewritings}
    fitting = [
        sample
        for sample in real
        if sample.benchmark in benchmarks and not sample.id.endswith(COUNTERFACTUAL)
    ]
    if real and not fitting:
        raise SheetError(
            f"None of the {len(real)} real dialogues is of {', '.join(sorted(benchmarks))}, as the "
            "counterfactuals are, so that they would give these away; name some of that benchmark."
        )
    order = sorted(fitting, key=lambda sample: (sample.benchmark, sample.id))
    random.Random(seed).shuffle(order)
    beginnings = {turns[:length] for turns in originals for length in range(1, len(turns) + 1)}

    def nearness(sample: Sample) -> int:
        if sample.turns in originals:
            return 2
        return int(sample.turns in beginnings or _begins_with(sample, originals))

    # A stable sort: within each kind the drawn order is kept.
    return sorted(order, key=nearness)[:number]


def _begins_with(sample: Sample, originals: set[tuple[Turn, ...]]) -> bool:
    return any(sample.turns[:length] in originals for length in range(1, len(sample.turns) + 1))


def count_unblinded(rewritings: Sequence[Rewriting], items: Sequence[Item]) -> int:
    """Number of counterfactuals whose original utterance occurs in another dialogue on the sheets.

    Samples of a benchmark are prefixes of the same dialogues, so a longer one shows the original
    utterance.

    Examples
    --------
    >>> first = Sample("1", "toy", (("SYSTEM", "At 8."),), True)
    >>> later = Sample("2", "toy", (*first.turns, ("USER", "Ok."), ("SYSTEM", "Bye.")), True)
    >>> made = [Rewriting(first, "No.", "", ""), Rewriting(later, "What?", "", "")]
    >>> count_unblinded(made, make_items(made, [], seed=1))
    1
    """
    shown = [item.sample for item in items if not item.fault]
    return sum(
        any(_begins_with(sample, {made.sample.turns}) for sample in shown)
        for made in rewritings
        if not made.fault
    )


def make_items(rewritings: Sequence[Rewriting], real: Sequence[Sample], *, seed: int) -> list[Item]:
    """Put counterfactuals and real dialogues into one pool, under neutral names.

    Examples
    --------
    >>> turns = (("USER", "A taxi?"), ("SYSTEM", "At 8."))
    >>> made = Rewriting(Sample("1", "toy", turns, True), "No taxi.", "", "")
    >>> items = make_items([made], [Sample("2", "toy", turns, True)], seed=1)
    >>> [(item.name, item.sample.id, item.sample.satisfied) for item in items]
    [('d0001', '2', True), ('d0002', '1-cf', False)]
    """
    items = [Item("", rewritten(made), True, made.fault) for made in rewritings]
    if all(item.fault for item in items):
        raise SheetError(
            f"None of the {len(items)} counterfactuals can be shown to annotators; generate some "
            "that have no fault."
        )
    items += [Item("", sample, False) for sample in real]
    counts = Counter((item.sample.benchmark, item.sample.id) for item in items)
    (benchmark, name), most = counts.most_common(1)[0]
    if most > 1:
        raise SheetError(
            f"The dialogue {name} of {benchmark} occurs {most} times; each is allowed once, so "
            "remove the others."
        )
    # Sorted first, so that the names do not depend on the order of the input.
    items.sort(key=lambda item: (item.sample.benchmark, item.sample.id))
    random.Random(seed).shuffle(items)
    return [replace(item, name=f"d{number:04}") for number, item in enumerate(items, start=1)]


def write_sheets(folder: Path, items: Sequence[Item], *, seed: int) -> list[Path]:
    """Write key, guidelines and two sheets: `everycell.text.sheets.write_folder`."""
    key = [
        {
            "item": item.name,
            "id": item.sample.id,
            "benchmark": item.sample.benchmark,
            "turns": item.sample.turns,
            "satisfied": item.sample.satisfied,
            "counterfactual": item.counterfactual,
            "fault": item.fault,
        }
        for item in items
    ]
    rows = _rows(_on_sheets(items))
    return sheets.write_folder(folder, FORM, rows, key, guidelines=_GUIDELINES, seed=seed)


def _rows(items: Sequence[Item]) -> dict[str, dict[str, str]]:
    """Content of the sheets for items."""
    # No cell can be read as a formula: dialogues start with a speaker.
    return {item.name: {"dialogue": dialogue_text(item.sample)} for item in items}


def read_items(folder: Path) -> list[Item]:
    """Items of a folder's key."""
    return sheets.read_key(folder, FORM, _item)[0]


def _item(row: dict[str, Any]) -> Item:
    turns = tuple((speaker, text) for speaker, text in row["turns"])
    try:
        sample = Sample(row["id"], row["benchmark"], turns, row["satisfied"])
    except CollectionError as error:
        raise ValueError(error) from None
    item = Item(row["item"], sample, row["counterfactual"], row["fault"])
    if not isinstance(item.counterfactual, bool) or item.fault not in ("", *FAULTS):
        raise ValueError(item)
    return item


def read_sheet(path: Path, items: Sequence[Item]) -> pd.DataFrame:
    """Read a completed sheet, and check that it is complete."""
    return sheets.read_sheet(path, FORM, _rows(items))


def write_third(folder: Path) -> Path | None:
    """Write the third annotator's sheet: what the first two disagree on; None where they agree."""
    items, seed = sheets.read_key(folder, FORM, _item)
    return settled_sheets.third_sheet(folder, FORM, _rows(_on_sheets(items)), seed)


def _on_sheets(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if not item.fault]


def read_labels(folder: Path) -> pd.DataFrame:
    """Labels of a folder whose sheets are filled in."""
    items = read_items(folder)
    answers = settled_sheets.settled_answers(folder, FORM, _rows(_on_sheets(items)))
    labels = pd.DataFrame(
        [
            (
                item.name,
                item.sample.id,
                item.sample.benchmark,
                item.counterfactual,
                item.fault,
                int(item.sample.satisfied),
            )
            for item in items
        ],
        columns=["item", "id", "benchmark", "counterfactual", "fault", "intended"],
    ).set_index("item")
    for column in answers:
        labels[column] = answers[column].astype("Int64")
    return labels.reset_index()
