"""Readers of USS and of the counterfactuals of CAUSE for chapter 3 of abolghasemi2026.

Sources: Sun et al., "Simulating User Satisfaction for the Evaluation of Task-oriented Dialogue
Systems" (SIGIR 2021); the 8:1:1 split of Deng et al. (WWW 2022), as released by Ye, Hu and Yilmaz
(ASAP); Abolghasemi et al., "CAUSE" (Findings of ACL 2024); abolghasemi2026, chapter 3. The data
card (docs/data-cards/user-satisfaction.md) lists what the files lack.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_literal
from everycell.collections.satisfaction_samples import COUNTERFACTUAL, SYSTEM, USER, Sample, Turn

#: Registry keys of the ratings and of the two released parts of the split, by benchmark.
FILES: Mapping[str, Mapping[str, str]] = {
    "MultiWOZ": {
        "ratings": "user-satisfaction/uss/MWOZ.txt",
        "valid": "user-satisfaction/asap/valid_mwoz.txt",
        "test": "user-satisfaction/asap/test_mwoz.txt",
    },
    "SGD": {
        "ratings": "user-satisfaction/uss/SGD.txt",
        "valid": "user-satisfaction/asap/valid_sgd.txt",
        "test": "user-satisfaction/asap/test_sgd.txt",
    },
}
#: Registry keys of the counterfactuals; the released files for the other benchmark are empty.
CAUSE_BENCHMARK = "MultiWOZ"
CAUSE_FILES: Mapping[str, str] = {
    "main": "cause-counterfactuals/test_mwoz_main.txt",
    "generated": "cause-counterfactuals/test_mwoz_cf.txt",
}
#: User utterance that marks the row of USS with the ratings of the complete dialogue.
OVERALL = "OVERALL"
#: Ratings of USS; 1 and 2 mean dissatisfaction (abolghasemi2026, L608).
RATINGS = range(1, 6)
SATISFIED_FROM = 3
#: Numbers of exchanges in a released sample, whose last exchange has no answer. Longer samples were
#: truncated to their last 16 exchanges, so they do not match dialogues of USS.
EXCHANGES = range(4, 17)
_APOLOGY = re.compile(r"\bI'm sorry,?(?: but)?", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class RatedDialogue:
    """A dialogue of USS with several ratings per user utterance."""

    turns: tuple[Turn, ...]
    ratings: tuple[tuple[int, ...], ...]
    overall: tuple[int, ...]


def most_frequent_rating(ratings: Sequence[int]) -> int:
    """Most frequent rating, or the lowest of ties, as in the thesis' split."""
    counts = Counter(ratings)
    return min(counts, key=lambda rating: (-counts[rating], rating))


#: Rules that reduce several ratings to one. The first underlies the thesis' split; the last comes
#: closest to its counts of ratings, which none of the rules reproduces.
RULES: Mapping[str, Callable[[Sequence[int]], int]] = {
    "most frequent, lowest of ties": most_frequent_rating,
    "most frequent, highest of ties": lambda ratings: (
        -most_frequent_rating([-rating for rating in ratings])
    ),
    "mean, rounded half up": lambda ratings: math.floor(statistics.mean(ratings) + 0.5),
    "most frequent of the last four, lowest of ties": lambda ratings: most_frequent_rating(
        ratings[-4:]
    ),
}


def read_samples(path: Path, benchmark: str, part: str) -> list[Sample]:
    """Read samples from a file of CAUSE: one Python dictionary per line."""
    samples = []
    for number, line in enumerate(_lines(path), start=1):
        row = parse_literal(line)
        turns = (utterance.partition(":") for utterance in row["dialogue"].split("\n"))
        samples.append(
            Sample(
                f"{benchmark}-{part}-{number:04d}",
                benchmark,
                tuple((speaker, text.strip()) for speaker, _, text in turns),
                row["binary_score"] == 1,
            )
        )
    return samples


def read_dialogues(path: Path) -> list[RatedDialogue]:
    """Read the dialogues of USS."""
    dialogues, rows = [], []
    for line in _lines(path):
        if not line.strip():
            continue
        speaker, text, _, rating_list = line.split("\t")
        ratings = tuple(map(int, rating_list.split(","))) if speaker == USER else ()
        if (speaker, text.strip()) != (USER, OVERALL):
            rows.append((speaker, text.strip(), ratings))
            continue
        dialogues.append(
            RatedDialogue(
                tuple((speaker, text) for speaker, text, _ in rows),
                tuple(turn_ratings for *_, turn_ratings in rows),
                ratings,
            )
        )
        rows = []
    return dialogues


def read_split(path: Path) -> list[tuple[Turn, ...]]:
    """Read samples of a part of the split, up to the rated user utterance."""
    samples = []
    for line in _lines(path):
        exchanges = [exchange.split("|||") for exchange in parse_literal(line.partition("\t")[0])]
        pairs = [(user.strip(), system.strip()) for user, system in exchanges]
        if pairs[-1][0] != OVERALL:
            turns = [turn for user, system in pairs for turn in ((USER, user), (SYSTEM, system))]
            samples.append(tuple(turns[:-1]))
    return samples


def _lines(path: Path) -> list[str]:
    """Lines of a file; only a line feed ends a line."""
    lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


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
            raise DataError(
                row=benchmark,
                fault="has a part that matches none of the rated dialogues",
                fix="use files of the same benchmark",
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
    return [
        replace(candidate, id=original.id + COUNTERFACTUAL)
        for original, candidate in zip(main, generated, strict=True)
        if not confirmed or original.satisfied != candidate.satisfied
    ]


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
