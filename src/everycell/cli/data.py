"""Data sets, corpora and models: `everycell data`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from everycell.base.files import atomic_path
from everycell.cli.named_files import FOLDER, RUN, Input, Output, path_and_name
from everycell.cli.printing import echo
from everycell.config import read_config
from everycell.records.cells import RecordError
from everycell.records.full_runs import HUB_NAME


def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets or files in the registry.")],
) -> None:
    """Fetch released data into the cache."""
    from everycell import sources
    from everycell.records.registry import load_registry

    settings = read_config(Path("config.yaml"))
    registry = load_registry()
    for name in names:
        for key in [name] if "/" in name else registry.keys(name):
            path = sources.fetch(
                key,
                Path(settings.cache),
                mirror=settings.mirror_folder(),
                network=settings.network,
            )
            echo(str(path))


def fetch_corpus(
    names: Annotated[list[str], typer.Argument(help="msmarco, msmarco_qa, nq, scidocs or squad.")],
) -> None:
    """Fetch corpora of the full tier before a run."""
    from everycell.sources import corpora

    settings = read_config(Path("config.yaml"))
    downloads = settings.corpora.downloads
    for name in names:
        paths = corpora.fetch_corpus(
            name,
            Path(settings.corpora.folder, name),
            downloads=Path(downloads) if downloads else None,
            network=settings.network,
        )
        for path in paths.values():
            echo(str(path))


def convert_corpus(
    target: Annotated[Path, typer.Argument(help="Folder to create."), Output()],
    beir: Annotated[
        Path, typer.Option(help="Folder with corpus.jsonl, queries.jsonl and qrels/."), FOLDER
    ],
    split: Annotated[str, typer.Option(help="Name of the qrels file, without .tsv.")] = "test",
    answers: Annotated[
        Path | None,
        typer.Option(help="JSON lines with `answers` and `id` or `question`, as in NQ-open."),
        Input(("correct answers",)),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FILE: a run (bm25, unicoil, tct-colbert); may be repeated."),
        RUN,
    ] = None,
) -> None:
    """Convert a BEIR folder for `attribution.full.nq`."""
    from everycell.collections.cited_questions import convert_beir
    from everycell.trec.runs import read_run

    runs: dict[str, Path] = {}
    for text in run or []:
        name, path = _parse_run(text)
        if name in runs:
            raise RecordError(
                f"--run names {name} twice, {runs[name]} and {path}; give each run its own name."
            )
        read_run(path)
        runs[name] = path
    # All or nothing: an incomplete folder would block a second attempt.
    with atomic_path(target) as folder:
        folder.mkdir()
        counts = convert_beir(beir, folder, split=split, answers=answers)
        for name, path in runs.items():
            shutil.copyfile(path, folder / f"{name}.run")
    echo(
        f"{target}: {counts.questions} questions, {counts.answered} of them with correct answers, "
        f"{counts.passages} passages; left out: {counts.left_out} questions without a relevant "
        f"passage, {counts.empty} empty passages; not found: "
        f"{counts.missing_passages} relevant passages, {counts.missing_questions} judged questions"
    )


def _parse_run(text: str) -> tuple[str, Path]:
    path, name = path_and_name(text)
    if not name or "/" in name:
        raise RecordError(f"--run is {text!r}; expected NAME=FILE, such as bm25=runs/mine.run.")
    return name, path


def convert_weights(
    source: Annotated[
        str,
        typer.Argument(
            help="Folder with pytorch_model.bin or its shards, or a model on the hub "
            "(NAME@REVISION)."
        ),
    ],
    target: Annotated[Path, typer.Argument(help="Folder to create."), Output()],
    one_output: Annotated[
        bool,
        typer.Option(
            "--one-output", help="Reduce a classifier with two outputs to their difference."
        ),
    ] = False,
) -> None:
    """Convert pickled weights to safetensors, safely."""
    from everycell.learning import pickle_weights

    # An existing path takes precedence over the name of a model on the hub.
    is_on_hub = re.fullmatch(HUB_NAME, source) and not Path(source).exists()
    model = source if is_on_hub else Path(source)
    for path in pickle_weights.convert_weights(model, target, one_output=one_output):
        echo(str(path))
