"""Dialogues with the satisfaction of their users: USS, its split, and CAUSE's counterfactuals.

A *sample* is what a user and a system said up to some utterance of the system, and whether the
user was satisfied then. USS rates every utterance of a user, which tells how satisfied they were
with what the system said before; the CAUSE files have samples with a label of 0 or 1.

Sources: Sun et al., "Simulating User Satisfaction for the Evaluation of Task-oriented Dialogue
Systems" (SIGIR 2021); the 8:1:1 split is from Deng et al. (WWW 2022), as Ye, Hu and Yilmaz (ASAP)
released it; Abolghasemi et al., "CAUSE" (Findings of ACL 2024); abolghasemi2026, chapter 3. `FILES`
has the registry keys, the data card (docs/data-cards/user-satisfaction.md) what they lack.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.smart import CollectionError

#: Registry keys by benchmark: ratings, and the two parts of the split that are at hand.
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
#: Registry keys of the counterfactual study, which has MultiWOZ alone.
CAUSE_FILES: Mapping[str, str] = {
    "main": "cause-counterfactuals/test_mwoz_main.txt",
    "generated": "cause-counterfactuals/test_mwoz_cf.txt",
}
USER, SYSTEM = "USER", "SYSTEM"
#: What a user says in the row of USS that rates the whole dialogue.
OVERALL = "OVERALL"
#: Ratings of USS; a mean opinion below 3 is dissatisfaction (abolghasemi2026, section 3.1).
RATINGS = range(1, 6)
SATISFIED_FROM = 3
#: Exchanges (an utterance of the user and the answer to it) of a sample of the split.
EXCHANGES = range(4, 17)

#: Speaker and text.
Turn = tuple[str, str]


@dataclass(frozen=True)
class Sample:
    """A dialogue up to an utterance of the system, and the satisfaction of its user then.

    Attributes
    ----------
    id
        Unique among the samples of a benchmark. A counterfactual has the id of its original and
        "-cf".
    benchmark
        Such as "MultiWOZ".
    turns
        Speaker (`USER` or `SYSTEM`) and text of each utterance; the last one is the system's.
    satisfied
        Whether the user is satisfied with the last utterance.

    Raises
    ------
    CollectionError
        Another speaker, a last utterance that is not the system's, or another label.

    Examples
    --------
    >>> sample = Sample("toy-1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> sample.turns[-1]
    ('SYSTEM', 'At 8.')
    """

    id: str
    benchmark: str
    turns: tuple[Turn, ...]
    satisfied: bool

    def __post_init__(self) -> None:  # noqa: D105
        unknown = {speaker for speaker, _ in self.turns} - {USER, SYSTEM}
        if unknown:
            raise CollectionError(
                f"Sample {self.id} has the speaker {min(unknown)!r}; allowed is {USER} or {SYSTEM}."
            )
        if not self.turns or self.turns[-1][0] != SYSTEM:
            raise CollectionError(
                f"Sample {self.id} does not end with an utterance of the system, which its label "
                "is about; cut it there or leave it out."
            )
        if not isinstance(self.satisfied, bool):
            raise CollectionError(
                f"Sample {self.id} has the label {self.satisfied!r}; allowed is True or False."
            )


def read_samples(path: Path, benchmark: str, part: str) -> list[Sample]:
    r"""Samples of a file of CAUSE: one Python dictionary a line.

    Parameters
    ----------
    path
        A file of `CAUSE_FILES`.
    benchmark, part
        Start of the ids, which end with the number of the line.

    Returns
    -------
    list of Sample
        In the order of the file.

    Raises
    ------
    CollectionError
        An empty file, a line that is no literal dictionary of a dialogue and a label of 0 or 1, a
        dialogue without an utterance of the system at its end, or one that the file has twice.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "main.txt"
    >>> line = {"dialogue": "USER: A taxi?\nSYSTEM: At 8.", "binary_score": 1}
    >>> _ = path.write_text(f"{line}\n")
    >>> [sample] = read_samples(path, "toy", "test")
    >>> sample.id, sample.turns, sample.satisfied
    ('toy-test-0001', (('USER', 'A taxi?'), ('SYSTEM', 'At 8.')), True)
    """
    samples, seen = [], {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        found = _literal(line, where, "a dictionary with 'dialogue' and 'binary_score'")
        if not isinstance(found, dict) or set(found) != {"dialogue", "binary_score"}:
            raise _refused(where, line, "a dictionary with 'dialogue' and 'binary_score'")
        label = found["binary_score"]
        if type(label) is not int or label not in (0, 1):
            raise _refused(where, label, "a 'binary_score' of 0 or 1")
        turns = _turns(found["dialogue"], where)
        if turns in seen:
            raise CollectionError(
                f"{where}: has the dialogue of line {seen[turns]} again; allowed is each dialogue "
                "once, so fetch the file again (delete it first)."
            )
        seen[turns] = number
        samples.append(Sample(f"{benchmark}-{part}-{number:04d}", benchmark, turns, label == 1))
    if not samples:
        raise CollectionError(f"{path}: is empty; fetch it again (delete the file first).")
    return samples


def counterfactuals(
    main: Sequence[Sample], generated: Sequence[Sample], *, confirmed: bool = True
) -> list[Sample]:
    """Generated counterparts of samples, with ids that name their originals.

    Parameters
    ----------
    main, generated
        Sample i of one belongs to sample i of the other.
    confirmed
        Only those whose label is the other one: what people saw flipped (abolghasemi2026, L759).

    Returns
    -------
    list of Sample
        With the id of the original and "-cf", in the order of `main`.

    Raises
    ------
    CollectionError
        Lists of different length, or a pair of different length.

    Examples
    --------
    >>> asked = ("USER", "A taxi?")
    >>> main = [Sample("toy-1", "toy", (asked, ("SYSTEM", "At 8.")), True)]
    >>> generated = [Sample("x", "toy", (asked, ("SYSTEM", "A train?")), False)]
    >>> [sample.id for sample in counterfactuals(main, generated)]
    ['toy-1-cf']
    >>> counterfactuals(main, main)
    []
    """
    if len(main) != len(generated):
        raise CollectionError(
            f"There are {len(main)} samples and {len(generated)} counterfactuals; allowed is one "
            "for each sample, so fetch both files again (delete them first)."
        )
    found = []
    for original, other in zip(main, generated, strict=True):
        if len(original.turns) != len(other.turns):
            raise CollectionError(
                f"Sample {original.id} has {len(original.turns)} utterances and its counterfactual "
                f"{len(other.turns)}; allowed is another last utterance only, so fetch both files "
                "again (delete them first)."
            )
        if not confirmed or original.satisfied != other.satisfied:
            found.append(replace(other, id=f"{original.id}-cf"))
    return found


def samples_frame(samples: Iterable[Sample]) -> pd.DataFrame:
    """Samples as a frame that Parquet keeps.

    Returns
    -------
    pandas.DataFrame
        Columns `id`, `benchmark`, `turns` (list of pairs of speaker and text), `satisfied`.

    Examples
    --------
    >>> sample = Sample("toy-1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    >>> samples_frame([sample])["turns"][0]
    [['USER', 'A taxi?'], ['SYSTEM', 'At 8.']]
    >>> frame_samples(samples_frame([sample])) == [sample]
    True
    """
    rows = [
        (sample.id, sample.benchmark, [list(turn) for turn in sample.turns], sample.satisfied)
        for sample in samples
    ]
    return pd.DataFrame(rows, columns=["id", "benchmark", "turns", "satisfied"])


def frame_samples(frame: pd.DataFrame) -> list[Sample]:
    """Samples of a frame made by `samples_frame`, also after Parquet; see there."""
    columns = (frame[name] for name in ("id", "benchmark", "turns", "satisfied"))
    return [
        Sample(name, benchmark, tuple((who, text) for who, text in turns), bool(label))
        for name, benchmark, turns, label in zip(*columns, strict=True)
    ]


def _turns(text: Any, where: str) -> tuple[Turn, ...]:
    """Utterances of a dialogue that is written one a line."""
    if not isinstance(text, str):
        raise _refused(where, text, "a 'dialogue' that is text")
    turns = []
    for line in text.split("\n"):
        speaker, colon, said = line.partition(":")
        if not colon or speaker not in (USER, SYSTEM):
            raise _refused(where, line, f"utterances that start with '{USER}:' or '{SYSTEM}:'")
        turns.append((speaker, said.strip()))
    if turns[-1][0] != SYSTEM:
        what = "has no utterance of the system"
        if any(speaker == SYSTEM for speaker, _ in turns):
            what = "does not end with an utterance of the system"
        raise CollectionError(
            f"{where}: its dialogue {what}, so there is nothing to be satisfied with; fetch the "
            "file again (delete it first)."
        )
    return tuple(turns)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of a file's lines; only a line feed ends one."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise CollectionError(
            f"{path}: is no UTF-8 text ({error.reason} at byte {error.start}); fetch it again "
            "(delete the file first)."
        ) from None


def _literal(text: str, where: str, allowed: str) -> Any:
    """What a Python literal says; nothing in it is run."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, TypeError, ValueError, MemoryError, RecursionError):
        raise _refused(where, text, f"{allowed}, as Python writes it and without code") from None


def _refused(where: str, found: object, allowed: str) -> CollectionError:
    shown = found if isinstance(found, str) else repr(found)
    shown = shown if len(shown) <= 60 else f"{shown[:30]} ... {shown[-25:]}"
    return CollectionError(
        f"{where}: has {shown!r}; allowed is {allowed}, so fetch the file again (delete it first)."
    )
