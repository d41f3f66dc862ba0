"""Counterfactual test of citations: `everycell measure cite-check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from everycell.cli.answer_notes import report_endings, report_unread
from everycell.cli.named_files import Input
from everycell.cli.options import Format, Seed
from everycell.cli.printing import (
    output_console,
    print_for_programs,
    print_frame,
    print_json,
    records,
)


def cite_check(
    answers: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: question, documents (ids), and answer (with [1]) or statements."
        ),
        Input(("answers",)),
    ],
    passages: Annotated[Path, typer.Argument(help="JSON lines: id and text."), Input(("texts",))],
    model: Annotated[
        str, typer.Option(help="Model to query: a name from `language_models` in config.yaml.")
    ],
    record: Annotated[
        str, typer.Option(help="Name of the record of answers; a second call resumes from it.")
    ] = "cite-check",
    longest: Annotated[
        int,
        typer.Option(
            help="Maximum number of words in a statement; longer ones are left out.", min=1
        ),
    ] = 8,
    share: Annotated[
        float | None,
        typer.Option(
            "--least",
            help="Statements are equal if they share this proportion of words; default: if one "
            "contains the other.",
        ),
    ] = None,
    style: Annotated[
        Literal["sentences", "spans", "own template"],
        typer.Option(
            help="Citation style of the model; some models, such as Command-R, have their own."
        ),
    ] = "sentences",
    max_tokens: Annotated[int, typer.Option(help="Maximum tokens of an answer.", min=1)] = 128,
    seed: Seed = 0,
    form: Format = "table",
) -> None:
    """Test whether citations follow the words of documents.

    Cited statements are inserted into other documents, and the model answers again (heuss2025,
    section 5.5). docs/citation-faithfulness.md describes the files and the test.
    """
    from everycell.config import read_config
    from everycell.language_models.answering import open_language_model
    from everycell.language_models.endings import count_reasons
    from everycell.language_models.generation import Request
    from everycell.language_models.settings import Decoding
    from everycell.rag.citation_marks import unread_marks
    from everycell.rag.citations import source_list_of
    from everycell.rag.cite_checks import forged_instances, read_answers, read_passages, try_all
    from everycell.rag.citing_styles import citing_style
    from everycell.rag.interventions import outcomes, same_words, shared_words

    config = read_config(Path("config.yaml"))
    is_same = same_words if share is None else shared_words(share)
    cited_answers = read_answers(answers, read_passages(passages))
    instances = forged_instances(cited_answers, seed=seed, longest=longest)
    citing = citing_style(style)
    decoding = Decoding(max_tokens=max_tokens)
    with open_language_model(
        model, config.language_models, record, network=config.network
    ) as language_model:

        def ask_all(contexts: Sequence[Any]) -> list[Any]:
            requests = [
                Request(prompt=citing.prompt(*context), decoding=decoding) for context in contexts
            ]
            typer.echo(f"{model}: {len(requests)} requests; recorded ones are not sent.", err=True)
            replies = language_model.answer_all(requests)
            return [
                citing.read(reply.text, len(documents)).answer
                for reply, (_, documents) in zip(replies, contexts, strict=True)
            ]

        cases = try_all(instances, ask_all, seed=seed, same=is_same)
        texts = [entry.answer.without_reasoning().text for entry in language_model.used]
        model_endings = language_model.endings
    report_unread(
        [mark for answer in cited_answers for mark in answer.unread],
        [answer.source_list for answer in cited_answers if answer.source_list],
        whose=f"{answers}: ",
    )
    largest_share = config.language_models.largest_empty_share
    endings = count_reasons((answer.empty, answer.cut) for answer in cited_answers)
    report_endings(endings, largest_share, whose=f"{answers}: ")
    if style == "sentences":
        lists = [source for text in texts if (source := source_list_of(text))]
        unread = [mark for text in texts for mark in unread_marks(text)]
        report_unread(unread, lists, whose=f"{model}: ")
    report_endings(model_endings, largest_share, whose=f"{model}: ")
    shares = outcomes(cases)
    if form == "json":  # with all cases
        counts = {"answers": model_endings.answers} | model_endings.summary()
        print_json({"shares": records(shares), "cases": cases, "requests": counts})
    elif form != "table":
        print_for_programs(shares, form)
    else:
        console = output_console()
        console.print(
            f"{len(cited_answers)} answers, {len(instances)} forged documents; model {model}."
        )
        console.print(f"Model: {model_endings}.")
        print_frame(console, shares)
