"""Answers and predictions in JSON lines: `everycell measure citations` and `satisfaction`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer

from everycell.cli.answer_notes import report_endings, report_unread
from everycell.cli.named_files import Input
from everycell.cli.options import Format, PerQuery, Seed
from everycell.cli.printing import print_measures


def citations(
    answers: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: question, answer, documents, relevant; optional: arm, tokens, finish."
        ),
        Input(("answers",)),
    ],
    between: Annotated[
        list[str] | None,
        typer.Option(help="Two arms to compare, such as human,llm; may be repeated."),
    ] = None,
    forms: Annotated[
        Literal["all", "plain"],
        typer.Option(help="Citation formats to read; plain: only [1]."),
    ] = "all",
    strays: Annotated[
        Literal["ignored", "wrong"],
        typer.Option(help="How to treat citations of non-existent documents."),
    ] = "ignored",
    seed: Seed = 0,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Measure citations in answers: precision, recall, bias.

    docs/attribution.md describes the file and the measures (abolghasemi2026, chapter 5).
    """
    from everycell.language_models.endings import count_reasons
    from everycell.language_models.settings import LARGEST_EMPTY_SHARE
    from everycell.rag.citation_report import (
        answer_frame,
        arm_differences,
        citation_report,
        read_cited_answers,
    )

    pairs = [_parse_pair(text) for text in between or []]
    cited_answers = read_cited_answers(answers, forms=forms)
    frames: pd.DataFrame | dict[str, pd.DataFrame]
    if per_query:
        frames = answer_frame(cited_answers, strays=strays)
    else:
        frames = citation_report(cited_answers, strays=strays, seed=seed)
        if pairs:
            tests = arm_differences(cited_answers, pairs, strays=strays, seed=seed)
            frames = {"arms": frames, "differences": tests}
    unread = [mark for answer in cited_answers for mark in answer.unread]
    lists = [answer.source_list for answer in cited_answers if answer.source_list]
    report_unread(unread, lists)
    endings = count_reasons((answer.empty, answer.cut) for answer in cited_answers)
    report_endings(endings, LARGEST_EMPTY_SHARE)
    settings = {"answers": str(answers), "forms": forms, "strays": strays, "seed": seed}
    print_measures(frames, form, settings)


def satisfaction(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: id, satisfied, predicted; optional: estimator. Ids of "
            "counterfactuals end in -cf."
        ),
        Input(("predictions",)),
    ],
    form: Format = "table",
) -> None:
    """Measure an estimator of user satisfaction.

    docs/user-satisfaction.md describes the file and the measures (abolghasemi2026, chapter 3).
    """
    from everycell.metrics.satisfaction import (
        read_predictions,
        satisfaction_report,
    )

    report = satisfaction_report(read_predictions(predictions))
    print_measures(report, form, {"predictions": str(predictions)})


def _parse_pair(text: str) -> tuple[str, str]:
    first, comma, second = text.partition(",")
    if not (first and second) or "," in second:
        raise ValueError(f"--between is {text!r}; expected two arms, such as human,llm.")
    return first, second
