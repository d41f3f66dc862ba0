"""Replies of servers that speak OpenAI's protocol, read as answers; servers differ in the rest."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    Token,
)


class NoReplyError(Exception):
    """What a server sent is no reply of the protocol."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _TokenOfChat(_Reply):
    token: str
    logprob: FiniteFloat


class _TokensOfChat(_Reply):
    content: list[_TokenOfChat] | None = None


class _TokensOfText(_Reply):
    tokens: list[str]
    token_logprobs: list[FiniteFloat | None]
    text_offset: list[int] | None = None


class _MessageOfChat(_Reply):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Reply):
    finish_reason: str | None = None


class _ChoiceOfChat(_Choice):
    message: _MessageOfChat
    logprobs: _TokensOfChat | None = None


class _ChoiceOfText(_Choice):
    text: str
    logprobs: _TokensOfText | None = None


class _Usage(_Reply):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Whole(_Reply):
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


class _ReplyOfChat(_Whole):
    choices: list[_ChoiceOfChat]


class _ReplyOfText(_Whole):
    choices: list[_ChoiceOfText]


class _Listed(_Reply):
    id: str


class _List(_Reply):
    data: list[_Listed]


def parse_answer(content: bytes, request: Request, identity: Identity) -> Answer:
    """Take the answer to a request from the reply of a server.

    Parameters
    ----------
    content : bytes
        JSON of a chat completion where the prompt has messages, else of a completion.
    request : Request
    identity : Identity
        Of the model that was asked, for errors.

    Raises
    ------
    NoReplyError
        It is no such reply.
    NotOfferedError
        Log-probabilities were asked for, and none came.
    LanguageModelError
        A token lies across the border of prompt and continuation.

    Examples
    --------
    >>> from everycell.language_models.settings import Decoding
    >>> asked = Request(prompt="1 + 1 = ", decoding=Decoding())
    >>> reply = b'{"choices": [{"text": "2", "finish_reason": "stop"}], "model": "toy"}'
    >>> answer = parse_answer(reply, asked, Identity(name="toy"))
    >>> answer.text, answer.finish, answer.served_by
    ('2', 'stop', 'toy')
    """
    kind = _ReplyOfText if isinstance(request.prompt, str) else _ReplyOfChat
    try:
        reply = kind.model_validate_json(content)
        choice = reply.choices[0]
    except (ValidationError, IndexError):
        raise NoReplyError from None
    served = " ".join(part for part in (reply.model, reply.system_fingerprint) if part)
    facts: dict[str, Any] = {"served_by": served}
    if reply.usage is not None:
        facts["prompt_tokens"] = reply.usage.prompt_tokens
        facts["answer_tokens"] = reply.usage.completion_tokens
    if request.continuation is not None:
        tokens = _scored(choice, request, identity)
        return Answer(
            text=request.continuation,
            finish="scored",
            tokens=tokens,
            **facts | {"answer_tokens": len(tokens)},
        )
    text, finish = _text(choice)
    tokens = _tokens(choice, identity) if request.decoding.logprobs else None
    return Answer(text=text, finish=finish, tokens=tokens, **facts)


def parse_model_names(content: bytes) -> list[str]:
    """Names of the models in a server's list; none where it is no list.

    Examples
    --------
    >>> parse_model_names(b'{"data": [{"id": "llama"}, {"id": "zephyr"}]}')
    ['llama', 'zephyr']
    >>> parse_model_names(b"<html>")
    []
    """
    try:
        return [listed.id for listed in _List.model_validate_json(content).data]
    except ValidationError:
        return []


def _text(choice: _Choice) -> tuple[str, str]:
    finish = choice.finish_reason or "unknown"
    if isinstance(choice, _ChoiceOfText):
        return choice.text, finish
    if choice.message.content is None and choice.message.refusal is not None:
        return choice.message.refusal, "refusal"
    return choice.message.content or "", finish


def _tokens(choice: _Choice, identity: Identity) -> tuple[Token, ...]:
    if choice.logprobs is None:
        raise _without_logprobs(identity)
    if isinstance(choice.logprobs, _TokensOfChat):
        found = [(token.token, token.logprob) for token in choice.logprobs.content or ()]
    else:
        found = list(zip(choice.logprobs.tokens, choice.logprobs.token_logprobs, strict=False))
    if any(value is None for _, value in found):
        raise _without_logprobs(identity)
    # Some servers round a certain token to a little above 0.
    return tuple(Token(text=text, logprob=min(0.0, value)) for text, value in found)


def _scored(choice: _ChoiceOfText, request: Request, identity: Identity) -> tuple[Token, ...]:
    """Tokens of the continuation, which stand at the end of the prompt that came back."""
    border, offsets = len(request.prompt), choice.logprobs and choice.logprobs.text_offset
    if not offsets or not choice.text.startswith(request.prompt):
        raise _without_logprobs(identity)
    if border not in offsets:
        raise LanguageModelError(
            f"{identity.name} has a token across the border between the prompt and the "
            f"continuation {request.continuation[:40]!r}: end the prompt elsewhere, such as "
            "before a space."
        )
    part = slice(offsets.index(border), None)
    tokens, values = choice.logprobs.tokens[part], choice.logprobs.token_logprobs[part]
    scored = _TokensOfText(tokens=tokens, token_logprobs=values)
    return _tokens(choice.model_copy(update={"logprobs": scored}), identity)


def _without_logprobs(identity: Identity) -> NotOfferedError:
    return NotOfferedError(
        f"The endpoint {identity.host} sent no log-probabilities of {identity.name}: "
        "ask without them, or take a model or a server that offers them."
    )
