"""Measures on runs of your own: group bias, overlap, and how close a reproduction is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from everycell.cli.printing import print_measures
from everycell.cli.project import Format, check_choice, errors_as_sentences
from everycell.cli.user_files import read_run_file, read_user_file
from everycell.engine.printed_cells import CardError

PerQuery = Annotated[bool, typer.Option("--per-query", help="One row per query, not the mean.")]


def count_terms_(
    documents: Annotated[
        Path,
        typer.Argument(
            help="Parquet (document_id, text), JSONL (id, text) or TSV (id, tab, text)."
        ),
    ],
    words: Annotated[
        list[Path], typer.Option(help="Word list with lines term,group; may be repeated.")
    ],
    out: Annotated[Path, typer.Option(help="Parquet file of counts to write.")],
    tokens: Annotated[
        str, typer.Option(help="blank: as the NFaiRR authors; standard: words, no punctuation.")
    ] = "blank",
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Also count documents without a word.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Count each group's terms in every document of a collection, for `fairness`."""
    from everycell.metrics.fairness_inputs import check_texts, read_documents
    from everycell.metrics.term_counts import blank_tokens, count_terms, documents_with_terms
    from everycell.metrics.word_lists import read_word_lists

    with errors_as_sentences(ValueError):
        check_choice("tokens", tokens, ("blank", "standard"))
        if out.is_dir():
            raise CardError(f"{out} is a folder; name a file to write.")
        if out.exists() and not force:
            raise CardError(f"{out} is there already; remove it, or replace it with --force.")
        groups = read_word_lists(words)
        texts = check_texts(
            read_documents(documents),
            by_blanks=tokens == "blank",
            allow_empty=allow_empty,
        )
        cut = blank_tokens
        if tokens == "standard":
            # Imported here, so that splitting at blanks needs no tokenizer.
            from everycell.text.tokenise import tokeniser

            cut = tokeniser("SA")
        with Progress(
            TextColumn("{task.completed:,.0f} documents"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        ) as progress:
            seen: set[str] = set()
            count_terms(progress.track(texts), groups, out, tokenise=cut, seen=seen)
        number, having = documents_with_terms(out)
    terms = ", ".join(f"{len(found)} of {group}" for group, found in groups.items())
    typer.echo(f"{out}: {number} documents, {having} of them with a group term (terms: {terms}).")
    for group, found in groups.items():
        if len(found) == 1 and len(groups) > 2:
            typer.echo(f"Group {group} has one term, {found[0]}; if that is a header, remove it.")
        if unseen := [term for term in found if term not in seen]:
            typer.echo(f"Terms of {group} that occur in no document: {', '.join(unseen)}.")


def fairness(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs in TREC format, gzipped or not.")
    ],
    counts: Annotated[Path, typer.Option(help="Parquet file that count-terms wrote.")],
    k: Annotated[list[int] | None, typer.Option("--k", help="Cut-off, 10; may be repeated.")] = (
        None
    ),
    baseline: Annotated[
        Path | None,
        typer.Option(help="Run that the others are compared with; by default the first."),
    ] = None,
    tau: Annotated[
        float,
        typer.Option(help="NFaiRR: documents with at most this many group terms are neutral."),
    ] = 1,
    target: Annotated[
        str | None,
        typer.Option(
            help="Target share of each group, as 0.5,0.5, in the order of the counts' columns."
        ),
    ] = None,
    background: Annotated[
        str, typer.Option(help="NFaiRR relative to all counted documents, or to each query's run.")
    ] = "all",
    unknown: Annotated[
        str, typer.Option(help="Documents without counts: error or neutral.")
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
    """Measure group bias in runs: NFaiRR, TExFAIR with and without RBDF, AWRF.

    Several runs are listed one below the other, with paired t-tests of each against a baseline.
    """
    from everycell.metrics.fairness_comparison import compare_fairness, means_of_runs
    from everycell.metrics.fairness_report import fairness_report
    from everycell.metrics.term_counts import documents_with_terms

    with errors_as_sentences(ValueError):
        allowed_background = check_choice("background", background, ("all", "run"))
        allowed_unknown = check_choice("unknown", unknown, ("error", "neutral"))
        if len(set(runs)) < len(runs):
            raise CardError(f"The runs are {', '.join(map(str, runs))}; give each only once.")
        if baseline is not None and (baseline not in runs or len(runs) == 1):
            raise CardError(
                f"--baseline is {baseline}; it must be one of two or more runs that are given."
            )
        shares = None if target is None else _parse_shares(target)
        reports = {
            str(run): fairness_report(
                read_run_file(run),
                counts,
                k or [10],
                tau=tau,
                target=shares,
                background=allowed_background,
                unknown=allowed_unknown,
                allow_short=allow_short,
                allow_empty=allow_empty,
            )
            for run in runs
        }
        number, having = documents_with_terms(counts)
        against = str(baseline or runs[0])
        frames: dict[str, pd.DataFrame] = {}
        if per_query:
            parts = [report.by_query.assign(run=run) for run, report in reports.items()]
            frames = {"queries": pd.concat(parts, ignore_index=True)}
        elif len(runs) > 1:
            tests = compare_fairness(reports, against)
            frames = {"means": means_of_runs(reports), "tests": tests}
    report = reports[against]
    settings = {
        "counts": str(counts),
        "tau": tau,
        "background": background,
        "target": dict(zip(report.groups, report.target, strict=True)),
        "highest TExFAIR": report.highest,
        "documents": number,
        "documents with terms": having,
    }
    if len(runs) == 1:
        rows = report.by_query if per_query else report.means
        print_measures(rows, form, {"run": against} | settings)
    else:
        print_measures(frames, form, {"baseline": against} | settings)


def overlap(
    run: Annotated[Path, typer.Argument(help="Run on the collection, in TREC format.")],
    counterfactual: Annotated[
        Path, typer.Argument(help="Run on its counterfactual, with the same document ids.")
    ],
    p: Annotated[float, typer.Option("--p", help="Persistence of rank-biased overlap.")] = 0.9,
    depth: Annotated[int, typer.Option(help="Number of documents to compare.")] = 10,
    variant: Annotated[str, typer.Option(help="ext, min or truncated.")] = "ext",
    form: Format = "table",
    per_query: PerQuery = False,
) -> None:
    """Compare a run with one on a gender-swapped collection (CRBO)."""
    from everycell.metrics.rank_overlap import Variant, crbo
    from everycell.trec.runs import trec_order

    with errors_as_sentences(ValueError):
        before, after = (
            order.assign(rank=order.groupby("query", sort=False).cumcount() + 1)
            for order in (trec_order(read_run_file(path)) for path in (run, counterfactual))
        )
        values = crbo(before, after, p, depth=depth, variant=cast(Variant, variant))
    frame = values.rename("CRBO").reset_index()
    if not per_query:
        same = float((values > 1 - 1e-9).mean())
        frame = pd.DataFrame(
            {"queries": [len(values)], "CRBO": [values.mean()], "lowest": [values.min()]}
            | ({"unchanged": [same]} if variant == "ext" else {})
        )
    settings = {"run": str(run), "counterfactual": str(counterfactual)}
    print_measures(frame, form, settings | {"p": p, "depth": depth, "variant": variant})


def compare(
    original: Annotated[Path, typer.Argument(help="Original run, in TREC format.")],
    reproduced: Annotated[Path, typer.Argument(help="Reproduced run, of the same topics.")],
    judgements: Annotated[Path, typer.Argument(metavar="QRELS", help="Qrels in TREC format.")],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="As in ir_measures: AP, nDCG@3, P(rel=2)@5; MAP and nDCG; may be repeated."
        ),
    ] = None,
    level: Annotated[int, typer.Option(help="Lowest relevance that counts as relevant.")] = 1,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", help="Documents whose order is compared, 1000; may be repeated."),
    ] = None,
    p: Annotated[float, typer.Option("--p", help="Persistence of rank-biased overlap.")] = 0.8,
    variant: Annotated[
        str, typer.Option(help="Variant of the overlap: ext, min or truncated.")
    ] = "ext",
    union: Annotated[
        str, typer.Option(help="Numbering of documents for Kendall's tau: original or ids.")
    ] = "original",
    baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the original experiment, for the effect.")
    ] = None,
    reproduced_baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the reproduced experiment.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Topics of the qrels that a run lacks: error, zero or drop.")
    ] = "error",
    ranks: Annotated[
        str, typer.Option(help="Ranks that disagree with the scores: error or ignore.")
    ] = "error",
    scale: Annotated[
        str | None, typer.Option(help="Lowest and highest relevance of the qrels, as 0,4.")
    ] = None,
    per_query: PerQuery = False,
    form: Format = "table",
) -> None:
    """Measure how close a reproduced run is to the original: order, scores, effects."""
    from everycell.retrieval.reproduction import compare_runs
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import read_run

    with errors_as_sentences(ValueError):
        allowed_missing = check_choice("missing", missing, ("error", "zero", "drop"))
        check_choice("ranks", ranks, ("error", "ignore"))
        if (baseline is None) != (reproduced_baseline is None):
            raise CardError(
                "An effect needs both --baseline and --reproduced-baseline; give both or neither."
            )
        paths = {
            "original": original,
            "reproduced": reproduced,
            "baseline": baseline,
            "reproduced baseline": reproduced_baseline,
        }
        runs = {
            name: read_user_file(path, read_run, ranks=ranks)
            for name, path in paths.items()
            if path is not None
        }
        labels = None if scale is None else _parse_scale(scale)
        qrels = read_user_file(judgements, read_qrels, scale=labels)
        first, second, *baselines = runs.values()
        found = compare_runs(
            first,
            second,
            qrels,
            measure or ["MAP", "nDCG"],
            baselines=tuple(baselines) or None,  # type: ignore[arg-type]
            relevance_level=level,
            missing_topics=allowed_missing,
            depths=k or [1000],
            p=p,
            variant=variant,  # type: ignore[arg-type]
            union=union,  # type: ignore[arg-type]
        )
    settings = {name: str(path) for name, path in paths.items() if path is not None} | {
        "qrels": str(judgements),
        "topics": len(found.by_topic),
        "topics of the qrels": qrels["query"].nunique(),
        "level": level,
        "missing": missing,
        "ranks": ranks,
        "p": p,
        "variant": variant,
        "union": union,
    }
    frames = {"order": found.order, "scores": found.scores}
    if found.effects is not None:
        frames["effects"] = found.effects
    if per_query:
        frames = {"queries": found.by_topic}
    rows = {name: frame.reset_index() for name, frame in frames.items()}
    print_measures(rows, form, settings)


def _parse_scale(text: str) -> tuple[int, int]:
    try:
        low, high = map(int, text.split(","))
    except ValueError:
        raise CardError(
            f"--scale is {text!r}; give the lowest and the highest label, as 0,4."
        ) from None
    return low, high


def _parse_shares(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CardError(f"--target is {text!r}; give one share per group, as 0.5,0.5.") from None
