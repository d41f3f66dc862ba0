"""How answers end: which are empty or cut off, counted by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from everycell.language_models.generation import Answer

# Names of the same ending in the protocols of several servers.
_NAMES = {
    "stop": (
        "eos",
        "eos_token",
        "end_turn",
        "end_of_turn",
        "stop_sequence",
        "complete",
        "completed",
    ),
    "length": ("max_tokens", "max_length", "max_output_tokens", "token_limit", "model_length"),
    "content_filter": (
        *("content-filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"),
        *("guardrail_intervened", "sensitive"),
    ),
    "refusal": ("refused",),
    "tool_calls": ("function_call", "tool_call", "tool_use"),
    "error": (
        *("abort", "aborted", "cancelled", "canceled", "failed", "insufficient_system_resource"),
        *("malformed_function_call", "network_error"),
    ),
}
_ENDINGS = {name: ending for ending, names in _NAMES.items() for name in names}
# Endings that cut an answer off, and the reason in counts.
_CUTS = {
    "length": "token limit",
    "content_filter": "content filter",
    "error": "stopped by the server",
}
#: Beginning of `finish` if the text of an answer is withheld from a published record.
WITHHELD = "withheld: "
_WORD = re.compile(r"\w")


def normalise_finish(finish: str | None) -> str:
    """One name for the endings that servers call differently; others are kept."""
    if not finish:
        return "unknown"
    name = finish.lower()
    return _ENDINGS.get(name, name if name in _NAMES else finish)


class Endings(NamedTuple):
    """Numbers of answers: all, and those that are empty or cut off, by reason."""

    answers: int
    empty: dict[str, int]
    cut: dict[str, int]

    @property
    def empty_share(self) -> float:
        """Share of the answers that are empty; 0 if there are no answers."""
        return sum(self.empty.values()) / self.answers if self.answers else 0.0

    def summary(self) -> dict[str, Any]:
        """Counts for receipts and JSON."""
        return {"empty": self.empty, "cut_off": self.cut}

    def __str__(self) -> str:
        """A sentence without its full stop."""
        return (
            f"{sum(self.empty.values())} of {self.answers} answers are empty{_reasons(self.empty)} "
            f"and {sum(self.cut.values())} are cut off{_reasons(self.cut)}"
        )


def _reasons(counts: dict[str, int]) -> str:
    parts = ", ".join(f"{reason}: {count}" for reason, count in counts.items())
    return f" ({parts})" if parts else ""


def why_empty(answer: Answer) -> str:
    """Reason why an answer says nothing; "" if it says something.

    A refusal counts as empty, since its text does not answer. Reasoning is not an answer.
    """
    finish = normalise_finish(answer.finish)
    if finish == "refusal":
        return "refusal"
    if finish.startswith(WITHHELD) or finish == "scored":
        return ""
    answer = answer.without_reasoning()
    if _WORD.search(answer.text):
        return ""
    if finish == "length" and answer.reasoned:
        return "token limit reached in reasoning"
    if finish in _CUTS:
        return _CUTS[finish]
    if finish == "tool_calls":
        return "tool call"
    return "only reasoning" if answer.reasoned else "no text"


def why_cut(answer: Answer) -> str:
    """Reason why an answer with a text is cut off; "" if it is empty or complete."""
    return "" if why_empty(answer) else _CUTS.get(normalise_finish(answer.finish), "")


def count_endings(answers: Iterable[Answer]) -> Endings:
    """Count the empty answers and those that were cut off, by reason."""
    return count_reasons((why_empty(answer), why_cut(answer)) for answer in answers)


def count_reasons(reasons: Iterable[tuple[str, str]]) -> Endings:
    """Count reasons why answers are empty and cut off ("" if they are not), by frequency."""
    pairs = list(reasons)
    empty, cut = (
        dict(sorted(Counter(filter(None, column)).items(), key=lambda item: (-item[1], item[0])))
        for column in ([empty for empty, _ in pairs], [cut for _, cut in pairs])
    )
    return Endings(len(pairs), empty, cut)
