"""Natural Questions with gold passages, a test collection of chapter 5 of abolghasemi2026.

Source: Liu et al., "Lost in the Middle: how language models use long contexts" (TACL 2024), after
Kwiatkowski et al., "Natural Questions" (TACL 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from everycell.base.untrusted import parse_json

#: Registry key of the released file.
KEY = "nq-open-oracle/nq-open-oracle.jsonl"


@dataclass(frozen=True)
class NaturalQuestions:
    """Questions, passages, and the gold passages of questions; ids are strings."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    gold: pd.DataFrame


def read_nq_open(path: Path) -> NaturalQuestions:
    """Read the file, and merge identical passages."""
    questions, gold, passages = [], [], {}
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for number, row in enumerate(map(parse_json, lines), start=1):
        query = f"q{number:04}"
        answers = [_normalise_space(answer) for answer in row["answers"]]
        questions.append((query, _normalise_space(row["question"]), answers))
        # Files with distractors have several passages per question, the oracle's file has one.
        for position, passage in enumerate(row["ctxs"]):
            body, title = _normalise_space(passage["text"]), _normalise_space(passage["title"])
            text = f"{title}. {body}" if title else body
            name = f"d{number:04}" if position == 0 else f"d{number:04}.{position}"
            document = passages.setdefault(body, (name, title, body, text))[0]
            if passage["isgold"]:
                gold.append((query, document))
    return NaturalQuestions(
        pd.DataFrame(questions, columns=["query", "text", "answers"]),
        pd.DataFrame(passages.values(), columns=["document_id", "title", "body", "text"]),
        pd.DataFrame(gold, columns=["query", "document"]),
    )


def _normalise_space(text: str) -> str:
    return " ".join(text.split())
