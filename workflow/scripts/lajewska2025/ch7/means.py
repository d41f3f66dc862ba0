"""Figure 7.4: mean usefulness of responses and mean ratings of explanations."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import read_transparency
from everycell.jobs.result_job import ResultJob
from everycell.render.panels import bar_panels
from everycell.studies.lajewska2025.ch7.figure_tests import differences

QUALITY = {"Good": "accurate", "Flawed": "noisy", "None": "no explanation"}
MODE = {"T": "textual", "V": "visual", "None": "no explanation"}
RESPONSE = {"all": "all responses", "Good": "perfect responses", "Flawed": "imperfect responses"}


def means(rows: pd.DataFrame, rating: str, factor: str, names: dict[str, str]) -> pd.DataFrame:
    """Mean of a rating by the levels of a factor, in the order of `names`."""
    by_level = rows.groupby(factor)[rating].mean()
    levels = [level for level in names if level in by_level]
    return pd.DataFrame(
        {"group": [names[level] for level in levels], "value": by_level[levels].to_numpy()}
    )


with ResultJob(snakemake) as job:
    ratings = read_transparency(Path(snakemake.input.ratings))
    explained = ratings[ratings["Explanation Quality"] != "None"]
    parts = []
    for level, name in RESPONSE.items():
        rows = ratings if level == "all" else ratings[ratings["Response Quality"] == level]
        part = means(rows, "Usefulness", "Explanation Quality", QUALITY)
        parts.append(part.assign(panel="Usefulness by quality of the explanations", series=name))
    for rating in ("Source", "Confidence"):
        part = means(explained, rating, "Explanation Quality", QUALITY)
        parts.append(part.assign(panel="Explanations by their quality", series=rating))
    for level, name in (("all", "all explanations"), *list(QUALITY.items())[:2]):
        rows = ratings if level == "all" else ratings[ratings["Explanation Quality"] == level]
        part = means(rows, "Usefulness", "Presentation Mode", MODE)
        parts.append(part.assign(panel="Usefulness by form of the explanations", series=name))
    for rating in ("Limitations", "Confidence"):
        part = means(explained, rating, "Presentation Mode", MODE)
        parts.append(part.assign(panel="Explanations by their form", series=rating))
    plotted = pd.concat(parts, ignore_index=True)[["panel", "series", "group", "value"]]
    job.write_figure(
        plotted,
        bar_panels(
            plotted,
            group="group",
            series="series",
            panel="panel",
            group_label="Explanations",
            value_label="Mean rating (1 to 4)",
            scale=(1, 4),
        ),
    )
    tests = differences(ratings)
    job.write_supplement(tests, "tests", dict.fromkeys(tests["metric"].unique(), 3))
