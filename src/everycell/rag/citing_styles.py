"""Citing styles: prompts for answers with citations, and parsers of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from everycell.language_models.generation import Message
from everycell.rag import grounded_template, prompts
from everycell.rag.cited_sentences import cited_sentences, split_answer
from everycell.rag.grounded_template import GroundedAnswer, read_grounded

#: "sentences": numbers in brackets after sentences. "spans": marks around words, with our own
#: prompt. "own template": the same, with the template of a model trained for it (Command-R).
StyleName = Literal["sentences", "spans", "own template"]
STYLES: tuple[StyleName, ...] = get_args(StyleName)


class CitingStyle(NamedTuple):
    """Prompt of a citing style, and parser of the answers."""

    prompt: Callable[[str, Sequence[str]], tuple[Message, ...]]
    read: Callable[[str, int], GroundedAnswer]


def citing_style(name: str, template: Path | None = None) -> CitingStyle:
    """Return a citing style by its name."""
    if name not in STYLES:
        raise ValueError(f"There is no citing style {name!r}; the styles are {', '.join(STYLES)}.")
    if name == "own template":
        if template is not None:
            raise ValueError(
                f"The style 'own template' uses no prompt, but {template} was given; omit the "
                "prompt, or use the style 'spans'."
            )
        return CitingStyle(_with_texts(grounded_template.own_template_prompt), read_grounded)
    if name == "spans":
        prompt_template = grounded_template.read_template(template or grounded_template.TEMPLATE)
        prompt = partial(grounded_template.grounded_prompt, prompt_template)
        return CitingStyle(_with_texts(prompt), partial(read_grounded, first=1))
    plain = prompts.read_template(template or prompts.PLAIN_TEMPLATE)

    def sentence_prompt(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
        return prompts.cited_answer_prompt(plain, question, texts, [""] * len(texts))

    return CitingStyle(_with_texts(sentence_prompt), _read_sentences)


def _with_texts(
    prompt: Callable[[str, Sequence[str]], tuple[Message, ...]],
) -> Callable[[str, Sequence[str]], tuple[Message, ...]]:
    def build(question: str, texts: Sequence[str]) -> tuple[Message, ...]:
        # A document may have consisted only of the removed statement.
        return prompt(question, [text if text.strip() else "(empty)" for text in texts])

    return build


def _read_sentences(output: str, k: int) -> GroundedAnswer:
    return GroundedAnswer(cited_sentences(output, k), len(split_answer(output)))
