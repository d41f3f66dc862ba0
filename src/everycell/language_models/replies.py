"""Parse replies of OpenAI-compatible servers, which differ in details."""

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

# Largest number of commas and brackets in a reply. Each may be a value, which takes several hundred
# bytes of memory.
_MAX_VALUES = 1_000_000
# Special tokens at the end of a turn, such as </s> or <|im_end|>.
_SPECIAL = re.compile(r"(<[^<>]+>)+")


class InvalidReplyError(Exception):
    """A server's reply does not follow OpenAI's protocol."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


# Stops at the first invalid element: errors for a million elements would take gigabytes.
_Item = TypeVar("_Item")
_List = Annotated[list[_Item], Field(fail_fast=True)]
# Some servers report log-probabilities slightly above 0.
_LogProbability = Annotated[FiniteFloat, Field(le=0.01)]


class _ChatToken(_Reply):
    token: str
    logprob: _LogProbability
    bytes: _List[Annotated[int, Field(ge=0, le=255)]] | None = None


class _ChatTokens(_Reply):
    content: _List[_ChatToken] | None = None


class _TextTokens(_Reply):
    tokens: _List[str]
    token_logprobs: _List[_LogProbability | None]
    text_offset: _List[int] | None = None


class _ChatMessage(_Reply):
    content: str | None = None
    refusal: str | None = None


class _AnyChoice(_Reply):
    finish_reason: str | None = None


class _ChatChoice(_AnyChoice):
    message: _ChatMessage
    logprobs: _ChatTokens | None = None


class _TextChoice(_AnyChoice):
    text: str
    logprobs: _TextTokens | None = None


_Choice = _ChatChoice | _TextChoice


class _Usage(_Reply):
    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class _AnyReply(_Reply):
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


class _ChatReply(_AnyReply):
    choices: _List[_ChatChoice]


class _TextReply(_AnyReply):
    choices: _List[_TextChoice]


class _ListedModel(_Reply):
    id: str


class _ModelList(_Reply):
    data: _List[_ListedModel]


def parse_answer(content: bytes, request: Request, identity: Identity) -> Answer:
    """Parse a server's reply to a request."""
    kind = _TextReply if isinstance(request.prompt, str) else _ChatReply
    try:
        reply = kind.model_validate_json(_bounded(content))
        choice = reply.choices[0]
    except (ValueError, IndexError):
        raise InvalidReplyError from None
    served = " ".join(part for part in (reply.model, reply.system_fingerprint) if part)
    facts: dict[str, Any] = {"served_by": served}
    if reply.usage is not None:
        facts["prompt_tokens"] = reply.usage.prompt_tokens
        facts["answer_tokens"] = reply.usage.completion_tokens
    # Only continuations of a single text can be scored.
    if request.continuation is not None and isinstance(choice, _TextChoice):
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
    """Names of the models in a server's list; empty if the reply is invalid."""
    try:
        return [model.id for model in _ModelList.model_validate_json(_bounded(content)).data]
    except ValueError:
        return []


def _bounded(content: bytes) -> bytes:
    """Reject JSON with too many values, since they take many times their bytes in memory."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise ValueError("too many values")
    return content


def _text(choice: _Choice) -> tuple[str, str]:
    finish = choice.finish_reason or "unknown"
    if isinstance(choice, _TextChoice):
        return choice.text, finish
    if choice.message.content is None and choice.message.refusal is not None:
        return choice.message.refusal, "refusal"
    return choice.message.content or "", finish


def _tokens(
    choice: _Choice, text: str, stop: tuple[str, ...], identity: Identity
) -> tuple[Token, ...]:
    """Tokens with log-probabilities, which must spell the text (and what was cut after it)."""
    logprobs = choice.logprobs
    if isinstance(logprobs, _ChatTokens):
        values = [token.logprob for token in logprobs.content or ()]
        spellings = [[token.token for token in logprobs.content or ()], _from_bytes(logprobs)]
    else:
        values, spellings = (logprobs.token_logprobs, [logprobs.tokens]) if logprobs else ([], [])
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        raise _missing_logprobs(identity)
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
        "do not spell its answer; do not request them, or use another server."
    )


def _from_bytes(reply: _ChatTokens) -> list[str]:
    """Texts of tokens from their bytes; a split character belongs to its last token."""
    tokens = reply.content or []
    pieces = [bytes(token.bytes) for token in tokens if token.bytes is not None]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return [decoder.decode(piece) for piece in pieces] if len(pieces) == len(tokens) else []


def _scored(
    choice: _TextChoice, prompt: str, continuation: str, identity: Identity
) -> tuple[Token, ...]:
    """Tokens of the continuation, which is at the end of the echoed prompt."""
    start, logprobs = len(prompt), choice.logprobs
    if logprobs is None or not logprobs.text_offset or not choice.text.startswith(prompt):
        raise _missing_logprobs(identity)
    if start not in logprobs.text_offset:
        raise LanguageModelError(
            f"A token of {identity.name} spans the end of the prompt and the beginning of the "
            f"continuation {continuation[:40]!r}; end the prompt elsewhere, such as before a space."
        )
    part = slice(logprobs.text_offset.index(start), None)
    tokens, values = logprobs.tokens[part], logprobs.token_logprobs[part]
    scored = _TextTokens(tokens=tokens, token_logprobs=values)
    choice = choice.model_copy(update={"logprobs": scored})
    return _tokens(choice, continuation, (), identity)


def _missing_logprobs(identity: Identity) -> NotOfferedError:
    return NotOfferedError(
        f"The endpoint {identity.host} sent no log-probabilities of {identity.name}: "
        "do not request them, or use a model or a server that offers them."
    )


def refuse_hidden_documents(request: Request, answer: Answer, identity: Identity) -> None:
    """Reject an answer if the server's template omitted the documents of the request.

    A template without support for documents omits them without an error. Tokens of the usual
    tokenizers do not span several words, so a prompt has at least as many tokens as words, and its
    template adds some. Answers without a number of prompt tokens are rejected too.
    """
    words = len(request.text.split())
    if request.documents and (answer.prompt_tokens or 0) <= words:
        read = "an unknown number of" if answer.prompt_tokens is None else answer.prompt_tokens
        raise LanguageModelError(
            f"The endpoint {identity.host} read {read} tokens of a prompt that has {words} words "
            "including its documents, so its template may omit documents; start the server with "
            "the template for documents (vLLM: `--chat-template`, docs/citation-faithfulness.md) "
            "and with `usage` in its replies, or request spans instead."
        )
