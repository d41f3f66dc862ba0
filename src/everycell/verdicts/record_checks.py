"""Checks of records against published cells; each fault is a sentence with file and line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import everycell
from everycell.base.files import fingerprint, write_atomically
from everycell.base.untrusted import text_of
from everycell.base.yaml import line_of, read_model
from everycell.records.cells import (
    SEEDS,
    RecordError,
    cell_lines,
    read_cells,
)
from everycell.records.checks import (
    Fault,
    check_claims,
    check_decimals,
    check_missing,
    check_name,
    check_selectors,
    check_supplements,
    check_untestable,
    model_of,
    selector_fault,
)
from everycell.records.claims import NotTestable, Untested
from everycell.records.full_runs import load_full_tier
from everycell.records.papers import (
    ARTEFACT_ID,
    Artefact,
    Paper,
    all_artefacts,
    load_paper,
    load_papers,
)
from everycell.records.registry import RegistryError, read_part
from everycell.records.tables import RUNNABLE
from everycell.verdicts.cells import is_rounded, limits_by_row
from everycell.verdicts.verdicts import report


def check_paper(folder: Path) -> list[str]:
    """Check all files of a paper, including its registry; return one sentence per fault."""
    faults: list[str] = []
    for path in sorted(folder.glob("*.yaml")):
        model = model_of(path)
        try:
            if path.name == "registry.yaml":
                read_part(path)
            elif model is not None:
                read_model(path, model, RecordError)
        except (RecordError, RegistryError) as error:
            faults += str(error).splitlines()
    try:
        return faults + check_records({folder.name: load_paper(folder)})
    except RecordError as error:
        faults += str(error).splitlines()
    # The records cannot be read, so check only the published cells.
    for path in sorted(folder.glob("*.csv")):
        try:
            if ARTEFACT_ID.fullmatch(path.stem):
                read_cells(path)
        except RecordError as error:
            faults += str(error).splitlines()
    return list(dict.fromkeys(faults))


def check_papers(published: Path) -> list[str]:
    """Check all papers of a folder, including the requirements of their full tiers."""
    folders = sorted(path.parent for path in published.glob("*/paper.yaml"))
    faults = [fault for folder in folders for fault in check_paper(folder)]
    if not faults:
        try:
            load_full_tier(published, load_papers(published))
        except RecordError as error:
            faults += str(error).splitlines()
    return faults


def check_once(published: Path, stamp: Path) -> list[str]:
    """Check all papers, but only if a file of theirs changed since they had no fault."""
    digest = f"{everycell.__version__} {fingerprint(published)}\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return []
    faults = check_papers(published)
    if not faults:
        write_atomically(stamp, digest)
    return faults


def check_records(papers: Mapping[str, Paper]) -> list[str]:
    """Check records against published cells; return one sentence per fault."""
    faults: list[str] = []
    for artefact in all_artefacts(papers):
        paper = papers[artefact.paper]
        checks = (check_name(artefact, paper), check_supplements(artefact, paper))
        record_faults = [fault for check in checks for fault in check]
        try:
            record_faults += _check_artefact(artefact)
        except RecordError as error:
            faults += str(error).splitlines()
        for keys, sentence in record_faults:
            if isinstance(keys, int):
                line = cell_lines(artefact.cells_path)[keys]
                faults.append(f"{artefact.cells_path}, line {line}: {sentence}")
            else:
                line = line_of(text_of(artefact.records_path), ["artefacts", artefact.name, *keys])
                faults.append(f"{artefact.records_path}, line {line} ({artefact.name}): {sentence}")
    for paper in papers.values():
        if not paper.artefacts:
            faults.append(f"{paper.key} has no artefacts; add a chapter file with records.")
            continue
        faults += _check_untested(paper)
        home = paper.folder
        for path in sorted(home.glob("*.csv")):
            if path.stem not in paper.artefacts and path.name not in paper.facts:
                faults.append(f"{path} has no record; add {path.stem} to a chapter file.")
        for number, name in enumerate(paper.facts):
            if not (home / name).exists():
                line = line_of(text_of(home / "paper.yaml"), ["facts", number])
                faults.append(
                    f"{home / 'paper.yaml'}, line {line}: {name} in `facts` does not exist; add "
                    "the file or remove it from `facts`."
                )
    return faults


def _check_untested(paper: Paper) -> Iterator[str]:
    """Find claims that are declared as not testable and lack nothing."""
    registry = paper.folder / "registry.yaml"
    try:
        files = list(read_part(registry).files) if registry.exists() else []
    except RegistryError:  # `check_paper` reports it
        return
    entries: list[tuple[str, list[str | int], Untested | NotTestable]] = []
    for chapter, claims in paper.untested.items():
        entries += [(chapter, ["untested", number], claim) for number, claim in enumerate(claims)]
    for artefact in paper.artefacts.values():
        for tier, declared in artefact.record.tiers.items():
            keys: list[str | int] = ["artefacts", artefact.name, "tiers", tier, "not_testable"]
            if declared.not_testable is not None:
                entries.append((artefact.chapter, keys, declared.not_testable))
    for chapter, keys, entry in entries:
        path = paper.folder / f"ch{chapter}.yaml"
        if fault := check_missing(entry, files):
            yield f"{path}, line {line_of(text_of(path), keys)}: {fault}"


def _check_artefact(artefact: Artefact) -> Iterator[Fault]:
    record, cells = artefact.record, artefact.cells
    if not artefact.cells_path.exists() and artefact.needs_cells:
        yield (
            (),
            f"{artefact.cells_path} does not exist, so that no value would be compared; restore "
            "the published values, or declare `unpublished: true` if the paper states none.",
        )
        return
    if cells.empty:
        runs = any(tier.state in RUNNABLE for tier in record.tiers.values())
        used = {
            "labels": record.labels,
            # Reproduced values of a passage or figure without published numbers are displayed.
            "decimals": None if runs else record.decimals,
            "tiers": [tier.lacks for tier in record.tiers.values() if tier.lacks],
            "precision": record.precision,
            "tolerances": record.tolerances,
            "quoted": record.quoted,
            "derived": [entry for entry in record.derived if entry.cells],
            "not_run": record.not_run,
            # Claims of a figure without published numbers are tested on its reproduced values.
            "claims": None if runs else record.claims,
            "errata": [selector for erratum in record.errata for selector in erratum.cells],
        }
        for field, content in used.items():
            if content:
                yield (
                    (field,),
                    f"`{field}` selects cells, but {artefact.cells_path.name} does not exist; add "
                    "the published cells or remove the field.",
                )
        yield from check_untestable(artefact)
        return
    if record.readings in artefact.key_columns:
        yield (
            ("readings",),
            f"`readings` is {record.readings!r}, a published key column; it must be a column that "
            "only the reproduced table has.",
        )
    selector_faults = [*check_selectors(artefact)]
    yield from selector_faults
    # These checks use the selectors of `precision`.
    if not any(keys[0] == "precision" for keys, _ in selector_faults):
        yield from check_decimals(artefact)
        yield from _check_tolerances(artefact)
    unknown = [column for column in record.labels if column not in artefact.key_columns]
    if unknown:
        yield (
            ("labels",),
            f"`labels` contains {unknown[0]!r}, which is not a key column; the key columns are "
            f"{artefact.key_columns}.",
        )
    yield from check_untestable(artefact)
    yield from check_claims(artefact)
    if not selector_faults:
        yield from _check_contradictions(artefact)
    if record.layout is not None:
        columns = [*record.layout.rows, *record.layout.columns]
        if sorted(columns) != sorted(artefact.key_columns):
            yield (
                ("layout",),
                f"`layout` has the columns {columns}; it must have each key column once: "
                f"{artefact.key_columns}.",
            )


def _check_contradictions(artefact: Artefact) -> Iterator[Fault]:
    """Find claims that the artefact's own published values contradict, without an erratum."""
    record = artefact.record.model_copy(update={"errata": []})
    tier = next(iter(record.tiers))
    try:
        judged = report(artefact.model_copy(update={"record": record}), tier).claims
    except RecordError:  # other checks report it
        return
    for number, claim in enumerate(judged):
        if claim.on_published == "contradicted" and not artefact.record.errata:
            yield (
                ("claims", number),
                f"the published values contradict the claim {claim.id}; correct its predicate, or "
                "add an erratum that reports the contradiction.",
            )


