"""Surrogate judge of counterfactuals in chapter 3 of abolghasemi2026, and controls for it.

`Judge` has one model per fold of the dialogues, and judges a dialogue only with a model that was
not trained on it. It cannot replace human annotators.
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

from everycell.base.arrays import BoolArray
from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import Sample
from papers.abolghasemi2026.ch3_counterfactuals import Rewriting

#: Default number of folds.
FOLDS = 10
_CANNOT = re.compile(
    r"\b(can ?not|can['’]t|unable|not sure|(?:do not|don['’]t) have)\b", re.IGNORECASE
)


def is_refusal(utterance: str) -> bool:
    """Whether an utterance contains a phrase that services use when they cannot help.

    The five phrases (cannot, can't, unable, not sure, don't have) were chosen from the released
    counterfactuals of MultiWOZ. Results on these data therefore show how uniform the
    counterfactuals are, not how well the rule generalises.
    """
    return bool(_CANNOT.search(utterance))


@dataclass(frozen=True)
class Judge:
    """Models that classify satisfaction by the words of the last utterance, one per fold."""

    models: tuple[Pipeline, ...]
    folds: Mapping[str, int]

    def satisfied(self, utterances: Sequence[str], dialogues: Sequence[str]) -> BoolArray:
        """Judge whether each utterance satisfies the user."""
        folds = np.array([self.folds.get(dialogue, 0) for dialogue in dialogues], dtype=int)
        texts = np.array(utterances, dtype=object)
        satisfied = np.zeros(len(texts), dtype=bool)
        for fold, model in enumerate(self.models):
            in_fold = folds == fold
            if in_fold.any():
                satisfied[in_fold] = model.predict(texts[in_fold])
        return satisfied


def train_judge(
    utterances: Sequence[str],
    satisfied: Sequence[bool],
    dialogues: Sequence[str],
    *,
    folds: int = FOLDS,
) -> Judge:
    """Train a judge on labelled utterances, with one model per held-out fold of dialogues."""
    number = len(set(dialogues))
    if not 2 <= folds <= number:
        raise DataError(
            column="folds",
            value=folds,
            expected=f"a number from 2 to that of the dialogues, {number}",
        )
    texts = np.array(utterances, dtype=object)
    labels = np.array(satisfied, dtype=bool)
    fold_of_dialogue, models = {}, []
    splits = GroupKFold(folds).split(texts, labels, dialogues)
    for fold, (training, held_out) in enumerate(splits):
        if len(set(labels[training])) < 2:
            raise DataError(
                row=f"without fold {fold + 1} of {folds}",
                column="utterances",
                fault="have the same label",
                fix="give more dialogues or fewer folds",
            )
        fold_of_dialogue |= {dialogues[row]: fold for row in held_out}
        model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            LogisticRegression(C=10, class_weight="balanced", max_iter=1000),
        )
        models.append(model.fit(texts[training], labels[training]))
    return Judge(tuple(models), fold_of_dialogue)


def unchanged_rewritings(samples: Sequence[Sample]) -> list[Rewriting]:
    """Unchanged samples as rewritings, a control: any flip that a judge reports is an error."""
    return [Rewriting(sample, sample.turns[-1][1], "", "") for sample in samples]


def exchanged_rewritings(
    samples: Sequence[Sample], pool: Sequence[Sample], dialogue: Callable[[Sample], str], seed: int
) -> list[Rewriting]:
    """Samples with the last utterance of another dialogue: a control for rewriting."""
    rewritings = []
    for sample in samples:
        candidates = [other for other in pool if dialogue(other) != dialogue(sample)]
        drawn = random.Random(f"{seed} {sample.id}").choice(candidates)
        rewritings.append(Rewriting(sample, drawn.turns[-1][1], "", ""))
    return rewritings


def judge_rewritings(
    rewritings: Sequence[Rewriting], judge: Judge, dialogue: Callable[[Sample], str]
) -> pd.DataFrame:
    """Label rewritings with a judge; a rewriting with a fault gets no label."""
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
