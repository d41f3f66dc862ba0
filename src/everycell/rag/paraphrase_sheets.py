"""Whether a paraphrase still is what its original was: a step for people, as files.

Each row of a sheet has a question, its right answers and two passages, the original and its
paraphrase in a drawn order, so that the annotator does not know which is which. Of either they say
whether it is relevant and whether it holds an answer, and of both whether they say the same.

Source: abolghasemi2026, section 5.3.2 and appendix 5.A (two expert annotators look at synthetic
passages; the questions here are this project's).
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.foreign import parse_json
from everycell.statistics.agreement import cohens_kappa, percent_agreement
from everycell.text.sheets import (
    ANNOTATORS,
    Form,
    SheetError,
    replace_file,
    settled_answers,
    sheet,
    sheet_path,
    third_sheet,
)

#: File that says what each item of the sheets is.
KEY = "key.jsonl"
GUIDELINES = "guidelines.md"
#: Questions of a sheet, answered by 0 (no) or 1 (yes).
QUESTIONS: Mapping[str, str] = {
    "first_relevant": "Is the first passage about what is asked?",
    "first_answers": "Does the first passage hold one of the answers?",
    "second_relevant": "Is the second passage about what is asked?",
    "second_answers": "Does the second passage hold one of the answers?",
    "same": "Do both passages state the same facts?",
}
#: What is known of a pair once it is known which passage is which.
ASPECTS = (
    "original_relevant",
    "original_answers",
    "paraphrase_relevant",
    "paraphrase_answers",
    "same",
)
FORM = Form(
    ("question", "answers", "first", "second"),
    QUESTIONS,
    "everycell annotation paraphrases sheets",
)
_GUIDELINES = (
    """\
# Guidelines

Each row of your sheet has a question, its right answers and two passages. One of the two was made
from the other by a language model; which one is for you not to know. Read both to their ends, then
write 0 (no) or 1 (yes) into each of these columns:

"""
    + "".join(f"- `{name}`: {question}\n" for name, question in QUESTIONS.items())
    + """\

A passage is relevant if it speaks of what is asked, also where its language is poor. It holds an
answer if someone who reads nothing else would give that answer to the question: the words alone do
not suffice. Passages state the same facts if neither says anything that contradicts the other and
neither adds a name, number or event; one may leave details out.