def _check_tolerances(artefact: Artefact) -> Iterator[Fault]:
    """Check the size of declared tolerances, and the tiers and cells of those from seeds."""
    record = artefact.record
    for number, tolerance in enumerate(record.tolerances):
        keys = ("tolerances", number, "from_spread")
        if not tolerance.from_spread and not selector_fault(artefact, tolerance.cells):
            limits = limits_by_row(artefact)
            for row in artefact.select(tolerance.cells).to_numpy().nonzero()[0]:
                limit, reason = limits.get(row, (math.inf, ""))
                within = tolerance.distance_from(artefact.cells["value"].iloc[row]) or 0.0
                if within > limit * (1 + 1e-9):
                    yield (
                        int(row),
                        f"the tolerance of {within:g} exceeds {reason}, so it cannot judge the "
                        "value; reduce it, or exclude the cell from its `cells`.",
                    )
        if not tolerance.from_spread:
            continue
        for tier in tolerance.from_spread:
            if tier not in record.tiers or record.tiers[tier].state != "reproduced":
                yield (
                    keys,
                    f"`from_spread` of a tolerance lists the tier {tier}, which does not reproduce "
                    "the artefact; list a tier that reproduces it with several seeds.",
                )
        if SEEDS not in record.supplements:
            yield (
                keys,
                f"a tolerance uses `from_spread`, but `supplements` has no table {SEEDS!r}; add it "
                "there, and have the rule write it.",
            )
        if selector_fault(artefact, tolerance.cells):
            continue
        for row in artefact.select(tolerance.cells).to_numpy().nonzero()[0]:
            if not is_rounded(artefact.precisions[row]):
                yield (
                    int(row),
                    "the value is a count, label, rank or text, for which `from_spread` gives no "
                    "tolerance; exclude it from the `cells` of the tolerance.",
                )
