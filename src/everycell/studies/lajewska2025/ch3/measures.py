"""Cells of Tables 3.2 to 3.4 from measures by turn, and tests of the rows that are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.retrieval.significance import compare_paired_and_unpaired

#: End of a passage's id. The last part of a WaPo id has twelve hexadecimal digits, so that it is
#: not taken for the number of a passage.
PASSAGE = r"-\d{1,5}$"

#: Metrics of a test -> decimals.
TESTS = {
    "change_percent": 2,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}
#: Comparison, a system and another one.
Pair = tuple[str, str, str]


def row_keys(number: str, system: str, year: str) -> dict[str, str]:
    """Key columns, but the metric, of a system's row in Table 3.`number`.

    Examples
    --------
    >>> row_keys("4", "T5_CANARD, T5_QReCC", "2021")
    {'r1_rewriter': 'T5_CANARD', 'r2_rewriter': 'T5_QReCC', 'cast_year': '2021'}
    """
    if number == "2":
        return {"row": system, "source": "this thesis"}
    if number == "3":
        return {"row": system, "cast_year": year}
    first, second = system.split(", ")
    return {"r1_rewriter": first, "r2_rewriter": second, "cast_year": year}


def shown_metrics(number: str, metrics: Sequence[str]) -> dict[str, str]:
    """Metric -> its name in Table 3.`number`, for those that it has; the first is the recall.

    Examples
    --------
    >>> shown_metrics("4", ["R@500", "MAP", "NDCG@3"])
    {'R@500': 'Recall', 'NDCG@3': 'NDCG@3'}
    """
    if number == "4":
        return {metrics[0]: "Recall", "NDCG@3": "NDCG@3"}
    return {metric: metric for metric in metrics}


def mean_cells(number: str, year: str, values: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Cells of a table: the mean over turns of each system and metric."""
    return pd.DataFrame(
        row_keys(number, system, year) | {"metric": name, "value": by_turn[metric].mean()}
        for system, by_turn in values.items()
        for metric, name in shown_metrics(number, list(by_turn.columns)).items()
    )


def compare_pairs(
    values: Mapping[str, pd.DataFrame], pairs: Sequence[Pair], metrics: Sequence[str]
) -> pd.DataFrame:
    """Pairs of systems in some metrics, with paired and unpaired t-tests over turns."""
    parts = []
    for metric in metrics:
        one = pd.DataFrame({system: by_turn[metric] for system, by_turn in values.items()})
        tests = compare_paired_and_unpaired(
            one, [(a, b) for _, a, b in pairs], comparisons=len(pairs) * len(metrics)
        )
        tests.insert(0, "comparison", [name for name, *_ in pairs])
        parts.append(tests.assign(measure=metric))
    return pd.concat(parts, ignore_index=True)[["comparison", "measure", "a", "b", *TESTS]]


def melt_tests(tests: pd.DataFrame) -> pd.DataFrame:
    """Tests as cells, one row per number: all columns but those of `TESTS` are keys."""
    keys = [column for column in tests if column not in TESTS]
    return tests.melt(keys, list(TESTS), var_name="metric")


def published_changes(
    ranges: pd.DataFrame, published: Sequence[tuple[str, str, str]]
) -> pd.DataFrame:
    """Of all ranges of changes, those that the text gives."""
    keys = ["comparison", "metric", "end"]
    changes = ranges.assign(metric=ranges["measure"] + " change").drop(columns="measure")
    return pd.DataFrame(published, columns=keys).merge(changes, on=keys, validate="1:1")


def documents_of_passages(run: pd.DataFrame) -> pd.DataFrame:
    """A run of passages as one of documents, each at the place of its best passage.

    CAsT 2021 is judged by document, and its systems name passages: the document's id, a hyphen and
    the passage's number. An id without a number is a document's.
    """
    return _best(run, PASSAGE, "")


def _best(run: pd.DataFrame, pattern: str, ending: str) -> pd.DataFrame:
    """A run with a part of its ids replaced, each id once, with its best score."""
    renamed = run.assign(document=run["document"].str.replace(pattern, ending, regex=True))
    return renamed.groupby(["query", "document"], sort=False)["score"].max().reset_index()


def organisers_readings(
    documents: pd.DataFrame, passages: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    """Runs of documents by how the organisers' run is read, the thesis's reading first.

    The track has two files of the same name. Its file of documents has ids of the Washington Post
    cut at the first hyphen; the same cut in its file of passages shows what that costs.
    """
    for run, expected in ((documents, "documents"), (passages, "passages")):
        if run is not None and run["document"].str.contains(PASSAGE).any() != (
            expected == "passages"
        ):
            raise ValueError(
                f"The organisers' run of {expected} has ids such as {run['document'].iloc[0]!r}; "
                "ids of passages end with a hyphen and a number. Name document_runs/"
                "org_automatic_results_1000.v1.0.run as cast_systems.organisers_run, and the file "
                "of that name in the folder above as cast_systems.organisers_passages."
            )
    readings = {"file of documents": documents}
    if passages is not None:
        best = documents_of_passages(passages)
        readings["file of passages"] = best
        readings["file of passages, ids cut"] = _best(best, "^(WAPO_[^-]+)-.*", r"\1")
    return readings