Write what you like into `comment`. Change nothing else, add and remove no rows (sorting them is
fine), save as CSV (UTF-8), and speak with no other annotator until all are done.
"""
)


class Pair(NamedTuple):
    """A passage and its paraphrase, with the question that the passage is relevant for.

    Attributes
    ----------
    name : str
        As the sheets call it.
    query, document : str
        Ids.
    question : str
    answers : tuple of str
        Right ones.
    original, paraphrase : str
    swapped : bool
        Whether the paraphrase is shown first.
    """

    name: str
    query: str
    document: str
    question: str
    answers: tuple[str, ...]
    original: str
    paraphrase: str
    swapped: bool


def read_frame(path: Path, *columns: str) -> pd.DataFrame:
    """Read a frame of the workflow.

    Raises
    ------
    SheetError
        No Parquet file, or one without such columns.
    """
    try:
        return pd.read_parquet(path, columns=list(columns))
    except (OSError, ValueError) as error:
        raise SheetError(
            f"{path}: holds no frame with the columns {', '.join(columns)} "
            f"({str(error).splitlines()[0][:100]}); name a folder that the workflow wrote."
        ) from None


def make_pairs(
    questions: pd.DataFrame,
    relevant: pd.DataFrame,
    passages: pd.DataFrame,
    paraphrases: pd.DataFrame,
    *,
    seed: int,
) -> list[Pair]:
    """Pairs to be annotated: the relevant passage of each question, where its paraphrase was kept.

    Parameters
    ----------
    questions : pandas.DataFrame
        Columns `query_id`, `text`, `answers`: those that are asked.
    relevant : pandas.DataFrame
        Columns `query`, `document`; further questions are passed over.
    passages : pandas.DataFrame
        Columns `document_id`, `text`.
    paraphrases : pandas.DataFrame
        Columns `document_id`, `text`, `kept`.
    seed : int
        Of names and of what is shown first.

    Returns
    -------
    list of Pair
        In the order of their names.

    Raises
    ------
    SheetError
        There is none.

    Examples
    --------
    >>> asked = pd.DataFrame({"query_id": ["q1"], "text": ["where"], "answers": [["Delft"]]})
    >>> gold = pd.DataFrame({"query": ["q1"], "document": ["d1"]})
    >>> passages = pd.DataFrame({"document_id": ["d1"], "text": ["It is in Delft."]})
    >>> said = passages.assign(text="Delft has it.", kept=True)
    >>> [(pair.name, pair.paraphrase) for pair in make_pairs(asked, gold, passages, said, seed=1)]
    [('p0001', 'Delft has it.')]
    """
    kept = paraphrases[paraphrases["kept"]].set_index("document_id")["text"]
    texts = passages.set_index("document_id")["text"]
    known = questions.set_index("query_id")
    wanted = relevant[relevant["query"].isin(known.index) & relevant["document"].isin(kept.index)]
    # Sorted first, so that names do not hang on the order of what is given.
    ids = sorted(wanted[["query", "document"]].itertuples(index=False, name=None))
    if not ids:
        raise SheetError("No question has a relevant passage whose paraphrase was kept; make some.")
    draw = random.Random(seed)
    draw.shuffle(ids)
    return [
        Pair(
            name=f"p{number:04}",
            query=query,
            document=document,
            question=known["text"][query],
            answers=tuple(known["answers"][query]),
            original=texts[document],
            paraphrase=kept[document],
            swapped=draw.random() < 0.5,
        )
        for number, (query, document) in enumerate(ids, start=1)
    ]


def write_sheets(folder: Path, pairs: Sequence[Pair], *, seed: int) -> list[Path]:
    """Write key, guidelines and the sheets of the first two annotators.

    Parameters
    ----------
    folder : Path
        New or empty: what annotators have filled in is never overwritten.
    pairs
        Of `make_pairs`.
    seed : int
        Of the order of each sheet.

    Raises
    ------
    SheetError
        The folder has files.
    OSError
        No space or no permission.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SheetError(f"{folder} has files, which may be filled in; name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in ANNOTATORS[:2]:
        made.append(sheet_path(folder, number))
        replace_file(made[-1], sheet(FORM, _shown(pairs), number, seed))
    replace_file(folder / GUIDELINES, _GUIDELINES.encode())
    lines = [json.dumps(pair._asdict() | {"seed": seed}) + "\n" for pair in pairs]
    # Last, since a folder with a key is one that is complete.
    replace_file(folder / KEY, "".join(lines).encode())
    return made


def _shown(pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
    return {
        pair.name: {
            "question": pair.question,
            "answers": "; ".join(pair.answers),
            "first": pair.paraphrase if pair.swapped else pair.original,
            "second": pair.original if pair.swapped else pair.paraphrase,
        }
        for pair in pairs
    }


def read_pairs(folder: Path) -> tuple[list[Pair], int]:
    """Pairs of a folder's key, and the seed that its sheets were made with.

    Raises
    ------
    SheetError
        No key, or one that was edited.
    """
    path = folder / KEY
    edited = "the key must stay as it was written, so restore it"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SheetError(
            f"{path}: cannot be read ({error}); name the folder that `{FORM.command}` wrote, or "
            "restore its key."
        ) from None
    pairs, seed = [], 0
    for number, line in enumerate(filter(str.strip, lines), start=1):
        try:
            row = parse_json(line)
            seed = row.pop("seed")
            pair = Pair(**row | {"answers": tuple(row["answers"])})
            texts = (*pair[:4], *pair.answers, pair.original, pair.paraphrase)
            whole = all(isinstance(text, str) for text in texts)
            if not whole or not isinstance(pair.swapped, bool) or not isinstance(seed, int):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SheetError(f"{path}, line {number}: is no pair; {edited}.") from None
        pairs.append(pair)
    if not pairs or len({pair.name for pair in pairs}) < len(pairs):
        raise SheetError(f"{path}: has no pair, or one of them twice; {edited}.")
    return pairs, seed


def write_third(folder: Path) -> Path | None:
    """Write the third annotator's sheet: what the first two disagree on; None where they agree.

    Raises
    ------
    SheetError
        A sheet that is not whole, or a third one that is there already.
    """
    pairs, seed = read_pairs(folder)
    return third_sheet(folder, FORM, _shown(pairs), seed)


def read_labels(folder: Path) -> pd.DataFrame:
    """Labels of a folder whose sheets are filled in, by what each passage is.

    Returns
    -------
    pandas.DataFrame
        A row a pair: `item`, `query`, `document`, and 0 or 1 for each of `original_relevant`,
        `original_answers`, `paraphrase_relevant`, `paraphrase_answers` and `same`, with ``_1`` and
        ``_2`` for what the first two annotators say and without for what is settled; `survives`:
        whether the settled paraphrase is relevant and holds an answer.

    Raises
    ------
    SheetError
        A sheet that is not whole, or is missing although the first two annotators disagree.
    """
    pairs, _ = read_pairs(folder)
    answers = settled_answers(folder, FORM, _shown(pairs))
    rows = []
    for pair in pairs:
        first, second = ("paraphrase", "original") if pair.swapped else ("original", "paraphrase")
        named = {
            column.replace("first_", f"{first}_").replace("second_", f"{second}_"): value
            for column, value in answers.loc[pair.name].items()
        }
        survives = int(named["paraphrase_relevant"] and named["paraphrase_answers"])
        rows.append(
            {"item": pair.name, "query": pair.query, "document": pair.document}
            | {column: int(named[column]) for column in sorted(named)}
            | {"survives": survives}
        )
    return pd.DataFrame(rows)


def agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """How far the first two annotators agree, and what they settle on.

    Parameters
    ----------
    labels
        Of `read_labels`.

    Returns
    -------
    pandas.DataFrame
        A row a question: `question`, `items`, `percent agreement` (0 to 100), `Cohen kappa` (-1 to
        1; NaN where each annotator gave one and the same answer throughout), `yes` (percentage of
        items whose settled answer is yes). In the last row, `survives`, an annotator says so where
        they call the paraphrase relevant and find an answer in it.

    Examples
    --------
    >>> told = dict.fromkeys(ASPECTS, 1) | {"paraphrase_answers": [1, 0], "survives": [1, 0]}
    >>> both = {f"{name}_{n}": value for name, value in told.items() for n in (1, 2)}
    >>> agreement(pd.DataFrame(told | both)).to_numpy().tolist()[-1][2:]
    [100.0, 1.0, 50.0]
    """
    labels = labels.copy()
    for number in (1, 2):
        said = (labels[f"paraphrase_{what}_{number}"] == 1 for what in ("relevant", "answers"))
        labels[f"survives_{number}"] = (next(said) & next(said)).astype(int)
    rows = []
    for question in (*ASPECTS, "survives"):
        pair = [labels[f"{question}_{number}"].tolist() for number in (1, 2)]
        rows.append(
            (
                question,
                len(labels),
                percent_agreement(*pair),
                cohens_kappa(*pair),
                100 * float(labels[question].mean()),
            )
        )
    columns = ["question", "items", "percent agreement", "Cohen kappa", "yes"]
    return pd.DataFrame(rows, columns=columns)
