"""Tables 3.6 and 3.7, Figures 3.4 and 3.5: what trained and few-shot estimators answer."""

import json
from pathlib import Path

import pandas as pd

from everycell.dialogue.estimators import (
    ESTIMATOR,
    TEST_SETS,
    chosen_setups,
    confusions,
    f1_gain,
    growing_share,
    measured,
    overlap,
)
from everycell.dialogue.satisfaction import Confusion
from everycell.engine.render.panels import interval_lines
from everycell.engine.result_job import ResultJob

ROWS = ["test_data", "model", "setup", "benchmark"]
LABELS = {"benchmark": "dataset", "metric": "metric"}
#: End of the name of a model that was trained with counterfactuals, where setups are not shown.
WITH = " + counterfactuals"
#: Rows of the print that are trained here. Where a tier gives verdicts on cells, its tables have no
#: other ones; `counts` and `spread` beside Table 3.6 have all.
PRINTED = {
    "model": ("BERT", "ASAP"),
    "setup": ("w/o up-sampling", "up-sampling x10", "up-sampling x20"),
}
#: Columns of the two tables beside that are about robustness.
GAINS = ("gain in F1", "low", "high")
CUES = ("Acc", "F1", "recall of dissatisfaction")
BASELINES = ("Majority", "TF-IDF")
#: Measures of the two figures, with what their axes say.
FIGURES = {
    "figure_3_4": {"Acc": "Accuracy", "F1": "Macro F1"},
    "figure_3_5": {"recall of dissatisfaction": "Recall of dissatisfaction"},
}


def draw(points: pd.DataFrame, titles: dict[str, str]):
    """Lines of all estimators but the two baselines, a panel for each measure and benchmark.

    With all of them there would be more lines than colours.
    """
    points = points[~points["model"].str.startswith(BASELINES)]
    several = points["benchmark"].nunique() > 1
    panels = points["metric"].map(titles)
    if several:
        panels = points["benchmark"] + ": " + panels
    return interval_lines(
        points.assign(
            panel=panels,
            series=points["model"].where(
                points["model"].str.endswith(WITH), points["model"] + ", " + points["setup"]
            ),
        ),
        x="percent",
        low="low",
        high="high",
        series="series",
        panel="panel",
        x_label="Share of dissatisfied samples (percent)",
        value_label="Percent",
        legend_above=True,
    )


def gains(answers: pd.DataFrame, settings) -> pd.DataFrame:
    """Macro F1 of the setup with counterfactuals, less that of each other one."""
    rows = []
    for (benchmark, model), found in answers.groupby(["benchmark", "model"], sort=False):
        setups = dict(list(found.groupby("setup", sort=False)))
        with_others = setups.pop(settings.augmented, None)
        if with_others is None:
            continue
        for name, other in setups.items():
            if name.endswith(settings.control):
                continue
            for test_data, parts in TEST_SETS.items():
                both = (each[each["part"].isin(parts)] for each in (with_others, other))
                values = f1_gain(*both, draws=settings.draws, seed=job.seed)
                rows.append((test_data, model, name, benchmark, *values))
    columns = ["test_data", "model", "instead_of", "benchmark"]
    table = pd.DataFrame(rows, columns=[*columns, *GAINS])
    return table.melt(id_vars=columns, var_name="metric")


def cue(answers: pd.DataFrame, settings) -> pd.DataFrame:
    """Original test set with and without apologies, and the counterfactual one, which has none."""
    sets = {"Main": "main", "Main without apologies": "plain", "CF": "cf"}
    columns = ["test_data", "model", "setup", "benchmark"]
    tested = answers.groupby(ESTIMATOR)["part"].transform(lambda parts: "plain" in set(parts))
    found = []
    for name, part in sets.items():
        rows = answers[tested & (answers["part"] == part)]
        counts = confusions(rows.assign(part="main")).assign(test_data=name)
        right, wrong = counts["dissatisfied_right"], counts["dissatisfied_wrong"]
        recall = counts.assign(metric=CUES[-1], value=100 * right / (right + wrong))
        found += [measured(counts), recall[[*columns, "seed", "metric", "value"]]]
    table = pd.concat(found)
    table = table[table["metric"].isin(CUES)]
    return table.groupby([*columns, "metric"], sort=False)["value"].mean().reset_index()


