"""Origins of reproduced values, derived from the files that the jobs behind a result read.

No record is believed: the receipt of a result and the records of its upstream jobs name every file
that entered. Registered or configured files are data; files of ``published/`` are published values.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import NamedTuple

from everycell.receipts.provenance import job_finder
from everycell.receipts.receipts import ReceiptError, read_receipt
from everycell.records.cells import RecordError
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper, load_paper
from everycell.verdicts.reports import CellOrigin

#: Origin of values that only follow from other published results.
DERIVED: CellOrigin = "other cells"
#: Parameter in the receipts of values that were computed elsewhere.
GIVEN = "given"


class Sources(NamedTuple):
    """Files that entered a result, directly or through upstream jobs, by their kind."""

    data: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    #: Files with the values themselves, which were computed elsewhere.
    given_values: tuple[str, ...] = ()
    #: Files of the workflow whose jobs are not recorded.
    unknown: tuple[str, ...] = ()


def sources_of(receipt: Path, results: Path, project: Path) -> Sources:
    """Files that entered the result of a receipt."""
    find_job = job_finder(results, project)
    kinds: dict[str, set[str]] = {name: set() for name in Sources._fields}
    visited: set[str] = set()

    def read(path: Path) -> list[str]:
        content = read_receipt(path)
        inputs = [source["path"] for source in content["inputs"]]
        if content.get("parameters", {}).get(GIVEN):
            kinds["given_values"].update(inputs)
            return []
        return inputs

    pending = read(receipt)
    while pending:
        path = pending.pop()
        if path in visited:
            continue
        visited.add(path)
        if path.startswith("published/"):
            kinds["published"].add(path)
        elif path.startswith("results/"):
            name = PurePosixPath(path)
            other = results.joinpath(
                *name.parts[1:-1], f"{name.name.partition('.')[0]}.receipt.json"
            )
            pending += read(other)
        elif path.startswith("work/"):
            inputs = find_job(path)
            if inputs is None:
                kinds["unknown"].add(path)
            else:
                pending += inputs
        else:
            kinds["data"].add(path)
    return Sources(**{name: tuple(sorted(paths)) for name, paths in kinds.items()})


def origin_of(artefact: Artefact, tier: Tier, sources: Sources) -> CellOrigin:
    """Best origin that the files behind a result allow for its values."""
    if sources.data:
        return "data"
    if sources.unknown:
        raise ReceiptError(
            f"{artefact.id} ({tier}): the job that made {sources.unknown[0]} is not recorded, so "
            "the origin of the values cannot be derived; remove the file and run snakemake again."
        )
    if sources.given_values:
        return "given"
    if not sources.published:
        return "constants"
    papers: dict[Path, Paper] = {}
    are_observations = [
        _are_observations(artefact.folder.parent, path, tier, papers) for path in sources.published
    ]
    return "published inputs" if all(are_observations) else DERIVED


def _are_observations(published: Path, path: str, tier: Tier, papers: dict[Path, Paper]) -> bool:
    """Whether the values that rules may read from a published file are data and not results."""
    folder, name = published / PurePosixPath(path).parent.name, PurePosixPath(path)
    if folder not in papers:
        papers[folder] = load_paper(folder)
    owner = papers[folder].artefacts.get(name.stem)
    if owner is None:
        return name.name in papers[folder].facts
    inputs = [entry for entry in owner.record.quoted if entry.is_input and tier in entry.tiers]
    return bool(inputs) and all(entry.observations for entry in inputs)


def origins_of_cells(
    artefact: Artefact, tier: Tier, origin: CellOrigin, sources: Sources | None = None
) -> list[CellOrigin]:
    """Origins of the cells of a result, in the order of `cells`, from the origin of its values.

    A record may declare that some cells are derived from other published cells although the job
    also reads data; with `sources`, any other declaration must agree with the files.
    """
    origins = [origin] * len(artefact.cells)
    for entry in artefact.record.derived:
        if tier not in entry.tiers:
            continue
        is_part = bool(entry.cells and sources and sources.published)
        if sources is not None and origin != DERIVED and not is_part:
            raise RecordError(
                f"{artefact.records_path}: `derived` of {artefact.name} says that cells follow "
                f"from published values, but by the files that the job read in tier {tier} their "
                f"origin is {origin!r}; correct or remove `derived`."
            )
        if not artefact.cells.empty:
            for row in artefact.select(entry.cells).to_numpy().nonzero()[0]:
                origins[row] = DERIVED
    return origins
