"""`everycell check`: validate records and published values without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everycell.cli import project
from everycell.cli.printing import echo, pluralise
from everycell.records.cells import RecordError
from everycell.records.checks import write_schemas
from everycell.records.papers import all_artefacts, load_paper
from everycell.verdicts.record_checks import check_paper, check_papers


def check(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY]...", help="Papers; all by default.")
    ] = None,
    schemas: Annotated[
        Path | None,
        typer.Option(help="Also write the JSON schemas of the records to this folder."),
    ] = None,
) -> None:
    """Check records and published values; report file and line of each fault.

    Files in data/ are compared with the hashes in registry.yaml. The exit code is 2 if there are
    faults. Editors offer completion in a record whose first line refers to one of the schemas.
    """
    if schemas is not None:
        write_schemas(schemas)
        echo(f"{schemas}: schemas written.")
    folders = [project.PUBLISHED / key for key in keys or ()]
    for folder in folders:
        if not (folder / "paper.yaml").is_file():
            raise RecordError(
                f"{folder / 'paper.yaml'} does not exist; `everycell list` lists the papers."
            )
    if not any(project.PUBLISHED.glob("*/paper.yaml")):
        raise RecordError(
            f"{project.PUBLISHED}/ contains no papers; run everycell in the project folder."
        )
    faults = [fault for folder in folders for fault in check_paper(folder)]
    if not folders:
        folders = sorted(path.parent for path in project.PUBLISHED.glob("*/paper.yaml"))
        faults = check_papers(project.PUBLISHED)
    faults += project.repository_faults(folders)
    for fault in faults:
        echo(fault)
    if faults:
        raise typer.Exit(2)
    papers = {folder.name: load_paper(folder) for folder in folders}
    number = pluralise(len([*all_artefacts(papers)]), "artefact")
    echo(f"{', '.join(papers)}: records and published values of {number} agree.")
