"""SQuAD 2.0: questions with paragraphs that may or may not answer them.

Source: Rajpurkar, Jia and Liang, "Know What You Don't Know" (ACL 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json, text_of

#: A question, its paragraph, and its answers in the words of the paragraph.
Question = tuple[str, str, Sequence[str]]


def read_squad(path: Path) -> pd.DataFrame:
    """Read the questions of SQuAD 2.0 with their paragraphs and answers."""
    try:
        rows = [
            (
                entry["question"],
                paragraph["context"],
                tuple(answer["text"] for answer in entry["answers"]),
            )
            for article in parse_json(text_of(path))["data"]
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            path,
            fault=f"is not a file of SQuAD 2.0 ({type(error).__name__}: {error})",
            fix="download it again",
        ) from None
    for question, passage, answers in rows:
        for answer in answers:
            if answer not in passage:
                raise DataError(
                    path,
                    f"question {question[:40]!r}",
                    "answer",
                    answer,
                    "which is not in the paragraph",
                    fix="download the file again",
                )
    return pd.DataFrame(rows, columns=["question", "passage", "answers"])
