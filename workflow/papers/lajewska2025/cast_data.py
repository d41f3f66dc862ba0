"""Readers of TREC CAsT utterances, and of their released rewrites, for lajewska2025.

The topic files (JSON) are from the track, the rewrites from Lajewska and Balog, "From Baseline to
Top Performer" (ECIR 2023; lajewska2025, chapter 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.untrusted import read_json

_FOLDER = "cast-reproducibility"
#: Registry keys of the turns of CAsT 2020 and of their rewrites. "canard-org" is based on the
#: organisers' context, the other two on the trimmed context.
FILES: Mapping[str, str] = {
    "topics": f"{_FOLDER}/topics/2020_manual_evaluation_topics_v1.0.json",
    "canard-org": f"{_FOLDER}/rewrites/2020/13_T5_CANARD_org.tsv",
    "canard": f"{_FOLDER}/rewrites/2020/13_T5_CANARD.tsv",
    "qrecc": f"{_FOLDER}/rewrites/2020/12_T5_QReCC.tsv",
}

# Id of the track's answer to a turn; the field name depends on the year.
_ANSWER_IDS = ("manual_canonical_result_id", "canonical_result_id")


def read_turns(path: Path | str) -> pd.DataFrame:
    """Read a topic file of CAsT 2020 or 2021 with manual rewrites."""
    conversations = read_json(path)
    return pd.DataFrame(
        [
            _turn(conversation["number"], turn)
            for conversation in conversations
            for turn in conversation["turn"]
        ]
    )


def _turn(topic: int | str, turn: Mapping[str, Any]) -> dict[str, str]:
    answer_ids = [turn[name] for name in _ANSWER_IDS if name in turn]
    return {
        "query": f"{topic}_{turn['number']}",
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
    # The columns are conversation_id, turn_id, id, query and original.
    lines = Path(path).read_text(encoding="utf-8").splitlines()[1:]
    rewrites = {
        fields[2]: _normalise_space(fields[3]) for fields in (line.split("\t") for line in lines)
    }
    return pd.Series({turn: rewrites[turn] for turn in turns["query"]}, name="text").rename_axis(
        "query"
    )
