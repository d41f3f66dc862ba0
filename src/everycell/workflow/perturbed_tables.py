"""Tables with a header whose values a perturbation can exchange, such as ratings of a crowd.

What a column is (a key, an answer about the text of its row, a label with an opposite) is told by
its name, as the released tables have it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

from everycell.workflow.perturbation import ROWS_PER_CONDITION, Rows, has_value, is_number

#: Names of columns that identify rows, or say which part of a data set they belong to, and of texts
#: to which the other values of a row belong.
KEYS = re.compile(
    r"(?i:|index|unnamed: \d+|q0|number|session|partition|dataset|data_set_name|algorithm_name"
    r"|measure|year|judge|run|(.*[._ ])?([qdpu]?id)s?|.*_ids?|Input\..*|prolific_text_passage"
    r"|QueryPassage|answer_conditions|nuggets)"
    r"|.*Id"
)
#: Names of columns whose values refer to the text of their row, such as spans of a passage.
BOUND = re.compile(r"Answer\..*|.*text_spans.*|(not_)?chosen_sentences|(un)?answerable_sentences")
#: Prefix of the name of a column with the opposite label.
OPPOSITE = re.compile(r"not_|un(?=answerable)")


def read_table(text: str) -> Rows:
    """Table with a header; only the column `value` of published cells changes."""
    header_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=header_line.count)
    header, *values = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    names = [name.strip().lstrip("\ufeff") for name in header]

    def write(rows: list[list[str]]) -> str:
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
        return stream.getvalue()

    def columns(pattern: re.Pattern[str]) -> frozenset[int]:
        return frozenset(i for i, name in enumerate(names) if pattern.fullmatch(name))

    if "value" in names:
        value = names.index("value")
        groups = _groups_of_published(values, names, value)
        keys = frozenset(range(len(names))) - {value}
        scores = frozenset({value})
        return Rows(values, keys, write, scores=scores, groups=groups, can_drop=False)
    items = columns(re.compile(r"Input\..*"))
    bound = columns(BOUND) if items else frozenset()
    groups = [tuple(row[column] for column in sorted(items)) for row in values] if bound else None
    keys = columns(KEYS) - bound
    opposites = tuple(
        (names.index(opposite), column)
        for column in sorted(bound)
        if (opposite := OPPOSITE.sub("", names[column], count=1)) != names[column]
        and opposite in names
    )
    conditions = _conditions(values, range(len(names)))
    return Rows(
        values,
        keys,
        write,
        bound=bound,
        opposites=opposites,
        conditions=conditions,
        groups=groups,
    )


def _conditions(rows: list[list[str]], columns: Iterable[int]) -> frozenset[int]:
    """Columns of which one determines another, with several rows for each value."""
    levels = {i: {row[i] for row in rows if has_value(row, i)} for i in columns}
    few = [i for i in levels if 1 < len(levels[i]) <= len(rows) / ROWS_PER_CONDITION]
    conditions: set[int] = set()
    for cause in few:
        for effect in few:
            if cause != effect and len(levels[effect]) <= len(levels[cause]):
                pairs = {(row[cause], row[effect]) for row in rows if has_value(row, cause)}
                if len(pairs) == len(levels[cause]):
                    conditions |= {cause, effect}
    return frozenset(conditions)


def _groups_of_published(rows: list[list[str]], names: list[str], value: int) -> list[Any]:
    """Groups of published values that can be exchanged.

    These are the values of a metric (the last key, unless a column has this name), for items that
    have the same metrics; the item is the other keys before the value. If nothing can be exchanged
    so, as with the shares of a distribution, the values of an item are. Where each metric has one
    text, such as the colour of its points, those of all metrics are.
    """
    has_metric = "metric" in names[:value]
    metric = names.index("metric") if has_metric else value - 1
    if metric < 0:
        return [""] * len(rows)
    keys = [column for column in range(value) if column != metric]
    items = [tuple(row[column] for column in keys) for row in rows]
    metrics: dict[tuple[str, ...], list[str]] = {}
    values: dict[str, set[str]] = {}
    for row, item in zip(rows, items, strict=True):
        metrics.setdefault(item, []).append(row[metric])
        values.setdefault(row[metric], set()).add(row[value])
    groups: list[Any] = [
        "texts"
        if len(values[row[metric]]) == 1 and not is_number(row[value])
        else (row[metric], *sorted(metrics[item]))
        for row, item in zip(rows, items, strict=True)
    ]
    return items if not has_metric and len(set(groups)) == len(rows) else groups
