"""Chapter 5 of heuss2025: faithfulness of citations to the source of an answer.

Tables and figures of what answerers cite, with and without forged documents.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from papers.heuss2025.ch5_answers import CITING
from papers.heuss2025.ch5_figures import case_bars, estimate_lines, size_bars


def all_answerers(files: list[str]) -> pd.DataFrame:
    """Rows of all answerers."""
    return pd.concat(map(pd.read_parquet, files), ignore_index=True)


def selection(job: ResultJob) -> None:
    """Table 5.2: citation of selected and of other documents."""
    cells = all_answerers(job.input.selection)
    of_answerer = cells["answerer"] == job.params.shown
    job.write_table(cells[of_answerer].drop(columns="answerer"))
    job.write_supplement(cells, "answerers", {"all": 0})


def sizes(job: ResultJob) -> None:
    """Figures 5.3 and 5.4: sizes of answers, and the documents that they cite."""
    titles, cells = job.params.titles, all_answerers(job.input.sizes)
    points = cells[cells["panel"].isin(titles)]
    points = points.assign(panel=points["panel"].map(titles)).reset_index(drop=True)
    points = points[["panel", "answerer", "x", "value"]]
    job.write_figure(points, size_bars(points))


def forged(job: ResultJob) -> None:
    """Figure 5.6: outcomes of forged documents, and estimates of planted effects."""
    # The table of the figure has the counts.
    cells = controls(job)
    job.write_supplement(cells.drop(columns=["count", "of"]), "shares", {"all": 1})
    if "estimates" in job.input.keys():
        estimated = pd.read_parquet(job.input.estimates)
        job.write_figure(estimated, estimate_lines(estimated), "planted")


def controls(job: ResultJob) -> pd.DataFrame:
    """Figure 5.7: positions of recovered statements whose forged document is cited."""
    cells = all_answerers(job.input.outcomes)
    points = case_counts(cells, job.params.of, job.params.metrics)
    job.write_figure(points, case_bars(points))
    return cells


def case_counts(outcomes: pd.DataFrame, of: str, metrics: Mapping[str, str]) -> pd.DataFrame:
    """Cases by kind of forged document, with their total."""
    selected = outcomes[outcomes["metric"].isin(metrics)]
    rows = []
    for (answerer, kind), part in selected.groupby(["answerer", "kind"], sort=False):
        rows.append((answerer, kind, of, int(part["of"].max())))
        counts = part.set_index("metric")["count"]
        rows += [
            (answerer, kind, name, int(counts[m])) for m, name in metrics.items() if m in counts
        ]
    return pd.DataFrame(rows, columns=["answerer", "kind", "metric", "value"])


def reported(job: ResultJob) -> None:
    """Numbers of section 5.5, measured on a language model."""
    files, params = job.input, job.params
    job.facts["language_models"] = [read_json(file) for file in files.provenance]
    numbers = [pd.read_parquet(file) for file in files.numbers]
    first = numbers[0].drop(columns="answerer")
    # Claims about repeated answers are meaningless for a model that is given the answer.
    job.write_table(first[~first["claim"].isin(params.untold)].reset_index(drop=True))
    tables = {"measured": [pd.read_parquet(file) for file in files.answers]}
    if "right" in files.keys():
        tables["right"] = [pd.read_parquet(file) for file in files.right]
    else:
        tables["models"] = numbers
    for name, parts in tables.items():
        job.write_supplement(pd.concat(parts, ignore_index=True), name, {"all": 1})


def stated(job: ResultJob) -> None:
    """Numbers in the text that follow from Table 5.2 or from each other."""
    table, claims = (job.input_cells(f"heuss2025/{name}") for name in ("table_5_2", "text_5_5"))
    numbers = claims.set_index("claim")["value"].astype(float)
    job.write_table(derived_numbers(table, numbers.to_dict()))


def derived_numbers(table: pd.DataFrame, stated: Mapping[str, float]) -> pd.DataFrame:
    """Numbers in the text that follow from other published numbers."""
    counts = table.set_index(["selection_step", "row"])["value"].astype(int)
    relevant, to_cite = counts["Pred. Rel."], counts["Pred. Cited"]
    recovered = stated["random document: statements recovered"]
    pairs = relevant[CITING[0]] + relevant[CITING[1]]
    numbers = {
        "answers that cite nothing": relevant[CITING[3]],
        "pairs with a random document": pairs,
        "random document: forged one cited, share": 100
        * stated["random document: forged one cited"]
        / recovered,
        "statements recovered, highest share": 100 * recovered / pairs,
        "documents predicted to be cited: otherwise": 100
        - stated["documents predicted to be cited: cited"],
        "answers that cite what was not predicted to be cited": 100
        * to_cite[CITING[2]]
        / to_cite.sum(),
    }
    return pd.DataFrame(numbers.items(), columns=["claim", "value"])
