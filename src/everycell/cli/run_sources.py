"""Sources of a table whose values are measures of runs, in one collection or in several."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.cli.importing.headings import is_collection_heading
from everycell.cli.measure_names import measure_of
from everycell.cli.named_files import path_and_name
from everycell.cli.other_formats import as_trec_file
from everycell.cli.printing import pluralise
from everycell.cli.table_sources import (
    SECOND_NUMBER,
    SEVERAL,
    TableSource,
    files_by_name,
    missing_cells,
    notes_on_not_run,
    read_values,
)
from everycell.records.cells import RecordError, as_number, key_columns
from everycell.trec.runs import normalise_name, read_qrels, read_run, read_tag, system_name


class _Run(NamedTuple):
    """A run, its system and collection as far as the user states them."""

    path: Path
    system: str | None
    collection: str | None
    #: The run in TREC format.
    file: Path


def source_from_runs(
    runs: Sequence[str], qrels: Sequence[str], table: Path, measures: Sequence[str]
) -> TableSource:
    """Source of a table whose values are measures of runs over all queries of a collection."""
    cells = read_values(table)
    keys = key_columns(cells)
    judged, collection_column = _name_collections(qrels, cells, keys, table)
    keys = [key for key in keys if key != collection_column]
    system_columns = [key for key in keys if key != "metric"]
    varying = [key for key in system_columns if cells[key].nunique() > 1]
    is_unclear = "metric" not in keys or any(map(is_collection_heading, varying))
    if len(keys) < 2 or (len(keys) > 2 and is_unclear):
        raise RecordError(
            f"{table} has the key columns {', '.join(key_columns(cells))}, expected one of systems "
            "and one of measures (`metric`, if there are several), and one of collections if each "
            "--qrels has a name, as in --qrels DL19=a.txt DL20=b.txt."
        )
    published_cells = cells
    names_of: dict[str, list[str]] = {}
    if len(keys) > 2:
        # Several columns name a system together; those that are always the same may be left out.
        varying = varying or system_columns[-1:]
        keys = [SEVERAL.join(varying), "metric"]
        names = [SEVERAL.join(row) for row in cells[varying].to_numpy().tolist()]
        names_of = dict(zip(names, cells[system_columns].to_numpy().tolist(), strict=True))
        cells = cells.assign(**{keys[0]: names})
    notes: list[str] = []
    folder = Path(tempfile.mkdtemp(prefix="everycell-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    def convert(path: Path, *, is_run: bool) -> Path:
        file, note = as_trec_file(path, folder, is_run=is_run)
        notes.extend([note] * bool(note))
        return file

    full_names = {SEVERAL.join(row): name for name, row in names_of.items()}
    named_runs = [_split_name(run, judged) for run in runs]
    named_runs = [
        run._replace(system=full_names.get(run.system or "", run.system)) for run in named_runs
    ]
    if len({run.path for run in named_runs}) < len(runs):
        raise RecordError("--runs lists the same run twice; list each run once.")
    named_runs = [run._replace(file=convert(run.path, is_run=True)) for run in named_runs]
    judged_files = {name: convert(path, is_run=False) for name, path in judged.items()}
    queries = {
        name: dict.fromkeys(read_qrels(path)["query"]) for name, path in judged_files.items()
    }
    collections = [_collections_of(run, judged, queries, notes) for run in named_runs]
    column, systems = _match_systems(
        cells, keys, named_runs, collections, table, only_exact=not names_of
    )
    if names_of and column == "metric":
        raise RecordError(
            f"--runs names measures of {table}; write the names of systems before them."
        )
    (measure_column,) = [key for key in keys if key != column]
    if column == "metric":
        raise RecordError(
            f"{table} has systems in the column `metric` and measures in `{measure_column}`; "
            "rename the columns `system` and `metric`."
        )
    measures_by_name = _parse_measures(cells, measure_column, measures, table)
    published_count = cells[column].nunique()
    cells = published_cells.rename(columns={measure_column: "metric"})
    evaluated = [
        (run.file, system, collection)
        for run, system, names in zip(named_runs, systems, collections, strict=True)
        for collection in names
    ]
    for (system, collection), number in Counter(row[1:] for row in evaluated).items():
        if number > 1:
            where = f" in {collection}" if collection else ""
            raise RecordError(
                f"{number} runs match the system {system}{where}; write the published name before "
                "each file, as in --runs NAME=a.run."
            )
    # The script writes its rows by run, then by measure.
    key_names = [
        *(system_columns if names_of else [column]),
        *filter(None, [collection_column]),
        "metric",
    ]
    produced = {
        (*names_of.get(system, [system]), *filter(None, [collection]), name)
        for (_, system, collection), name in product(evaluated, measures_by_name)
    }
    published = list(cells[key_names].itertuples(index=False, name=None))
    not_run = missing_cells(cells, key_names, [key in produced for key in published])
    files = files_by_name([*dict.fromkeys(row[0] for row in evaluated), *judged_files.values()])
    names = {path: name for name, path in files.items()}
    numbers = cells.assign(value=cells["value"].map(as_number)).dropna(subset="value")
    percent = []
    for name, rows in numbers.groupby("metric", sort=False):
        # A single value above 1 may be misprinted.
        share = (rows["value"] > 1).mean()
        if share and name in measures_by_name and not _is_sum(measures_by_name[name]):
            is_percent = share >= 0.5
            if is_percent:
                percent.append(name)
            if share < 1:
                kind = "percentages" if is_percent else "fractions"
                notes.append(f"{name}: some published values exceed 1; all are read as {kind}.")
    notes += notes_on_not_run(not_run)
    return TableSource(
        cells,
        files,
        f"Ranking quality of {pluralise(published_count, 'system')}",
        "the runs of the systems and the relevance judgements",
        {
            "runs": [names[path] for path, *_ in evaluated],
            "qrels": [names[path] for path in judged_files.values()],
            "systems": [names_of.get(system, system) for _, system, _ in evaluated],
            "collections": [collection for *_, collection in evaluated if collection],
            "judged": [name for name in judged if name],
            "measures": measures_by_name,
            "key_columns": key_names,
            "in_percent": percent,
            "left_out": sorted(map(list, produced - set(published))),
        },
        not_run=not_run,
        table=table,
        originals=[*(run.path for run in named_runs), *judged.values()],
        notes=notes,
    )


def _name_collections(
    qrels: Sequence[str], cells: pd.DataFrame, keys: Sequence[str], table: Path
) -> tuple[dict[str, Path], str | None]:
    """Judgements by collection, and the column of collections; one without a name is ``""``."""
    pairs = [path_and_name(text) for text in qrels]
    judged = {name or "": path for path, name in pairs}
    if len(judged) < len(pairs):
        raise RecordError(
            "--qrels has several files without a name, or with the same name; write the published "
            "name of the collection before each file, as in --qrels DL19=a.txt DL20=b.txt."
        )
    if "" in judged:
        if len(judged) > 1:
            raise RecordError(
                f"--qrels {judged['']} has no name, unlike the other files; write the published "
                "name of its collection before it."
            )
        if len(keys) < 3 or "collection" not in keys or cells["collection"].nunique() > 1:
            return judged, None
        # The only collection of a table needs no name.
        judged = {cells["collection"].iloc[0]: judged[""]}
    column = next((key for key in keys if judged.keys() <= set(cells[key])), None)
    if column is None:
        values = "; ".join(f"{key}: {', '.join(cells[key].unique()[:12])}" for key in keys)
        raise RecordError(
            f"--qrels names the collections {', '.join(judged)}, but no key column of {table} has "
            f"all of them ({values}); use the published names."
        )
    return judged, column


def _split_name(text: str, judged: Iterable[str]) -> _Run:
    """Split SYSTEM@COLLECTION=FILE; system and collection are optional."""
    path, name = path_and_name(text)
    system, sign, collection = (name or "").rpartition("@")
    if sign and collection in judged:
        return _Run(path, system or None, collection, path)
    return _Run(path, name, None, path)


def _collections_of(
    run: _Run, judged: dict[str, Path], queries: dict[str, dict[str, None]], notes: list[str]
) -> list[str]:
    """Collections whose queries a run contains; its path decides between those that share ids."""
    ranked = read_run(run.file)["query"].unique()
    contained = set(ranked)
    collections = [name for name in judged if contained & queries[name].keys()]
    if run.collection is not None:
        collections = [name for name in collections if name == run.collection]
    if not collections:
        name = run.collection or next(iter(judged))
        first = list(queries[name])
        raise RecordError(
            f"{run.path} contains none of the {len(first)} queries of {judged[name]}; its first "
            f"queries are {', '.join(ranked[:3])}; those of the qrels are {', '.join(first[:3])}."
        )
    if sum(len(queries[name]) for name in collections) > len(
        set().union(*(queries[name] for name in collections))
    ):
        matches = [name for name in collections if _is_in_path(name, run.path)]
        if len(matches) != 1:
            raise RecordError(
                f"{run.path} contains queries of {' and '.join(collections)}, which share query "
                f"ids; write its collection before the file, as in --runs @{collections[0]}="
                f"{run.path}."
            )
        collections = matches
    for name in collections:
        if missing := len(queries[name].keys() - contained):
            number = len(queries[name])
            notes.append(
                f"{run.path} contains {number - missing} of {number} judged queries"
                f"{' of ' * bool(name)}{name}; the others score 0."
            )
    return collections


def _is_in_path(collection: str, path: Path) -> bool:
    """Whether words of a path are the name of a collection, such as dl-19 for DL19."""
    letters = r"[^a-z0-9]*".join(normalise_name(collection))
    return re.search(rf"(?<![a-z0-9]){letters}(?![a-z0-9])", str(path).lower()) is not None


def _match_systems(
    cells: pd.DataFrame,
    keys: Sequence[str],
    runs: Sequence[_Run],
    collections: Sequence[Sequence[str]],
    table: Path,
    *,
    only_exact: bool,
) -> tuple[str, list[str]]:
    """Find the column of systems, and the published name of each run by its file name.

    Names that the user gives must be exact if `only_exact`.
    If no system has the name of the file, the tag counts; if both name systems, they must agree.
    """
    file_names = [
        _without_collection([run.path.name, system_name(run.path)], names)
        if run.system is None
        else [run.system]
        for run, names in zip(runs, collections, strict=True)
    ]
    tags = [
        _without_collection([read_tag(run.path)], names) if run.system is None else []
        for run, names in zip(runs, collections, strict=True)
    ]

    def systems_of(row: int, names: Sequence[str], key: str) -> list[str]:
        return _matching(
            names, cells[key].unique(), only_exact=only_exact and runs[row].system is not None
        )

    matches = {
        key: [
            systems_of(row, file_names[row], key) or systems_of(row, tags[row], key)
            for row in range(len(runs))
        ]
        for key in keys
    }
    column = max(keys, key=lambda key: sum(map(bool, matches[key])))
    for row, run in enumerate(runs):
        matching_systems, path, tag = matches[column][row], run.path, tags[row]
        systems_of_tag = systems_of(row, tag, column)
        if systems_of_tag and not set(systems_of_tag) & set(matching_systems):
            raise RecordError(
                f"{path}: its name means the system {matching_systems[0]}, but its tag {tag[0]} "
                f"means {systems_of_tag[0]}; check that it is the right file, and write the "
                f"published name before it, as in --runs '{matching_systems[0]}={path}'."
            )
        names = list(filter(None, dict.fromkeys([*file_names[row], *tag])))
        if len(matching_systems) > 1:
            raise RecordError(
                f"{path}: {' or '.join(names)} may mean "
                f"{' or '.join(matching_systems)}; write the published name before the file, as in "
                f"--runs '{matching_systems[0]}={path}'."
            )
        if not matching_systems:
            values = "; ".join(f"{key}: {', '.join(cells[key].unique()[:12])}" for key in keys)
            raise RecordError(
                f"{path}: {' or '.join(names)} is not a system of {table} "
                f"({values}); write the published name before the file, as in --runs NAME={path}."
            )
    return column, [systems[0] for systems in matches[column]]


def _without_collection(names: Sequence[str], collections: Sequence[str]) -> list[str]:
    """Names, and the names without that of the collection: bm25 for bm25.dl19."""
    candidates = [
        shortened
        for name in map(normalise_name, names)
        for collection in map(normalise_name, filter(None, collections))
        for shortened in (name.removesuffix(collection), name.removeprefix(collection))
    ]
    return [*names, *(name for name in candidates if name)]


def _matching(names: Sequence[str], published: Iterable[str], *, only_exact: bool) -> list[str]:
    """Published names that match those of a run, exactly or ignoring case and punctuation."""
    ambiguous_matches: list[str] = []
    for name in names:
        normalised = "" if only_exact else normalise_name(name)
        matches = [system for system in published if system == name] or [
            system for system in published if normalised and normalise_name(system) == normalised
        ]
        if len(matches) == 1:
            return matches
        ambiguous_matches = ambiguous_matches or matches
    return ambiguous_matches


def _is_sum(measure: str) -> bool:
    """Whether a measure is summed over queries, as counts are, not averaged."""
    import ir_measures

    from everycell.retrieval.any_measure import parse_measure

    return isinstance(parse_measure(measure).aggregator(), ir_measures.SumAgg)


def _parse_measures(
    cells: pd.DataFrame, column: str, measures: Sequence[str], table: Path
) -> dict[str, str]:
    """Published name of each measure -> its name in ir_measures; all unknown names in one error.

    A second number of a cell, such as a deviation, is no measure.
    """
    published: list[str] = [
        name for name in cells[column].unique() if not name.endswith(SECOND_NUMBER)
    ]
    names: dict[str, str] = {}
    for measure in measures:
        prefixes = [name for name in published if measure.startswith(f"{name}=")]
        name = max(prefixes, key=len, default=None)
        if name is None or name in names:
            raise RecordError(
                f"--measures {measure!r}: expected PUBLISHED=MEASURE for a measure of {table} "
                f"({', '.join(published[:12])}), and each measure at most once."
            )
        names[name] = measure[len(name) + 1 :]
        if measure_of(names[name]) is None:
            raise RecordError(
                f"--measures {measure!r}: {names[name]!r} is not a measure of ir_measures or "
                "trec_eval; write one such as AP, nDCG@10, RR or P_5."
            )
    known = {name: measure_of(names.get(name, name)) for name in published}
    if unknown := [name for name, measure in known.items() if measure is None]:
        one = len(unknown) == 1
        # The first word of `P@5 (precision)` is its measure.
        words = {name: name.split(maxsplit=1)[0] for name in unknown}
        examples = " ".join(
            f"'{name}={word if measure_of(word) else 'MEASURE'}'" for name, word in words.items()
        )
        raise RecordError(
            f"{table}: {', '.join(map(repr, unknown))} in the column `{column}` "
            f"{'is not a measure' if one else 'are not measures'} of ir_measures or trec_eval such "
            f"as AP, nDCG@10, RR or P_5; specify {'the measure' if one else 'the measures'}, as in "
            f"--measures {examples}."
        )
    return {name: measure for name, measure in known.items() if measure is not None}
