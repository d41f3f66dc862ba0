"""Use a language model to paraphrase documents.

A study of attribution needs each document twice: as people wrote it, and as paraphrased by a
language model (abolghasemi2026, section 5.4). A paraphrase must contain the answer and must differ
from the document (`everycell.rag.paraphrase_checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

import pandas as pd

from everycell.language_models import templates
from everycell.language_models.generation import Answer, Request
from everycell.language_models.settings import Decoding
from everycell.rag.paraphrase_checks import LIMITS, Limits, fault, judge
from everycell.text.sentences import sentence_spans

#: Unit of text per prompt.
Unit = Literal["sentence", "passage"]
_FOLDER = Path(__file__).parent / "templates"
#: Our templates; the one for sentences has invented examples.
TEMPLATES: Mapping[Unit, Path] = {
    "sentence": _FOLDER / "paraphrase.txt",
    "passage": _FOLDER / "paraphrase_passage.txt",
}
SLOTS: templates.Slots = {"passage": ("the text to paraphrase", True)}


class Passage(NamedTuple):
    """A passage to paraphrase, without its title, and the answers that it must keep."""

    id: str
    text: str
    answers: tuple[str, ...]


class Paraphrase(NamedTuple):
    """Paraphrase of a passage; `reason` says why it cannot be used ("" if it can)."""

    id: str
    text: str
    attempt: int
    reason: str


def read_template(path: Path = TEMPLATES["sentence"]) -> Template:
    """Read a template with the slots `SLOTS`."""
    return templates.read_template(path, SLOTS, last="passage")


def attempts(
    first: Decoding, *, number: int, temperature: float, top_p: float, seed: int
) -> list[Decoding]:
    """Decoding parameters of each attempt: `first`, then sampling with different seeds."""
    sampled = [
        first.model_copy(update={"temperature": temperature, "top_p": top_p, "seed": seed + offset})
        for offset in range(number - 1)
    ]
    return [first, *sampled]


def paraphrase_all(
    passages: Sequence[Passage],
    ask: Callable[[Sequence[Request]], Sequence[Answer]],
    template: Template,
    decodings: Sequence[Decoding],
    limits: Limits = LIMITS,
    *,
    unit: Unit = "sentence",
    report: Callable[[Request, str, str], None] = lambda request, sentence, reason: None,
) -> list[Paraphrase]:
    """Paraphrase passages, trying the decodings in order until a text passes the checks."""
    sentences = {
        (index, number): passage.text[start:end]
        for index, passage in enumerate(passages)
        for number, (start, end) in enumerate(_spans(passage.text, unit))
    }
    texts: dict[tuple[int, int], str] = {}
    reasons: dict[tuple[int, int], str] = {}
    attempt_counts = dict.fromkeys(sentences, 0)
    for decoding in decodings:
        pending = [name for name in sentences if name not in texts]
        requests = [
            Request(prompt=templates.fill(template, passage=sentences[name]), decoding=decoding)
            for name in pending
        ]
        for name, request, answer in zip(pending, requests, ask(requests), strict=True):
            attempt_counts[name] += 1
            text, reasons[name] = judge(
                answer,
                sentences[name],
                passages[name[0]].answers,
                limits,
                keep_all=unit == "passage",
            )
            report(request, sentences[name], reasons[name])
            if not reasons[name]:
                texts[name] = text
    paraphrases = []
    for index, passage in enumerate(passages):
        units = [name for name in sentences if name[0] == index]
        text = " ".join(texts[name] for name in units if name in texts)
        problem = fault(text, passage.text, passage.answers, limits)
        # For an empty text, the reason for rejecting its first unit is more informative.
        if not text and units:
            problem = reasons[units[0]]
        attempt = max((attempt_counts[name] for name in units), default=0)
        paraphrases.append(Paraphrase(passage.id, text, attempt, problem))
    return paraphrases


def _spans(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Start and end of each unit of a text."""
    return [(0, len(text))] if unit == "passage" else list(sentence_spans(text))


def paraphrases_frame(paraphrases: Sequence[Paraphrase]) -> pd.DataFrame:
    """Paraphrases as a frame that can be stored as Parquet."""
    frame = pd.DataFrame(paraphrases, columns=["document_id", "text", "attempt", "reason"])
    frame.insert(3, "kept", frame["reason"] == "")
    return frame
