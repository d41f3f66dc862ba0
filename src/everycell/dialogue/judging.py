"""Substitutes for the annotators who say whether a generated utterance satisfies the user.

They cannot replace people. `Judge` learns from utterances that people labelled, with one model per
fold of the dialogues, and judges a dialogue only by models that have not seen it. Its quality has
to be measured on human-labelled utterances, and against controls: its judgements of unchanged
utterances. `is_refusal` is a rule that needs no training.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from statsmodels.stats.proportion import proportion_confint

from everycell.collections.satisfaction_samples import Sample
from everycell.dialogue.counterfactuals import Rewriting, success
from everycell.engine.arrays import BoolArray

#: Default number of folds.
FOLDS = 10

_CANNOT = re.compile(
    r"\b(can ?not|can['’]t|unable|not sure|(?:do not|don['’]t) have)\b", re.IGNORECASE
)


def is_refusal(utterance: str) -> bool:
    """Whether an utterance has one of five phrases with which a service says that it cannot help.

    The phrases (cannot, can't, unable, not sure, don't have) were chosen by looking at the released
    counterfactuals of MultiWOZ, so a measure on these shows how uniform they are, not how well the
    rule would do elsewhere.
    """
    return bool(_CANNOT.search(utterance))


@dataclass(frozen=True)
class Judge:
    """Models that classify satisfaction by the words of the last utterance."""

    models: tuple[Pipeline, ...]
    part: Mapping[str, int]

    def satisfied(self, utterances: Sequence[str], dialogues: Sequence[str]) -> BoolArray:
        """Judge whether each utterance satisfies."""
        if len(utterances) != len(dialogues):
            raise ValueError(
                f"There are {len(utterances)} utterances and {len(dialogues)} dialogues; give one "
                "dialogue for each utterance."
            )
        parts = np.array([self.part.get(dialogue, 0) for dialogue in dialogues], dtype=int)
        texts = np.array(utterances, dtype=object)
        satisfied = np.zeros(len(texts), dtype=bool)
        for number, model in enumerate(self.models):
            in_part = parts == number
            if in_part.any():
                satisfied[in_part] = model.predict(texts[in_part])
        return satisfied


def train_judge(
    utterances: Sequence[str],
    satisfied: Sequence[bool],
    dialogues: Sequence[str],
    *,
    folds: int = FOLDS,
) -> Judge:
    """Learn from labelled utterances, one model per part of the dialogues that is left out."""
    if not len(utterances) == len(satisfied) == len(dialogues):
        raise ValueError(
            f"There are {len(utterances)} utterances, {len(satisfied)} labels and "
            f"{len(dialogues)} dialogues; give one label and one dialogue for each utterance."
        )
    number = len(set(dialogues))
    if not 2 <= folds <= number:
        raise ValueError(f"folds is {folds} for {number} dialogues; give from 2 to {number}.")
    texts = np.array(utterances, dtype=object)
    labels = np.array(satisfied, dtype=bool)
    part, models = {}, []
    splits = GroupKFold(folds).split(texts, labels, dialogues)
    for number_of_part, (training, left_out) in enumerate(splits):
        if len(set(labels[training])) < 2:
            raise ValueError(
                f"Without part {number_of_part + 1} of {folds} all utterances have one label; "
                "give more dialogues or fewer folds."
            )
        part |= {dialogues[row]: number_of_part for row in left_out}
        model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            LogisticRegression(C=10, class_weight="balanced", max_iter=1000),
        )
        models.append(model.fit(texts[training], labels[training]))
    return Judge(tuple(models), part)


def unchanged(samples: Sequence[Sample]) -> list[Rewriting]:
    """Unchanged samples as rewritings: every flip that a judge sees here is an error."""
    return [Rewriting(sample, sample.turns[-1][1], "", "") for sample in samples]


def exchanged(
    samples: Sequence[Sample], pool: Sequence[Sample], dialogue: Callable[[Sample], str], seed: int
) -> list[Rewriting]:
    """Samples with a last utterance from another dialogue: flips here needed no rewriting."""
    results = []
    for sample in samples:
        candidates = [other for other in pool if dialogue(other) != dialogue(sample)]
        drawn = random.Random(f"{seed} {sample.id}").choice(candidates)
        results.append(Rewriting(sample, drawn.turns[-1][1], "", ""))
    return results


def judged(
    rewritings: Sequence[Rewriting], judge: Judge, dialogue: Callable[[Sample], str]
) -> pd.DataFrame:
    """A judge's labels of rewritings."""
    frame = pd.DataFrame(
        {
            "id": [rewriting.sample.id for rewriting in rewritings],
            "benchmark": [rewriting.sample.benchmark for rewriting in rewritings],
            "counterfactual": True,
            "fault": [rewriting.fault for rewriting in rewritings],
            "intended": [int(not rewriting.sample.satisfied) for rewriting in rewritings],
        }
    )
    usable = [rewriting for rewriting in rewritings if not rewriting.fault]
    labels = judge.satisfied(
        [rewriting.text for rewriting in usable],
        [dialogue(rewriting.sample) for rewriting in usable],
    )
    frame["satisfied"] = pd.Series(pd.NA, index=frame.index, dtype="Int64")
    frame.loc[frame["fault"] == "", "satisfied"] = labels.astype(int)
    return frame


def compare_generators(labels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Success of several generators, with 95 % intervals (Wilson).

    Examples
    --------
    >>> labels = pd.DataFrame({"benchmark": "toy", "counterfactual": True, "fault": "",
    ...                        "intended": [0, 0, 1, 1], "satisfied": [0, 1, 1, 1]})
    >>> result = compare_generators({"toy": labels}).set_index(["row", "metric"])["value"]
    >>> result["Overall"].round(1).tolist()
    [4.0, 4.0, 3.0, 75.0, 30.1, 95.4]
    """
    rows = []
    for generator, of_one in labels.items():
        for row in success(of_one).to_dict("records"):
            low, high = proportion_confint(row["flipped"], row["generated"], method="wilson")
            row |= {"low": 100 * low, "high": 100 * high}
            rows += [
                (generator, row["row"], metric, row[metric])
                for metric in ("generated", "usable", "flipped", "CSS", "low", "high")
            ]
    return pd.DataFrame(rows, columns=["generator", "row", "metric", "value"])
