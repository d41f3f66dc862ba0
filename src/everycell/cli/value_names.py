"""Names of systems, collections and measures in results, matched with the published ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pandas as pd

from everycell.cli.importing.headings import is_collection_heading
from everycell.cli.measure_names import measure_of
from everycell.cli.printing import list_first, pluralise
from everycell.cli.table_sources import SECOND_NUMBER
from everycell.trec.runs import normalise_name

#: Arguments of lm-evaluation-harness that name a model, and those by which it is another one.
_MODELS = ("pretrained", "model", "model_name")
_CHANGES = ("peft", "delta", "gguf", "subfolder", "gptq", "quanti")
#: Versions of a task and of its prompt behind a name, of which a version alone is another task.
_VERSION = re.compile(r"\d++(?:\.\d++)++")


def match_names(
    reproduced: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Reproduced values under the published names, and notes on what was changed.

    If a column has all published names, none of its other names can mean one of these, so their
    rows are left out.
    """
    notes: list[str] = []
    for key in keys:
        meaning, readings = _meaning_of_measure, [_meaning_of_measure]
        if key != "metric":
            # A system with another version is another system.
            meaning, readings = normalise_name, [normalise_name, _name_of_model, _last_name]
            if is_collection_heading(key):
                readings = [normalise_name, _name_without_version]
            elif re.fullmatch("models?", key, re.IGNORECASE):
                readings.append(_name_without_organisation)
        pairs = []
        for reading in readings:
            renamed = _unambiguous(reproduced[key], cells[key], meaning, reading)
            reproduced = reproduced.assign(**{key: reproduced[key].replace(renamed)})
            pairs += [f"{name} as {published_name}" for name, published_name in renamed.items()]
        if pairs:
            # Each may be wrong, so that none is left out.
            notes.append(f"Read: {', '.join(pairs)}.")
        expected = {name for name in cells[key] if not name.endswith(SECOND_NUMBER)}
        is_cell = reproduced[key].isin(cells[key])
        if expected <= set(reproduced[key]) and not is_cell.all():
            names = list_first(reproduced.loc[~is_cell, key].unique())
            number = pluralise(int((~is_cell).sum()), "value")
            notes.append(f"Left out: {number} of {names}, which the published table lacks.")
            reproduced = reproduced[is_cell]
    return reproduced, notes


def _unambiguous(
    own: pd.Series,
    published: pd.Series,
    meaning: Callable[[str], str],
    reading: Callable[[str], str],
) -> dict[str, str]:
    """Own name -> published name, for each pair of names that only have each other's meaning."""
    names: dict[str, list[str]] = {}
    own_names: dict[str, list[str]] = {}
    for name in sorted({*published} - {*own}):
        names.setdefault(meaning(name), []).append(name)
    for name in sorted({*own} - {*published}):
        own_names.setdefault(reading(name), []).append(name)
    return {
        own_names[meant][0]: names[meant][0]
        for meant in names
        if meant and len(names[meant]) == len(own_names.get(meant, ())) == 1
    }


def _loaded_model(name: str) -> str:
    """Model among the arguments that lm-evaluation-harness records, unless others change it."""
    parts = (argument.partition("=") for argument in name.split(","))
    arguments = {key: value for key, _, value in parts}
    is_changed = any(
        any(part in key for part in _CHANGES)
        or (key.startswith("load_in_") and value != "False")
        or (key == "revision" and value != "main")
        for key, value in arguments.items()
    )
    return "" if is_changed else next(filter(None, map(arguments.get, _MODELS)), "")


def _name_of_model(name: str) -> str:
    """Model that lm-evaluation-harness loads, such as org/model of `pretrained=org/model`."""
    return normalise_name(_loaded_model(name))


def _last_name(name: str) -> str:
    """Model that lm-evaluation-harness loads, without its organisation or folder."""
    return normalise_name(_loaded_model(name).rstrip("/").split("/")[-1])


def _name_without_organisation(name: str) -> str:
    """Model of a name on the hub, which has one organisation."""
    parts = name.split("/")
    return normalise_name(parts[1]) if len(parts) == 2 and "=" not in name else ""


def _name_without_version(name: str) -> str:
    """Name of a task without versions: jsquad of jsquad-1.1-0.3."""
    first, *parts = name.split("-")
    if len(parts) < 2 or not all(map(_VERSION.fullmatch, parts[-2:])):
        return ""
    return normalise_name("-".join([first, *parts[:-2]]))


#: What names of results may mean, from the surest on.
READINGS = [
    normalise_name,
    _name_of_model,
    _last_name,
    _name_without_organisation,
    _name_without_version,
]


def _meaning_of_measure(name: str) -> str:
    """Measure of a name in one spelling; the name itself if it is none."""
    from everycell.retrieval.any_measure import parse_measure

    measure = measure_of(name)
    return str(parse_measure(measure)) if measure else normalise_name(name)
