"""The human step between generated counterfactuals and a test set, as files.

A folder of sheets holds it (`everycell.text.sheets`), one row a dialogue. They are blind:
counterfactuals stand among real dialogues, in another order for each annotator, under names that
say nothing.

Source: abolghasemi2026, section 3.5.4 (two annotators, a third on disagreement, two questions,
counterfactuals mixed among real dialogues) and Tables 3.3 and 3.4.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet

from everycell.collections.smart import CollectionError
from everycell.collections.user_satisfaction import COUNTERFACTUAL, Sample, Turn
from everycell.dialogue.counterfactuals import FAULTS, Rewriting, dialogue_text, rewritten
from everycell.engine.untrusted import in_quotes, parse_json
from everycell.text import sheets
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
        As the sheets call it.
    sample : Sample
        A real dialogue with its label, or a counterfactual with the label that it is meant to have.
    counterfactual : bool
    fault : str
        Why a counterfactual cannot be shown (`everycell.dialogue.counterfactuals.FAULTS`), or "".
        Such an item stands on no sheet, and counts as one that was not flipped.
    """

    name: str
    sample: Sample
    counterfactual: bool
    fault: str = ""


def read_dialogues(path: Path, *, part: str | None = None) -> list[Sample]:
    """Read dialogues from a file.

    Parameters
    ----------
    path : Path
        Parquet, as the workflow writes it, or JSON lines (``.jsonl``), with `id`, `benchmark`,
        `turns` (pairs of speaker and text) and `satisfied` (true or false, or 1 or 0).
    part : str, optional
        Only rows whose `part` is this. The workflow's samples have several: "main" is the test set,
        "cf" are counterfactuals, "plain" are dialogues without apologies.

    Returns
    -------
    list of Sample
        In the order of the file.

    Raises
    ------
    SheetError
        A file that cannot be read or is empty, a line that is no JSON object, or a row that is no
        dialogue: something is missing or of another kind, it does not end with the system, its
        label is another one, or its id comes twice. Or no row is of the part.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.jsonl"
    >>> row = {"id": "1", "benchmark": "toy", "turns": [["SYSTEM", "At 8."]], "satisfied": 1}
    >>> _ = path.write_text(json.dumps(row))
    >>> read_dialogues(path)
    [Sample(id='1', benchmark='toy', turns=(('SYSTEM', 'At 8.'),), satisfied=True)]
    """
    return [sample for _, _, sample in _read_samples(path, part)]


def read_rewritings(path: Path) -> list[Rewriting]:
    """Read rewritings of the last utterance of dialogues from a file.

    Parameters
    ----------
    path : Path
        As `read_dialogues` takes it (the dialogue is the original, and so is its label), with the
        new utterance as `text`, and if you like its `fault` (a name of
        `everycell.dialogue.counterfactuals.FAULTS`; none, null or "" is none) and what the model
        answered as `raw`. A text without a word has the fault "empty".

    Returns
    -------
    list of Rewriting
        In the order of the file; white space in a text is one space.

    Raises
    ------
    SheetError
        As `read_dialogues`; also a text that is none, or an unknown fault.
    """
    rewritings = []
    for where, row, sample in _read_samples(path):
        text, fault, raw = (row.get(name) for name in ("text", "fault", "raw"))
        if not isinstance(text, str):
            raise SheetError(f"{where}: `text` is {in_quotes(text)}; allowed is the new utterance.")
        if fault and fault not in FAULTS:
            raise SheetError(
                f"{where}: `fault` is {in_quotes(fault)}; allowed is none, or one of "
                f"{', '.join(FAULTS)}."
            )
        # On one line: what looks like a turn of its own would be taken for one.
        text = " ".join(text.split())
        rewritings.append(Rewriting(sample, text, fault or ("" if text else "empty"), raw or ""))
    return rewritings


def _read_samples(
    path: Path, part: str | None = None
) -> Iterator[tuple[str, dict[str, Any], Sample]]:
    """Place in the file, row and dialogue of each row."""
    places: dict[tuple[str, str], str] = {}
    rows = list(_read_rows(path))
    if part is not None:
        parts = {str(row.get("part")) for _, row in rows}
        rows = [(where, row) for where, row in rows if row.get("part") == part]
        if not rows:
            raise SheetError(
                f"{path}: no row has the `part` {in_quotes(part)}; found are "
                f"{in_quotes(', '.join(sorted(parts)))}."
            )
    for where, row in rows:
        lacking = [name for name in ("id", "benchmark", "turns", "satisfied") if name not in row]
        if lacking:
            raise SheetError(
                f"{where}: lacks `{lacking[0]}`; each row needs id, benchmark, turns and satisfied."
            )
        name, benchmark, label = row["id"], row["benchmark"], row["satisfied"]
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        for column, value in (("id", name), ("benchmark", benchmark)):
            if not isinstance(value, str) or not value.strip():
                raise SheetError(f"{where}: `{column}` is {in_quotes(value)}; allowed is a name.")
        if not isinstance(label, bool | int) or label not in (0, 1):
            raise SheetError(
                f"{where}: `satisfied` is {in_quotes(label)}; allowed is true or false (or 1 or 0)."
            )
        turns = row["turns"]
        if not isinstance(turns, list) or not all(
            isinstance(turn, list) and len(turn) == 2 and all(isinstance(x, str) for x in turn)
            for turn in turns
        ):
            raise SheetError(
                f"{where}: `turns` is {in_quotes(turns)}; allowed is a list of pairs of speaker "
                "and text."
            )
        try:
            sample = Sample(name, benchmark, tuple((who, text) for who, text in turns), bool(label))
        except CollectionError as error:
            raise SheetError(f"{where}: {error}") from None
        first = places.setdefault((benchmark, name), where)
        if first != where:
            raise SheetError(
                f"{where}: has the id {name!r} of {benchmark}, as {first.rpartition(', ')[2]} "
                "has; allowed is each id once, so rename or remove one of the two."
            )
        yield where, row, sample


