"""Prompts of chapter 6 of lajewska2025, with their slots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from everycell.language_models import templates

#: Prompt -> file, slots, and the slot of the last message.
PROMPTS: Mapping[str, tuple[str, templates.Slots, str]] = {
    "create": (
        "ch6_create_nuggets.txt",
        {
            "question": ("the question", True),
            "facts": ("the facts so far, one per line", True),
            "passages": ("the passages", True),
            "most": ("largest number of facts", False),
        },
        "passages",
    ),
    "importance": (
        "ch6_label_importance.txt",
        {"question": ("the question", True), "facts": ("numbered facts", True)},
        "facts",
    ),
    "assign": (
        "ch6_assign_nuggets.txt",
        {
            "question": ("the question", True),
            "response": ("the response", True),
            "facts": ("numbered facts", True),
        },
        "facts",
    ),
    "statements": (
        "ch6_statements.txt",
        {"question": ("the question", True), "response": ("the response", True)},
        "response",
    ),
    "supported": (
        "ch6_supported.txt",
        {
            "passages": ("the passages, one per line", True),
            "statements": ("numbered statements", True),
        },
        "statements",
    ),
    "asked_questions": (
        "ch6_asked_questions.txt",
        {"response": ("the response", True), "count": ("number of questions", False)},
        "response",
    ),
    "summary": (
        "ch6_summary.txt",
        {
            "question": ("the question", True),
            "nuggets": ("the nuggets of a cluster, one per line", True),
            "words": ("largest number of words of the sentence", False),
        },
        "nuggets",
    ),
    "depth": (
        "ch6_depth.txt",
        {
            "question": ("the question", True),
            "nuggets": ("the nuggets of the first cluster, one per line", True),
            "sentences": ("number of sentences", True),
            "words": ("largest number of words of a sentence", False),
        },
        "nuggets",
    ),
    "fluency": (
        "ch6_fluency.txt",
        {"question": ("the question", True), "sentences": ("the sentences, one per line", True)},
        "sentences",
    ),
    "follow_up": (
        "ch6_follow_up.txt",
        {
            "question": ("the question", True),
            "nuggets": ("the nuggets of the next cluster, one per line", True),
        },
        "nuggets",
    ),
    "facets": (
        "ch6_facets.txt",
        {
            "question": ("the question", True),
            "passages": ("beginnings of the passages, numbered", True),
            "count": ("largest number of facets", False),
        },
        "passages",
    ),
    "aspects": (
        "ch6_aspects.txt",
        {"response": ("the response", True), "count": ("aspects of each kind", False)},
        "response",
    ),
    "rephrase": ("ch6_rephrase.txt", {"passage": ("the passage", True)}, "passage"),
    "one_step": (
        "ch6_one_step.txt",
        {
            "question": ("the question", True),
            "passages": ("the passages, numbered", True),
            "sentences": ("sentences of the answer", False),
            "words": ("words of the answer", False),
        },
        "passages",
    ),
    "chain_of_thought": (
        "ch6_chain_of_thought.txt",
        {
            "question": ("the question", True),
            "passages": ("the passages, numbered", True),
            "sentences": ("sentences of the answer", False),
            "words": ("words of the answer", False),
        },
        "passages",
    ),
}


def read_prompt(name: str, path: Path | None = None) -> Template:
    """Read a prompt of `PROMPTS`, or a custom file in its place."""
    file, slots, last = PROMPTS[name]
    return templates.read_template(path or Path(__file__).with_name(file), slots, last=last)
