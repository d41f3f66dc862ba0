"""Training, validation and test samples from rated dialogues, and their counterfactuals.

Source: abolghasemi2026, sections 3.4 and 3.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import pandas as pd

from everycell.base.errors import CollectionError
from everycell.collections.satisfaction_samples import COUNTERFACTUAL, SYSTEM, USER, Sample, Turn
from everycell.collections.user_satisfaction import (
    SATISFIED_FROM,
    RatedDialogue,
    most_frequent_rating,
)

#: Numbers of exchanges in a released sample, whose last exchange has no answer. Longer samples were
#: truncated to their last 16 exchanges, so they do not match dialogues of USS.
EXCHANGES = range(4, 17)
_APOLOGY = re.compile(r"\bI'm sorry,?(?: but)?", re.IGNORECASE)
_WORD = re.compile(r"\w+")


class Split(NamedTuple):
    """Samples of the three parts, with labels from the ratings of USS."""

    train: list[Sample]
    valid: list[Sample]
    test: list[Sample]


def split_samples(
    dialogues: Sequence[RatedDialogue],
    valid: Sequence[tuple[Turn, ...]],
    test: Sequence[tuple[Turn, ...]],
    benchmark: str,
    *,
    rule: Callable[[Sequence[int]], float] = most_frequent_rating,
    same_label: bool = True,
    window: Literal["SYSTEM", "USER"] = SYSTEM,
) -> Split:
    """Split samples as in the thesis, with binary labels from the ratings.

    Samples of `valid` and `test` are matched to dialogues of USS by all utterances of the user.
    Samples without a match, which were truncated to their last 16 exchanges, are dropped. The
    training part was not released, so it is formed from the dialogues without samples in the other
    parts, with the same numbers of exchanges (`EXCHANGES`).
    """
    prefixes = [
        (index, dialogue.turns[: end + 1], rule(ratings) >= SATISFIED_FROM)
        for index, dialogue in enumerate(dialogues)
        for end, ratings in enumerate(dialogue.ratings)
        if ratings
    ]
    first: dict[tuple[str, ...], tuple[int, bool]] = {}
    for index, turns, satisfied in prefixes:
        first.setdefault(_user_texts(turns), (index, satisfied))
    used_dialogues, parts = set(), []
    for part in (valid, test):
        matched = [
            (turns, first[_user_texts(turns)]) for turns in part if _user_texts(turns) in first
        ]
        if not matched:
            raise CollectionError(
                f"{benchmark}: one part has no sample that matches any of the {len(dialogues)} "
                "rated dialogues; use files of the same benchmark."
            )
        used_dialogues |= {index for _, (index, _) in matched}
        parts.append([(turns, satisfied) for turns, (_, satisfied) in matched])
    training = [
        (turns, first[_user_texts(turns)][1] if same_label else satisfied)
        for index, turns, satisfied in prefixes
        if index not in used_dialogues and _length(turns, window) in EXCHANGES
    ]
    return Split(
        *(
            [
                Sample(f"{benchmark}-{part}-{number:04d}", benchmark, turns[:-1], satisfied)
                for number, (turns, satisfied) in enumerate(labelled, start=1)
            ]
            for part, labelled in zip(Split._fields, [training, *parts], strict=True)
        )
    )


def match_counterfactuals(
    main: Sequence[Sample], generated: Sequence[Sample], *, confirmed: bool = True
) -> list[Sample]:
    """Give generated counterfactuals the ids of their originals; keep only confirmed ones."""
    if len(main) != len(generated):
        raise CollectionError(
            f"There are {len(main)} samples and {len(generated)} counterfactuals; expected one "
            "per sample, so fetch both files again (delete them first)."
        )
    counterfactuals = []
    for original, candidate in zip(main, generated, strict=True):
        if len(original.turns) != len(candidate.turns):
            raise CollectionError(
                f"Sample {original.id} has {len(original.turns)} utterances and its counterfactual "
                f"{len(candidate.turns)}; only the last utterance may differ, so fetch both files "
                "again (delete them first)."
            )
        if not confirmed or original.satisfied != candidate.satisfied:
            counterfactuals.append(replace(candidate, id=original.id + COUNTERFACTUAL))
    return counterfactuals


def remove_apologies(sample: Sample) -> Sample:
    """Remove "I'm sorry" and "I'm sorry, but" from a sample, as in the released counterfactuals.

    The released counterfactuals lack this phrase in all utterances. In the original samples (Main)
    it indicates dissatisfaction, so a test on both needs Main without the phrase as a control.
    """
    turns = ((speaker, _APOLOGY.sub("", text).strip()) for speaker, text in sample.turns)
    return replace(sample, turns=tuple(turns))


def compare_histories(main: Sequence[Sample], generated: Sequence[Sample]) -> pd.DataFrame:
    """Compare generated counterfactuals with their originals before the last utterance."""
    counterfactuals = match_counterfactuals(main, generated, confirmed=False)
    rows = [
        (
            sample.id,
            sample.satisfied,
            sample.satisfied != counterfactual.satisfied,
            sample.turns[:-1] == counterfactual.turns[:-1],
            _words(remove_apologies(sample).turns[:-1])
            == _words(remove_apologies(counterfactual).turns[:-1]),
        )
        for sample, counterfactual in zip(main, counterfactuals, strict=True)
    ]
    columns = ["id", "satisfied", "confirmed", "same", "same_without_apologies"]
    return pd.DataFrame(rows, columns=columns)


def _user_texts(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Utterances of the user."""
    return tuple(text for speaker, text in turns if speaker == USER)


def _length(turns: Iterable[Turn], counted_speaker: str) -> int:
    """Number of exchanges in a dialogue that ends with a user utterance."""
    count = sum(speaker == counted_speaker for speaker, _ in turns)
    return count + (counted_speaker == SYSTEM)


def _words(turns: Iterable[Turn]) -> list[list[str]]:
    return [[speaker, *_WORD.findall(text)] for speaker, text in turns]
