"""Group bias in runs: `everycell measure count-terms`, `fairness` and `overlap`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from everycell.cli.measure.runs import parse_numbers, read_run_file
from everycell.cli.named_files import RUN, Input, Output
from everycell.cli.options import Cutoffs, Force, Format, PerQuery, Persistence, Run
from everycell.cli.printing import echo, print_measures
from everycell.records.cells import RecordError


def count_group_terms(
    documents: Annotated[
        Path,
        typer.Argument(
            help="Parquet (document_id, text), JSONL (id, text) or TSV (id, tab, text)."
        ),
        Input(("documents", "texts")),
    ],
    words: Annotated[
        list[Path],
        typer.Option(help="Word list with lines term,group; may be repeated."),
        Input(("words",)),
    ],
    out: Annotated[Path, typer.Option(help="Parquet file of counts to write."), Output()],
    tokens: Annotated[
        Literal["blank", "standard"],
        typer.Option(
            help="blank: split at white space, with punctuation attached; standard: words "
            "without punctuation."
        ),
    ] = "blank",
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Also count documents without words.")
    ] = False,
    force: Force = False,
) -> None:
    """Count the terms of each group in documents, for `fairness`."""
    from everycell.metrics.term_counts import (
        blank_tokens,
        check_texts,
        count_documents_with_terms,
        count_terms,
    )
    from everycell.metrics.word_lists import read_word_lists
    from everycell.text.documents import read_documents

    groups = read_word_lists(words)
    texts = check_texts(
        read_documents(documents), split_at_spaces=tokens == "blank", allow_empty=allow_empty
    )
    tokenise = blank_tokens
    if tokens == "standard":
        # Imported here, so that splitting at blanks needs no tokenizer.
        from everycell.text.tokenise import tokeniser

        tokenise = tokeniser("SA")
    matched_terms: set[str] = set()
    with Progress(
        TextColumn("{task.completed:,.0f} documents"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as progress:
        count_terms(
            progress.track(texts), groups, out, tokenise=tokenise, matched_terms=matched_terms
        )
    number, with_terms = count_documents_with_terms(out)
    sizes = ", ".join(f"{len(terms)} of {group}" for group, terms in groups.items())
    echo(f"{out}: {number} documents, {with_terms} of them with a group term (terms: {sizes}).")
    for group, terms in groups.items():
        if len(terms) == 1 and len(groups) > 2:
            echo(f"Group {group} has one term, {terms[0]}; if that is a header, remove it.")
        if unmatched_terms := [term for term in terms if term not in matched_terms]:
            listing = ", ".join(unmatched_terms)
            echo(f"Terms of {group} that occur in no document: {listing}.")


def fairness(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Runs in TREC format, gzipped or not."),
        RUN,
    ],
    counts: Annotated[
        Path, typer.Option(help="Parquet file that count-terms wrote."), Input(("counts",))
    ],
    k: Cutoffs = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Run to compare the others with; by default the first."),
        RUN,
    ] = None,
    tau: Annotated[
        float,
        typer.Option(help="NFaiRR: documents with at most this many group terms are neutral."),
    ] = 1,
    target: Annotated[
        str | None,
        typer.Option(
            help="Target share of each group, such as 0.5,0.5, in the order of the count columns."
        ),
    ] = None,
    background: Annotated[
        Literal["all", "run"],
        typer.Option(
            help="Background of NFaiRR: all counted documents, or those of the query's run."
        ),
    ] = "all",
    unknown: Annotated[
        Literal["error", "neutral"], typer.Option(help="How to treat documents without counts.")
    ] = "error",
    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Keep queries with fewer than k documents.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Count documents of length 0 as neutral.")
    ] = False,
    form: Format = "table",
    per_query: PerQuery = False,
) -> None:
    """Measure group bias in runs: NFaiRR, TExFAIR and AWRF.

    If there are several runs, each is compared with a baseline by paired t-tests.
    """
    from everycell.metrics.fairness_differences import compare_fairness, stack_means
    from everycell.metrics.term_counts import count_documents_with_terms
    from everycell.metrics.term_fairness import fairness_report

    if len(set(runs)) < len(runs):
        raise RecordError(f"The runs are {', '.join(map(str, runs))}; give each run only once.")
    if baseline is not None and (baseline not in runs or len(runs) == 1):
        raise RecordError(
            f"--baseline is {baseline}; it must be one of the runs, and there must be at least two."
        )
    shares = None if target is None else parse_numbers("target", target, "0.5,0.5")
    reports = {
        str(run): fairness_report(
            read_run_file(run),
            counts,
            k or [10],
            tau=tau,
            target=shares,
            background=background,
            unknown=unknown,
            allow_short=allow_short,
            allow_empty=allow_empty,
        )
        for run in runs
    }
    number, with_terms = count_documents_with_terms(counts)
    reference = str(baseline or runs[0])
    report = reports[reference]
    settings = {
        "run" if len(runs) == 1 else "baseline": reference,
        "counts": str(counts),
        "tau": tau,
        "background": background,
        "target": dict(zip(report.groups, report.target, strict=True)),
        "highest TExFAIR": report.highest,
        "documents": number,
        "documents with terms": with_terms,
    }
    frames: pd.DataFrame | dict[str, pd.DataFrame]
    if len(runs) == 1:
        frames = report.by_query if per_query else report.means
    elif per_query:
        frames_of_runs = [report.by_query.assign(run=run) for run, report in reports.items()]
        frames = {"queries": pd.concat(frames_of_runs, ignore_index=True)}
    else:
        tests = compare_fairness(reports, reference)
        frames = {"means": stack_means(reports), "tests": tests}
    print_measures(frames, form, settings)


def overlap(
    run: Run,
    counterfactual: Annotated[
        Path, typer.Argument(help="Run on the gender-swapped collection, with the same ids."), RUN
    ],
    p: Persistence = 0.9,
    depth: Annotated[int, typer.Option(help="Number of documents to compare.")] = 10,
    variant: Annotated[
        Literal["ext", "min", "truncated"], typer.Option(help="Variant of the overlap.")
    ] = "ext",
    form: Format = "table",
    per_query: PerQuery = False,
) -> None:
    """Compare runs on a collection and on its gender-swapped version (CRBO)."""
    from everycell.metrics.crbo import crbo
    from everycell.trec.runs import trec_order

    before, after = (
        order.assign(rank=order.groupby("query", sort=False).cumcount() + 1)
        for order in (trec_order(read_run_file(path)) for path in (run, counterfactual))
    )
    values = crbo(before, after, p, depth=depth, variant=variant)
    frame = values.rename("CRBO").reset_index()
    if not per_query:
        # CRBO cannot tell: it is 1, up to rounding, for lists that differ only at deep ranks.
        top_lists = [
            order[order["rank"] <= depth].groupby("query")["document"].agg(tuple)
            for order in (before, after)
        ]
        unchanged = float((top_lists[0] == top_lists[1]).mean())
        frame = pd.DataFrame(
            {"queries": [len(values)], "CRBO": [values.mean()], "lowest": [values.min()]}
            | ({"unchanged": [unchanged]} if variant == "ext" else {})
        )
    settings = {"run": str(run), "counterfactual": str(counterfactual)}
    print_measures(frame, form, settings | {"p": p, "depth": depth, "variant": variant})
