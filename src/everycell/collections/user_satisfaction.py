"""Dialogues with the satisfaction of their users: USS, its split, and CAUSE's counterfactuals.

Sources: Sun et al., "Simulating User Satisfaction for the Evaluation of Task-oriented Dialogue
Systems" (SIGIR 2021); the 8:1:1 split is from Deng et al. (WWW 2022), as Ye, Hu and Yilmaz (ASAP)
released it; Abolghasemi et al., "CAUSE" (Findings of ACL 2024); abolghasemi2026, chapter 3. `FILES`
has the registry keys; the data card (docs/data-cards/user-satisfaction.md) says what the files
lack.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everycell.collections.errors import CollectionError
from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, Turn
from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes, parse_literal

#: Registry keys by benchmark: ratings, and the two released parts of the split.
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
#: Registry keys of the counterfactual study; its files for the other benchmark are empty.
CAUSE_BENCHMARK = "MultiWOZ"
CAUSE_FILES: Mapping[str, str] = {
    "main": "cause-counterfactuals/test_mwoz_main.txt",
    "generated": "cause-counterfactuals/test_mwoz_cf.txt",
}
#: Utterance of the user in the row of USS that rates the whole dialogue.
OVERALL = "OVERALL"
#: Ratings of USS; 1 and 2 are dissatisfaction (abolghasemi2026, L608).
RATINGS = range(1, 6)
SATISFIED_FROM = 3


def read_samples(path: Path, benchmark: str, part: str) -> list[Sample]:
    """Read samples from a file of CAUSE: one Python dictionary per line."""
    samples, line_of = [], {}
    for number, line in text_lines(path, CollectionError):
        where = f"{path}, line {number}"
        row = _literal(line, where, "a dictionary with 'dialogue' and 'binary_score'")
        if not isinstance(row, dict) or set(row) != {"dialogue", "binary_score"}:
            raise _refused(where, line, "a dictionary with 'dialogue' and 'binary_score'")
        label = row["binary_score"]
        if type(label) is not int or label not in (0, 1):
            raise _refused(where, label, "a 'binary_score' of 0 or 1")
        turns = _turns(row["dialogue"], where)
        if turns in line_of:
            raise CollectionError(
                f"{where}: repeats the dialogue of line {line_of[turns]}; expected each "
                "dialogue once, so fetch the file again (delete it first)."
            )
        line_of[turns] = number
        samples.append(Sample(f"{benchmark}-{part}-{number:04d}", benchmark, turns, label == 1))
    if not samples:
        raise CollectionError(f"{path}: is empty; fetch it again (delete the file first).")
    return samples


@dataclass(frozen=True)
class RatedDialogue:
    """A dialogue of USS with several people's ratings of each utterance of its user."""

    turns: tuple[Turn, ...]
    ratings: tuple[tuple[int, ...], ...]
    overall: tuple[int, ...]


def most_frequent(ratings: Sequence[int]) -> int:
    """Most frequent rating, the lowest of ties: the rule behind the thesis' split."""
    counts = Counter(ratings)
    if not counts:
        raise ValueError("There are no ratings; give one or more.")
    return min(counts, key=lambda rating: (-counts[rating], rating))


#: Rules that reduce several ratings to one. The first is behind the thesis' split; the last
#: comes closest to its counts of ratings, which none of them reproduces.
RULES: Mapping[str, Callable[[Sequence[int]], int]] = {
    "most frequent, lowest of ties": most_frequent,
    "most frequent, highest of ties": lambda ratings: (
        -most_frequent([-rating for rating in ratings])
    ),
    "mean, rounded half up": lambda ratings: math.floor(statistics.mean(ratings) + 0.5),
    "most frequent of the last four, lowest of ties": lambda ratings: most_frequent(ratings[-4:]),
}


