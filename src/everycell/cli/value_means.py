"""Means and deviations over seeds of values that were computed elsewhere (`--mean-over`)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pandas as pd

from everycell.cli.importing.values import DEVIATION
from everycell.cli.printing import list_first, pluralise
from everycell.cli.table_sources import missing_cells
from everycell.cli.value_files import FILE
from everycell.records.cells import RecordError


@dataclass
class Means:
    """What the rule makes of the values of several seeds, and what to say about it."""

    #: Keys of all cells, means and deviations.
    produced: list[Hashable]
    #: Parameters of the rule.
    rule: dict[str, object]
    #: What the values are, for the record and the registry.
    description: str
    notes: list[str]


def average(
    values: pd.DataFrame, seeds: Sequence[str], cells: pd.DataFrame, keys: Sequence[str], name: str
) -> Means:
    """Cells that are means over seeds, and those of deviations if the published table has any."""
    counts = values.groupby(list(keys), sort=False).size()
    highest, lowest = int(counts.max()), int(counts.min())
    if highest == 1:
        raise RecordError(
            f"--mean-over {name}: each cell has one value only, so that there is nothing to "
            "average; remove the option."
        )
    span = f"{highest}" if lowest == highest else f"{lowest} to {highest}"
    description = f"mean over {name} ({span} values per cell)"
    notes = [
        f"Mean over {name} ({list_first(seeds, 10)}): {pluralise(len(counts), 'cell')} of {span} "
        "values each."
    ]
    frame = counts.index.to_frame(index=False)
    # Files may be of one system each.
    expected = highest if name == FILE else len(seeds)
    for number in sorted({*counts} - {expected}):
        selectors = missing_cells(frame, keys, [*(counts != number)])
        names = [", ".join(selector.values()) for selector in selectors]
        notes.append(f"Only {number} of {expected} values: {list_first(names)}.")
    rule: dict[str, object] = {"mean_over": name, "deviations": [], "left_out": []}
    produced = [*counts.index]
    suffix = f" {DEVIATION}"
    published = {*cells.set_index(list(keys)).index}
    measures = sorted(
        measure
        for measure in (frame["metric"].unique() if "metric" in keys else ())
        if measure + suffix in set(cells["metric"])
    )
    if measures:
        repeated = frame[(counts > 1).to_numpy() & frame["metric"].isin(measures).to_numpy()]
        deviations = repeated.assign(metric=repeated["metric"] + suffix)
        cells_of_deviations = [*deviations.set_index(list(keys)).index]
        rule["deviations"] = measures
        rule["left_out"] = [
            [key] if isinstance(key, str) else [*key]
            for key in cells_of_deviations
            if key not in published
        ]
        produced += [key for key in cells_of_deviations if key in published]
        names = ", ".join(measure + suffix for measure in measures)
        notes.append(
            f"{names}: the standard deviation over {name} of a sample (divisor n - 1, ddof=1)."
        )
        description += ", ± is their standard deviation (divisor n - 1)"
    return Means(produced, rule, description, notes)
