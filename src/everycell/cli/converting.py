"""Corpora and models, converted to the form that the workflow takes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from everycell.cli.project import errors_as_sentences
from everycell.config import read_config
from everycell.engine.files import atomic_path
from everycell.engine.full_runs import HUB_NAME
from everycell.engine.printed_cells import CardError


def fetch_corpus(
    names: Annotated[list[str], typer.Argument(help="msmarco, msmarco_qa, nq, scidocs or squad.")],
) -> None:
    """Fetch corpora of the full tier before a run, where the workflow looks for them."""
    from everycell.sources import corpora

    with errors_as_sentences():
        settings = read_config(Path("config.yaml"))
        downloads = settings.corpora.downloads
        for name in names:
            made = corpora.fetch_corpus(
                name,
                Path(settings.corpora.folder, name),
                downloads=Path(downloads) if downloads else None,
                network=settings.network,
            )
            for path in made.values():
                typer.echo(path)


def convert_corpus(
    target: Annotated[Path, typer.Argument(help="Folder to make.")],
    beir: Annotated[Path, typer.Option(help="Folder with corpus.jsonl, queries.jsonl and qrels/.")],
    split: Annotated[str, typer.Option(help="Name of the judgements.")] = "test",
    answers: Annotated[
        Path | None,
        typer.Option(help="JSON lines with `answers` and `id` or `question`, as in NQ-open."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FILE: a run (bm25, unicoil, tct-colbert); may be repeated."),
    ] = None,
) -> None:
    """Turn a BEIR folder into what `attribution.full.nq` takes."""
    from everycell.collections.beir import convert_beir
    from everycell.collections.errors import CollectionError
    from everycell.trec.runs import read_run

    with errors_as_sentences(CollectionError):
        if target.exists():
            raise CardError(f"{target} is there already; name a new folder.")
        runs = dict(_named_run(each) for each in run or [])
        for path in runs.values():
            read_run(path)
        # All or nothing: a part would block a second attempt.
        with atomic_path(target) as place:
            place.mkdir()
            made = convert_beir(beir, place, split=split, answers=answers)
            for name, path in runs.items():
                shutil.copyfile(path, place / f"{name}.run")
    typer.echo(
        f"{target}: {made.questions} questions, {made.answered} of them with right answers, "
        f"{made.passages} passages; left out: {made.left_out} questions without a relevant "
        f"passage, {made.empty} passages without a text; not found: "
        f"{made.missing_passages} relevant passages, {made.missing_questions} judged questions"
    )


def _named_run(given: str) -> tuple[str, Path]:
    name, equal, path = given.partition("=")
    if not equal or not name or "/" in name:
        raise CardError(f"--run is {given!r}; give NAME=FILE, such as bm25=runs/mine.run.")
    return name, Path(path)


def convert_weights(
    source: Annotated[
        str,
        typer.Argument(
            help="Folder with pytorch_model.bin or its parts, or a name on the hub (NAME@REVISION)."
        ),
    ],
    target: Annotated[Path, typer.Argument(help="Folder to make.")],
    one_output: Annotated[
        bool,
        typer.Option(
            "--one-output", help="Reduce a classifier with two outputs to their difference."
        ),
    ] = False,
) -> None:
    """Turn a model whose weights are a pickle into safetensors, without running its code."""
    from everycell.learning import pickle_weights
    from everycell.learning.hub import ModelError

    with errors_as_sentences(ModelError):
        # A path that is missing is a path, not a name.
        is_name = re.fullmatch(HUB_NAME, source) and not Path(source).exists()
        named = source if is_name else Path(source)
        for path in pickle_weights.convert_weights(named, target, one_output=one_output):
            typer.echo(path)
