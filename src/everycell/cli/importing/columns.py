"""Names of the columns of a published table: measures, and the collections or systems above."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Mapping, Sequence

from everycell.cli.importing.collection_names import is_collection
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.headings import label_of_column, without_sign
from everycell.cli.importing.rows import begins_with_measure, complete_additions, is_measure
from everycell.cli.measure_names import LONGEST_NAME

#: Arrows in a heading, which say whether higher or lower values are better.
_ARROWS = "↑↓▲▼⇑⇓"
_UNIT = re.compile(rf"(?<!\s)\s*+[(\[]\s*+(?:in )?(%|[{_ARROWS}])\s*+[)\]]")

#: Measures without a cut-off that may be next to a collection; others only if it is well known.
_MEASURE = re.compile("MAP|MRR|nDCG", re.IGNORECASE)
_RESULT = re.compile(r"(acc|acc_norm|f1|em|exact_match|bleu|rouge[12L])(_stderr)?")
#: Names of what pandas and scripts compute of several values.
STATISTICS = {
    *("mean", "median", "min", "max", "count"),
    *("std", "stdev", "sd", "sem", "stderr", "var", "variance"),
}
_SCORE = re.compile(r"acc\.?|accuracy|F1|EM|BLEU|ROUGE-[12L]", re.IGNORECASE)
#: Means over classes, which may be named with a measure, but are no collection.
_MEANS = ("macro", "micro", "weighted")


def name_columns(
    table: SourceTable,
    head: int,
    numbers: Sequence[int],
    measure: str | None,
    row_names: Sequence[str],
    deviations: Container[int] = (),
) -> tuple[dict[int, list[str]], list[str]]:
    """Keys of each column of values other than deviations, and their names.

    Of two levels of headings, the one with names of measures is `metric`, by default the lower.
    """
    texts = _headings(table, head, numbers, deviations)
    numbers = [*texts]
    # A level that is the same for all columns distinguishes no columns.
    levels = [row for row in range(head) if len({texts[column][row] for column in numbers}) > 1]
    levels = levels or [head - 1]
    keys = {
        column: [headings[row] or f"column {column + 1}" for row in levels]
        for column, headings in texts.items()
    }
    if len(numbers) == 1 and texts[numbers[0]][-1].lower() == "value":
        # One value per row: its heading is no key.
        if measure is not None:
            return {numbers[0]: [measure]}, ["metric"]
        if "metric" in row_names:
            return {numbers[0]: []}, []
    free = next(name for name in ("collection", "system", "heading") if name not in row_names)
    if measure is None and "metric" in row_names:
        names = [key[-1] for key in keys.values()]
        is_free = free == "collection" and names_collections(names)
        name = free if is_free or "system" in row_names else "system"
        return {column: [_join(key)] for column, key in keys.items()}, [name]
    is_named = any(is_measure(name) for key in keys.values() for name in key)
    if measure is None and numbers and not is_named:
        # A measure above all columns does not distinguish them, but names their values.
        headings = texts[numbers[0]]
        common = [headings[row] for row in range(head) if row not in levels]
        measure = next(filter(is_measure, common), None)
    if measure is not None:
        return {column: [_join(key), measure] for column, key in keys.items()}, [free, "metric"]
    if len(levels) == 1:
        names = [key[0] for key in keys.values()]
        if free == "collection" and len(names) > 1 and names_collections(names):
            return keys, ["collection"]
        split = {column: split_measure(key[0]) for column, key in keys.items()}
        collections = [collection for _, collection in split.values() if collection]
        is_plain = any(name and not collection for name, collection in split.values())
        if is_plain or len(collections) < min(2, len(split) / 2):
            return keys, ["metric"]
        keys = {
            column: [collection or "–", name or keys[column][0]]
            for column, (name, collection) in split.items()
        }
        return keys, [free, "metric"]
    if {key[0].lower() for key in keys.values()} <= STATISTICS:
        free = "statistic"
    upper, lower = ({key[level] for key in keys.values()} for level in (0, -1))
    counts = [sum(map(is_measure, names)) for names in (upper, lower)]
    if counts[0] > counts[1]:
        keys = {column: [*key[1:], key[0]] for column, key in keys.items()}
    keys = {column: [_join(key[:-1]), key[-1]] for column, key in keys.items()}
    is_known = max(counts) or names_collections([key[0] for key in keys.values()])
    return keys, [free if is_known else "heading", "metric"]


def deviations_of_columns(table: SourceTable, head: int, numbers: Sequence[int]) -> dict[int, int]:
    """Columns of deviations, such as `acc_std`, and that of their values, `acc` or `acc_mean`."""
    headings = {tuple(names): column for column, names in _headings(table, head, numbers).items()}
    if len(headings) < len(numbers):
        return {}
    means = {
        (*above, stem): column
        for (*above, name), column in headings.items()
        if (stem := _stem(name, "mean"))
    }
    deviations: dict[int, int] = {}
    for (*above, name), column in headings.items():
        stem = _stem(name, "std", "stdev", "sd") or name.startswith("±") * name[1:].lstrip()
        value = stem and means.get((*above, stem), headings.get((*above, stem)))
        used = {*deviations, *deviations.values()}
        if isinstance(value, int) and not {column, value} & used:
            deviations[column] = value
    return deviations


def _stem(heading: str, *ends: str) -> str:
    """Heading without the first of several ends that it has, as in `acc_std` or `acc (std)`."""
    forms = (form for end in ends for form in (f"_{end}", f"-{end}", f" {end}", f" ({end})"))
    form = next((form for form in forms if heading.lower().endswith(form)), None)
    stem = heading[: -len(form)] if form else ""
    # A system such as DPR-SD has no deviation in its name.
    is_name = form in ("-sd", " sd") and not (is_measure(stem) or is_score(stem))
    return "" if is_name else stem


def titles_above(table: SourceTable, head: int, numbers: Sequence[int]) -> list[str]:
    """Headings that distinguish no columns of values, and are neither labels nor measures."""
    labels = {label_of_column(table, head, column) for column in range(len(table.rows[0]))}
    texts = _headings(table, head, numbers).values()
    common = [row for row in range(head) if len({names[row] for names in texts}) == 1]
    cells = {cell.text: cell for row in common for cell in table.rows[row] if cell.text}
    return [
        text
        for text, cell in cells.items()
        if text not in labels and not is_measure(_without_unit(without_sign(cell)))
    ]


def _headings(
    table: SourceTable, head: int, columns: Sequence[int], without: Container[int] = ()
) -> dict[int, list[str]]:
    texts = {
        column: [_without_unit(without_sign(table.rows[row][column])) for row in range(head)]
        for column in columns
    }
    for row in range(head - 1):
        _widen(texts, row)
    texts = {column: names for column, names in texts.items() if column not in without}
    lowest = complete_additions([names[-1] for names in texts.values()])
    return {
        column: [*names[:-1], name]
        for (column, names), name in zip(texts.items(), lowest, strict=True)
    }


def _widen(texts: dict[int, list[str]], row: int) -> None:
    """Fill blank headings beside one that belongs to a block of columns.

    Blocks are those between columns without values, or else those with equal headings below.
    """
    columns = list(texts)
    if len(columns) < 2:
        return
    gaps = [right - left > 1 for left, right in itertools.pairwise(columns)]
    starts = [
        columns[0],
        *(right for right, is_gap in zip(columns[1:], gaps, strict=True) if is_gap),
    ]
    if len(starts) == 1:
        starts = [column for column in columns if texts[column][row]]
    blocks = [
        [column for column in columns if start <= column < end]
        for start, end in itertools.pairwise([*starts, columns[-1] + 1])
    ]
    if any(len({texts[column][row] for column in block} - {""}) != 1 for block in blocks):
        return
    below = [[texts[column][row + 1 :] for column in block] for block in blocks]
    if sum(map(len, blocks)) == len(columns) and all(names == below[0] for names in below):
        for block in blocks:
            name = next(texts[column][row] for column in block if texts[column][row])
            for column in block:
                texts[column][row] = name


def split_measure(heading: str) -> tuple[str, str]:
    """Measure of a heading such as "nDCG@10, dev queries", and its collection, if any.

    A measure with a cut-off can stand anywhere. "P value" has no precision, and "macro F1" no
    collection.
    """
    if is_measure(heading):
        return heading, ""
    if len(heading) > LONGEST_NAME:
        return "", ""
    before, _, within = heading.strip().rpartition("(")
    within, bracket, after = within.partition(")")
    first, *parts = re.split("[- ]", within)
    name = "".join(parts) if first.lower() in _MEANS else within
    if (
        bracket
        and not after
        and _SCORE.fullmatch(name)
        and before.strip().lower() not in ("", *_MEANS)
    ):
        return within, before.strip()
    words = heading.split()
    for index, word in enumerate(words):
        name = word.strip("()[],;:")
        around = " ".join([*words[:index], *words[index + 1 :]])
        collection = re.sub(r"^on\s|[-–—|/]$", "", around.strip("()[],;: ")).strip()
        if not collection:
            continue
        is_at_end = index in (0, len(words) - 1)
        if ("@" in name or (is_at_end and _MEASURE.fullmatch(name))) and is_measure(name):
            return name, collection
        if is_at_end and _SCORE.fullmatch(name) and is_collection(collection):
            return name, collection
    return "", ""


def is_score(heading: str) -> bool:
    """Whether a heading is a measure of classification or generation, such as F1."""
    return _SCORE.fullmatch(heading) is not None


def measure_in_corner(
    table: SourceTable, head: int, numbers: Sequence[int], column: int
) -> tuple[str, str] | None:
    """Measure of all values and its collection, if that of the row names is one."""
    measure, collection = split_measure(label_of_column(table, head, column))
    headings = {name for names in _headings(table, head, numbers).values() for name in names}
    return (measure, collection) if measure and not any(map(is_measure, headings)) else None


def names_measures(
    table: SourceTable, head: int, numbers: Sequence[int], keys: Mapping[int, Sequence[str]]
) -> bool:
    """Whether the rows are named by measures, and the columns are not."""
    headings = {name for names in _headings(table, head, numbers).values() for name in names}
    names = [key[-1] for key in keys.values()]
    rows = [begins_with_measure(name) or bool(_RESULT.fullmatch(name)) for name in names]
    return 2 * sum(rows) > len(rows) and not any(map(is_measure, headings))


def names_collections(names: Sequence[str]) -> bool:
    """Whether most names are those of well-known collections or tasks."""
    known = [is_collection(name) for name in names]
    return 2 * sum(known) > len(known)


def _join(headings: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(headings))


def _without_unit(heading: str) -> str:
    return _UNIT.sub("", heading).strip(_ARROWS + " ")


def is_in_percent(table: SourceTable, head: int, column: int) -> bool:
    """Whether a heading says that the values below are percentages."""
    units = (_UNIT.search(table.rows[row][column].text) for row in range(head))
    return any(unit is not None and unit[1] == "%" for unit in units)
