"""Provenance of each sentence of a response: as JSON for machines, as a page for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader

from everycell.rag.grounded.responses import Response

_PAGES = Environment(
    loader=PackageLoader("everycell.rag.grounded", "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)


def provenance(
    responses: Sequence[Response],
    nuggets: pd.DataFrame,
    passages: pd.DataFrame,
    questions: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Responses with the spans on which their sentences are based, as JSON values."""
    texts = {(row.topic, row.passage_id): row.text for row in passages.itertuples(index=False)}
    of_topic = {topic: rows for topic, rows in nuggets.groupby("topic", sort=False)}
    entries = []
    for response in responses:
        rows = of_topic.get(response.topic, nuggets.iloc[:0]).to_dict("records")
        known = {row["nugget"] for row in rows}
        for sentence in response.sentences:
            unknown = set(sentence.nuggets) - known
            if unknown:
                raise ValueError(
                    f"Topic {response.topic!r}: a sentence comes from nugget {min(unknown)}, but "
                    f"the topic has {len(known)} nuggets; give responses and nuggets of the same "
                    "run."
                )
        for row in rows:
            passage = texts[response.topic, row["passage_id"]]
            if passage[row["start"] : row["end"]] != row["text"]:
                raise ValueError(
                    f"Topic {response.topic!r}, passage {row['passage_id']!r}: characters "
                    f"{row['start']} to {row['end']} are not the text of nugget {row['nugget']}; "
                    "give nuggets and passages of the same run."
                )
        entries.append(
            {
                "topic": response.topic,
                "question": questions[response.topic],
                "follow_up": response.follow_up,
                "sentences": [
                    {"text": part.text, "nuggets": list(part.nuggets)}
                    for part in response.sentences
                ],
                "spans": [
                    {
                        "nugget": int(row["nugget"]),
                        "passage": row["passage_id"],
                        "start": int(row["start"]),
                        "end": int(row["end"]),
                        "text": row["text"],
                    }
                    for row in rows
                ],
                "passages": {
                    passage: text
                    for (topic, passage), text in texts.items()
                    if topic == response.topic
                },
            }
        )
    return entries


def pieces(passage: str, spans: Sequence[Mapping[str, Any]]) -> list[tuple[str, int | None]]:
    """Divide a passage at its spans: texts, with the number of the nugget or None."""
    segments: list[tuple[str, int | None]] = []
    end = 0
    for span in sorted(spans, key=lambda item: item["start"]):
        if span["start"] > end:
            segments.append((passage[end : span["start"]], None))
        segments.append((passage[span["start"] : span["end"]], span["nugget"]))
        end = span["end"]
    if end < len(passage):
        segments.append((passage[end:], None))
    return segments


def provenance_page(responses: Sequence[Mapping[str, Any]], title: str, note: str = "") -> str:
    """A page of responses: each sentence links to its spans, and each span to its sentences."""
    blocks = []
    for number, response in enumerate(responses, 1):
        pieces_by_passage = {
            passage: pieces(
                text, [span for span in response["spans"] if span["passage"] == passage]
            )
            for passage, text in response["passages"].items()
        }
        sentences_by_nugget: dict[int, list[int]] = {}
        for position, sentence in enumerate(response["sentences"], 1):
            for nugget in sentence["nuggets"]:
                sentences_by_nugget.setdefault(nugget, []).append(position)
        blocks.append(
            {
                **response,
                "number": number,
                "pieces": pieces_by_passage,
                "sentences_by_nugget": sentences_by_nugget,
            }
        )
    return _PAGES.get_template("provenance.html").render(responses=blocks, title=title, note=note)
