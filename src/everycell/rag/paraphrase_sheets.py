"""Files for annotators who judge whether a paraphrase keeps the status of its original.

Each row of a sheet has a question, its right answers and two passages, the original and its
paraphrase in random order, so that the annotator does not know which is which. For each they say
whether it is relevant and whether it contains an answer, and for both whether they state the same
facts. The passages are the relevant ones of all questions and, for a share of the questions, one
that is not relevant.

Source: abolghasemi2026, section 5.3.2 and appendix 5.A (two expert annotators look at synthetic
passages, at those that are not relevant of 50 of 500 queries; the questions here are this
project's).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.rag.paraphrase_pairs import Pair
from everycell.text import settled_sheets, sheets
from everycell.text.sheets import Form

#: Questions of a sheet, answered by 0 (no) or 1 (yes).
QUESTIONS: Mapping[str, str] = {
    "first_relevant": "Is the first passage about what is asked?",
    "first_answers": "Does the first passage hold one of the answers?",
    "second_relevant": "Is the second passage about what is asked?",
    "second_answers": "Does the second passage hold one of the answers?",
    "same": "Do both passages state the same facts?",
}
#: Labels of a pair once it is known which passage is which.
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
from the other by a language model; you are not told which. Read both to the end, then write 0 (no)
or 1 (yes) into each of these columns:

"""
    + "".join(f"- `{name}`: {question}\n" for name, question in QUESTIONS.items())
    + """\

A passage is relevant if it is about what is asked, even if its language is poor; some rows have
passages that are not. It holds an answer if someone who reads nothing else would give that answer
to the question: the words alone are not enough. Passages state the same facts if neither says
anything that contradicts the other and neither adds a name, number or event; one may leave details
out.

Write what you like into `comment`. Change nothing else, add and remove no rows (sorting them is
fine), save as CSV (UTF-8), and speak with no other annotator until all are done.
"""
)


def write_sheets(folder: Path, pairs: Sequence[Pair], *, seed: int) -> list[Path]:
    """Write key, guidelines and two sheets: `everycell.text.sheets.write_folder`."""
    key = [pair._asdict() for pair in pairs]
    return sheets.write_folder(
        folder, FORM, _sheet_columns(pairs), key, guidelines=_GUIDELINES, seed=seed
    )


def _sheet_columns(pairs: Sequence[Pair]) -> dict[str, dict[str, str]]:
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
    """Pairs of a folder's key, and the seed that its sheets were made with."""
    return sheets.read_key(folder, FORM, _pair)


def _pair(row: dict[str, Any]) -> Pair:
    pair = Pair(**row | {"answers": tuple(row["answers"])})
    texts = (*pair[:4], *pair.answers, pair.original, pair.paraphrase)
    flags = (pair.relevant, pair.swapped)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(flag, bool) for flag in flags
    ):
        raise ValueError(pair)
    return pair


def write_third(folder: Path) -> Path | None:
    """Write the third annotator's sheet: what the first two disagree on; None where they agree."""
    pairs, seed = read_pairs(folder)
    return settled_sheets.third_sheet(folder, FORM, _sheet_columns(pairs), seed)


def read_labels(folder: Path) -> pd.DataFrame:
    """Labels of a folder whose sheets are filled in, by what each passage is."""
    pairs, _ = read_pairs(folder)
    answers = settled_sheets.settled_answers(folder, FORM, _sheet_columns(pairs))
    rows = []
    for pair in pairs:
        first, second = ("paraphrase", "original") if pair.swapped else ("original", "paraphrase")
        named = {
            column.replace("first_", f"{first}_").replace("second_", f"{second}_"): value
            for column, value in answers.loc[pair.name].items()
        }
        kept = {
            f"survives{by}": int(
                {named[f"paraphrase_{what}{by}"] for what in ("relevant", "answers")}
                == {int(pair.relevant)}
            )
            for by in ("", "_1", "_2")
        }
        rows.append(
            {
                "item": pair.name,
                "query": pair.query,
                "document": pair.document,
                "relevant": int(pair.relevant),
            }
            | {column: int(named[column]) for column in sorted(named)}
            | kept
        )
    return pd.DataFrame(rows)


def agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """How far the first two annotators agree, and what they settle on.

    Examples
    --------
    >>> told = dict.fromkeys(ASPECTS, 1) | {"paraphrase_answers": [1, 0], "survives": [1, 0]}
    >>> both = {f"{name}_{n}": value for name, value in told.items() for n in (1, 2)}
    >>> agreement(pd.DataFrame({"relevant": 1} | told | both)).to_numpy().tolist()[-1]
    ['relevant', 'survives', 2, 100.0, 1.0, 50.0]
    """
    return pd.DataFrame(
        {"passages": passages, "question": question}
        | settled_sheets.agreement_on(group, question)
        | {"yes": 100 * float(group[question].mean())}
        for passages, status in (("relevant", 1), ("not relevant", 0))
        if len(group := labels[labels["relevant"] == status])
        for question in (*ASPECTS, "survives")
    )
