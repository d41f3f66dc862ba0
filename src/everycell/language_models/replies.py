"""Parse replies of OpenAI-compatible servers, which differ in details."""

from __future__ import annotations

import codecs
import itertools
import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from everycell.base.untrusted import in_quotes, parse_json
from everycell.base.validation import describe_fault, validate_json
from everycell.language_models.endings import normalise_finish
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    Token,
    TokenCount,
    bound_logprob,
)

# Largest number of commas and brackets in a reply. Each may be a value, which takes several hundred
# bytes of memory.
_MAX_VALUES = 1_000_000
# Special tokens at the end of a turn, such as </s> or <|im_end|>.
_SPECIAL = re.compile(r"(<[^<>]+>)+")


# Parts of a message that are not part of the answer, and how a token may be written as bytes.
_REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking", "reasoning_text", "summary_text")
_NOT_ANSWER = (*_REASONING_PARTS, "tool_use", "tool_call", "tool_calls", "function_call")
_TEXT_PARTS = ("text", "output_text")
_BYTE = re.compile(r"\\x([0-9a-fA-F]{2})")


class InvalidReplyError(Exception):
    """A server's reply does not follow OpenAI's protocol; the message says what was received."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


# Stops at the first invalid element: errors for a million elements would take gigabytes.
_Item = TypeVar("_Item")
_List = Annotated[list[_Item], Field(fail_fast=True)]


def _logprob(value: float | None) -> float | None:
    """A log-probability of at most 0, or None if the server does not know it."""
    # Some servers report log-probabilities slightly above 0.
    if value is not None and value > 0.01:
        raise ValueError("a log-probability is at most 0")
    return bound_logprob(value)


_LogProbability = Annotated[float | None, AfterValidator(_logprob)]


class _ChatToken(_Reply):
    token: str | None = None
    logprob: _LogProbability = None
    bytes: _List[Annotated[int, Field(ge=0, le=255)]] | None = None


class _ChatTokens(_Reply):
    content: _List[_ChatToken] | None = None


class _TextTokens(_Reply):
    tokens: _List[str]
    token_logprobs: _List[_LogProbability]
    text_offset: _List[int] | None = None


class _Part(_Reply):
    """A part of a message's content."""

    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class _Message(_Reply):
    content: str | _List[str | _Part] | None = None
    refusal: str | None = None
    # Names of the field for reasoning in vLLM, OpenRouter and Ollama; its content is not read.
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None

    @property
    def parts(self) -> list[_Part]:
        """The content as parts."""
        content = self.content or []
        parts = [content] if isinstance(content, str) else content
        return [_Part(text=part) if isinstance(part, str) else part for part in parts]


class _Choice(_Reply):
    finish_reason: str | None = None
    # Messages are answered with a message, and texts with a text; some servers mix them up.
    message: _Message | None = None
    text: str | None = None
    # Some servers use the format for texts in chats too.
    logprobs: Annotated[_TextTokens | _ChatTokens, Field(union_mode="left_to_right")] | None = None

    @model_validator(mode="after")
    def _has_answer(self) -> _Choice:
        if self.message is None and "text" not in self.model_fields_set:
            raise ValueError("it has neither `message` nor `text`")
        return self


class _Usage(_Reply):
    prompt_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None


class _AnswerReply(_Reply):
    choices: _List[_Choice]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


class _ListedModel(_Reply):
    id: str


class _ModelList(_Reply):
    data: _List[_ListedModel]


def parse_answer(content: bytes, request: Request, identity: Identity) -> Answer:
    """Parse a server's reply to a request."""
    try:
        reply = validate_json(_AnswerReply, _bounded(content))
    except ValidationError as error:
        raise InvalidReplyError(_describe_invalid(content, error)) from None
    except ValueError as error:
        raise InvalidReplyError(str(error)) from None
    if not reply.choices:
        raise InvalidReplyError("`choices` is empty")
    choice = reply.choices[0]
    served = " ".join(part for part in (reply.model, reply.system_fingerprint) if part)
    facts: dict[str, Any] = {"served_by": served}
    if reply.usage is not None:
        facts["prompt_tokens"] = reply.usage.prompt_tokens
        facts["answer_tokens"] = reply.usage.completion_tokens
    # Only continuations of a single text can be scored.
    if request.continuation is not None and isinstance(request.prompt, str):
        tokens = _scored(choice, request.text, request.continuation, identity)
        return Answer(
            text=request.continuation,
            finish="scored",
            tokens=tokens,
            **facts | {"answer_tokens": len(tokens)},
        )
    text, finish, reasoned = _text(choice)
    tokens = None
    # An answer that ended without a text has no tokens, and the tokens of a refusal are elsewhere.
    has_tokens = finish == "unknown" or (text != "" and finish != "refusal")
    if request.generation.logprobs and has_tokens:
        tokens = _tokens(choice, text, request.generation.stop, identity, reasoned=reasoned)
    return Answer(text=text, finish=finish, tokens=tokens, reasoned=reasoned, **facts)


