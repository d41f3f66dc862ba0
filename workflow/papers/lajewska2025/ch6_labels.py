"""Released responses and nugget labels on TREC RAG 2024, for chapter 6 of lajewska2025.

Source: lajewska2025, sections 6.4.1 and 6.6; released with Lajewska and Balog, "GINGER: grounded
information nugget-based generation of responses" (SIGIR 2025), without the responses of the
chain-of-thought baseline.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.untrusted import parse_json, parse_literal

#: Registry keys of the responses.
RESPONSES = ("ginger/runs_responses.csv", "ginger/nrg_variants_responses.csv")
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
# Names of the lists and the score in the authors' tables, after the name of the run.
_COLUMNS = {
    "nuggets": "_automatically_detected_nuggets",
    "importance": "_nuggets_importance",
    "assignment": "_nuggets_assignments",
    "v_strict": "_v_strict_score",
}


@dataclass(frozen=True)
class NuggetLabels:
    """Scores of responses and labels of their nuggets; ids are strings."""

    responses: pd.DataFrame
    nuggets: pd.DataFrame


def read_responses(paths: Iterable[Path]) -> pd.DataFrame:
    """Read the responses of all runs."""
    tables = [pd.read_csv(path, sep=";", dtype=str, keep_default_na=False) for path in paths]
    parts = [
        table.rename(columns={"qid": "topic", "query": "question", run: "text"}).assign(run=run)[
            ["run", "topic", "question", "text"]
        ]
        for table in tables
        for run in table.columns.drop(["qid", "query"])
    ]
    return pd.concat(parts, ignore_index=True)


def read_nugget_labels(*paths: Path) -> NuggetLabels:
    """Read the labels of every judge for every response."""
    responses, nuggets = [], []
    for path in paths:
        for entry in _read_table(path) if path.suffix == ".csv" else _read_lines(path):
            key = (entry["judge"], entry["run"], entry["qid"])
            responses.append((*key, float(entry["v_strict"])))
            padding = [""] * (len(entry["nuggets"]) - len(entry["importance"]))
            labels = zip(
                entry["nuggets"], [*entry["importance"], *padding], entry["assignment"], strict=True
            )
            nuggets += [(*key, position, *label) for position, label in enumerate(labels, start=1)]
    columns = ["judge", "run", "topic"]
    return NuggetLabels(
        pd.DataFrame(responses, columns=[*columns, "released"]),
        pd.DataFrame(nuggets, columns=[*columns, "nugget", "text", "importance", "support"]),
    )


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (parse_json(line) for line in file if line.strip())


def _read_table(path: Path) -> Iterator[dict[str, Any]]:
    """Entries of a table of the authors, which has the labels of one judge and run."""
    judge = path.name.partition("_nugget_assignment_")[0]
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter=";")
        # Columns of other runs may precede those of the run.
        run = list(reader.fieldnames or ())[-1].removesuffix(_COLUMNS["v_strict"])
        for row in reader:
            lists = {name: parse_literal(row[run + suffix]) for name, suffix in _COLUMNS.items()}
            yield {"judge": judge, "run": run, "qid": row["qid"], **lists}
