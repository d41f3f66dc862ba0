"""Language models behind one interface: requests and answers."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from everycell.base.files import sha256
from everycell.base.untrusted import read_json
from everycell.language_models.reasoning import reasoning_spans
from everycell.language_models.settings import Decoding

#: Name of the file that identifies the source of a converted model.
SOURCE_FILE = "everycell-source.json"
# Files on which the answers of a model depend. Its settings are not among them, since they contain
# the version of the software that wrote them.
_MODEL_FILES = ("*.safetensors", "tokenizer.json", "vocab.txt", "chat_template.jinja") + (
    # For example `rag.jinja`, Command-R's template for documents.
    "additional_chat_templates/*.jinja",
)


class LanguageModelError(Exception):
    """A language model cannot answer; the message says what to do."""


class NotOfferedError(LanguageModelError):
    """A model does not support a request (such as log-probabilities); its cells are `not run`."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Model):
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Grounded(Message):
    """A turn with documents, which the model's own chat template formats and numbers."""

    documents: tuple[str, ...] = Field(min_length=1)


class Identity(_Model):
    """Identity of the model that answers, in records and receipts."""

    name: str = Field(min_length=1)
    revision: str = ""
    host: str = ""
    url: str = Field("", exclude_if=lambda url: not url)
    #: Additional fields of requests, as JSON: a field of its own, which no version can imitate.
    extra: str = Field("", exclude_if=lambda extra: not extra)
    dtype: str = ""


class Request(_Model):
    """A request to a language model.

    It has either `decoding`, to generate an answer, or a `continuation` whose tokens are scored.
    """

    prompt: str | tuple[Grounded | Message, ...] = Field(min_length=1)
    decoding: Decoding | None = None
    continuation: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _one_task(self) -> Request:
        if (self.decoding is None) == (self.continuation is None):
            raise ValueError(
                "a request has either `decoding` (to generate) or `continuation` (to score)"
            )
        if not isinstance(self.prompt, str):
            grounded = sum(isinstance(message, Grounded) for message in self.prompt)
            if grounded > 1:
                raise ValueError(
                    f"{grounded} messages have documents; put all documents in one message"
                )
        return self

    @property
    def generation(self) -> Decoding:
        """Decoding parameters of a request to generate an answer."""
        if self.decoding is None:
            raise TypeError("this request scores a continuation and generates nothing")
        return self.decoding

    @property
    def documents(self) -> tuple[str, ...]:
        """Documents of the prompt, for the model's own template; most prompts have none."""
        if isinstance(self.prompt, str):
            return ()
        return tuple(
            text
            for message in self.prompt
            if isinstance(message, Grounded)
            for text in message.documents
        )

    @property
    def text(self) -> str:
        """Text of the prompt, without the model's chat template."""
        if isinstance(self.prompt, str):
            return self.prompt
        return "\n".join([*self.documents, *(message.content for message in self.prompt)])


#: Log-probability of a token that is too improbable to state, as in OpenAI's protocol; JSON has no
#: minus infinity, and exp(-9999) is 0.
LEAST_LOGPROB = -9999.0


def bound_logprob(value: float | None) -> float | None:
    """A log-probability from `LEAST_LOGPROB` to 0, or None if it is unknown (NaN)."""
    return None if value is None or math.isnan(value) else min(0.0, max(LEAST_LOGPROB, value))


class Token(_Model):
    """A token of an answer, with the natural logarithm of its probability (at most 0).

    `logprob` is None if the server did not send it, or if it was not recorded
    (`Answer.keep_logprobs`). It is `LEAST_LOGPROB` for a probability of 0.
    """

    text: str
    logprob: FiniteFloat | None = Field(le=0)


#: Number of tokens reported by a server; bounded, since costs are computed from it.
TokenCount = Annotated[int, Field(ge=0, le=10**9)]


class Answer(_Model):
    """An answer of a language model, or a scored continuation.

    `finish` is "stop", "length", "content_filter", "refusal", "tool_calls", "error", "scored" or a
    value of the endpoint. The texts of `tokens` spell `text`, and possibly the stop text after it.
    Probabilities are those before temperature and top-p are applied. `text` may contain reasoning
    in tags, until `without_reasoning`; `reasoned` says whether there was reasoning elsewhere, such
    as in a field of its own.
    """

    text: str
    finish: str
    prompt_tokens: TokenCount | None = None
    answer_tokens: TokenCount | None = None
    tokens: tuple[Token, ...] | None = None
    served_by: str = ""
    # Not in records of answers without reasoning, whose lines must not change.
    reasoned: bool = Field(False, exclude_if=lambda reasoned: not reasoned)

    @property
    def logprob(self) -> float:
        """Log-probability of the answer: the sum over its tokens."""
        # An empty sum would mean certainty.
        if not self.tokens:
            raise NotOfferedError(
                "An answer has no log-probabilities; request them with `logprobs: true`, from a "
                "model that offers them."
            )
        values = [token.logprob for token in self.tokens if token.logprob is not None]
        if len(values) < len(self.tokens):
            raise NotOfferedError(
                "An answer lacks some log-probabilities, since the server did not send them or the "
                "record omits them; use a model or a server that offers all of them."
            )
        return sum(values)

    def without_reasoning(self) -> Answer:
        """The answer without the reasoning in its text, and without the tokens of the reasoning."""
        spans = [] if self.finish == "scored" else reasoning_spans(self.text)
        if not spans:
            return self

        def remove(text: str, offset: int) -> str:
            pieces, end = [], 0
            for start, stop in spans:
                pieces.append(text[end : max(end, start - offset)])
                end = min(max(end, stop - offset), len(text))
            return "".join([*pieces, text[end:]])

        tokens: list[Token] = []
        start = 0
        for token in self.tokens or ():
            text = remove(token.text, start)
            # A token without text completes no character; it belongs to the text around it.
            if text or not (token.text or any(first <= start < last for first, last in spans)):
                tokens.append(token.model_copy(update={"text": text}))
            start += len(token.text)
        return self.model_copy(
            update={
                "text": remove(self.text, 0),
                "tokens": None if self.tokens is None else tuple(tokens),
                "reasoned": True,
            }
        )

    def keep_logprobs(self, is_needed: Callable[[str], bool]) -> Answer:
        """The answer with log-probabilities of the needed tokens only, for published records."""
        if self.tokens is None:
            return self
        tokens: list[Token] = []
        for needed, run in itertools.groupby(self.tokens, key=lambda token: is_needed(token.text)):
            if needed:
                tokens += run
            else:
                tokens.append(Token(text="".join(token.text for token in run), logprob=None))
        return self.model_copy(update={"tokens": tuple(tokens)})


