"""Responses with provenance for each sentence: summaries of the top clusters of nuggets.

`provenance` links sentences and spans of passages as JSON, and `provenance_page` shows them.

Source: lajewska2025, section 6.2. The wording of the prompts is our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from jinja2 import Environment, PackageLoader

from everycell.language_models import reasoning, templates
from everycell.language_models.generation import Message
from everycell.rag.grounded.clusters import order, stems
from everycell.text.sentences import sentence_spans

_FOLDER = Path(__file__).parent / "templates"
#: Prompt -> file, slots, and the slot of the last message.
PROMPTS: Mapping[str, tuple[Path, templates.Slots, str]] = {
    "summary": (
        _FOLDER / "summary.txt",
        {
            "question": ("the question", True),
            "nuggets": ("the nuggets of a cluster, one per line", True),
            "words": ("largest number of words of the sentence", False),
        },
        "nuggets",
    ),
    "fluency": (
        _FOLDER / "fluency.txt",
        {
            "question": ("the question", True),
            "sentences": ("the sentences, one per line", True),
        },
        "sentences",
    ),
    "follow_up": (
        _FOLDER / "follow_up.txt",
        {
            "question": ("the question", True),
            "nuggets": ("the nuggets of the next cluster, one per line", True),
        },
        "nuggets",
    ),
    "one_step": (
        _FOLDER / "one_step.txt",
        {
            "question": ("the question", True),
            "passages": ("the passages, numbered", True),
            "sentences": ("sentences of the answer", False),
            "words": ("words of the answer", False),
        },
        "passages",
    ),
    "chain_of_thought": (
        _FOLDER / "chain_of_thought.txt",
        {
            "question": ("the question", True),
            "passages": ("the passages, numbered", True),
            "sentences": ("sentences of the answer", False),
            "words": ("words of the answer", False),
        },
        "passages",
    ),
}


class Sentence(NamedTuple):
    """A sentence of a response, with the numbers of its nuggets."""

    text: str
    nuggets: tuple[int, ...]


class Response(NamedTuple):
    """A response to the question of a topic."""

    topic: str
    sentences: tuple[Sentence, ...]
    follow_up: str = ""

    @property
    def text(self) -> str:
        """Sentences, joined by blanks."""
        return " ".join(sentence.text for sentence in self.sentences)


def read_prompt(name: str, path: Path | None = None) -> Template:
    """Read a prompt of `PROMPTS`, or a custom file in its place."""
    own, slots, last = PROMPTS[name]
    return templates.read_template(path or own, slots, last=last)


def prompt(template: Template, **values: str | int | Sequence[str]) -> tuple[Message, ...]:
    """Fill a prompt; a list becomes numbered lines."""
    filled = {
        name: str(value)
        if isinstance(value, (str, int))
        else "\n".join(
            f"{number}. {' '.join(text.split())}" for number, text in enumerate(value, 1)
        )
        for name, value in values.items()
    }
    return templates.fill(template, **filled)


def choose_clusters(scores: npt.ArrayLike, first: int) -> tuple[list[int], int | None]:
    """Choose the top clusters for a response, and the next one for its follow-up question."""
    ranked = order(scores)
    if not ranked:
        return [], None
    return ranked[:first], ranked[min(first, len(ranked) - 1)]


def most_central(texts: Sequence[str]) -> int:
    """Position of the text that shares the most words with the others: an extractive summary.

    A text's score is the mean, over the other texts, of the share of their distinct words that it
    contains; ties go to the longest, then the first.
    """
    words = [set(stems(text)) for text in texts]
    scores = [
        float(
            np.mean(
                [
                    len(own & other) / max(len(other), 1)
                    for other_row, other in enumerate(words)
                    if other_row != row
                ]
                or [0.0]
            )
        )
        for row, own in enumerate(words)
    ]
    return max(range(len(texts)), key=lambda row: (round(scores[row], 12), len(words[row]), -row))


def first_words(text: str, limit: int) -> str:
    """Truncate a text to a number of words."""
    words = text.split()
    return " ".join(words) if len(words) <= limit else f"{' '.join(words[:limit])} …"


def trace_sentences(text: str, sources: Mapping[int, str]) -> tuple[Sentence, ...]:
    """Sentences of a generated text, each with the nuggets of whose words it contains half."""
    words = {number: set(stems(source)) for number, source in sources.items()}
    sentences = []
    for start, end in sentence_spans(text):
        own = set(stems(text[start:end]))
        nuggets = tuple(
            number
            for number, words_of_source in words.items()
            if words_of_source and 2 * len(words_of_source & own) >= len(words_of_source)
        )
        sentences.append(Sentence(" ".join(text[start:end].split()), nuggets))
    return tuple(sentences)


def one_line(text: str) -> str:
    """A model's answer as one line, without its list marker."""
    return re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", " ".join(text.split()))


def without_reasoning(text: str) -> str:
    """The text after the last "Answer:" at the beginning of a line; empty if there is none.

    The reasoning of a model that was cut off is not an answer, nor is reasoning in tags.
    """
    text = reasoning.without_reasoning(text)
    marks = list(
        re.finditer(r"^[-#*_>\s]*answer[*_ ]*:[*_]*", text, flags=re.IGNORECASE | re.MULTILINE)
    )
    return text[marks[-1].end() :].strip() if marks else ""


def responses_frame(responses: Mapping[str, Sequence[Response]]) -> pd.DataFrame:
    """Responses of several systems as a frame, one row per sentence."""
    rows = [
        (system, response.topic, number, sentence.text, list(sentence.nuggets), response.follow_up)
        for system, of_system in responses.items()
        for response in of_system
        for number, sentence in (list(enumerate(response.sentences, 1)) or [(0, Sentence("", ()))])
    ]
    return pd.DataFrame(
        rows, columns=["system", "topic", "sentence", "text", "nuggets", "follow_up"]
    )


def responses_of(rows: pd.DataFrame) -> list[Response]:
    """Responses of one system from the rows of `responses_frame`."""
    return [
        Response(
            str(topic),
            tuple(
                Sentence(row.text, tuple(int(nugget) for nugget in row.nuggets))
                for row in own.sort_values("sentence").itertuples(index=False)
                if row.sentence > 0
            ),
            str(own["follow_up"].iloc[0]),
        )
        for topic, own in rows.groupby("topic", sort=False)
    ]


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