def _describe_invalid(content: bytes, error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    if fault["type"] == "json_invalid":
        return "not JSON"
    if fault["type"] == "missing" and fault["loc"] == ("choices",):
        names = list(parse_json(content))
        return f"no `choices`, but {in_quotes(names)}" if names else "an empty object"
    return describe_fault(_AnswerReply, error).rstrip(".")


def parse_model_names(content: bytes) -> list[str]:
    """Names of the models in a server's list; empty if the reply is invalid."""
    try:
        return [model.id for model in validate_json(_ModelList, _bounded(content)).data]
    except ValueError:
        return []


def _bounded(content: bytes) -> bytes:
    """Reject JSON with too many values, since they take many times their bytes in memory."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MAX_VALUES:
        raise ValueError("more than a million values")
    return content


def _text(choice: _Choice) -> tuple[str, str, bool]:
    """Text and ending of an answer, and whether there was reasoning apart from the text."""
    finish = normalise_finish(choice.finish_reason)
    message = choice.message
    if message is None:
        return choice.text or "", finish, False
    reasoned = bool(message.reasoning_content or message.reasoning or message.thinking)
    texts, refusals = [], [message.refusal]
    for part in message.parts:
        if part.type in _TEXT_PARTS:
            texts.append(part.text or "")
        elif part.type == "refusal":
            refusals.append(part.refusal)
        elif part.type in _NOT_ANSWER:
            reasoned = reasoned or part.type in _REASONING_PARTS
        else:
            raise InvalidReplyError(
                f"`content` has a part of the type {in_quotes(part.type)}, which is not text"
            )
    text, refusal = "".join(texts), " ".join(filter(None, refusals))
    return (refusal, "refusal", reasoned) if refusal and not text else (text, finish, reasoned)


def _tokens(
    choice: _Choice, text: str, stop: tuple[str, ...], identity: Identity, *, reasoned: bool = False
) -> tuple[Token, ...]:
    """Tokens with log-probabilities, which must spell the text (and what was cut after it).

    Some servers omit the reasoning from the text, but not its tokens, which come first.
    """
    logprobs = choice.logprobs
    if isinstance(logprobs, _TextTokens):
        values, written = logprobs.token_logprobs, [*logprobs.tokens]
        encoded = [_bytes_of(token) for token in written]
    else:
        tokens: list[_ChatToken] = (logprobs.content if logprobs else None) or []
        values = [token.logprob for token in tokens]
        written = [token.token or "" for token in tokens]
        encoded = [
            _bytes_of(token.token or "") if token.bytes is None else bytes(token.bytes)
            for token in tokens
        ]
    if all(value is None for value in values):
        raise _missing_logprobs(identity)
    for pieces in (written, _decoded(encoded)):
        spelled = "".join(pieces)
        start = max(0, spelled.rfind(text)) if reasoned else 0
        cut = spelled[start + len(text) :]
        if (
            len(pieces) == len(values)
            and spelled.startswith(text, start)
            and (not cut or cut.startswith(stop) or _SPECIAL.fullmatch(cut))
        ):
            ends = itertools.accumulate(map(len, pieces))
            return tuple(
                Token(text=piece[max(0, len(piece) - end + start) :], logprob=value)
                for piece, value, end in zip(pieces, values, ends, strict=True)
                if end > start or not start
            )
    raise NotOfferedError(
        f"The endpoint {identity.host} sent log-probabilities of {identity.name} for tokens that "
        f"do not spell its answer (they begin with {in_quotes(''.join(written))}); do not request "
        "them, or use another server."
    )


def _bytes_of(token: str) -> bytes:
    r"""Bytes of a token, which may be written as ``bytes:\\xc3``."""
    if token.startswith("bytes:") and not _BYTE.sub("", token.removeprefix("bytes:")):
        return bytes(int(digits, 16) for digits in _BYTE.findall(token))
    return token.encode(errors="replace")


def _decoded(tokens: list[bytes]) -> list[str]:
    """Texts of tokens from their bytes; a split character belongs to its last token."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return [decoder.decode(token) for token in tokens]


def _scored(
    choice: _Choice, prompt: str, continuation: str, identity: Identity
) -> tuple[Token, ...]:
    """Tokens of the continuation, which is at the end of the echoed prompt."""
    start, logprobs = len(prompt), choice.logprobs
    if (
        not isinstance(logprobs, _TextTokens)
        or not logprobs.text_offset
        or not (choice.text or "").startswith(prompt)
    ):
        raise _missing_logprobs(identity)
    if start not in logprobs.text_offset:
        raise LanguageModelError(
            f"A token of {identity.name} spans the end of the prompt and the beginning of the "
            f"continuation {continuation[:40]!r}; end the prompt elsewhere, such as before a space."
        )
    part = slice(logprobs.text_offset.index(start), None)
    tokens, values = logprobs.tokens[part], logprobs.token_logprobs[part]
    if None in values:
        raise _missing_logprobs(identity)
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