class LanguageModel(Protocol):
    """A model that answers requests; equal requests may get different answers."""

    @property
    def identity(self) -> Identity:
        """Identity of the model."""

    def answer(self, request: Request) -> Answer:
        """Generate an answer, or score a continuation."""


def chat(user: str, *, system: str | None = None) -> tuple[Message, ...]:
    """A prompt of one user message, after an optional system message."""
    first = [] if system is None else [Message(role="system", content=system)]
    return (*first, Message(role="user", content=user))


def prompt_hash(request: Request) -> str:
    """Hash of a prompt (sha256, hexadecimal)."""
    return _sha256(request.model_dump(mode="json")["prompt"])


def request_key(
    identity: Identity, prompt: str, decoding: Decoding | None, continuation: str | None
) -> str:
    """Key of an answer in a record (sha256, hexadecimal)."""
    return _sha256(
        {
            "model": identity.model_dump(mode="json"),
            "prompt": prompt,
            "decoding": decoding and decoding.model_dump(mode="json"),
            "continuation": continuation,
        }
    )


def folder_identity(source: Path, *, name: str, dtype: str = "") -> Identity:
    """Identify a local model by its files, without loading it.

    The revision of a file is its hash. The revision of a folder is the source noted by
    `everycell.language_models.local.convert_gguf`; if there is none, the commit of a folder in
    the hub's cache; otherwise a hash of the weights and tokenizer.
    """
    try:
        if source.is_file():
            return Identity(name=name, revision=f"sha256:{sha256(source)}", dtype=dtype)
        if (source / SOURCE_FILE).is_file():
            note = read_json(source / SOURCE_FILE)
            return Identity(name=name, revision=note["revision"], dtype=dtype)
        if source.parent.name == "snapshots":
            return Identity(name=name, revision=source.name, dtype=dtype)
        files = sorted({path for kind in _MODEL_FILES for path in source.glob(kind)})
        if not files:
            raise LanguageModelError(
                f"{source} contains no model.safetensors; give the folder of a model."
            )
        hashes = [[path.name, sha256(path)] for path in files]
    except (OSError, ValueError, KeyError) as error:
        raise LanguageModelError(
            f"{source} cannot be read as a model ({error}); copy or convert it again."
        ) from None
    return Identity(name=name, revision=f"sha256:{_sha256(hashes)}", dtype=dtype)


def _sha256(value: object) -> str:
    # This form must never change: the keys of all records depend on it.
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


_LOG = logging.getLogger(__name__)


class MemoryFullError(LanguageModelError):
    """A batch does not fit in memory; for a single request, the message says what to do."""


class BatchModel(Protocol):
    """A `LanguageModel` that answers several requests at once."""

    @property
    def identity(self) -> Identity:
        """Identity of the model."""

    def answer_batch(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer requests that differ only in their prompts, scored texts and seeds."""


def answer_in_batches(
    model: BatchModel, requests: Sequence[Request], size: int
) -> Iterator[list[tuple[Request, Answer]]]:
    """Answer requests in batches, the longest prompts first."""
    # By kind, and within a kind by decreasing length. groupby requires this order.
    ordered = sorted(requests, key=lambda request: (_kind(request), -len(request.text)))
    for _, group in groupby(ordered, key=_kind):
        remaining = list(group)
        while remaining:
            batch = remaining[:size]
            try:
                answers = model.answer_batch(batch)
            except MemoryFullError:
                if len(batch) == 1:
                    raise
                size = len(batch) // 2
                _LOG.warning(
                    "%s: a batch of %d requests does not fit into memory; continuing with %d. Set "
                    "`batch` to this number to start with it.",
                    model.identity.name,
                    len(batch),
                    size,
                )
                continue
            remaining = remaining[len(batch) :]
            yield list(zip(batch, answers, strict=True))


def _kind(request: Request) -> str:
    """Decoding parameters that the requests of a batch share: all but the seed."""
    if request.decoding is None:
        return ""
    return request.decoding.model_copy(update={"seed": None}).model_dump_json()
