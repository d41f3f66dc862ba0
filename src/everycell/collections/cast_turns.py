"""Utterances of TREC CAsT, and released rewrites of them.

The topic files (JSON) are from the track, the rewrites from Lajewska and Balog, "From Baseline to
Top Performer" (ECIR 2023; lajewska2025, chapter 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes, parse_json, text_of

_FOLDER = "cast-reproducibility"
#: Registry keys of the turns of CAsT 2020 and of their rewrites. "canard-org" is based on the
#: organisers' context, the other two on the trimmed context.
FILES: Mapping[str, str] = {
    "topics": f"{_FOLDER}/topics/2020_manual_evaluation_topics_v1.0.json",
    "canard-org": f"{_FOLDER}/rewrites/2020/13_T5_CANARD_org.tsv",
    "canard": f"{_FOLDER}/rewrites/2020/13_T5_CANARD.tsv",
    "qrecc": f"{_FOLDER}/rewrites/2020/12_T5_QReCC.tsv",
}

_COLUMNS = ["conversation_id", "turn_id", "id", "query", "original"]
# Id of the track's answer to a turn; the field name depends on the year.
_ANSWER_IDS = ("manual_canonical_result_id", "canonical_result_id")


def read_turns(path: Path | str) -> pd.DataFrame:
    """Read a topic file of CAsT 2020 or 2021 with manual rewrites."""
    try:
        conversations = parse_json(text_of(Path(path)))
        rows = [
            _turn(conversation["number"], turn)
            for conversation in conversations
            for turn in conversation["turn"]
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CollectionError(
            f"{path} is not a topic file of CAsT ({type(error).__name__}: {error}); expected a "
            "list of conversations with number, turn and raw_utterance, so fetch the file again "
            "(delete it first)."
        ) from None
    turns = pd.DataFrame(rows)
    if turns.empty:
        raise CollectionError(f"{path} has no turns; fetch it again (delete it first).")
    is_duplicate = turns.duplicated("query_id")
    if is_duplicate.any():
        raise CollectionError(
            f"{path} has the turn {turns['query_id'][is_duplicate.idxmax()]} twice; fetch the file "
            "again (delete it first)."
        )
    is_empty = turns["utterance"] == ""
    if is_empty.any():
        raise CollectionError(
            f"{path}: the turn {turns['query_id'][is_empty.idxmax()]} has an empty utterance; "
            "fetch the file again (delete it first)."
        )
    return turns


def _turn(topic: int | str, turn: Mapping[str, Any]) -> dict[str, str]:
    answer_ids = [turn[name] for name in _ANSWER_IDS if name in turn]
    return {
        "query_id": f"{topic}_{turn['number']}",
        "topic": str(topic),
        "utterance": _normalise_space(turn["raw_utterance"]),
        "manual": _normalise_space(turn.get("manual_rewritten_utterance", "")),
        "answer_id": str(answer_ids[0]) if answer_ids else "",
        "answer": _normalise_space(turn.get("passage", "")),
    }


def _normalise_space(text: str) -> str:
    return " ".join(text.split())


def read_rewrites(path: Path | str, turns: pd.DataFrame) -> pd.Series:
    """Read released rewrites of turns."""
    lines = [line.split("\t") for line in _lines(path)]
    if not lines or lines[0] != _COLUMNS:
        raise CollectionError(
            f"{path}: the first line is {in_quotes(lines[0] if lines else [], 300)}; expected "
            f"{_COLUMNS}, so fetch the file again (delete it first)."
        )
    utterances = dict(zip(turns["query_id"], turns["utterance"], strict=True))
    rewrites: dict[str, str] = {}
    for number, fields in enumerate(lines[1:], 2):
        if len(fields) not in (5, 6) or any(fields[5:]):
            raise CollectionError(
                f"{path}, line {number} has {len(fields)} fields; expected the five fields of "
                "the header, so fetch the file again (delete it first)."
            )
        turn = fields[2]
        rewrite, original = (_normalise_space(field) for field in fields[3:5])
        fault = (
            "is not a turn of the topics"
            if turn not in utterances
            else "occurs twice"
            if turn in rewrites
            else f"has a different utterance ({in_quotes(original)})"
            if original != utterances[turn]
            else "has an empty rewrite"
            if not rewrite
            else ""
        )
        if fault:
            raise CollectionError(
                f"{path}, line {number}: the turn {in_quotes(turn)} {fault}; expected one rewrite "
                "per turn of the topics, so use topics and rewrites of the same year."
            )
        rewrites[turn] = rewrite
    missing_turns = [turn for turn in utterances if turn not in rewrites]
    if missing_turns:
        raise CollectionError(
            f"{path} has no rewrite of the turn {missing_turns[0]!r} ({len(missing_turns)} of "
            f"{len(utterances)} turns are missing); use topics and rewrites of the same year."
        )
    return pd.Series({turn: rewrites[turn] for turn in utterances}, name="text").rename_axis(
        "query_id"
    )


def _lines(path: Path | str) -> list[str]:
    try:
        return text_of(Path(path)).splitlines()
    except UnicodeDecodeError:
        raise CollectionError(
            f"{path} is not UTF-8 text; fetch it again (delete it first)."
        ) from None