with ResultJob(snakemake) as job:
    settings = snakemake.params
    said = pd.concat([pd.read_parquet(path) for path in snakemake.input.trained])
    said["predicted"] = said["probability"] <= 0.5
    ours = (said["setup"] == settings.augmented) | said["setup"].str.endswith(settings.control)
    valid = said[(said["part"] == "valid") & ~ours]
    answers = said[said["part"] != "valid"]
    setups = chosen_setups(valid)
    few = said[:0]
    if snakemake.input.few_shot:
        labels, provenance = map(Path, snakemake.input.few_shot)
        few = pd.read_parquet(labels)
        job.facts["unparsable"] = int((~few["parsed"]).sum())
        job.facts["language_models"] = [json.loads(provenance.read_text(encoding="utf-8"))]
    answers = pd.concat([answers, few], ignore_index=True)
    setups |= {names: "Few-shot" for names in few.groupby(["benchmark", "model"]).groups}

    # Table 3.6, and beside it how far trainings differ and what they answered.
    counts = confusions(answers)
    table = measured(counts)
    shown = table
    if settings.printed_rows:
        shown = table[table["model"].isin(PRINTED["model"]) & table["setup"].isin(PRINTED["setup"])]
    values = shown.groupby([*ROWS, "metric"], sort=False)["value"]
    job.write_table(values.mean().reset_index().rename(columns=LABELS))
    f1 = table[table["metric"] == "F1"].groupby(ROWS, sort=False)["value"]
    spread = pd.DataFrame(
        {
            "mean F1": f1.mean(),
            # Of one training it is not known.
            "deviation": f1.std(),
            "lowest F1": f1.min(),
            "highest F1": f1.max(),
            "trainings": f1.count(),
        }
    )
    job.write_beside(
        spread.reset_index().melt(id_vars=ROWS, var_name="metric").dropna(subset="value"),
        "spread",
        dict.fromkeys(["mean F1", "deviation", "lowest F1", "highest F1"], 2) | {"trainings": 0},
    )
    fields = {field: field.replace("_", ", ") for field in Confusion._fields}
    first = counts[counts["seed"] == 0].rename(columns=fields)
    job.write_beside(
        first.melt(id_vars=ROWS, value_vars=list(fields.values()), var_name="metric"),
        "counts",
        dict.fromkeys(fields.values(), 0),
    )

    # What training with counterfactuals gains, and what the cue of apologies does.
    job.write_beside(gains(answers, settings), "robustness", dict.fromkeys(GAINS, 2))
    job.write_beside(cue(answers, settings), "apologies", dict.fromkeys(CUES, 2))

    # The rest takes the setup of each model that did best on the validation samples, and as models
    # of their own those that were trained with counterfactuals.
    best = pd.Series([(*names, setup) for names, setup in setups.items()])
    names = pd.Series(list(zip(*(answers[key] for key in ESTIMATOR), strict=True)), answers.index)
    augmented = answers["setup"] == settings.augmented
    chosen = answers[names.isin(best) | augmented].copy()
    chosen.loc[augmented, "model"] += WITH
    pairs = chosen.groupby("benchmark")["part"].transform(lambda parts: "cf" in set(parts))
    shown = chosen[pairs].groupby(ESTIMATOR, sort=False)

    similarity = [
        (model, benchmark, "JSI", overlap(rows))
        for (benchmark, model, _), rows in shown
        if model in PRINTED["model"] or not settings.printed_rows
    ]
    columns = ["row", "dataset", "metric", "value"]
    found = pd.DataFrame(similarity, columns=columns).dropna(subset="value")
    job.write_table(found, artefact="table_3_7")

    points = pd.concat(
        [
            growing_share(rows, orders=settings.orders, seed=job.seed).assign(
                **dict(zip(ESTIMATOR, names, strict=True))
            )
            for names, rows in shown
        ]
    )
    for name, titles in FIGURES.items():
        part = points[points["metric"].isin(titles)]
        plotted = part.rename(columns={"value": "mean"}).melt(
            id_vars=[*ESTIMATOR, "metric", "percent"],
            value_vars=["mean", "low", "high"],
            var_name="end",
        )
        plotted["percent"] = plotted["percent"].map(lambda share: f"{share:.4g}")
        job.write_figure(plotted.rename(columns=LABELS), draw(part, titles), name)
