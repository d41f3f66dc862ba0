"""Runs of several systems on the candidate lists of one collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from everycell.collections.benchmark import judgements
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.interpolation import Scaling
from everycell.retrieval.judged_lists import JudgedLists, judge
from everycell.studies.abolghasemi2026.ch2.interpolation import Pairing, pairing
from everycell.studies.abolghasemi2026.ch2.oracle import noise_levels
from everycell.trec.runs import read_run

MEASURES = ("MAP", "nDCG")
DECIMALS = {"MAP": 2, "nDCG": 4}
KEYS = ["row", "model", "detail", "task", "metric"]


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
    def of_job(cls, snakemake: Any, setting: str | None = None) -> RankingRuns:
        """Runs of a job's systems by model; the setting defaults to that of the lists."""
        ((collection, lists),) = (
            (name, settings) for name, settings in snakemake.params.lists.items() if settings
        )
        runs = {
            model: Path(f"work/{collection}/runs/{run}.run")
            for _, model, _, run in snakemake.params.systems
        }
        options = {"setting": setting or lists["setting"], "tasks": lists["tasks"]}
        return cls(snakemake.input.candidates, runs, **options)

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
