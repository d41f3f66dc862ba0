"""Runs on candidate lists for chapter 2 of abolghasemi2026, of single systems and of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.collections.benchmark import judgements
from everycell.jobs.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.interpolation import ALPHAS, Scaling, Sweep, noise_oracle, sweep
from everycell.retrieval.judged_lists import JudgedLists, judge
from everycell.trec.runs import read_run

MEASURES = ("MAP", "nDCG")


@dataclass(frozen=True)
class Pairing:
    """Values of two interpolated systems at every weight, by split of one task."""

    validation: Sweep
    test: Sweep


def pairing(
    lists: JudgedLists,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    in_test: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
) -> Pairing:
    """Interpolate two systems separately on the validation and test topics of one task."""
    test_topics = np.asarray(in_test)
    if test_topics.all() or not test_topics.any():
        raise ValueError(
            f"{test_topics.sum()} of {len(test_topics)} topics are test topics; alpha is tuned on "
            "validation topics, so each split needs at least one topic."
        )
    first_scores, second_scores = np.asarray(first), np.asarray(second)
    validation, test = (
        sweep(
            lists.topics(rows),
            first_scores[rows],
            second_scores[rows],
            measures,
            alphas=alphas,
            over=over,
        )
        for rows in (~test_topics, test_topics)
    )
    return Pairing(validation, test)


def noise_levels(
    lists: JudgedLists,
    first: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
    seeds: Iterable[int] = range(20),
) -> pd.DataFrame:
    """Noise oracle of one system: mean and spread over the seeds."""
    by_seed = noise_oracle(lists, first, measures, alphas=alphas, over=over, seeds=seeds)
    by_measure = by_seed.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "noise_value": by_measure["value"].mean(),
            "noise_sd": by_measure["value"].std(),
            "noise_gain": by_measure["gain"].mean(),
        }
    ).rename_axis("metric")


class RankingRuns:
    """Candidate lists of one setting and the runs that rank them.

    `runs` maps names to files; `{task}` in a file name is replaced with the name of the task.
    """

    def __init__(
        self, candidates: str, runs: Mapping[str, Path], *, setting: str, tasks: list[str]
    ) -> None:
        self.candidates = pd.read_parquet(candidates)
        self.setting, self.tasks = setting, tasks
        self.runs = dict(runs)
        self._read = cache(read_run)

    def run(self, name: str, task: str) -> pd.DataFrame:
        """Run of a system; it contains the task's candidates and may contain others."""
        return self._read(Path(str(self.runs[name]).format(task=task)))

    def lists(self, task: str, splits: Iterable[str] = ("test",)) -> JudgedLists:
        """Candidate lists of a task in the given splits, in this order."""
        qrels = pd.concat(
            judgements(self.candidates, setting=self.setting, task=task, split=split)
            for split in splits
        )
        return judge(qrels, qrels)

    def values(self, task: str, split: str = "test") -> dict[str, pd.DataFrame]:
        """Values per topic of a split for each system."""
        runs, qrels = self.ranked(task, split)
        return {name: evaluate(run, qrels, MEASURES) for name, run in runs.items()}

    def ranked(
        self, task: str, split: str = "test"
    ) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
        """Runs on the lists of a task in a split, and the relevance judgements."""
        qrels = judgements(self.candidates, setting=self.setting, task=task, split=split)
        lists = judge(qrels, qrels)
        scores = {name: lists.scores(self.run(name, task), outside="drop") for name in self.runs}
        return {name: lists.run(system_scores) for name, system_scores in scores.items()}, qrels

    @classmethod
    def of_job(cls, job: ResultJob) -> RankingRuns:
        """Runs of a job's systems by model."""
        ((collection, lists),) = (
            (name, settings) for name, settings in job.params.lists.items() if settings
        )
        runs = {
            model: Path(f"work/{collection}/runs/{run}.run")
            for _, model, _, run in job.params.systems
        }
        return cls(job.input.candidates, runs, **lists)

    def noise(self, scaling: Scaling, seeds: int) -> dict[str, pd.DataFrame]:
        """Noise oracle of the first system, by task."""
        first = next(iter(self.runs))
        levels = {}
        for task in self.tasks:
            lists = self.lists(task)
            scores = lists.scores(self.run(first, task), outside="drop")
            levels[task] = noise_levels(lists, scores, MEASURES, over=scaling, seeds=range(seeds))
        return levels

    def pairings(self, scaling: Scaling) -> dict[str, dict[str, Pairing]]:
        """Pairings of the first system with every other system, by its name and by task."""
        first, *second_systems = self.runs
        return {
            second: {task: self.pairing(task, first, second, scaling) for task in self.tasks}
            for second in second_systems
        }

    def pairing(self, task: str, first: str, second: str, scaling: Scaling) -> Pairing:
        """Interpolation of two systems at every weight, on both splits of a task."""
        lists = self.lists(task, ("validation", "test"))
        in_test = np.asarray(lists.queries.isin(self.lists(task).queries))
        first_scores, second_scores = (
            lists.scores(self.run(name, task), outside="drop") for name in (first, second)
        )
        return pairing(lists, first_scores, second_scores, in_test, MEASURES, over=scaling)
