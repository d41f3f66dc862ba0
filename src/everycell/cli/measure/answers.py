"""Answers in JSON lines: `everycell measure citations`, `cite-check` and `satisfaction`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
import typer

from everycell.base.untrusted import in_quotes
from everycell.cli.named_files import Input
from everycell.cli.options import Format, PerQuery, Seed
from everycell.cli.printing import (
    echo,
    output_console,
    print_for_programs,
    print_frame,
    print_json,
    print_measures,
    records,
)

if TYPE_CHECKING:
    from everycell.language_models.endings import Endings


def citations(
    answers: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: question, answer, documents, relevant; "
            "optional: condition, tokens, finish."
        ),
        Input(("answers",)),
    ],
    between: Annotated[
        list[str] | None,
        typer.Option(help="Two conditions to compare, such as human,llm; may be repeated."),
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
        citation_report,
        condition_differences,
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
            tests = condition_differences(cited_answers, pairs, strays=strays, seed=seed)
            frames = {"conditions": frames, "differences": tests}
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
        raise ValueError(f"--between is {text!r}; expected two conditions, such as human,llm.")
    return first, second


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
            echo(f"{model}: {len(requests)} requests; recorded ones are not sent.", err=True)
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


# Largest number of examples.
_EXAMPLES = 10


def report_unread(marks: Sequence[str], lists: Sequence[str], *, whose: str = "") -> None:
    """Count what looks like a citation and is not read, with examples."""
    distinct = list(dict.fromkeys(" ".join(mark.split()) for mark in marks))[:_EXAMPLES]
    examples = f": {', '.join(distinct)}" if distinct else ""
    echo(
        f"{whose}Bracketed marks and superscripts not read as citations: {len(marks)}{examples}.",
        err=True,
    )
    if lists:
        example = in_quotes(" ".join(lists[0].split()))
        echo(
            f"{whose}Lists of sources not read as citations: {len(lists)}, such as {example}.",
            err=True,
        )


def report_endings(endings: Endings, largest_share: float, *, whose: str = "") -> None:
    """Count empty and cut-off answers, if there are any, and mark a result with too many."""
    if endings.empty or endings.cut:
        echo(f"{whose}{endings}.", err=True)
    if endings.empty_share > largest_share:
        echo(
            f"More than {largest_share:.0%} of the answers are empty, so this result says little "
            "about the model; raise its limit on tokens, or turn its reasoning off.",
            err=True,
        )
