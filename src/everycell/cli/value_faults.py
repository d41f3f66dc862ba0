"""Messages on values that the published table lacks, with what to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import pandas as pd

from everycell.cli.importing.headings import is_collection_heading, is_system_heading
from everycell.cli.printing import list_first, pluralise
from everycell.cli.table_sources import SEVERAL
from everycell.cli.value_files import suggests_mean
from everycell.records.cells import key_columns

#: Least similarity of names of which one may mean the other.
_SIMILAR = 0.4


def describe_columns(
    path: Path,
    table: Path,
    own: pd.DataFrame,
    part: pd.DataFrame,
    cells: pd.DataFrame,
    *,
    mean_over: str | None,
) -> str:
    """Which columns of a file and of the published table differ, and what to do."""
    keys = key_columns(cells)
    start = (
        f"{path}: the key columns are {', '.join(key_columns(own))}, but those of {table} are "
        f"{', '.join(keys)}"
    )
    surplus = [key for key in key_columns(part) if key not in keys]
    absent = {key: [*cells[key].unique()] for key in keys if key not in part}
    if mean_over and not absent and surplus:
        names = " and ".join(surplus)
        examples = " ".join(choice_example(key, part) for key in surplus)
        return (
            f"{start}; if {names} only describes each {mean_over}, remove it from the file; if "
            f"not, give the rows of one published value only, as with --only {examples}."
        )
    if not absent and surplus and part.duplicated(keys).any():
        seeds = [key for key in surplus if suggests_mean(key, part[key])][:1]
        means = [f"average them with --mean-over {shlex.quote(key)}" for key in seeds]
        examples = " ".join(choice_example(key, part) for key in surplus if key not in seeds)
        choice = [f"choose the published ones, as with --only {examples}"] * bool(examples)
        return (
            f"{start}; if several values of one cell differ in {' and '.join(surplus)}, "
            f"{' and '.join([*means, *choice])}."
        )
    known = "; ".join(f"{key}: {list_first(names)}" for key, names in absent.items())
    varying = [key for key in keys if key != "metric" and cells[key].nunique() > 1]
    example = SEVERAL.join(cells[varying].iloc[0]) if {*varying} & {*absent} else ""
    advice = f", or write the name before the file, as in --values '{example}={path}'"
    rename = _rename_example({"": surplus}, {"": absent})
    return (
        f"{start}; use the same columns in both files"
        f"{f', or the published names ({known})' * bool(known)}"
        f"{f', or rename a column, as in --rename {rename}' * bool(rename)}"
        f"{advice * bool(example)}."
    )


def describe_surplus(
    surplus: Sequence[str],
    table: Path,
    adapted: pd.DataFrame,
    cells: pd.DataFrame,
    *,
    has_unnamed: bool,
) -> str:
    """Which values the table lacks, and what to do."""
    keys = key_columns(cells)
    own, absent = (
        {key: [name for name in frame[key].unique() if name not in set(other[key])] for key in keys}
        for frame, other in ((adapted, cells), (cells, adapted))
    )
    known = "; ".join(f"{key}: {list_first(names)}" for key, names in absent.items() if names)
    one = len(surplus) == 1
    system = next(
        (
            names[0]
            for key, names in absent.items()
            if names and key != "metric" and not is_collection_heading(key)
        ),
        "",
    )
    rename = _rename_example(own, absent)
    advice = f", write them before the files of one system, as in --values '{system}=FILE'"
    return (
        f"{pluralise(len(surplus), 'value')} of --values {'is' if one else 'are'} not in {table}: "
        f"{list_first(surplus)}; use the published names"
        f"{f' (still without a value are {known})' * bool(known)}"
        f"{f', as in --rename {rename} if that is meant' * bool(rename)}"
        f"{advice * (bool(system) and has_unnamed)}, or leave {'it' if one else 'them'} out with "
        "--leave-out-others."
    )


def choice_example(column: str, part: pd.DataFrame) -> str:
    """Argument of `--only` that chooses the first value of a column."""
    return shlex.quote(f"{column}={part[column].iloc[0]}")


def _rename_example(own: Mapping[str, Iterable[str]], absent: Mapping[str, Iterable[str]]) -> str:
    """Argument of `--rename` with the most similar names of one key; empty if there are none."""
    pairs = [
        (_similarity(name, other), name, other, key)
        for key in own
        for name in [*own[key]][:100]
        for other in [*absent.get(key, ())][:100]
    ]
    if not pairs:
        return ""
    similarity, name, other, key = max(pairs, key=lambda pair: pair[0])
    # Of several, a pair that has nothing in common is no advice.
    is_advice = (len(pairs) == 1 or similarity > _SIMILAR) and not _differ_in_digits(
        name, other, key
    )
    return shlex.quote(f"{name}={other if is_advice else 'PUBLISHED'}")


def _differ_in_digits(name: str, other: str, key: str) -> bool:
    """Whether names are those of two systems or cut-offs, such as 7B and 13B.

    A task or measure may have a digit more, as the part `truthfulqa_mc2` has.
    """
    first, second = (re.findall(r"\d+", text) for text in (name, other))
    may_lack = key in ("", "metric") or is_collection_heading(key)
    return first != second and not (may_lack and not (first and second))


def _similarity(name: str, other: str) -> float:
    """Similarity of two names, from 0; two headings of systems, or of collections, are similar."""
    kinds = (is_system_heading, is_collection_heading)
    is_same_kind = any(is_kind(name) and is_kind(other) for is_kind in kinds)
    return is_same_kind + SequenceMatcher(None, name.lower(), other.lower()).ratio()
