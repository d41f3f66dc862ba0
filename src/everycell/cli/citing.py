"""Testing citations in a user's own answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everycell.cli.printing import (
    output_console,
    print_for_programs,
    print_frame,
    print_json,
    records,
)
from everycell.cli.project import Format, errors_as_sentences


def cite_check(
    answers: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: question, documents (ids), and answer (with [1]) or statements."
        ),
    ],
    passages: Annotated[Path, typer.Argument(help="JSON lines: id and text.")],
    model: Annotated[
        str, typer.Option(help="Model to ask again: a name of `language_models` in config.yaml.")
    ],
    record: Annotated[
        str, typer.Option(help="Name of the record of answers; a second call resumes from it.")
    ] = "cite-check",
    longest: Annotated[
        int,
        typer.Option(help="Largest number of words in a statement; longer ones are claims.", min=1),
    ] = 8,
    least: Annotated[
        float | None,
        typer.Option(
            help="Share of words that makes two statements equal; default: one contains the other."
        ),
    ] = None,
    style: Annotated[
        str,
        typer.Option(
            help="How it cites: sentences, spans, or own template (of models such as Command-R)."
        ),
    ] = "sentences",
    max_tokens: Annotated[int, typer.Option(help="Tokens of an answer.", min=1)] = 128,
    seed: Annotated[int, typer.Option(help="Seed of all draws.", min=0)] = 0,
    form: Format = "table",
) -> None:
    """Forge documents, ask again, and say how often citations follow words (heuss2025, 5.5)."""
    from everycell.config import read_config
    from everycell.language_models.answering import open_language_model
    from everycell.language_models.generation import LanguageModelError, Request
    from everycell.language_models.settings import Decoding
    from everycell.rag.cite_checks import forged_instances, read_answers, read_passages, try_all
    from everycell.rag.citing_styles import citing_style
    from everycell.rag.interventions import outcomes, same_words, shared_words

    with errors_as_sentences(ValueError, LanguageModelError):
        config = read_config(Path("config.yaml"))
        same = same_words if least is None else shared_words(least)
        given = read_answers(answers, read_passages(passages))
        forged = forged_instances(given, seed=seed, longest=longest)
        way = citing_style(style)
        decoding = Decoding(max_tokens=max_tokens)
        with open_language_model(
            model, config.language_models, record, network=config.network
        ) as asked:

            def ask_all(contexts):
                requests = [
                    Request(prompt=way.prompt(*context), decoding=decoding) for context in contexts
                ]
                typer.echo(f"{model}: {len(requests)} requests; known ones are not sent.", err=True)
                return [
                    way.read(found.text, len(documents)).answer
                    for found, (_, documents) in zip(
                        asked.answer_all(requests), contexts, strict=True
                    )
                ]

            rows = try_all(forged, ask_all, seed=seed, same=same)
        found = outcomes(rows)
    if form == "json":  # also each case
        print_json({"shares": records(found), "cases": rows})
        return
    if form != "table":
        print_for_programs(found, form)
        return
    console = output_console()
    console.print(f"{len(given)} answers, {len(forged)} forged documents, put to {model}.")
    print_frame(console, found)
