"""Nugget labels of GINGER's responses: what each supports, according to three judge models.

Source: lajewska2025, sections 6.4.1 and 6.6; released with Lajewska and Balog, "GINGER: grounded
information nugget-based generation of responses" (SIGIR 2025).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes, parse_json, parse_literal

#: Registry key of the labels as a mirror condenses them: a line per judge, run and topic.
CONDENSED = "ginger/nugget_assignments.jsonl"
#: Judge in Table 6.7 -> in the file.
JUDGES: Mapping[str, str] = {"GPT4o": "gpt4", "Gemini": "gemini", "Claude": "claude"}
#: System in Table 6.7 -> run in the file.
SYSTEMS: Mapping[str, str] = {
    "baseline-top5": "baseline_top_5",
    "baseline_CoT-top5": "baseline_top_5_cot",
    "GINGER-top20 wo/ rewriting": "ginger-fluency_top_20",
    "GINGER-top10 wo/ rewriting": "ginger-fluency_top_10",
    "GINGER-top5 wo/ rewriting": "ginger-fluency_top_5",
    "GINGER-top5": "ginger_top_5",
}
#: Clustering and ranking in Table 6.8 -> run in the file. The first is the standard system.
PARTS: Mapping[tuple[str, str], str] = {
    ("BERTopic", "DuoT5"): "ginger-fluency_top_20",
    ("BERTopic", "BM25"): "ginger_bertopic_bm25",
    ("LSA", "DuoT5"): "ginger_lsa_duot5",
    ("LSA", "BM25"): "ginger_lsa_bm25",
}
#: Registry keys of the authors' own tables, which hold the same labels: one per judge and run.
TABLES = tuple(
    f"ginger/results/nugget_assignment/{judge}_nugget_assignment_301_topics_{run}.csv"
    for judge in JUDGES.values()
    for run in dict.fromkeys(
        run.replace("ginger", "nrg") for run in (*SYSTEMS.values(), *PARTS.values())
    )
)
IMPORTANCE = ("vital", "okay")
SUPPORT = ("support", "partial_support", "not_support")

_LISTS = ("nuggets", "importance", "assignment")
_NAMES = ("judge", "run", "qid")
# Names of the lists and the score in the authors' tables, after the name of the run.
_COLUMNS = {
    "nuggets": "automatically_detected_nuggets",
    "importance": "nuggets_importance",
    "assignment": "nuggets_assignments",
}
_SCORE = "_v_strict_score"


class LabelsError(Exception):
    """A file of nugget labels cannot be used; the message names file, line and what is allowed."""


@dataclass(frozen=True)
class NuggetLabels:
    """Labels of all responses; ids are text."""

    responses: pd.DataFrame
    nuggets: pd.DataFrame


def read_nugget_labels(*paths: Path) -> NuggetLabels:
    """Labels of every judge for every response."""
    responses, nuggets = [], []
    lists: dict[tuple[str, str], list[str]] = {}
    where_of: dict[tuple[str, ...], str] = {}
    for where, entry in _entries(paths):
        _check_entry(where, entry)
        judge, run, topic = key = tuple(entry[name] for name in _NAMES)
        if key in where_of:
            raise LabelsError(
                f"{where}: judge {judge!r} labels run {run!r}, topic {topic!r} again, after "
                f"{where_of[key]}; a response has one line per judge, so remove one."
            )
        where_of[key] = where
        if lists.setdefault((judge, topic), entry["nuggets"]) != entry["nuggets"]:
            raise LabelsError(
                f"{where}: the nuggets of judge {judge!r} for topic {topic!r} differ from those in "
                "the lines before; a judge has one list per topic for all runs, so correct "
                "the line."
            )
        responses.append((*key, float(entry["v_strict"])))
        missing = [""] * (len(entry["nuggets"]) - len(entry["importance"]))
        labels = zip(
            entry["nuggets"], [*entry["importance"], *missing], entry["assignment"], strict=True
        )
        nuggets += [(*key, position, *label) for position, label in enumerate(labels, start=1)]
    columns = ["judge", "run", "topic"]
    table = pd.DataFrame(responses, columns=[*columns, "released"])
    _check_topics(where_of, table)
    return NuggetLabels(
        responses=table,
        nuggets=pd.DataFrame(
            nuggets, columns=[*columns, "nugget", "text", "importance", "support"]
        ),
    )


def _entries(paths: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Yield the place of each entry and the entry, unchecked."""
    for path in paths:
        read = _rows if path.suffix == ".csv" else _lines
        try:
            empty = True
            for number, entry in read(path):
                empty = False
                yield f"{path}, line {number}", entry
        except UnicodeDecodeError as error:
            raise LabelsError(
                f"{path}: is not UTF-8 text ({error}); fetch it again (delete the file first)."
            ) from None
        except csv.Error as error:
            raise LabelsError(
                f"{path}: is not CSV ({error}); fetch it again (delete the file first)."
            ) from None
        if empty:
            raise LabelsError(f"{path}: is empty; fetch it again (delete the file first).")


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    check_regular(path, LabelsError)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, parse_json(line)
            except ValueError as error:
                raise LabelsError(
                    f"{path}, line {number}: is not JSON ({error}); fetch the file again."
                ) from None


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    check_regular(path, LabelsError)
    judge = path.name.partition("_nugget_assignment_")[0]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter=";")
        if not reader.fieldnames:
            return
        header = list(reader.fieldnames)
        # A table repeats the columns of the runs before its own.
        run = header[-1].removesuffix(_SCORE)
        columns = {name: f"{run}_{part}" for name, part in _COLUMNS.items()}
        missing = [name for name in ("qid", *columns.values(), run + _SCORE) if name not in header]
        if missing:
            raise LabelsError(
                f"{path}: lacks the column {in_quotes(missing[0])}; it ends with "
                f"{in_quotes(header[-4:], 300)}, so fetch it again (delete the file first)."
            )
        for row in reader:
            number = reader.line_num
            entry = {"judge": judge, "run": run, "qid": row["qid"]}
            for name, column in (columns | {"v_strict": run + _SCORE}).items():
                try:
                    entry[name] = parse_literal(row[column] or "")
                except ValueError as error:
                    raise LabelsError(
                        f"{path}, line {number}: {in_quotes(column)} is not a list or number as "
                        f"Python writes it ({error}); fetch the file again."
                    ) from None
            yield number, entry


