"""Counterfactual dialogues of chapter 3 of abolghasemi2026.

The last utterance of the system is rewritten, so that the user's satisfaction flips.

`rewrite_by_rule` does so with rules: a baseline without a language model.

Source: abolghasemi2026, sections 3.4.1 and 3.6.1.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from everycell.collections.satisfaction_samples import (
    COUNTERFACTUAL,
    SYSTEM,
    USER,
    Sample,
    samples_from_frame,
    samples_to_frame,
)

#: Reason why an answer cannot be used -> explanation.
FAULTS: Mapping[str, str] = {
    "empty": "no words",
    "refusal": "the model talks about itself or its task instead of answering",
    "another language": "not English",
    "over-long": "cut off at the token limit, or more words than allowed",
    "unchanged": "identical to the original utterance",
    "copied": "identical to another utterance of the dialogue",
}


@dataclass(frozen=True)
class Rewriting:
    """Rewritten last utterance of a dialogue, with its fault and the raw answer."""

    sample: Sample
    text: str
    fault: str
    raw: str


def dialogue_text(sample: Sample) -> str:
    """A dialogue as text, one utterance per line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in sample.turns)


def rewritten_dialogue(rewriting: Rewriting) -> Sample:
    """The dialogue with its new last utterance and the opposite label, even if it has a fault."""
    sample = rewriting.sample
    return replace(
        sample,
        id=f"{sample.id}{COUNTERFACTUAL}",
        turns=(*sample.turns[:-1], (SYSTEM, rewriting.text)),
        satisfied=not sample.satisfied,
    )


def counterfactual(rewriting: Rewriting) -> Sample | None:
    """The dialogue with its new last utterance and the opposite label; None if it has a fault.

    Annotators decide whether the label has actually changed.
    """
    return None if rewriting.fault else rewritten_dialogue(rewriting)


