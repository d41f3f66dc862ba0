"""Evaluation of counterfactual generators, and agreement of surrogate judges with people.

For the supplements of Table 3.4, and for Tables 3.4 and 3.5 on surrogate data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.collections.satisfaction_samples import Sample
from everycell.dialogue.counterfactuals import Rewriting, rewrite_by_rule
from everycell.dialogue.judging import (
    Judge,
    exchanged_rewritings,
    is_refusal,
    judge_rewritings,
    train_judge,
    unchanged_rewritings,
)
from everycell.dialogue.satisfaction import confusion, scores
from everycell.statistics.agreement import cohens_kappa

#: Name of the released counterfactuals, which are treated as a generator.
RELEASED = "GPT-4, as released"
#: Decimals of the tables of generators and of judges.
DECIMALS = {"generated": 0, "usable": 0, "flipped": 0, "CSS": 1, "low": 1, "high": 1}
SCORES = {"samples": 0, "accuracy": 2, "precision": 2, "recall": 2, "F1": 2, "kappa": 2}


def first_utterance(sample: Sample) -> str:
    """First utterance of a dialogue, which identifies it in the released files."""
    return sample.turns[0][1]


def planted_dialogue(sample: Sample) -> str:
    """Dialogue of a planted sample: the sample's id without the turn."""
    return sample.id.rpartition("/")[0]


def train_sample_judge(
    samples: Sequence[Sample],
    dialogue: Callable[[Sample], str],
    *,
    folds: int,
    labels: Sequence[Sample] = (),
) -> Judge:
    """Train a judge on the last utterances of labelled samples (`train_judge`)."""
    labelled = labels or samples
    return train_judge(
        [sample.turns[-1][1] for sample in labelled],
        [sample.satisfied for sample in labelled],
        [dialogue(sample) for sample in samples],
        folds=folds,
    )


def add_controls(
    generators: Mapping[str, Sequence[Rewriting]],
    rewritten_samples: Sequence[Sample],
    pool: Sequence[Sample],
    dialogue: Callable[[Sample], str],
    *,
    seed: int,
) -> dict[str, Sequence[Rewriting]]:
    """Add two controls to the generators: no change, and an utterance of another dialogue."""
    return {
        **generators,
        "nothing changed": unchanged_rewritings(rewritten_samples),
        "utterance of another dialogue": exchanged_rewritings(
            rewritten_samples, pool, dialogue, seed
        ),
    }


def judge_generators(
    main: Sequence[Sample],
    people: Sequence[Sample],
    generators: Mapping[str, Sequence[Rewriting]],
    judge: Judge,
    *,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Labels by people and a judge, on the samples that the first generator rewrote."""
    rewritten_ids = {rewriting.sample.id for rewriting in next(iter(generators.values()))}
    pairs = [pair for pair in zip(main, people, strict=True) if pair[0].id in rewritten_ids]
    released_rewritings = [
        Rewriting(before, after.turns[-1][1], "", after.turns[-1][1]) for before, after in pairs
    ]
    rewritten = {RELEASED: released_rewritings} | add_controls(
        generators, [before for before, _ in pairs], main, first_utterance, seed=seed
    )
    labels = {
        f"{name}: surrogate judge": judge_rewritings(rewriting, judge, first_utterance)
        for name, rewriting in rewritten.items()
    }
    released_labels = labels[f"{RELEASED}: surrogate judge"]
    by_people = released_labels.assign(satisfied=[int(after.satisfied) for _, after in pairs])
    return {f"{RELEASED}: people": by_people} | labels


def judge_scores(main: Sequence[Sample], people: Sequence[Sample], judge: Judge) -> pd.DataFrame:
    """Agreement with people, by test set, of judges that see only the last utterance."""
    before = np.array([sample.satisfied for sample in main])
    truth = np.array([sample.satisfied for sample in people])
    flipped = truth != before
    last, generated = ([sample.turns[-1][1] for sample in part] for part in (main, people))
    dialogues = [first_utterance(sample) for sample in main]
    judges: dict[str, Callable[[list[str]], np.ndarray]] = {
        "words of other dialogues": lambda texts: judge.satisfied(texts, dialogues),
        "five phrases": lambda texts: np.array([not is_refusal(text) for text in texts]),
    }
    rows = []
    for name, classify in judges.items():
        main_labels, generated_labels = classify(last), classify(generated)
        for test_set, labels, predicted in (
            ("Main", before, main_labels),
            ("CF", truth[flipped], generated_labels[flipped]),
            ("Mixed", np.r_[before, truth[flipped]], np.r_[main_labels, generated_labels[flipped]]),
            ("all generated", truth, generated_labels),
        ):
            values = (
                len(labels),
                *scores(confusion(labels, predicted)),
                cohens_kappa(labels, predicted),
            )
            rows += [(name, test_set, *cell) for cell in zip(SCORES, values, strict=True)]
    return pd.DataFrame(rows, columns=["judge", "test_data", "metric", "value"])


def planted_sizes(samples: Sequence[Sample], judge: Judge, *, seed: int) -> pd.DataFrame:
    """Cells of Table 3.5: all samples, and rule-based rewrites whose flip a judge confirms."""
    rewritten = [rewrite_by_rule(sample, seed=seed) for sample in samples]
    verdicts = judge_rewritings(rewritten, judge, planted_dialogue)
    sets = {
        "Main": [sample.satisfied for sample in samples],
        "CF": verdicts.loc[verdicts["satisfied"] == verdicts["intended"], "satisfied"],
    }
    rows = []
    for collection, labels in sets.items():
        satisfied = int(sum(labels))
        counts = {"Satisfaction": satisfied, "Dissatisfaction": len(labels) - satisfied}
        for row, count in (*counts.items(), ("Total", len(labels))):
            rows.append((row, "planted", collection, "count", count))
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])