def _check_entry(where: str, entry: Any) -> None:
    for name in _NAMES:
        value = entry.get(name) if isinstance(entry, dict) else None
        if not (isinstance(value, str) and value):
            raise LabelsError(
                f"{where}: {name!r} is {in_quotes(value)}; expected a non-empty string; fill it in."
            )
    for name in _LISTS:
        value = entry.get(name)
        if not (isinstance(value, list) and all(isinstance(part, str) for part in value)):
            raise LabelsError(
                f"{where}: {name!r} is {in_quotes(value)}; expected a list of texts, so correct "
                "the line."
            )
    _check_labels(where, "importance", [label.lower() for label in entry["importance"]], IMPORTANCE)
    _check_labels(where, "assignment", entry["assignment"], SUPPORT)
    size, rated, assigned = (len(entry[name]) for name in _LISTS)
    if assigned != size or rated > size:
        raise LabelsError(
            f"{where}: has {size} nuggets, {rated} labels of importance and {assigned} of support; "
            "each nugget has one of support and at most one of importance, so correct the line."
        )
    score = entry.get("v_strict")
    # A bool is an int in Python, and NaN lies in no interval.
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise LabelsError(
            f"{where}: 'v_strict' is {in_quotes(score)}; a score is a number from 0 to 1, so "
            "correct the line."
        )


def _check_labels(where: str, name: str, labels: list[str], allowed: tuple[str, ...]) -> None:
    for position, label in enumerate(labels, start=1):
        if label not in allowed:
            raise LabelsError(
                f"{where}: nugget {position} has the {name} {in_quotes(label)}; expected "
                f"{', '.join(allowed)}."
            )


def _check_topics(where_of: Mapping[tuple[str, ...], str], responses: pd.DataFrame) -> None:
    every = set(responses["topic"])
    for (judge, run), topics in responses.groupby(["judge", "run"], sort=False)["topic"]:
        lacking = sorted(every.difference(topics))
        if lacking:
            where = next(location for key, location in where_of.items() if key[:2] == (judge, run))
            raise LabelsError(
                f"{where} and below: judge {judge!r} has no labels of run {run!r} for topic "
                f"{lacking[0]!r}, "
                "which others have; means are over the same topics, so add it or drop the topic."
            )