def _read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and content of each row, with the values that JSON has."""
    try:
        if path.suffix != ".jsonl":
            rows = pyarrow.parquet.ParquetFile(path).read().to_pylist()
            lines = [(f"{path}, row {number}", row) for number, row in enumerate(rows, start=1)]
        else:
            # Not by `splitlines`, which also parts where JSON does not: at some marks in a text.
            text = path.read_text(encoding="utf-8-sig")
            lines = [
                (f"{path}, line {number}", line)
                for number, line in enumerate(text.split("\n"), start=1)
                if line.strip()
            ]
    except FileNotFoundError:
        raise SheetError(f"There is no file {path}; name Parquet or JSON lines.") from None
    except (OSError, ValueError) as error:
        raise SheetError(
            f"{path}: is neither Parquet nor, as .jsonl, UTF-8 text ({str(error)[:100]}); name "
            "Parquet or JSON lines."
        ) from None
    if not lines:
        raise SheetError(f"{path}: is empty; name a file that has dialogues.")
    for where, row in lines:
        if isinstance(row, str):
            try:
                row = parse_json(row)
            except ValueError:
                raise SheetError(
                    f"{where}: is no JSON ({in_quotes(row)}), or was cut off; restore or remove it."
                ) from None
        if not isinstance(row, dict):
            raise SheetError(f"{where}: is {in_quotes(row)}; allowed is a JSON object.")
        yield where, row


def draw_real(
    real: Sequence[Sample], rewritings: Sequence[Rewriting], *, number: int, seed: int
) -> list[Sample]:
    """Draw real dialogues to stand among counterfactuals.

    They are of the same benchmarks, and no counterfactuals themselves (by the end of their id).
    Those that are the original of a counterfactual, or begin with one or are the beginning of one,
    are taken only where there are no others, the originals last: beside each other the two give
    away which is which.

    Parameters
    ----------
    real
        What there is.
    rewritings
        The counterfactuals.
    number : int
        How many are wanted; where there are fewer, all are taken.
    seed : int
        Of the draw.

    Raises
    ------
    SheetError
        There are dialogues, but none that can stand there.

    Examples
    --------
    >>> samples = [Sample(name, "toy", (("SYSTEM", f"At {name}."),), True) for name in "abc"]
    >>> drawn = draw_real(samples, [Rewriting(samples[0], "", "", "")], number=2, seed=1)
    >>> sorted(sample.id for sample in drawn)
    ['b', 'c']
    """
    # By their words: the same dialogue may have another id in another file.
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

    # A stable sort: within each kind the drawn order stays.
    return sorted(order, key=nearness)[:number]


def _begins_with(sample: Sample, originals: set[tuple[Turn, ...]]) -> bool:
    return any(sample.turns[:length] in originals for length in range(1, len(sample.turns) + 1))


def given_away(rewritings: Sequence[Rewriting], items: Sequence[Item]) -> int:
    """Number of counterfactuals whose original utterance stands in another dialogue of the sheets.

    Samples of a benchmark are beginnings of the same dialogues, so a later one shows what the
    system said before.

    Parameters
    ----------
    rewritings
        The counterfactuals, of which those without a fault are on the sheets.
    items
        All items, as `make_items` makes them.

    Examples
    --------
    >>> first = Sample("1", "toy", (("SYSTEM", "At 8."),), True)
    >>> later = Sample("2", "toy", (*first.turns, ("USER", "Ok."), ("SYSTEM", "Bye.")), True)
    >>> made = [Rewriting(first, "No.", "", ""), Rewriting(later, "What?", "", "")]
    >>> given_away(made, make_items(made, [], seed=1))
    1
    """
    shown = [item.sample for item in items if not item.fault]
    return sum(
        any(_begins_with(sample, {made.sample.turns}) for sample in shown)
        for made in rewritings
        if not made.fault
    )


def make_items(rewritings: Sequence[Rewriting], real: Sequence[Sample], *, seed: int) -> list[Item]:
    """Put counterfactuals and real dialogues into one pool, under names that say nothing.

    Parameters
    ----------
    rewritings
        One or more; those with a fault are kept, but stand on no sheet.
    real
        Dialogues as they are; none is allowed.
    seed : int
        Of the names.

    Returns
    -------
    list of Item
        In the order of their names.

    Raises
    ------
    SheetError
        No counterfactual without a fault, or an id that comes twice.

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
            f"The dialogue {name} of {benchmark} comes {most} times; allowed is each one once, so "
            "remove the others."
        )
    # Sorted first, so that the names do not hang on the order of what is given.
    items.sort(key=lambda item: (item.sample.benchmark, item.sample.id))
    random.Random(seed).shuffle(items)
    return [replace(item, name=f"d{number:04}") for number, item in enumerate(items, start=1)]


