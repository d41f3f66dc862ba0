"""Names of values computed elsewhere that the user maps to published ones with `--rename`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from everycell.cli.importing.headings import key_of_heading
from everycell.cli.printing import list_first, pluralise
from everycell.cli.table_sources import SECOND_NUMBER
from everycell.records.cells import RecordError, key_columns


class Renames:
    """Renames NAME=PUBLISHED, each of columns or of names in columns; records what they changed."""

    def __init__(self, texts: Sequence[str], cells: pd.DataFrame, table: Path) -> None:
        self.texts = [*dict.fromkeys(texts)]
        self.cells, self.table, self.keys = cells, table, key_columns(cells)
        #: What was renamed, as "NAME to PUBLISHED".
        self.changes: list[str] = []
        #: Lines on what was left out, for the user.
        self.left_out: list[str] = []

    @property
    def notes(self) -> list[str]:
        """Lines for the user."""
        renamed = [f"Renamed: {', '.join(self.changes)}."] * bool(self.changes)
        return [*renamed, *dict.fromkeys(self.left_out)]

    def rename_columns(
        self, paths: Sequence[Path], parts: Sequence[pd.DataFrame]
    ) -> list[pd.DataFrame]:
        """Values with renamed columns; a column that had the name is left out."""
        columns = {column for part in parts for column in key_columns(part)}
        published: dict[str, str] = {}
        for text in [*self.texts]:
            pairs = {
                column: name
                for own, name in split_pairs(text)
                for column in dict.fromkeys((own, key_of_heading(own)))
                if column in columns and name in self.keys
            }
            if not pairs:
                continue
            self.texts.remove(text)
            own, name = next(iter(pairs.items()))
            if published.setdefault(own, name) != name:
                raise RecordError(_refuse_two(own, published[own], name))
            if own != name:
                self.changes.append(f"the column {own} to {name}")
        return [
            self._rename_columns_of(path, part, published)
            for path, part in zip(paths, parts, strict=True)
        ]

    def _rename_columns_of(
        self, path: Path, part: pd.DataFrame, published: Mapping[str, str]
    ) -> pd.DataFrame:
        names = {own: name for own, name in published.items() if own in part}
        for name in set(names.values()):
            if len(columns := [own for own in names if names[own] == name]) > 1:
                raise RecordError(
                    f"--rename gives the name {name} to two columns of {path}, "
                    f"{' and '.join(columns)}; remove one of the two renames."
                )
            if name in part and name not in names:
                self.left_out.append(
                    f"Left out: the column {name} of {path}, since --rename gives its name to "
                    f"{columns[0]}."
                )
                part = part.drop(columns=name)
        return part.rename(columns=names)

    def rename_names(
        self, parts: Sequence[pd.DataFrame], lines: dict[int, str]
    ) -> list[pd.DataFrame]:
        """Values with renamed names; values that had a name which another one gets are left out.

        A published name of another meaning, such as a task that a later version of a tool has
        under two names, would otherwise be compared with the values of the chosen one. The lines
        of renamed values then state the own names, which an error on repeated cells needs.
        """
        names_by_key = self._names_by_key(parts)
        renamed, counts, left_out = [], dict[tuple[str, str], int](), dict[tuple[str, str], int]()
        for part in parts:
            result, is_left_out = part.copy(), pd.Series(False, index=part.index)
            for column in key_columns(part):
                names: dict[str, str] = {}
                for key in self._possible_keys(part, column):
                    for own, name in names_by_key[key].items():
                        if names.setdefault(own, name) != name and own in set(part[column]):
                            raise RecordError(_refuse_two(own, names[own], name))
                is_renamed = part[column].isin([own for own in names if names[own] != own])
                for index, own in part.loc[is_renamed, column].items():
                    lines[index] += f" ({own})"
                    counts[own, names[own]] = counts.get((own, names[own]), 0) + 1
                result[column] = part[column].map(lambda own, names=names: names.get(own, own))
                for name, own in {
                    name: own for own, name in names.items() if name not in names
                }.items():
                    rows = part[column] == name
                    is_left_out |= rows
                    left_out[name, own] = left_out.get((name, own), 0) + int(rows.sum())
            renamed.append(result[~is_left_out])
        self.changes += [
            f"{own} to {name} ({pluralise(number, 'value')})"
            for (own, name), number in counts.items()
        ]
        self.left_out += [
            f"Left out: {pluralise(number, 'value')} of {name}, since --rename gives this name to "
            f"{own}."
            for (name, own), number in left_out.items()
            if number
        ]
        return renamed

    def _possible_keys(self, part: pd.DataFrame, column: str) -> list[str]:
        """Key columns whose names a column may have: a column of another name, any that lacks."""
        return [column] if column in self.keys else [key for key in self.keys if key not in part]

    def _names_by_key(self, parts: Sequence[pd.DataFrame]) -> dict[str, dict[str, str]]:
        """Published name per own name, for each key column; deviations follow their measure."""
        own_names: dict[str, set[str]] = {key: set() for key in self.keys}
        for part in parts:
            for column in key_columns(part):
                for key in self._possible_keys(part, column):
                    own_names[key].update(part[column])
        known = {key: set(self.cells[key]) for key in self.keys}
        names_by_key: dict[str, dict[str, str]] = {key: {} for key in self.keys}
        for text in self.texts:
            pairs = {
                (own, name): [
                    key for key in self.keys if own in own_names[key] and name in known[key]
                ]
                for own, name in split_pairs(text)
            }
            pairs = {pair: keys for pair, keys in pairs.items() if keys}
            if len(pairs) != 1:
                raise RecordError(self._describe_fault(text, parts, own_names, known))
            (((own, name), keys),) = pairs.items()
            for key in keys:
                if names_by_key[key].setdefault(own, name) != name:
                    raise RecordError(_refuse_two(own, names_by_key[key][own], name))
        for role in SECOND_NUMBER if "metric" in self.keys else ():
            names = names_by_key["metric"]
            for own, name in [*names.items()]:
                if not own.endswith(SECOND_NUMBER):
                    names.setdefault(own + role, name + role)
        return names_by_key

    def _describe_fault(
        self,
        text: str,
        parts: Sequence[pd.DataFrame],
        own_names: Mapping[str, set[str]],
        known: Mapping[str, set[str]],
    ) -> str:
        """Why a rename cannot be followed."""
        own = {name for names in own_names.values() for name in names}
        own |= {column for part in parts for column in key_columns(part)}
        published = {*self.keys, *(name for names in known.values() for name in names)}
        start, pairs = f"--rename {shlex.quote(text)}", split_pairs(text)
        if not pairs:
            return f"{start}: expected NAME=PUBLISHED, a name of the values and the published one."
        for before, after in pairs:
            if before in published and after in own and (before not in own or after in published):
                turned = shlex.quote(f"{after}={before}")
                return f"{start}: the published name comes last; write --rename {turned}."
        fits = [pair for pair in pairs if pair[0] in own and pair[1] in published]
        if len(fits) > 1:
            return f"{start} can be read in two ways; rename the names in the files instead."
        if fits:
            ((before, after),) = fits
            columns = [key for key in self.keys if after == key or after in known[key]]
            return (
                f"{start}: {after} is published in the column {list_first(columns)}, where the "
                f"values do not have {before}; give a published name of its column."
            )
        for before, after in pairs:
            if before in own:
                advice = suggest_names(after, published)
                return f"{start}: {self.table} has no name {after!r}; {advice}."
        before = next((before for before, after in pairs if after in published), pairs[0][0])
        return f"{start}: the values have no name {before!r}; {suggest_names(before, own)}."


def split_pairs(text: str) -> list[tuple[str, str]]:
    """Both names of a rename, for each `=`, since names may contain this sign too."""
    parts = text.split("=")
    return [("=".join(parts[:cut]), "=".join(parts[cut:])) for cut in range(1, len(parts))]


def _refuse_two(own: str, first: str, second: str) -> str:
    return f"--rename gives {own} two names, {first} and {second}; remove one of the two renames."


def suggest_names(name: str, names: set[str]) -> str:
    """Names near to an unknown one, or else the first ones."""
    similar = get_close_matches(name, sorted(names), 3)
    if similar:
        return f"similar names are {', '.join(similar)}"
    return f"the names are {list_first(sorted(names), 12)}"