def rewritings_frame(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Rewritings as a frame that can be stored as Parquet."""
    frame = samples_to_frame(rewriting.sample for rewriting in rewritings)
    for column in ("text", "fault", "raw"):
        frame[column] = [getattr(rewriting, column) for rewriting in rewritings]
    return frame


def frame_rewritings(frame: pd.DataFrame) -> list[Rewriting]:
    """Rewritings from a frame made by `rewritings_frame`, also if read from Parquet."""
    columns = (frame[column] for column in ("text", "fault", "raw"))
    return [Rewriting(*row) for row in zip(samples_from_frame(frame), *columns, strict=True)]


def count_faults(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Count usable answers and faults, by the label of the original."""
    counts = Counter(
        (rewriting.sample.satisfied, rewriting.fault or "usable") for rewriting in rewritings
    )
    rows = [
        (row, answer, "count", counts[label, answer])
        for row, label in (("Satisfaction", True), ("Dissatisfaction", False))
        for answer in ("usable", *FAULTS)
    ]
    return pd.DataFrame(rows, columns=["row", "answer", "metric", "value"])


def success_rates(labels: pd.DataFrame) -> pd.DataFrame:
    r"""Percentage of the generated utterances that flip the label (CSS).

    .. math:: CSS = 100 \cdot \frac{\text{counterfactuals labelled as intended}}
                                    {\text{generated utterances}}
    """
    rewritten_labels = labels[labels["counterfactual"]]
    flipped = (
        (rewritten_labels["satisfied"] == rewritten_labels["intended"]).fillna(False).astype(bool)
    )
    usable = rewritten_labels["fault"] == ""
    rows = []
    for benchmark in dict.fromkeys(rewritten_labels["benchmark"]):
        in_benchmark = rewritten_labels["benchmark"] == benchmark
        for row, selected in (
            ("Satisfaction", in_benchmark & (rewritten_labels["intended"] == 0)),
            ("Dissatisfaction", in_benchmark & (rewritten_labels["intended"] == 1)),
            ("Overall", in_benchmark),
        ):
            generated, usable_count, flipped_count = (
                int(mask.sum())
                for mask in (selected, selected & usable, selected & usable & flipped)
            )
            share = 100 * flipped_count / generated if generated else float("nan")
            rows.append((benchmark, row, generated, usable_count, flipped_count, share))
    return pd.DataFrame(rows, columns=["benchmark", "row", "generated", "usable", "flipped", "CSS"])


@dataclass(frozen=True)
class _Slot:
    """A slot of a request: a pattern for its value, other values, and a question for it."""

    pattern: re.Pattern[str]
    alternatives: tuple[str, ...]
    question: str


def _slot(pattern: str, alternatives: str, question: str) -> _Slot:
    return _Slot(re.compile(pattern, re.IGNORECASE), tuple(alternatives.split()), question)


_NUMBER = r"\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten"
#: The first group of each pattern is the value.
_SLOTS: Mapping[str, _Slot] = {
    "area": _slot(
        r"\b(north|south|east|west|cent(?:re|er))\b",
        "north south east west centre",
        "Which part of town would you like?",
    ),
    "price": _slot(
        r"\b(cheap|moderate|expensive)(?=ly\b|\b)",
        "cheap moderate expensive",
        "What price range do you have in mind?",
    ),
    "day": _slot(
        r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "Which day would that be?",
    ),
    "time": _slot(
        r"\b(\d{1,2}:\d{2})\b", "06:20 09:10 13:40 16:05 20:50 22:15", "At what time should it be?"
    ),
    "people": _slot(
        rf"\b({_NUMBER})(?= (?:people|persons?|guests?|passengers?|tickets?|of us)\b)",
        "2 3 4 5 6 7 8",
        "How many people will there be?",
    ),
    "nights": _slot(
        rf"\b({_NUMBER})(?= nights?\b)", "2 3 4 5 6 7", "How many nights will you stay?"
    ),
    "stars": _slot(
        rf"\b({_NUMBER})(?=[ -]stars?\b)", "1 2 3 4 5", "How many stars should it have?"
    ),
}
#: Name of a rule -> its effect.
RULES: Mapping[str, str] = {
    "contradiction": "a value that the user gave and the system repeats is replaced by another",
    "asked again": "the system asks for a value that the user has already given",
    "not answered": "the system says that it cannot help or does not know",
    "confirmed": "the system confirms the requested booking with the values that the user gave",
    "answered": "the system answers the user's question",
    "met": "the system offers what the user wants, with the values that the user gave",
}
_CANNOT = (
    "I am afraid I cannot do that. Is there anything else?",
    "Sorry, I do not know that. Can I help you with something else?",
    "That did not work, and I cannot say why. Please try again another day.",
    "I have nothing like that in my system.",
)
_MORE = (" Is there anything else?", " Can I do more for you?", "")
_BOOKING = re.compile(r"\b(book\w*|reserv\w*|tickets?|table)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(what|which|when|where|how|phone|postcode|address|number)\b", re.IGNORECASE)


def stated_values(turns: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Value of each slot that the user gave in a dialogue; the last one if there are several."""
    utterances = [text for speaker, text in turns if speaker == USER]
    values_by_slot = {}
    for name, slot in _SLOTS.items():
        values = [match[1] for text in utterances for match in slot.pattern.finditer(text)]
        if values:
            values_by_slot[name] = values[-1]
    return values_by_slot


def rewrite_by_rule(sample: Sample, *, seed: int) -> Rewriting:
    """Rewrite the last utterance with a rule that applies.

    To dissatisfy the user, the rule is drawn at random; to satisfy, it follows from the request.
    """
    draw = random.Random(f"{seed} {sample.id}")
    values = stated_values(sample.turns)
    rule, text = (_dissatisfy if sample.satisfied else _satisfy)(sample, values, draw)
    return Rewriting(sample, text, "", rule)


def _dissatisfy(sample: Sample, values: Mapping[str, str], draw: random.Random) -> tuple[str, str]:
    utterance = sample.turns[-1][1]
    repeated = [
        (name, match)
        for name, value in values.items()
        for match in _SLOTS[name].pattern.finditer(utterance)
        if match[1].casefold() == value.casefold()
    ]
    rules = ["contradiction"] * bool(repeated) + ["asked again"] * bool(values) + ["not answered"]
    rule = draw.choice(rules)
    if rule == "contradiction":
        name, match = draw.choice(repeated)
        original = values[name].casefold()
        replacement = draw.choice(
            [value for value in _SLOTS[name].alternatives if value.casefold() != original]
        )
        return rule, utterance[: match.start(1)] + replacement + utterance[match.end(1) :]
    if rule == "asked again":
        return rule, _SLOTS[draw.choice(list(values))].question
    return rule, draw.choice(_CANNOT)


def _satisfy(sample: Sample, values: Mapping[str, str], draw: random.Random) -> tuple[str, str]:
    request = next((text for speaker, text in reversed(sample.turns) if speaker == USER), "")
    closing = draw.choice(_MORE)
    code = "".join(draw.choices("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=6))
    units = {"people": "{} people", "nights": "{} nights", "stars": "{} stars"}
    slots = {name: units.get(name, "{}").format(value) for name, value in values.items()}
    if _BOOKING.search(request):
        details = [slots[name] for name in ("day", "time", "people", "nights") if name in slots]
        summary = f": {', '.join(details)}" if details else ""
        return "confirmed", f"Your booking is made{summary}. The reference is {code}.{closing}"
    if request.rstrip().endswith("?"):
        if _OPEN.search(request):
            return "answered", f"Certainly, it is {code}.{closing}"
        return "answered", f"Yes, that is so, I have just checked it for you.{closing}"
    details = [slots[name] for name in ("price", "stars", "area", "day", "time") if name in slots]
    summary = f" ({', '.join(details)})" if details else ""
    return "met", f"I have found just what you want{summary}. Shall I book it for you?"
