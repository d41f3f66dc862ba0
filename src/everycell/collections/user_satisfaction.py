"""Dialogues with user satisfaction: USS, its split, and the counterfactuals of CAUSE.

Sources: Sun et al., "Simulating User Satisfaction for the Evaluation of Task-oriented Dialogue
Systems" (SIGIR 2021); the 8:1:1 split of Deng et al. (WWW 2022), as released by Ye, Hu and Yilmaz
(ASAP); Abolghasemi et al., "CAUSE" (Findings of ACL 2024); abolghasemi2026, chapter 3. The data
card (docs/data-cards/user-satisfaction.md) lists what the files lack.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everycell.base.errors import CollectionError
from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes, parse_literal
from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, Turn

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


def read_samples(path: Path, benchmark: str, part: str) -> list[Sample]:
    """Read samples from a file of CAUSE: one Python dictionary per line."""
    samples, line_of_dialogue = [], {}
    for number, line in text_lines(path, CollectionError):
        location = f"{path}, line {number}"
        row = _parse_python(line, location, "a dictionary with 'dialogue' and 'binary_score'")
        if not isinstance(row, dict) or set(row) != {"dialogue", "binary_score"}:
            raise _value_error(location, line, "a dictionary with 'dialogue' and 'binary_score'")
        label = row["binary_score"]
        if type(label) is not int or label not in (0, 1):
            raise _value_error(location, label, "a 'binary_score' of 0 or 1")
        turns = _parse_turns(row["dialogue"], location)
        if turns in line_of_dialogue:
            raise CollectionError(
                f"{location} repeats the dialogue on line {line_of_dialogue[turns]}; fetch the "
                "file again (delete it first)."
            )
        line_of_dialogue[turns] = number
        samples.append(Sample(f"{benchmark}-{part}-{number:04d}", benchmark, turns, label == 1))
    if not samples:
        raise CollectionError(f"{path} is empty; fetch it again (delete the file first).")
    return samples


@dataclass(frozen=True)
class RatedDialogue:
    """A dialogue of USS with several ratings per user utterance."""

    turns: tuple[Turn, ...]
    ratings: tuple[tuple[int, ...], ...]
    overall: tuple[int, ...]


def most_frequent_rating(ratings: Sequence[int]) -> int:
    """Most frequent rating, or the lowest of ties, as in the thesis' split."""
    counts = Counter(ratings)
    if not counts:
        raise ValueError("There are no ratings; at least one is needed.")
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


def read_dialogues(path: Path) -> list[RatedDialogue]:
    """Read the dialogues of USS."""
    dialogues, rows, start = [], [], 1
    for number, line in text_lines(path, CollectionError):
        if not line.strip():
            if rows:
                raise _incomplete_dialogue(path, number)
            continue
        location = f"{path}, line {number}"
        start = start if rows else number
        fields = line.split("\t")
        if len(fields) != 4 or fields[0] not in (USER, SYSTEM):
            raise _value_error(
                location, line, f"{USER} or {SYSTEM}, text, act and ratings, separated by tabs"
            )
        speaker, text, _, rating_list = fields
        ratings = _parse_ratings(rating_list, speaker, location)
        if rows and speaker == USER and len(ratings) != len(rows[0][2]):
            expected = f"{len(rows[0][2])} ratings, as many as on line {start}"
            raise _value_error(location, rating_list, expected)
        rows.append((speaker, text.strip(), ratings))
        if (speaker, text.strip()) == (USER, OVERALL):
            if rows[0][0] != USER or not any(row[0] == SYSTEM for row in rows):
                raise CollectionError(
                    f"{path}, line {start}: this dialogue does not start with the user, or has no "
                    "utterance of the system; fetch the file again (delete it first)."
                )
            utterances = rows[:-1]
            dialogues.append(
                RatedDialogue(
                    tuple((speaker, text) for speaker, text, _ in utterances),
                    tuple(turn_ratings for *_, turn_ratings in utterances),
                    ratings,
                )
            )
            rows = []
    if rows:
        raise _incomplete_dialogue(path, number)
    if not dialogues:
        raise CollectionError(f"{path} is empty; fetch it again (delete the file first).")
    return dialogues


