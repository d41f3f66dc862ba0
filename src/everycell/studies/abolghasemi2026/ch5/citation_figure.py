"""Figure 5.5 of abolghasemi2026 as bars, for the scripts that have its numbers."""

import pandas as pd

from everycell.engine.render.panels import bar_panels


def bars(cells: pd.DataFrame):
    """Figure 5.5: a panel a generator and data set, a group a pair of authors, a bar a mode."""
    generators, authors = zip(*(name.split(" rel=") for name in cells["series"]), strict=True)
    panels = [", ".join(pair) for pair in zip(generators, cells["row"], strict=True)]
    return bar_panels(
        cells.assign(
            panel=panels,
            group=[f"rel={name}".replace(" ", "\n") for name in authors],
            value=cells["value"].astype(float),
        ),
        group="group",
        series="x",
        panel="panel",
        group_label="authors of relevant and of other documents",
        value_label="cited documents per answer",
        columns=2 if len(set(panels)) in (2, 4) else 3,
    )
