"""Measures of a user's own answers and predictions, in files of JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from everycell.cli.printing import print_measures
from everycell.cli.project import Format, check_choice, errors_as_sentences


def citations(
    answers: Annotated[
        Path,
        typer.Argument(help="JSON lines: question, answer, documents, relevant; arm, tokens."),
    ],
    between: Annotated[
        list[str] | None,
        typer.Option(help="Two arms, as human,llm: effect of the first; may be repeated."),
    ] = None,
    forms: Annotated[
        str, typer.Option(help="Citations to read: all forms, or plain ones ([1]).")
    ] = "all",
    strays: Annotated[
        str, typer.Option(help="Citations of non-existent documents: ignored, or wrong.")
    ] = "ignored",
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="One row per answer, not the mean.")
    ] = False,
    form: Format = "table",
) -> None:
    """Measure citations in answers: precision, recall, confidence, sensitivity and bias.

    docs/attribution.md describes the file and the measures (abolghasemi2026, chapter 5).
    """
    from everycell.rag.citation_report import (
        answer_frame,
        arm_differences,
        citation_report,
        read_cited_answers,
    )

    with errors_as_sentences(ValueError):
        allowed_forms = check_choice("forms", forms, ("all", "plain"))
        check_choice("strays", strays, ("ignored", "wrong"))
        pairs = [_parse_pair(text) for text in between or []]
        given = read_cited_answers(answers, forms=allowed_forms)
        unread = [mark for answer in given for mark in answer.unread]
        examples = ": " + ", ".join(list(dict.fromkeys(unread))[:10]) if unread else ""
        counted: dict[str, Any] = {"strays": strays}
        frames: pd.DataFrame | dict[str, pd.DataFrame]
        if per_query:
            frames = answer_frame(given, **counted)
        else:
            counted["seed"] = seed
            frames = citation_report(given, **counted)
            if pairs:
                tests = arm_differences(given, pairs, **counted)
                frames = {"arms": frames, "differences": tests}
    typer.echo(f"Bracketed marks and raised digits not read: {len(unread)}{examples}.", err=True)
    settings = {"answers": str(answers), "forms": forms, "strays": strays, "seed": seed}
    print_measures(frames, form, settings)


def satisfaction(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: id, satisfied, predicted; estimator. Ids of cf end in -cf."
        ),
    ],
    form: Format = "table",
) -> None:
    """Measure an estimator of user satisfaction: accuracy, F1, and on counterfactuals.

    docs/user-satisfaction.md describes the file and the measures (abolghasemi2026, chapter 3).
    """
    from everycell.dialogue.satisfaction_report import read_predictions, satisfaction_report

    with errors_as_sentences(ValueError):
        report = satisfaction_report(read_predictions(predictions))
    print_measures(report, form, {"predictions": str(predictions)})


def _parse_pair(text: str) -> tuple[str, str]:
    first, comma, second = text.partition(",")
    if not (first and second) or "," in second:
        raise ValueError(f"--between is {text!r}; give two arms, as human,llm.")
    return first, second
