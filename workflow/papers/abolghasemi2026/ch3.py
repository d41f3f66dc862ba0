"""Chapter 3 of abolghasemi2026: data of user satisfaction, and values implied by published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from everycell.collections.satisfaction_samples import USER, Sample, Turn
from everycell.jobs.result_job import ResultJob
from everycell.metrics.satisfaction import Confusion, dissatisfaction_steps, fitting_confusions
from everycell.statistics.agreement import cohens_kappa, fleiss_kappa, percent_agreement
from papers.abolghasemi2026.ch3_data import (
    CAUSE_BENCHMARK,
    FILES,
    RATINGS,
    RULES,
    SATISFIED_FROM,
    RatedDialogue,
    compare_histories,
    read_dialogues,
    read_samples,
    read_split,
    split_samples,
)
from papers.abolghasemi2026.ch3_training import FEW_SHOT

#: Rule that reproduces Table 3.2; the counts of Table 3.1 use it too.
BEHIND_3_2 = next(iter(RULES))
#: Minimum number of raters of a dialogue.
RATERS = 3
#: Decimals of the agreement statistics.
AGREEMENT = {"ratings": 0, "percent agreement": 1, "Cohen kappa": 2, "Fleiss kappa": 2}
#: Interpretation of the split -> options that it changes; the first reproduces Table 3.2.
READINGS: Mapping[str, Mapping[str, Any]] = {
    "as in the table": {},
    "training samples with their own dialogue's label": {"same_label": False},
    "a window of the user's utterances": {"window": USER},
    "both": {"same_label": False, "window": USER},
    **{f"rating: {name}": {"rule": rule} for name, rule in list(RULES.items())[1:]},
}
#: Part of the samples -> test set of Table 3.5.
COLLECTIONS = {"main": "Main", "cf": "CF"}
#: Columns of Table 3.6 -> their names in the library.
MEASURES = {"Acc": "accuracy", "P": "precision", "R": "recall", "F1": "f1"}
#: Shares of dissatisfied samples, in percent, that both growing test sets reach.
SHARES = (10, 20, 30, 40)
RECALL = "recall of dissatisfaction"

#: Test set -> correct and wrong answers.
Counts = Mapping[str, Confusion]


def ratings(job: ResultJob) -> None:
    """Table 3.1: ratings of user utterances, with rating rules and agreement."""
    rules, raters = [], []
    for benchmark in FILES:
        ratings = collect_ratings(read_dialogues(Path(job.input[f"{benchmark}_ratings"])))
        rules.append(counts_by_rule(ratings).assign(dataset=benchmark))
        raters.append(rater_agreement(ratings).assign(dataset=benchmark))
    by_rule = pd.concat(rules)[["dataset", "rule", "metric", "value"]]
    used_rule = by_rule[by_rule["rule"] == BEHIND_3_2]
    table = used_rule.rename(columns={"metric": "row"}).assign(metric="count")
    job.write_table(table[["row", "dataset", "metric", "value"]])
    job.write_supplement(by_rule, "rules", dict.fromkeys(by_rule["metric"], 0))
    job.write_supplement(
        pd.concat(raters)[["dataset", "scale", "metric", "value"]], "raters", AGREEMENT
    )


def split(job: ResultJob) -> None:
    """Table 3.2: satisfied and dissatisfied samples per part, under several interpretations."""
    rows = []
    for benchmark in FILES:
        files = {part: Path(job.input[f"{benchmark}_{part}"]) for part in FILES[benchmark]}
        held_out = [read_split(files[part]) for part in ("valid", "test")]
        sizes = part_sizes(read_dialogues(files["ratings"]), held_out, benchmark)
        rows.append(sizes.assign(dataset=benchmark))
    sizes = pd.concat(rows)
    table = sizes[sizes["reading"] == next(iter(READINGS))].assign(metric="count")
    table = table.assign(split=table["part"].str.capitalize())
    job.write_table(table[["row", "dataset", "split", "metric", "value"]])
    readings = sizes.assign(metric=sizes["dataset"] + " " + sizes["part"])
    readings = readings[["reading", "row", "metric", "value"]]
    job.write_supplement(readings, "readings", dict.fromkeys(readings["metric"], 0))


def test_sets(job: ResultJob) -> None:
    """Table 3.5: sizes of Main and CF, and a comparison of the dialogue histories of pairs."""
    files = job.input
    tests = pd.read_parquet(files.samples, columns=["benchmark", "part", "satisfied"])
    table = collection_sizes(tests)
    # The counterfactuals of SGD were not released, so their published sizes are used and marked.
    quoted = job.input_cells("abolghasemi2026/table_3_5").astype({"value": int})
    parts = [table.assign(marker=""), quoted[list(table.columns)].assign(marker="p")]
    job.write_table(pd.concat(parts, ignore_index=True), "p: as published")
    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    generated = read_samples(Path(files.generated), CAUSE_BENCHMARK, "generated")
    pairs = shared_histories(compare_histories(main, generated))
    job.write_supplement(pairs, "pairs", dict.fromkeys(pairs["metric"], 0))


def implied(job: ResultJob) -> None:
    """Text 3.6: values implied by the published rows of Table 3.6 and the sizes of Table 3.5."""
    rows, sizes = (job.input_cells(f"abolghasemi2026/table_3_{number}") for number in (6, 5))
    job.write_table(implied_cells(implied_counts(rows, sizes)))


def collect_ratings(dialogues: Iterable[RatedDialogue]) -> list[tuple[int, ...]]:
    """Ratings of each user utterance, and of each complete dialogue.

    Ratings of complete dialogues are included because only then do the sums equal the published
    ones.
    """
    return [
        ratings
        for dialogue in dialogues
        for ratings in (*filter(None, dialogue.ratings), dialogue.overall)
    ]


def rating_counts(ratings: Iterable[int]) -> dict[str, int]:
    """Rows of Table 3.1: each rating, then the two classes."""
    counts = Counter(ratings)
    rows = {f"rating {rating}": counts[rating] for rating in RATINGS}
    rows["Dissatisfaction"] = sum(counts[rating] for rating in RATINGS if rating < SATISFIED_FROM)
    rows["Satisfaction"] = sum(counts.values()) - rows["Dissatisfaction"]
    return rows


def counts_by_rule(ratings: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Rating counts under each rule for combining several ratings."""
    rows: list[tuple[str, str, int]] = []
    for name, rule in RULES.items():
        counts = rating_counts(map(rule, ratings))
        rows += [(name, row, count) for row, count in counts.items()]
    return pd.DataFrame(rows, columns=["rule", "metric", "value"])


