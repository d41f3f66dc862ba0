"""Reasoning of language models, which is not part of their answers.

Servers should return reasoning in a field of its own, but many leave it in the text. The forms are:

=============================================  ==========================================
``<think>...</think>``                         also with one of `NAMES`, a prefix
                                               (``<seed:think>``) or attributes
only ``</think>``                              the prompt ended with the opening tag, so
                                               all text before is reasoning
``<think>`` without an end                     all text after it is reasoning
``[THINK]...[/THINK]``                         Mistral; ``◁think▷...◁/think▷``: Kimi
``<|START_THINKING|>...<|END_THINKING|>``      Command A; also ``<|begin_of_thought|>``,
                                               ``<|inner_prefix|>...<|inner_suffix|>``
``<|channel|>analysis<|message|>...``          gpt-oss: the answer is in the channel
                                               "final"; also without special tokens
                                               (``analysis...assistantfinal...``)
``<|channel>thought...<channel|>``             Gemma; also ``<unused94>...<unused95>``
``Here is my thought process: ...``            Granite, up to ``Here is my response:``
=============================================  ==========================================

A tag within backticks is text, and so is an opening tag inside a sentence that is never closed.
After reasoning, tags around the answer (``<answer>``, ``<|START_RESPONSE|>``) are removed too. The
running time is linear in the length of the text.
"""

from __future__ import annotations

import re

#: Names of tags, in lower or upper case.
NAMES = (
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "rationale",
    "analysis",
    "scratchpad",
    "chain_of_thought",
    "inner_monologue",
    "longcat_think",
    "antthinking",
)
_NAME = rf"(?:[a-z][\w.-]{{0,20}}:)?(?:{'|'.join(NAMES)})"
_OPENING = (
    rf"<{_NAME}(?:\s[^<>]{{0,100}})?>|<\|{_NAME}\|>|(?-i:\[THINK\])|◁think▷"
    r"|<\|start_thinking\|>|<\|begin_of_(?:thought|thinking)\|>|<\|inner_prefix\|>"
    r"|<\|channel>\s?(?:thought|analysis)\b|<unused94>(?:thought\b)?"
)
_CLOSING = (
    rf"</{_NAME}\s*>|<\|/{_NAME}\|>|(?-i:\[/THINK\])|◁/think▷"
    r"|<\|end_thinking\|>|<\|end_of_(?:thought|thinking)\|>|<\|inner_suffix\|>"
    r"|<channel\|>|<unused95>"
)
_TAG = re.compile(rf"(?<!`)(?:(?P<opening>{_OPENING})|(?P<closing>{_CLOSING}))(?!`)", re.IGNORECASE)
_WRAPPER = re.compile(
    r"</?(?:answer|response|final_answer|output)>|<\|(?:start|end)_(?:response|text)\|>"
    r"|<\|(?:begin|end)_of_solution\|>",
    re.IGNORECASE,
)
# Messages of gpt-oss: a header with the channel, and the content.
_CHANNEL = re.compile(
    r"(?:<\|channel\|>|\A(?=\s*(?:analysis|commentary|final)\b))\s*(?P<channel>[a-z]+)\b[^<]*"
    r"(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_PLAIN_CHANNELS = re.compile(r"\A\s*analysis(?:(?=[A-Z])|(?=.*?assistant\s?final))", re.DOTALL)
_FINAL = re.compile(r"assistant\s?final")
_GRANITE = re.compile(r"\A\s*Here(?: is|'s) my thought process:")
_GRANITE_ANSWER = re.compile(r"Here(?: is|'s) my response:")
_BLANK = re.compile(r"\s*")
_MENTIONED = re.compile(r"[\w,(][ ]?\Z")


def opening_tag(prompt: str) -> str:
    """Opening tag at the end of a prompt, which begins reasoning; "" if none."""
    end = prompt[-200:]
    *_, last = (None, *_TAG.finditer(end))
    if last is None or last["opening"] is None or end[last.end() :].strip():
        return ""
    return end[last.start() :]


def is_reasoning_tag(token: str) -> bool:
    """Whether a special token delimits reasoning or a channel: it is not skipped."""
    return token in ("<|channel|>", "<|message|>", "<|start|>", "<|channel>") or bool(
        _TAG.fullmatch(token)
    )


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each part of a text that is not part of the answer."""
    if "<|message|>" in text and (messages := list(_CHANNEL.finditer(text))):
        return _outside_final(text, messages)
    if _PLAIN_CHANNELS.match(text):
        final = _FINAL.search(text)
        return [(0, final.end() if final else len(text))]
    if _GRANITE.match(text):
        answer = _GRANITE_ANSWER.search(text)
        return [(0, _after_blanks(text, answer.end()) if answer else len(text))]
    spans: list[tuple[int, int]] = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag["opening"] is not None:
            opened = tag.start() if opened is None else opened
        else:
            # A closing tag without an opening one ends reasoning that began in the prompt.
            if opened is None:
                spans = [(0, tag.end())]
            else:
                spans.append((opened, tag.end()))
            opened = None
    # "The tag <think> opens it." only mentions a tag.
    if opened is not None and not _MENTIONED.search(text[max(0, opened - 2) : opened]):
        spans.append((opened, len(text)))
    if not spans:
        return []
    end_of_last = spans[-1][1]
    spans += [match.span() for match in _WRAPPER.finditer(text, end_of_last)]
    if not text[: spans[0][0]].strip():
        spans[0] = (0, spans[0][1])
    return _merged(text, spans)


def without_reasoning(text: str) -> str:
    """An answer without its reasoning; unchanged if it has none."""
    pieces, end = [], 0
    for start, stop in reasoning_spans(text):
        pieces.append(text[end:start])
        end = stop
    return "".join([*pieces, text[end:]])


def _outside_final(text: str, messages: list[re.Match[str]]) -> list[tuple[int, int]]:
    spans, end = [], 0
    for message in messages:
        if message["channel"] == "final":
            spans.append((end, message.end()))
            stop = _END_OF_MESSAGE.search(text, message.end())
            end = stop.start() if stop else len(text)
    if end < len(text):
        spans.append((end, len(text)))
    return spans


def _after_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _merged(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
        # Blanks after reasoning at the beginning would become the beginning of the answer.
        if merged[-1][0] == 0:
            merged[-1] = (0, _after_blanks(text, merged[-1][1]))
    return merged
