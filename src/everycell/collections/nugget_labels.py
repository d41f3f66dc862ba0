"""Labels of three judge models: which nuggets GINGER's responses support.

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

from everycell.base.text_files import check_regular
from everycell.base.untrusted import in_quotes, parse_json, parse_literal

#: Registry key of the condensed labels in the mirror, with one line per judge, run and topic.
CONDENSED = "ginger/nugget_assignments.jsonl"
#: Judge in Table 6.7 -> judge in the file.
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
#: Clustering and ranking in Table 6.8 -> run in the file. The first is the default system.
PARTS: Mapping[tuple[str, str], str] = {
    ("BERTopic", "DuoT5"): "ginger-fluency_top_20",
    ("BERTopic", "BM25"): "ginger_bertopic_bm25",
    ("LSA", "DuoT5"): "ginger_lsa_duot5",
    ("LSA", "BM25"): "ginger_lsa_bm25",
}
#: Registry keys of the authors' tables, one per judge and run, with the same labels.
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
    """A file of nugget labels is invalid; the message gives file, line and allowed values."""


@dataclass(frozen=True)
class NuggetLabels:
    """Scores of responses and labels of their nuggets; ids are strings."""

    responses: pd.DataFrame
    nuggets: pd.DataFrame


def read_nugget_labels(*paths: Path) -> NuggetLabels:
    """Read the labels of every judge for every response."""
    responses, nuggets = [], []
    lists: dict[tuple[str, str], list[str]] = {}
    locations: dict[tuple[str, ...], str] = {}
    for location, entry in _read_entries(paths):
        _check_entry(location, entry)
        judge, run, topic = key = tuple(entry[name] for name in _NAMES)
        if key in locations:
            raise LabelsError(
                f"{location}: judge {judge!r} labels run {run!r}, topic {topic!r} again, after "
                f"{locations[key]}; expected one line per judge and response, so remove one."
            )
        locations[key] = location
        if lists.setdefault((judge, topic), entry["nuggets"]) != entry["nuggets"]:
            raise LabelsError(
                f"{location}: the nuggets of judge {judge!r} for topic {topic!r} differ from those "
                "in earlier lines; expected the same nuggets for all runs, so correct the line."
            )
        responses.append((*key, float(entry["v_strict"])))
        padding = [""] * (len(entry["nuggets"]) - len(entry["importance"]))
        labels = zip(
            entry["nuggets"], [*entry["importance"], *padding], entry["assignment"], strict=True
        )
        nuggets += [(*key, position, *label) for position, label in enumerate(labels, start=1)]
    columns = ["judge", "run", "topic"]
    table = pd.DataFrame(responses, columns=[*columns, "released"])
    _check_topics(locations, table)
    return NuggetLabels(
        responses=table,
        nuggets=pd.DataFrame(
            nuggets, columns=[*columns, "nugget", "text", "importance", "support"]
        ),
    )


def _read_entries(paths: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Yield the location and the unchecked content of each entry."""
    for path in paths:
        read = _read_csv_entries if path.suffix == ".csv" else _read_json_entries
        try:
            is_empty = True
            for number, entry in read(path):
                is_empty = False
                yield f"{path}, line {number}", entry
        except UnicodeDecodeError as error:
            raise LabelsError(
                f"{path} is not UTF-8 text ({error}); fetch it again (delete the file first)."
            ) from None
        except csv.Error as error:
            raise LabelsError(
                f"{path} is not CSV ({error}); fetch it again (delete the file first)."
            ) from None
        if is_empty:
            raise LabelsError(f"{path} is empty; fetch it again (delete the file first).")


def _read_json_entries(path: Path) -> Iterator[tuple[int, Any]]:
    check_regular(path, LabelsError)
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                yield number, parse_json(line)
            except ValueError as error:
                raise LabelsError(
                    f"{path}, line {number} is not JSON ({error}); fetch the file again."
                ) from None


def _read_csv_entries(path: Path) -> Iterator[tuple[int, Any]]:
    check_regular(path, LabelsError)
    judge = path.name.partition("_nugget_assignment_")[0]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter=";")
        if not reader.fieldnames:
            return
        header = list(reader.fieldnames)
        # Columns of other runs may precede those of the run.
        run = header[-1].removesuffix(_SCORE)
        columns = {name: f"{run}_{part}" for name, part in _COLUMNS.items()}
        missing = [name for name in ("qid", *columns.values(), run + _SCORE) if name not in header]
        if missing:
            raise LabelsError(
                f"{path} lacks the column {in_quotes(missing[0])}; its last columns are "
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
                        f"{path}, line {number}: {in_quotes(column)} is not a Python list or "
                        f"number ({error}); fetch the file again."
                    ) from None
            yield number, entry


def _check_entry(location: str, entry: Any) -> None:
    for name in _NAMES:
        value = entry.get(name) if isinstance(entry, dict) else None
        if not (isinstance(value, str) and value):
            raise LabelsError(
                f"{location}: {name!r} is {in_quotes(value)}; expected a non-empty string, so fill "
                "it in."
            )
    for name in _LISTS:
        value = entry.get(name)
        if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise LabelsError(
                f"{location}: {name!r} is {in_quotes(value)}; expected a list of strings, so "
                "correct the line."
            )
    importance = [label.lower() for label in entry["importance"]]
    _check_labels(location, "importance", importance, IMPORTANCE)
    _check_labels(location, "assignment", entry["assignment"], SUPPORT)
    nugget_count, importance_count, support_count = (len(entry[name]) for name in _LISTS)
    if support_count != nugget_count or importance_count > nugget_count:
        raise LabelsError(
            f"{location} has {nugget_count} nuggets, {importance_count} importance labels and "
            f"{support_count} support labels; expected one support label and at most one "
            "importance label per nugget, so correct the line."
        )
    score = entry.get("v_strict")
    # Excludes bool, which is a subclass of int, and NaN.
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise LabelsError(
            f"{location}: 'v_strict' is {in_quotes(score)}; expected a number from 0 to 1, so "
            "correct the line."
        )


def _check_labels(location: str, name: str, labels: list[str], allowed: tuple[str, ...]) -> None:
    for position, label in enumerate(labels, start=1):
        if label not in allowed:
            raise LabelsError(
                f"{location}: nugget {position} has the {name} {in_quotes(label)}; expected one of "
                f"{', '.join(allowed)}."
            )


def _check_topics(locations: Mapping[tuple[str, ...], str], responses: pd.DataFrame) -> None:
    """Raise an error unless all judges and runs have the same topics."""
    all_topics = set(responses["topic"])
    for (judge, run), topics in responses.groupby(["judge", "run"], sort=False)["topic"]:
        missing = sorted(all_topics.difference(topics))
        if missing:
            location = next(
                location for key, location in locations.items() if key[:2] == (judge, run)
            )
            raise LabelsError(
                f"{location} and below: judge {judge!r} has no labels of run {run!r} for topic "
                f"{missing[0]!r}; all judges and runs need the same topics, so add the labels or "
                "remove the topic."
            )
