"""Settings of language models: their names, and how they answer."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from everycell.engine.settings import NetworkUse, PlainPath, Settings
from everycell.engine.untrusted import looks_secret


class Decoding(Settings):
    """How a language model chooses the tokens of its answer."""

    max_tokens: int = Field(
        128, ge=1, le=1_000_000, description="Tokens after which an answer is cut."
    )
    temperature: float = Field(
        0.0, ge=0, le=2, description="0: greedy decoding; larger: more variety."
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description="Share of the probability mass from which tokens are drawn."
    )
    seed: int | None = Field(
        None, ge=0, lt=2**31, description="Seed of the draw; an endpoint may ignore it."
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (), max_length=4, strict=False, description="Texts that end the answer; left out of it."
    )
    logprobs: bool = Field(
        False, description="Whether the log-probability of each token is asked for."
    )


class LocalSettings(Settings):
    """A language model that runs on this machine."""

    source: str = Field(
        min_length=1,
        description="A folder with safetensors, a name on the Hugging Face hub, or a GGUF file.",
    )
    revision: str | None = Field(None, description="Commit, tag or branch of a hub name.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        "float32", description="Number format of the computation."
    )
    threads: int = Field(
        1, ge=1, description="Number of cores; another number may change the last bits."
    )
    batch: int = Field(
        1,
        ge=1,
        le=1024,
        description="Most requests answered at once, fewer where memory is short; another number "
        "may change the last bits.",
    )


class Prices(Settings):
    """What an endpoint charges."""

    prompt: float = Field(0.0, ge=0, description="Price per million tokens of prompts.")
    answer: float = Field(0.0, ge=0, description="Price per million tokens of answers.")
    currency: str = Field("USD", min_length=1, description="Only shown.")

    @property
    def known(self) -> bool:
        """Whether any price was named."""
        return self.prompt > 0 or self.answer > 0


def _plain_url(url: str) -> str:
    """Address without a place for a key: what stands in it may be shown.

    Examples
    --------
    >>> _plain_url("https://me:secret@api.example.org/v1")
    Traceback (most recent call last):
    ValueError: an address holds no user, password, `?` or `#`: `key` names the environment \
variable of a key
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "an address holds no user, password, `?` or `#`: `key` names the environment variable "
            "of a key"
        )
    try:
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError("an address has a host, and after a colon a port of 1 to 65535")
    return url


def _variable(name: str) -> str:
    """Name of an environment variable; the error does not quote what may be the key itself.

    Examples
    --------
    >>> _variable("sk-secret")
    Traceback (most recent call last):
    ValueError: it names the environment variable that holds the key, in capitals, digits and _
    """
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise ValueError(
            "it names the environment variable that holds the key, in capitals, digits and _"
        )
    return name


# Fields of a request that say what is asked, and how the reply comes.
_FIXED = {"model", "messages", "prompt", "documents", "stream", "n", "echo", "logprobs"}


def _more_fields(extra: dict[str, Any]) -> dict[str, Any]:
    """Fields to add to requests, without those that the program sets and without secrets.

    Examples
    --------
    >>> _more_fields({"stream": True})
    Traceback (most recent call last):
    ValueError: `stream` is set by the program, so it is not a field to add
    """
    for name in extra:
        if name in _FIXED:
            raise ValueError(f"`{name}` is set by the program, so it is not a field to add")
        if looks_secret(name, str(extra[name])):
            raise ValueError(
                "a field to add holds no secret, since it is shown: `key` names the environment "
                "variable of a key"
            )
    return extra


class EndpointSettings(Settings):
    """A language model behind a server that speaks OpenAI's protocol."""

    url: Annotated[str, AfterValidator(_plain_url)] = Field(
        pattern=r"^https?://[^/\s]+", description="Address up to, but without, /chat/completions."
    )
    model: str = Field(min_length=1, description="The server's name of the model.")
    version: str = Field(
        "", description="Version or date of the model, if its name does not give it."
    )
    key: Annotated[str, AfterValidator(_variable)] | None = Field(
        None, description="Name of the environment variable with the key; null: none is sent."
    )
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="The server's name of the limit on an answer's tokens."
    )
    grounded: bool = Field(
        False,
        description="Whether the server has the model's template show `documents`, as vLLM does.",
    )
    extra: Annotated[dict[str, bool | int | float | str | None], AfterValidator(_more_fields)] = (
        Field(
            {},
            description="Fields to add to each request, such as `top_k: -1`; null removes "
            "one that the server does not accept.",
        )
    )
    timeout: float = Field(120.0, gt=0, description="Seconds for a whole answer.")
    retries: int = Field(5, ge=0, description="Times that a request is repeated after a fault.")
    wait: float = Field(1.0, gt=0, description="Seconds before the first repeat; then doubled.")
    workers: int = Field(4, ge=1, le=256, description="Number of parallel requests.")
    requests_per_minute: float | None = Field(None, gt=0, description="Rate limit; null: none.")
    prices: Prices = Prices()
    budget: float | None = Field(
        None, ge=0, description="Largest estimated cost of a job; null: no limit."
    )
    token_budget: int | None = Field(
        None,
        ge=0,
        description="Largest estimated number of prompt and answer tokens of a job.",
    )

    @property
    def unencrypted(self) -> bool:
        """Whether the address is of plain http."""
        return urlsplit(self.url).scheme == "http"

    @property
    def on_this_machine(self) -> bool:
        """Whether the host of the address is this machine, by its name or number.

        Examples
        --------
        >>> hosts = ["localhost", "127.0.0.1", "[::1]", "localhost.example.org", "10.0.0.7"]
        >>> [EndpointSettings(url=f"http://{host}:8000", model="m").on_this_machine
        ...  for host in hosts]
        [True, True, True, False, False]
        """
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @model_validator(mode="after")
    def _key_is_encrypted(self) -> EndpointSettings:
        if self.key is not None and self.unencrypted and not self.on_this_machine:
            raise ValueError(
                f"the key would go to {urlsplit(self.url).hostname} over plain http, where others "
                "can read it: give an https address or one of this machine (such as the end of an "
                "ssh tunnel), or no `key`"
            )
        return self

    @model_validator(mode="after")
    def _budget_has_prices(self) -> EndpointSettings:
        if self.budget is not None and not self.prices.known:
            raise ValueError(
                "a `budget` without `prices` stops nothing: name them, or leave it out"
            )
        return self