def write_sheets(folder: Path, items: Sequence[Item], *, seed: int) -> list[Path]:
    """Write key, guidelines and two sheets: `everycell.text.sheets.write_folder`.

    Parameters
    ----------
    folder : Path
        New, or without a key.
    items
        Of `make_items`.
    seed : int
        Of the order of each sheet.
    """
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
    """What sheets show of items."""
    # No cell can be taken for a formula: dialogues start with a speaker.
    return {item.name: {"dialogue": dialogue_text(item.sample)} for item in items}


def read_items(folder: Path) -> list[Item]:
    """Items of a folder's key.

    Raises
    ------
    SheetError
        No key, or one that was edited.
    """
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
    """Read a sheet that was filled in, and check that it is whole.

    Parameters
    ----------
    path : Path
        As `everycell.text.sheets.read_sheet` takes it.
    items
        What must stand on it.

    Returns
    -------
    pandas.DataFrame
        Index `item` in the order of `items`, columns `QUESTIONS` with 0 or 1.

    Raises
    ------
    SheetError
        The sheet is not whole.
    """
    return sheets.read_sheet(path, FORM, _rows(items))


def write_third(folder: Path) -> Path | None:
    """Write the third annotator's sheet: what the first two disagree on; None where they agree.

    Raises
    ------
    SheetError
        A sheet that is not whole, or a third one that is there already.
    """
    items, seed = sheets.read_key(folder, FORM, _item)
    return sheets.third_sheet(folder, FORM, _rows(_on_sheets(items)), seed)


def _on_sheets(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if not item.fault]


def read_labels(folder: Path) -> pd.DataFrame:
    """Labels of a folder whose sheets are filled in.

    Returns
    -------
    pandas.DataFrame
        A row an item, in the order of the key: `item`, `id`, `benchmark`, `counterfactual`,
        `fault`, `intended` (label of a real dialogue, or what a counterfactual is meant to have; 0
        or 1), for each question `satisfied_1`, `satisfied_2`, `coherent_1`, `coherent_2` and the
        settled `satisfied`, `coherent`: what two of the annotators say. All of these are missing
        (`pandas.NA`) where there is a fault.

    Raises
    ------
    SheetError
        A sheet that is not whole, or is missing although the first two annotators disagree.
    """
    items = read_items(folder)
    answers = sheets.settled_answers(folder, FORM, _rows(_on_sheets(items)))
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


def success(labels: pd.DataFrame) -> pd.DataFrame:
    r"""Share of the generated utterances that flip the label (CSS, Table 3.4).

    .. math:: CSS = 100 \cdot \frac{\text{counterfactuals that are settled as intended}}
                                    {\text{generated utterances}}

    Parameters
    ----------
    labels
        Of `read_labels`, or a frame with its columns `benchmark`, `counterfactual`, `intended`,
        `satisfied` and `fault`.

    Returns
    -------
    pandas.DataFrame
        Columns `benchmark`, `row` (label of the original: Satisfaction, Dissatisfaction; or
        Overall), `generated`, `usable` (without a fault), `flipped`, `CSS` (0 to 100; NaN where
        nothing was generated).

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
    """How far the first two annotators agree (Table 3.3), on counterfactuals and real dialogues.

    Parameters
    ----------
    labels
        Of `read_labels`.

    Returns
    -------
    pandas.DataFrame
        Columns `benchmark`, `dialogues` ("counterfactual" or "real"), `question`, `items`,
        `percent agreement` (0 to 100), `Cohen kappa` (-1 to 1; NaN where each annotator gave one
        and the same answer throughout) and `as intended`: the share of items (0 to 100) whose
        settled label is the intended one, which for a real dialogue is its label before.

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
                | sheets.agreement_on(group, question)
                | {"as intended": as_intended}
            )
    return pd.DataFrame(rows)


def confirmed(items: Sequence[Item], labels: pd.DataFrame) -> list[Sample]:
    """Counterfactuals whose settled label is the one they were meant to have: the CF set.

    As in the thesis the flip alone decides; incoherent ones are found by `labels`.

    Parameters
    ----------
    items, labels
        Of `read_items` and `read_labels`.
    """
    kept = labels["counterfactual"] & (labels["satisfied"] == labels["intended"]).fillna(False)
    names = set(labels.loc[kept.astype(bool), "item"])
    return [item.sample for item in items if item.name in names]