def rater_agreement(ratings: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Agreement of the raters, on five ratings and on two classes."""
    first_ratings = np.array([item[:RATERS] for item in ratings])
    scales = {"five ratings": first_ratings, "binary": first_ratings >= SATISFIED_FROM}
    rows = []
    for scale, labels in scales.items():
        values = (
            len(labels),
            percent_agreement(labels[:, 0], labels[:, 1]),
            cohens_kappa(labels[:, 0], labels[:, 1]),
            fleiss_kappa(labels),
        )
        rows += [(scale, *cell) for cell in zip(AGREEMENT, values, strict=True)]
    return pd.DataFrame(rows, columns=["scale", "metric", "value"])


def class_sizes(satisfied: Iterable[bool]) -> dict[str, int]:
    """Rows of Tables 3.2 and 3.5."""
    counts = Counter(map(bool, satisfied))
    return {"Satisfaction": counts[True], "Dissatisfaction": counts[False], "Total": counts.total()}


def part_sizes(
    dialogues: Sequence[RatedDialogue],
    held_out_turns: Sequence[Sequence[tuple[Turn, ...]]],
    benchmark: str,
) -> pd.DataFrame:
    """Sizes of training, validation and test parts, by interpretation of the split."""
    rows, (valid, test) = [], held_out_turns
    for reading, options in READINGS.items():
        split: dict[str, list[Sample]] = split_samples(
            dialogues, valid, test, benchmark, **options
        )._asdict()
        for part, samples in split.items():
            sizes = class_sizes(sample.satisfied for sample in samples)
            rows += [(reading, row, part, count) for row, count in sizes.items()]
    return pd.DataFrame(rows, columns=["reading", "row", "part", "value"])


def collection_sizes(tests: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table 3.5, counted from the samples."""
    rows = []
    samples = tests[tests["part"].isin(COLLECTIONS)]
    for (dataset, part), labels in samples.groupby(["benchmark", "part"], sort=False)["satisfied"]:
        sizes = class_sizes(labels)
        rows += [(row, dataset, COLLECTIONS[part], "count", n) for row, n in sizes.items()]
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])


def shared_histories(pairs: pd.DataFrame) -> pd.DataFrame:
    """Count pairs whose dialogues are identical before the last utterance."""
    rows = [
        (name, metric, int(count))
        for name, group in (("all pairs", pairs), ("label flipped", pairs[pairs["confirmed"]]))
        for metric, count in (
            ("pairs", len(group)),
            ("same history", group["same"].sum()),
            ("same but for apologies", group["same_without_apologies"].sum()),
        )
    ]
    return pd.DataFrame(rows, columns=["generated", "metric", "value"])