def _on_gpu(source: str, batch: int = 64) -> LocalSettings:
    return LocalSettings(source=source, dtype="bfloat16", batch=batch)


def _at(
    url: str, model: str, maker: str, prompt: float, answer: float, **more: Any
) -> EndpointSettings:
    prices = Prices(prompt=prompt, answer=answer)
    return EndpointSettings(url=url, model=model, key=f"{maker}_API_KEY", prices=prices, **more)


class LanguageModels(Settings):
    """Language models by the names that experiments call them."""

    local: dict[str, LocalSettings] = Field(
        {
            "smollm2": LocalSettings(source="smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
            "zephyr": _on_gpu("HuggingFaceH4/zephyr-7b-beta"),
            "mistral-if": _on_gpu("mistralai/Mistral-7B-Instruct-v0.2"),
            "mistral-7b-instruct": _on_gpu("mistralai/Mistral-7B-Instruct-v0.3"),
            "llama-3-8b-instruct": _on_gpu("meta-llama/Meta-Llama-3-8B-Instruct"),
            "command-r-plus": _on_gpu("CohereLabs/c4ai-command-r-plus-08-2024", batch=16),
        },
        description="Models that run on this machine.",
    )
    endpoints: dict[str, EndpointSettings] = Field(
        {
            "gpt-4o": _at("https://api.openai.com/v1", "gpt-4o-2024-08-06", "OPENAI", 2.5, 10.0),
            # Successors of models that answer no longer (docs/language-models.md).
            "gpt-5-5": _at(
                "https://api.openai.com/v1",
                "gpt-5.5-2026-04-23",
                "OPENAI",
                5.0,
                30.0,
                length_parameter="max_completion_tokens",
                extra={"temperature": None, "top_p": None, "reasoning_effort": "none"},
            ),
            "claude-haiku": _at(
                "https://api.anthropic.com/v1",
                "claude-haiku-4-5-20251001",
                "ANTHROPIC",
                1.0,
                5.0,
                extra={"top_p": None},
            ),
            "gemini-flash": _at(
                "https://generativelanguage.googleapis.com/v1beta/openai",
                "gemini-3.5-flash-lite",
                "GEMINI",
                0.3,
                2.5,
                version="2026-07-21",
            ),
        },
        description="Models behind servers that speak OpenAI's protocol.",
    )
    records: PlainPath = Field(
        "records", min_length=1, description="Folder with the recorded answers."
    )
    keep_prompts: bool = Field(
        True, description="Whether prompts are kept beside them; they may quote data."
    )
    ask: bool = Field(
        True, description="Whether models are asked when there is no record; false: replay only."
    )

    @model_validator(mode="after")
    def _names(self) -> LanguageModels:
        for name in (*self.local, *self.endpoints):
            if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
                raise ValueError(
                    f"the model {name!r} needs a name of small letters, digits and hyphens"
                )
        if twice := sorted(set(self.local) & set(self.endpoints)):
            raise ValueError(f"the model {twice[0]!r} stands under `local` and `endpoints`")
        return self

    def answered_by(self, name: str) -> dict[str, Any]:
        """Settings on which the answers of a model depend; when they change, its jobs run again.

        Neither the variable of a key nor what asking takes (workers, prices, times) is among them.

        Examples
        --------
        >>> mine = EndpointSettings(url="http://localhost:8000/v1", model="llama", workers=16)
        >>> LanguageModels(endpoints={"mine": mine}).answered_by("mine")
        {'url': 'http://localhost:8000/v1', 'model': 'llama', 'version': '', 'extra': {}}
        >>> sorted(LanguageModels().answered_by("smollm2"))
        ['dtype', 'revision', 'source']
        >>> LanguageModels().answered_by("nobody")
        {}
        """
        for models, keys in (
            (self.endpoints, ("url", "model", "version", "extra")),
            (self.local, ("source", "revision", "dtype")),
        ):
            if name in models:
                return {key: getattr(models[name], key) for key in keys}
        return {}


class AskSettings(Settings):
    """The part of ``config.yaml`` that a job needs to ask a language model."""

    network: NetworkUse = True
    language_models: LanguageModels = LanguageModels()
