"""Language models behind one interface: requests and answers."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from everycell.engine.files import sha256
from everycell.language_models.settings import Decoding

#: In the folder of a converted model: the file that it was converted from.
SOURCE_FILE = "everycell-source.json"
# Of a model's folder, what its answers depend on. Its settings also hold the version of the
# software that wrote them.
_MODEL_FILES = ("*.safetensors", "tokenizer.json", "vocab.txt", "chat_template.jinja") + (
    # Such as Command-R's for documents, `rag.jinja`.
    "additional_chat_templates/*.jinja",
)


class LanguageModelError(Exception):
    """A language model cannot answer; the message says what to do."""


class NotOfferedError(LanguageModelError):
    """A model cannot give what is asked for (such as log-probabilities): its cell is `not run`."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Model):
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Grounded(Message):
    """A turn with documents, which the model's own chat template shows and numbers."""

    documents: tuple[str, ...] = Field(min_length=1)


class Identity(_Model):
    """Identity of the model that answers, in records and receipts."""

    name: str = Field(min_length=1)
    revision: str = ""
    host: str = ""
    url: str = Field("", exclude_if=lambda url: not url)
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
                raise ValueError(f"{grounded} messages have documents; one of them has all")
        return self

    @property
    def generation(self) -> Decoding:
        """Decoding of a request that has no text to score."""
        if self.decoding is None:
            raise TypeError("this request scores a continuation: nothing is generated")
        return self.decoding

    @property
    def documents(self) -> tuple[str, ...]:
        """Documents that come with the prompt, for the model's own template; most have none."""
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


class Token(_Model):
    """A token of an answer, with the natural logarithm of its probability (at most 0).

    `logprob` is None if it was not recorded (`Answer.thinned`).
    """

    text: str
    logprob: FiniteFloat | None = Field(le=0)


#: Costs are computed from these, so a server may not claim any number.
TokenCount = Annotated[int, Field(ge=0, le=10**9)]


class Answer(_Model):
    """An answer of a language model; `text` is the continuation if the request was a scored one.

    `finish` is "stop", "length", "refusal", "scored" or an endpoint's own word. The texts of
    `tokens` begin with `text`; the stop text may follow. Probabilities are those before temperature
    and top-p.
    """

    text: str
    finish: str
    prompt_tokens: TokenCount | None = None
    answer_tokens: TokenCount | None = None
    tokens: tuple[Token, ...] | None = None
    served_by: str = ""

    @property
    def logprob(self) -> float:
        """Log-probability of all tokens together."""
        # A sum of nothing would be certainty.
        if not self.tokens:
            raise NotOfferedError(
                "An answer has no log-probabilities: ask with `logprobs: true`, of a model that "
                "offers them."
            )
        values = [token.logprob for token in self.tokens if token.logprob is not None]
        if len(values) < len(self.tokens):
            raise NotOfferedError(
                "An answer was recorded without some of its log-probabilities: ask again, with a "
                "record that does not have it."
            )
        return sum(values)

    def thinned(self, needed: Callable[[str], bool]) -> Answer:
        """The answer with the probabilities of only some tokens, for a record that is published."""
        if self.tokens is None:
            return self
        tokens: list[Token] = []
        for is_needed, run in itertools.groupby(self.tokens, key=lambda token: needed(token.text)):
            if is_needed:
                tokens += run
            else:
                tokens.append(Token(text="".join(token.text for token in run), logprob=None))
        return self.model_copy(update={"tokens": tuple(tokens)})


class LanguageModel(Protocol):
    """Answers requests. Equal requests need not get equal answers: see `Recorded`."""

    @property
    def identity(self) -> Identity:
        """Which model this is."""

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
    """Hash (sha256, hexadecimal) by which an answer is found again."""
    return _sha256(
        {
            "model": identity.model_dump(mode="json"),
            "prompt": prompt,
            "decoding": decoding and decoding.model_dump(mode="json"),
            "continuation": continuation,
        }
    )


def folder_identity(source: Path, *, name: str, dtype: str = "") -> Identity:
    """Identity of a local model by its files, which are hashed but not read as a model.

    The revision of a file is its hash. That of a folder is the first there is of: the source that
    `everycell.language_models.gguf_files.convert_gguf` noted, the commit of a folder in the cache
    of the hub, one hash over weights and tokenizer.
    """
    try:
        if source.is_file():
            return Identity(name=name, revision=f"sha256:{sha256(source)}", dtype=dtype)
        if (source / SOURCE_FILE).is_file():
            note = json.loads((source / SOURCE_FILE).read_text(encoding="utf-8"))
            return Identity(name=name, revision=note["revision"], dtype=dtype)
        if source.parent.name == "snapshots":
            return Identity(name=name, revision=source.name, dtype=dtype)
        files = sorted({path for kind in _MODEL_FILES for path in source.glob(kind)})
        if not files:
            raise LanguageModelError(
                f"{source} holds no model.safetensors: name the folder of a model."
            )
        hashes = [[path.name, sha256(path)] for path in files]
    except (OSError, ValueError, KeyError) as error:
        raise LanguageModelError(
            f"{source} cannot be read as a model ({error}): copy or convert it again."
        ) from None
    return Identity(name=name, revision=f"sha256:{_sha256(hashes)}", dtype=dtype)


def _sha256(value: object) -> str:
    # The form must never change: it stands in the keys of all records.
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