def implied_counts(
    rows: pd.DataFrame, sizes: pd.DataFrame
) -> dict[tuple[str, str, str], dict[str, Confusion]]:
    """Correct and wrong answers implied by published rows."""
    numbers = sizes.set_index(["dataset", "collection", "row"])["value"].astype(int)
    matrices: dict[tuple[str, str, str], dict[str, Confusion]] = {}
    keys = ["model", "setup", "dataset", "test_data"]
    for (model, setup, dataset, test_data), cells in rows.groupby(keys, sort=False):
        parts = ["Main", "CF"] if test_data == "Mixed" else [test_data]
        size = [
            int(sum(numbers[dataset, part, row] for part in parts))
            for row in ("Satisfaction", "Dissatisfaction")
        ]
        values = zip(cells["metric"], cells["value"].astype(float), strict=True)
        fits = fitting_confusions({MEASURES[name]: value for name, value in values}, *size)
        if len(fits) != 1:
            raise ValueError(
                f"{model}, {setup}, {dataset}, {test_data}: {len(fits)} confusion matrices fit the "
                "published row, expected exactly one. Compare the row with the thesis."
            )
        matrices.setdefault((model, setup, dataset), {})[test_data] = fits[0]
    return matrices


def implied_cells(counts: Mapping[tuple[str, str, str], Counts]) -> pd.DataFrame:
    """Cells of the table of quantities that the counts imply."""
    rows = []
    for names, tests in counts.items():
        for quantity, values in _quantities(names, tests, counts):
            cells = zip(("value", "low", "high"), values, strict=False)
            rows += [(quantity, *names, end, 100 * value) for end, value in cells]
    table = pd.DataFrame(rows, columns=["quantity", "model", "setup", "dataset", "end", "value"])
    order = {name: position for position, name in enumerate(table["quantity"].unique())}
    return table.sort_values("quantity", key=lambda names: names.map(order), kind="stable")


def _quantities(
    names: tuple[str, str, str], tests: Counts, all_counts: Mapping[tuple[str, str, str], Counts]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Quantities of one row of the table, as shares, with the bounds of their intervals."""
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        for test_data, confusion in tests.items():
            right, n = share(confusion)
            bounds = proportion_confint(right, n, method="wilson")
            yield f"{label}, {test_data}", (right / n, *bounds)
        yield f"{label}, CF less Main", _difference(share(tests["CF"]), share(tests["Main"]))
    model, setup, dataset = names
    few_shot_rows = [row for row in all_counts if row[1:] == (FEW_SHOT, dataset)]
    for row in few_shot_rows if setup != FEW_SHOT else ():
        for test_data in tests:
            few_shot_accuracy = _accuracy(all_counts[row][test_data])
            yield (
                f"accuracy, {test_data}, less {row[0]}'s",
                _difference(_accuracy(tests[test_data]), few_shot_accuracy),
            )
    confusions = _grow_test_set(tests["Main"], tests["CF"])
    for label, share in (("accuracy", _accuracy), (RECALL, _recall)):
        values = {}
        for percent in SHARES:
            right, n = share(confusions[percent])
            values[percent] = right / n
            yield f"{label} at {percent} percent", (values[percent],)
        change = values[SHARES[-1]] - values[SHARES[0]]
        yield f"{label} at {SHARES[-1]} percent, less at {SHARES[0]}", (change,)


def _grow_test_set(main: Confusion, cf: Confusion) -> dict[float, Confusion]:
    """Expected counts of Main with added counterfactuals, by share of dissatisfaction."""
    dissatisfied = cf.dissatisfied_right + cf.dissatisfied_wrong
    steps = dissatisfaction_steps(sum(main[:2]), sum(main[2:]), dissatisfied)
    return {
        percent: main._replace(
            # pyrefly: ignore[bad-argument-type]  expected counts are fractions
            dissatisfied_right=main.dissatisfied_right
            + added * cf.dissatisfied_right / dissatisfied,
            # pyrefly: ignore[bad-argument-type]
            dissatisfied_wrong=main.dissatisfied_wrong
            + added * cf.dissatisfied_wrong / dissatisfied,
        )
        for percent, added in steps
    }


def _accuracy(confusion: Confusion) -> tuple[float, float]:
    return confusion.satisfied_right + confusion.dissatisfied_right, sum(confusion)


def _recall(confusion: Confusion) -> tuple[float, float]:
    return confusion.dissatisfied_right, confusion.dissatisfied_right + confusion.dissatisfied_wrong


def _difference(
    first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float, float]:
    """Difference of two shares (count and total), with its interval."""
    bounds = confint_proportions_2indep(*first, *second, method="newcomb")
    return first[0] / first[1] - second[0] / second[1], *bounds
