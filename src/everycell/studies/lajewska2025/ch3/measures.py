"""Cells of Tables 3.2 to 3.4 from measures per turn, and tests between their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.retrieval.significance import compare_paired_and_unpaired

#: Number at the end of a passage id. A WaPo document id ends in twelve hexadecimal digits, which
#: this pattern does not match.
PASSAGE = r"-\d{1,5}$"

#: Metrics of a test -> decimals.
TESTS = {
    "change_percent": 2,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}
#: Name of a comparison, and the two systems.
Pair = tuple[str, str, str]


def row_keys(number: str, system: str, year: str) -> dict[str, str]:
    """Key columns of a system's row in Table 3.`number`, without the metric."""
    if number == "2":
        return {"row": system, "source": "this thesis"}
    if number == "3":
        return {"row": system, "cast_year": year}
    first, second = system.split(", ")
    return {"r1_rewriter": first, "r2_rewriter": second, "cast_year": year}


def metric_names(number: str, metrics: Sequence[str]) -> dict[str, str]:
    """Names of metrics in Table 3.`number`; the first metric must be recall.

    Metrics that the table does not have are left out.
    """
    if number == "4":
        return {metrics[0]: "Recall", "NDCG@3": "NDCG@3"}
    return {metric: metric for metric in metrics}


def mean_cells(number: str, year: str, values: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Cells of a table: the mean over turns per system and metric."""
    return pd.DataFrame(
        row_keys(number, system, year) | {"metric": name, "value": by_turn[metric].mean()}
        for system, by_turn in values.items()
        for metric, name in metric_names(number, list(by_turn.columns)).items()
    )


def compare_pairs(
    values: Mapping[str, pd.DataFrame], pairs: Sequence[Pair], metrics: Sequence[str]
) -> pd.DataFrame:
    """Paired and unpaired t-tests over turns, per metric and pair of systems."""
    parts = []
    for metric in metrics:
        by_system = pd.DataFrame({system: by_turn[metric] for system, by_turn in values.items()})
        tests = compare_paired_and_unpaired(
            by_system, [(a, b) for _, a, b in pairs], comparisons=len(pairs) * len(metrics)
        )
        tests.insert(0, "comparison", [name for name, *_ in pairs])
        parts.append(tests.assign(measure=metric))
    return pd.concat(parts, ignore_index=True)[["comparison", "measure", "a", "b", *TESTS]]


def melt_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """Tests with one row per number; all columns outside `TESTS` are keys."""
    keys = [column for column in tests if column not in TESTS]
    return tests.melt(keys, list(TESTS), var_name="metric")


def published_changes(
    ranges: pd.DataFrame, published: Sequence[tuple[str, str, str]]
) -> pd.DataFrame:
    """Ranges of changes that the text reports."""
    keys = ["comparison", "metric", "end"]
    changes = ranges.assign(metric=ranges["measure"] + " change").drop(columns="measure")
    return pd.DataFrame(published, columns=keys).merge(changes, on=keys, validate="1:1")


def passages_to_documents(run: pd.DataFrame) -> pd.DataFrame:
    """Turn a passage run into a document run; a document scores as its best passage.

    CAsT 2021 judges documents, but its systems return passages, whose ids are the document id, a
    hyphen and a number. An id without a number is already a document id.
    """
    return _shorten_ids(run, PASSAGE, "")


def _shorten_ids(run: pd.DataFrame, pattern: str, ending: str) -> pd.DataFrame:
    """Replace a part of the ids, and keep the best score of each new id."""
    renamed = run.assign(document=run["document"].str.replace(pattern, ending, regex=True))
    return renamed.groupby(["query", "document"], sort=False)["score"].max().reset_index()


def organisers_readings(
    documents: pd.DataFrame, passages: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    """Document runs for each interpretation of the organisers' run, the thesis's first.

    The track has two files of the same name. In the document file, Washington Post ids are cut at
    the first hyphen; the same cut in the passage file shows what that costs.
    """
    for run, expected in ((documents, "documents"), (passages, "passages")):
        if run is not None and run["document"].str.contains(PASSAGE).any() != (
            expected == "passages"
        ):
            raise ValueError(
                f"The organisers' run of {expected} has ids such as {run['document'].iloc[0]!r}, "
                f"expected ids of {expected} (only passage ids end with a hyphen and a "
                "number). Set cast_systems.organisers_run to document_runs/"
                "org_automatic_results_1000.v1.0.run, and cast_systems.organisers_passages to the "
                "file of the same name in the parent folder."
            )
    readings = {"file of documents": documents}
    if passages is not None:
        best = passages_to_documents(passages)
        readings["file of passages"] = best
        readings["file of passages, ids cut"] = _shorten_ids(best, "^(WAPO_[^-]+)-.*", r"\1")
    return readings
