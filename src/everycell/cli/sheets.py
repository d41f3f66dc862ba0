"""Sheets for annotators: labels of counterfactuals, and judgements of paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from everycell.cli.printing import output_console
from everycell.cli.project import errors_as_sentences
from everycell.cli.user_files import read_run_file
from everycell.engine.printed_cells import CardError

annotation = typer.Typer(
    help="Let people label counterfactuals: sheets, a third annotator, import.",
    no_args_is_help=True,
)
Folder = Annotated[Path, typer.Argument(help="Folder that `sheets` wrote.")]

paraphrases = typer.Typer(
    help="Let people judge paraphrases: sheets, a third annotator, import.", no_args_is_help=True
)
annotation.add_typer(paraphrases, name="paraphrases")


def _write_third_sheet(write: Callable[[Path], Path | None], folder: Path) -> None:
    from everycell.text.sheets import SheetError

    with errors_as_sentences(SheetError):
        path = write(folder)
    typer.echo(f"{path}" if path else "The annotators agree on everything; no third is needed.")


def _write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    from everycell.engine.files import write_atomically

    for name, table in tables.items():
        write_atomically(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))


@annotation.command("sheets")
def sheets(
    counterfactuals: Annotated[
        Path,
        typer.Argument(
            help="Parquet or JSONL: id, benchmark, turns, satisfied, text; one row per rewriting."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    real: Annotated[
        Path | None,
        typer.Option(help="Parquet or JSONL of real dialogues: id, benchmark, turns, satisfied."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Only real dialogues whose `part` is this, such as main."),
    ] = None,
    mix: Annotated[
        int | None,
        typer.Option(
            min=0, help="Number of real dialogues to add; by default as many as counterfactuals."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of names and orders.")] = 1,
) -> None:
    """Write blind sheets for two annotators, counterfactuals among real dialogues."""
    from everycell.dialogue import annotation as human
    from everycell.dialogue.annotation_inputs import read_dialogues, read_rewritings
    from everycell.text.sheets import KEY, SheetError

    with errors_as_sentences(SheetError):
        made = read_rewritings(counterfactuals)
        known = read_dialogues(real, part=part) if real is not None else []
        drawn = human.draw_real(known, made, number=len(made) if mix is None else mix, seed=seed)
        items = human.make_items(made, drawn, seed=seed)
        written = human.write_sheets(out, items, seed=seed)
    hidden = sum(bool(item.fault) for item in items)
    typer.echo(
        f"{', '.join(map(str, written))}: {len(items) - hidden} dialogues, {len(drawn)} of them "
        f"real; {hidden} rewritings have a fault and are on no sheet. Keep {out / KEY} from "
        "the annotators."
    )
    if told := human.count_unblinded(made, items):
        typer.echo(
            f"{told} counterfactuals are not blind: another dialogue on the sheets continues "
            "their original. Rewrite samples of different dialogues to avoid it."
        )


@annotation.command("third")
def third(folder: Folder) -> None:
    """Write a sheet for a third annotator: what the first two disagree on."""
    from everycell.dialogue import annotation as human

    _write_third_sheet(human.write_third, folder)


@annotation.command("import")
def import_(folder: Folder) -> None:
    """Check the sheets, settle labels, and write the results.

    Writes labels.csv, css.csv, agreement.csv and confirmed.jsonl, the counterfactuals whose flip
    is confirmed, into the folder.
    """
    from everycell.collections.satisfaction_samples import samples_frame
    from everycell.dialogue import annotated
    from everycell.dialogue import annotation as human
    from everycell.engine.files import write_atomically
    from everycell.text.sheets import SheetError

    with errors_as_sentences(SheetError):
        labels = human.read_labels(folder)
        kept = annotated.confirmed(human.read_items(folder), labels)
        tables = {
            "labels": labels,
            "css": annotated.success(labels),
            "agreement": annotated.agreement(labels),
        }
        _write_tables(folder, tables)
        lines = samples_frame(kept).to_json(orient="records", lines=True, force_ascii=False)
        write_atomically(folder / "confirmed.jsonl", lines)
    for name in ("css", "agreement"):
        output_console().print(tables[name].round(2).to_string(index=False))
    typer.echo(f"{folder / 'confirmed.jsonl'}: {len(kept)} confirmed counterfactuals.")


@paraphrases.command("sheets")
def paraphrase_sheets(
    pool: Annotated[
        Path,
        typer.Argument(help="Folder with questions, relevant and passages (.parquet)."),
    ],
    made: Annotated[Path, typer.Argument(help="Folder with paraphrases and asked (.parquet).")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    others: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of questions with a passage that is not relevant."),
    ] = 0.1,
    run: Annotated[
        Path | None,
        typer.Option(help="Run that these come from; by default runs/bm25.run of the pool."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of names and orders.")] = 1,
) -> None:
    """Write blind sheets for two annotators: passages with their paraphrases."""
    from everycell.rag import paraphrase_pairs as pairing
    from everycell.rag.paraphrase_sheets import write_sheets
    from everycell.text.sheets import KEY, SheetError

    with errors_as_sentences(SheetError, ValueError):
        questions = pairing.read_frame(pool / "questions.parquet", "query_id", "text", "answers")
        asked = pairing.read_frame(made / "asked.parquet", "query_id")["query_id"]
        questions = questions[questions["query_id"].isin(asked)]
        relevant = pairing.read_frame(pool / "relevant.parquet", "query", "document")
        said = pairing.read_frame(made / "paraphrases.parquet", "document_id", "text", "kept")
        drawn = None
        if others:
            run = run or pool / "runs" / "bm25.run"
            if not run.is_file():
                raise CardError(
                    f"There is no run {run}; name one with --run, or leave out passages that "
                    "are not relevant with --others 0."
                )
            drawn = pairing.draw_others(
                read_run_file(run), questions, relevant, said, share=others, seed=seed
            )
        pairs = pairing.make_pairs(
            questions,
            relevant,
            pairing.read_frame(pool / "passages.parquet", "document_id", "text"),
            said,
            drawn,
            seed=seed,
        )
        written = write_sheets(out, pairs, seed=seed)
    number = sum(not pair.relevant for pair in pairs)
    typer.echo(
        f"{', '.join(map(str, written))}: {len(pairs)} pairs, {number} of them with passages that "
        f"are not relevant. Keep {out / KEY} from the annotators."
    )


@paraphrases.command("third")
def paraphrase_third(folder: Folder) -> None:
    """Write a sheet for a third annotator: what the first two disagree on."""
    from everycell.rag import paraphrase_sheets as human

    _write_third_sheet(human.write_third, folder)


@paraphrases.command("import")
def paraphrase_import(folder: Folder) -> None:
    """Check the sheets, settle labels, and write labels.csv and agreement.csv into the folder."""
    from everycell.rag import paraphrase_sheets as human
    from everycell.text.sheets import SheetError

    with errors_as_sentences(SheetError):
        labels = human.read_labels(folder)
        tables = {"labels": labels, "agreement": human.agreement(labels)}
        _write_tables(folder, tables)
    output_console().print(tables["agreement"].round(2).to_string(index=False))
    counts = labels.groupby("relevant")["survives"].agg(["sum", "size"])
    for relevant, (kept, size) in counts[::-1].iterrows():
        what = "relevant" if relevant else "not relevant"
        typer.echo(f"{kept} of {size} paraphrases survive of passages that are {what}.")