def read_split(path: Path) -> list[tuple[Turn, ...]]:
    """Read samples of a part of the split, up to the rated user utterance."""
    expected = "a list of 'user|||system', a list of acts and a label, separated by tabs"
    line_of_sample: dict[tuple[Turn, ...], int] = {}
    for number, line in text_lines(path, CollectionError):
        location = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise _value_error(location, line, expected)
        exchanges = _parse_python(fields[0], location, expected)
        is_list = isinstance(exchanges, list) and all(
            isinstance(exchange, str) for exchange in exchanges
        )
        if (
            not is_list
            or not exchanges
            or any(exchange.count("|||") != 1 for exchange in exchanges)
        ):
            raise _value_error(location, fields[0], expected)
        pairs = [tuple(map(str.strip, exchange.split("|||"))) for exchange in exchanges]
        question, answer = pairs[-1]
        if question == OVERALL:
            continue
        if answer or len(pairs) == 1:
            raise _value_error(
                location, exchanges[-1], "one or more exchanges, then one without an answer"
            )
        turns = tuple(turn for user, system in pairs for turn in ((USER, user), (SYSTEM, system)))[
            :-1
        ]
        if turns in line_of_sample:
            raise CollectionError(
                f"{location} repeats the sample on line {line_of_sample[turns]}; fetch the file "
                "again (delete it first)."
            )
        line_of_sample[turns] = number
    if not line_of_sample:
        raise CollectionError(f"{path} has no samples; fetch it again (delete the file first).")
    return list(line_of_sample)


def _parse_turns(text: Any, location: str) -> tuple[Turn, ...]:
    """Parse a dialogue with one utterance per line."""
    if not isinstance(text, str):
        raise _value_error(location, text, "a 'dialogue' that is a string")
    turns = []
    for line in text.split("\n"):
        speaker, colon, utterance = line.partition(":")
        if not colon or speaker not in (USER, SYSTEM):
            raise _value_error(
                location, line, f"utterances that start with '{USER}:' or '{SYSTEM}:'"
            )
        turns.append((speaker, utterance.strip()))
    if turns[-1][0] != SYSTEM:
        fault = "has no utterance of the system"
        if any(speaker == SYSTEM for speaker, _ in turns):
            fault = "does not end with an utterance of the system"
        raise CollectionError(
            f"{location}: the dialogue {fault}, to which the label would refer; fetch the file "
            "again (delete it first)."
        )
    return tuple(turns)


def _parse_ratings(text: str, speaker: str, location: str) -> tuple[int, ...]:
    if speaker == SYSTEM:
        if text.strip():
            raise _value_error(location, text, "no rating of a system utterance")
        return ()
    rating_of_text = {str(rating): rating for rating in RATINGS}
    fields = text.split(",")
    for field in fields:
        if field not in rating_of_text:
            raise _value_error(location, field, "ratings from 1 to 5, separated by commas")
    return tuple(rating_of_text[field] for field in fields)


def _incomplete_dialogue(path: Path, number: int) -> CollectionError:
    return CollectionError(
        f"{path}, line {number}: the dialogue that ends here lacks its line '{USER} {OVERALL}'; "
        "fetch the file again (delete it first)."
    )


def _parse_python(text: str, location: str, expected: str) -> Any:
    """Parse a Python literal without running code."""
    try:
        return parse_literal(text)
    except ValueError:
        raise _value_error(
            location, text, f"{expected}, as a Python literal without code"
        ) from None


def _value_error(location: str, value: object, expected: str) -> CollectionError:
    return CollectionError(
        f"{location} has {in_quotes(value)}; expected {expected}, so fetch the file again (delete "
        "it first)."
    )
