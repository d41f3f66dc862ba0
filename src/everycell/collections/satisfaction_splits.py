"""From rated dialogues to training, validation and test samples, and to counterfactual pairs.

Source: abolghasemi2026, sections 3.4 and 3.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.satisfaction_samples import COUNTERFACTUAL, SYSTEM, USER, Sample, Turn
from everycell.collections.user_satisfaction import SATISFIED_FROM, RatedDialogue, most_frequent

#: Numbers of exchanges in a sample of the split, the last one without an answer. Longer samples
#: were cut to their last 16 exchanges, and cannot be found in USS.
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
    rule: Callable[[Sequence[int]], float] = most_frequent,
    same_label: bool = True,
    window: Literal["SYSTEM", "USER"] = SYSTEM,
) -> Split:
    """The thesis' split, with binary labels from the ratings.

    Samples of `valid` and `test` are found in USS by everything that their user said. Samples that
    the split cut to their last 16 exchanges are not found, and are dropped. The training part was
    not released: it is made from the dialogues that contribute no sample to the other parts, with
    the same numbers of exchanges (`EXCHANGES`).
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
    held_out, parts = set(), []
    for part in (valid, test):
        matched = [
            (turns, first[_user_texts(turns)]) for turns in part if _user_texts(turns) in first
        ]
        if not matched:
            raise CollectionError(
                f"{benchmark}: no sample of a part is among the {len(dialogues)} rated dialogues; "
                "fetch the files of one benchmark."
            )
        held_out |= {index for _, (index, _) in matched}
        parts.append([(turns, satisfied) for turns, (_, satisfied) in matched])
    training = [
        (turns, first[_user_texts(turns)][1] if same_label else satisfied)
        for index, turns, satisfied in prefixes
        if index not in held_out and _length(turns, window) in EXCHANGES
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


def counterfactuals(
    main: Sequence[Sample], generated: Sequence[Sample], *, confirmed: bool = True
) -> list[Sample]:
    """Generated counterparts of samples, with ids derived from their originals."""
    if len(main) != len(generated):
        raise CollectionError(
            f"There are {len(main)} samples and {len(generated)} counterfactuals; expected one "
            "for each sample, so fetch both files again (delete them first)."
        )
    counterparts = []
    for original, other in zip(main, generated, strict=True):
        if len(original.turns) != len(other.turns):
            raise CollectionError(
                f"Sample {original.id} has {len(original.turns)} utterances and its counterfactual "
                f"{len(other.turns)}; only the last utterance may differ, so fetch both files "
                "again (delete them first)."
            )
        if not confirmed or original.satisfied != other.satisfied:
            counterparts.append(replace(other, id=original.id + COUNTERFACTUAL))
    return counterparts


def without_apologies(sample: Sample) -> Sample:
    """A sample without "I'm sorry" or "I'm sorry, but", like the released counterfactuals.

    The phrase was removed from all their utterances but is in Main, where it indicates
    dissatisfaction: a test on both should include Main without it as a control.
    """
    turns = ((speaker, _APOLOGY.sub("", text).strip()) for speaker, text in sample.turns)
    return replace(sample, turns=tuple(turns))


def compare_histories(main: Sequence[Sample], generated: Sequence[Sample]) -> pd.DataFrame:
    """Compare generated counterparts with their originals before the last utterance."""
    rows = [
        (
            sample.id,
            sample.satisfied,
            sample.satisfied != other.satisfied,
            sample.turns[:-1] == other.turns[:-1],
            _words(without_apologies(sample).turns[:-1])
            == _words(without_apologies(other).turns[:-1]),
        )
        for sample, other in zip(
            main, counterfactuals(main, generated, confirmed=False), strict=True
        )
    ]
    columns = ["id", "satisfied", "confirmed", "same", "same_without_apologies"]
    return pd.DataFrame(rows, columns=columns)


def _user_texts(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Utterances of the user."""
    return tuple(text for speaker, text in turns if speaker == USER)


def _length(turns: Iterable[Turn], counted: str) -> int:
    """Exchanges of a dialogue that ends with an utterance of the user."""
    count = sum(speaker == counted for speaker, _ in turns)
    return count + (counted == SYSTEM)


def _words(turns: Iterable[Turn]) -> list[list[str]]:
    return [[speaker, *_WORD.findall(text)] for speaker, text in turns]