def read_dialogues(path: Path) -> list[RatedDialogue]:
    """Read dialogues of USS."""
    dialogues, rows, start = [], [], 1
    for number, line in text_lines(path, CollectionError):
        if not line.strip():
            if rows:
                raise _unended(path, number)
            continue
        where = f"{path}, line {number}"
        start = start if rows else number
        fields = line.split("\t")
        if len(fields) != 4 or fields[0] not in (USER, SYSTEM):
            raise _refused(
                where, line, f"{USER} or {SYSTEM}, text, act and ratings, separated by tabs"
            )
        speaker, text, _, rated = fields
        ratings = _ratings(rated, speaker, where)
        if rows and speaker == USER and len(ratings) != len(rows[0][2]):
            raise _refused(where, rated, f"{len(rows[0][2])} ratings, as many as in line {start}")
        rows.append((speaker, text.strip(), ratings))
        if (speaker, text.strip()) == (USER, OVERALL):
            if rows[0][0] != USER or not any(row[0] == SYSTEM for row in rows):
                raise CollectionError(
                    f"{path}, line {start}: the dialogue that starts here does not start with the "
                    "user or has no utterance of the system; fetch the file again (delete it "
                    "first)."
                )
            utterances = rows[:-1]
            dialogues.append(
                RatedDialogue(
                    tuple((who, text) for who, text, _ in utterances),
                    tuple(turn_ratings for *_, turn_ratings in utterances),
                    ratings,
                )
            )
            rows = []
    if rows:
        raise _unended(path, number)
    if not dialogues:
        raise CollectionError(f"{path}: is empty; fetch it again (delete the file first).")
    return dialogues


def read_split(path: Path) -> list[tuple[Turn, ...]]:
    """Read samples of a part of the split, up to the utterance of the user that was rated."""
    allowed = "a list of 'user|||system', a list of acts and a label, separated by tabs"
    line_of: dict[tuple[Turn, ...], int] = {}
    for number, line in text_lines(path, CollectionError):
        where = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise _refused(where, line, allowed)
        exchanges = _literal(fields[0], where, allowed)
        texts = isinstance(exchanges, list) and all(
            isinstance(exchange, str) for exchange in exchanges
        )
        if not texts or not exchanges or any(exchange.count("|||") != 1 for exchange in exchanges):
            raise _refused(where, fields[0], allowed)
        pairs = [tuple(map(str.strip, exchange.split("|||"))) for exchange in exchanges]
        question, answer = pairs[-1]
        if question == OVERALL:
            continue
        if answer or len(pairs) == 1:
            raise _refused(where, exchanges[-1], "an exchange, and then one without an answer")
        turns = tuple(turn for user, system in pairs for turn in ((USER, user), (SYSTEM, system)))[
            :-1
        ]
        if turns in line_of:
            raise CollectionError(
                f"{where}: repeats the sample of line {line_of[turns]}; expected each sample "
                "once, so fetch the file again (delete it first)."
            )
        line_of[turns] = number
    if not line_of:
        raise CollectionError(f"{path}: has no samples; fetch it again (delete the file first).")
    return list(line_of)


def _turns(text: Any, where: str) -> tuple[Turn, ...]:
    """Utterances of a dialogue that is written one per line."""
    if not isinstance(text, str):
        raise _refused(where, text, "a 'dialogue' that is text")
    turns = []
    for line in text.split("\n"):
        speaker, colon, utterance = line.partition(":")
        if not colon or speaker not in (USER, SYSTEM):
            raise _refused(where, line, f"utterances that start with '{USER}:' or '{SYSTEM}:'")
        turns.append((speaker, utterance.strip()))
    if turns[-1][0] != SYSTEM:
        what = "has no utterance of the system"
        if any(speaker == SYSTEM for speaker, _ in turns):
            what = "does not end with an utterance of the system"
        raise CollectionError(
            f"{where}: its dialogue {what}, so there is nothing to be satisfied with; fetch the "
            "file again (delete it first)."
        )
    return tuple(turns)


def _ratings(rated: str, speaker: str, where: str) -> tuple[int, ...]:
    if speaker == SYSTEM:
        if rated.strip():
            raise _refused(where, rated, "no rating of an utterance of the system")
        return ()
    allowed = {str(rating): rating for rating in RATINGS}
    fields = rated.split(",")
    for rating in fields:
        if rating not in allowed:
            raise _refused(where, rating, "ratings from 1 to 5, separated by commas")
    return tuple(allowed[rating] for rating in fields)


def _unended(path: Path, number: int) -> CollectionError:
    return CollectionError(
        f"{path}, line {number}: a dialogue ends here without its line '{USER} {OVERALL}'; fetch "
        "the file again (delete it first)."
    )


def _literal(text: str, where: str, allowed: str) -> Any:
    """Evaluate a Python literal; no code in it is run."""
    try:
        return parse_literal(text)
    except ValueError:
        raise _refused(where, text, f"{allowed}, as a Python literal without code") from None


def _refused(where: str, value: object, allowed: str) -> CollectionError:
    return CollectionError(
        f"{where}: has {in_quotes(value)}; expected {allowed}, so fetch the file again (delete "
        "it first)."
    )
