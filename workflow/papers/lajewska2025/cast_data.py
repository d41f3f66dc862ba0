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

#: Number at the end of a passage id. A WaPo document id ends in twelve hexadecimal digits, which
#: this pattern does not match.
PASSAGE = r"-\d{1,5}$"

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


def passages_to_documents(run: pd.DataFrame) -> pd.DataFrame:
    """Turn a passage run into a document run; a document scores as its best passage.

    CAsT 2021 judges documents, but its systems return passages, whose ids are the document id, a
    hyphen and a number. An id without a number is already a document id.
    """
    return shorten_ids(run, PASSAGE, "")


def shorten_ids(run: pd.DataFrame, pattern: str, ending: str) -> pd.DataFrame:
    """Replace a part of the ids, and keep the best score of each new id."""
    renamed = run.assign(document=run["document"].str.replace(pattern, ending, regex=True))
    return renamed.groupby(["query", "document"], sort=False)["score"].max().reset_index()
