"""Replies of servers that speak OpenAI's protocol, read as answers; servers differ in the rest."""

from __future__ import annotations

import codecs
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    Token,
    TokenCount,
)

# Commas and brackets of a reply; each may be a value, which takes some hundred bytes of memory.
_MOST_VALUES = 1_000_000
# What a model ends its turn with, such as </s> or <|im_end|>.
_SPECIAL = re.compile(r"(<[^<>]+>)+")


class NoReplyError(Exception):
    """What a server sent is no reply of the protocol."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


# An error for each of a million elements would take gigabytes: the first one is enough.
_Item = TypeVar("_Item")
_List = Annotated[list[_Item], Field(fail_fast=True)]
# Some servers round a certain token to a little above 0.
_LogProbability = Annotated[FiniteFloat, Field(le=0.01)]


class _TokenOfChat(_Reply):
    token: str
    logprob: _LogProbability
    bytes: _List[Annotated[int, Field(ge=0, le=255)]] | None = None


class _TokensOfChat(_Reply):
    content: _List[_TokenOfChat] | None = None


class _TokensOfText(_Reply):
    tokens: _List[str]
    token_logprobs: _List[_LogProbability | None]
    text_offset: _List[int] | None = None


class _MessageOfChat(_Reply):
    content: str | None = None
    refusal: str | None = None


class _AnyChoice(_Reply):
    finish_reason: str | None = None


class _ChoiceOfChat(_AnyChoice):
    message: _MessageOfChat
    logprobs: _TokensOfChat | None = None


class _ChoiceOfText(_AnyChoice):
    text: str
    logprobs: _TokensOfText | None = None


_Choice = _ChoiceOfChat | _ChoiceOfText


class _Usage(_Reply):
    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class _Whole(_Reply):
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


class _ReplyOfChat(_Whole):
    choices: _List[_ChoiceOfChat]


class _ReplyOfText(_Whole):
    choices: _List[_ChoiceOfText]


class _Listed(_Reply):
    id: str


class _Listing(_Reply):
    data: _List[_Listed]


def parse_answer(content: bytes, request: Request, identity: Identity) -> Answer:
    """Take the answer to a request from the reply of a server."""
    kind = _ReplyOfText if isinstance(request.prompt, str) else _ReplyOfChat
    try:
        reply = kind.model_validate_json(_bounded(content))
        choice = reply.choices[0]
    except (ValueError, IndexError):
        raise NoReplyError from None
    served = " ".join(part for part in (reply.model, reply.system_fingerprint) if part)
    facts: dict[str, Any] = {"served_by": served}
    if reply.usage is not None:
        facts["prompt_tokens"] = reply.usage.prompt_tokens
        facts["answer_tokens"] = reply.usage.completion_tokens
    # Only a prompt that is one text is sent to be scored.
    if request.continuation is not None and isinstance(choice, _ChoiceOfText):
        tokens = _scored(choice, request.text, request.continuation, identity)
        return Answer(
            text=request.continuation,
            finish="scored",
            tokens=tokens,
            **facts | {"answer_tokens": len(tokens)},
        )
    text, finish = _text(choice)
    tokens = None
    if request.generation.logprobs:
        tokens = _tokens(choice, text, request.generation.stop, identity)
    return Answer(text=text, finish=finish, tokens=tokens, **facts)


def parse_model_names(content: bytes) -> list[str]:
    """Names of the models in a server's list; none where it is no list."""
    try:
        return [listed.id for listed in _Listing.model_validate_json(_bounded(content)).data]
    except ValueError:
        return []


def _bounded(content: bytes) -> bytes:
    """JSON with few enough values to be parsed: each takes many times its bytes in memory."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError("too many values")
    return content


def _text(choice: _Choice) -> tuple[str, str]:
    finish = choice.finish_reason or "unknown"
    if isinstance(choice, _ChoiceOfText):
        return choice.text, finish
    if choice.message.content is None and choice.message.refusal is not None:
        return choice.message.refusal, "refusal"
    return choice.message.content or "", finish


def _tokens(
    choice: _Choice, text: str, stop: tuple[str, ...], identity: Identity
) -> tuple[Token, ...]:
    """Tokens with log-probabilities, which must spell the text and where it was cut."""
    logprobs = choice.logprobs
    if isinstance(logprobs, _TokensOfChat):
        values = [token.logprob for token in logprobs.content or ()]
        spellings = [[token.token for token in logprobs.content or ()], _from_bytes(logprobs)]
    else:
        values, spellings = (logprobs.token_logprobs, [logprobs.tokens]) if logprobs else ([], [])
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        raise _without_logprobs(identity)
    for pieces in spellings:
        spelled = "".join(pieces)
        cut = spelled[len(text) :]
        if (
            len(pieces) == len(known)
            and spelled.startswith(text)
            and (not cut or cut.startswith(stop) or _SPECIAL.fullmatch(cut))
        ):
            pairs = zip(pieces, known, strict=True)
            return tuple(Token(text=piece, logprob=min(0.0, value)) for piece, value in pairs)
    raise NotOfferedError(
        f"The endpoint {identity.host} sent log-probabilities of {identity.name} for tokens that "
        "do not spell its answer: ask without them, or take a server whose tokens do."
    )


def _from_bytes(reply: _TokensOfChat) -> list[str]:
    """Texts of tokens by their bytes; a character that is split belongs to its last token."""
    tokens = reply.content or []
    pieces = [bytes(token.bytes) for token in tokens if token.bytes is not None]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return [decoder.decode(piece) for piece in pieces] if len(pieces) == len(tokens) else []


def _scored(
    choice: _ChoiceOfText, prompt: str, continuation: str, identity: Identity
) -> tuple[Token, ...]:
    """Tokens of the continuation, which stand at the end of the prompt that came back."""
    border, logprobs = len(prompt), choice.logprobs
    if logprobs is None or not logprobs.text_offset or not choice.text.startswith(prompt):
        raise _without_logprobs(identity)
    if border not in logprobs.text_offset:
        raise LanguageModelError(
            f"{identity.name} has a token across the border between the prompt and the "
            f"continuation {continuation[:40]!r}: end the prompt elsewhere, such as "
            "before a space."
        )
    part = slice(logprobs.text_offset.index(border), None)
    tokens, values = logprobs.tokens[part], logprobs.token_logprobs[part]
    scored = _TokensOfText(tokens=tokens, token_logprobs=values)
    choice = choice.model_copy(update={"logprobs": scored})
    return _tokens(choice, continuation, (), identity)


def _without_logprobs(identity: Identity) -> NotOfferedError:
    return NotOfferedError(
        f"The endpoint {identity.host} sent no log-probabilities of {identity.name}: "
        "ask without them, or take a model or a server that offers them."
    )


def refuse_hidden_documents(request: Request, answer: Answer, identity: Identity) -> None:
    """Refuse an answer to documents that the server's template did not show.

    A template that knows no documents leaves them out without an error. No token of a language
    model's usual tokenizer has a space inside, so a prompt has at least as many tokens as words,
    and its template adds some. A server that does not report how many it read is refused too.
    """
    words = len(request.text.split())
    if request.documents and (answer.prompt_tokens or 0) <= words:
        read = "an unknown number of" if answer.prompt_tokens is None else answer.prompt_tokens
        raise LanguageModelError(
            f"The endpoint {identity.host} read {read} tokens of a prompt that has {words} words "
            "with its documents, so its template does not show documents: start the server with "
            "the template for documents (vLLM: `--chat-template`, docs/citation-faithfulness.md) "
            "and with `usage` in its replies, or ask for spans instead."
        )
