"""Settings of language models: sources, endpoints and decoding."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from everycell.base.settings import NetworkUse, PlainPath, Settings
from everycell.base.untrusted import looks_secret, without_secret

#: Default of the largest share of empty answers in a result.
LARGEST_EMPTY_SHARE = 0.2


class Decoding(Settings):
    """How a language model chooses the tokens of its answer."""

    max_tokens: int = Field(
        128, ge=1, le=1_000_000, description="Tokens after which an answer is cut off."
    )
    temperature: float = Field(
        0.0, ge=0, le=2, description="0: greedy decoding; larger: more variety."
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description="Share of the probability mass from which tokens are sampled."
    )
    seed: int | None = Field(
        None, ge=0, lt=2**31, description="Random seed for sampling; an endpoint may ignore it."
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        (),
        max_length=4,
        strict=False,
        description="Texts that end the answer; they are not part of it.",
    )
    logprobs: bool = Field(
        False, description="Whether to request the log-probability of each token."
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
        1, ge=1, description="Number of CPU cores; changing it may change the last bits of results."
    )
    batch: int = Field(
        1,
        ge=1,
        le=1024,
        description="Largest number of requests per batch, reduced if memory is short; changing it "
        "may change the last bits of results.",
    )


class Prices(Settings):
    """Prices of an endpoint."""

    prompt: float = Field(0.0, ge=0, description="Price per million tokens of prompts.")
    answer: float = Field(0.0, ge=0, description="Price per million tokens of answers.")
    currency: str = Field("USD", min_length=1, description="Currency, for display only.")

    @property
    def known(self) -> bool:
        """Whether any price is set."""
        return self.prompt > 0 or self.answer > 0


def _check_url(url: str) -> str:
    """Check that an address contains no secret, since addresses are displayed."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(
            "an address must not contain a user, a password, `?` or `#`; set `key` to the "
            "environment variable that contains the key"
        )
    try:
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise ValueError(
            "an address must have a host, and its port (if any) must be from 1 to 65535"
        )
    return without_secret(url)


def _check_variable(name: str) -> str:
    """Check the name of an environment variable; the error must not quote a key."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise ValueError(
            "it must be the name of the environment variable that contains the key, in capital "
            "letters, digits and _"
        )
    return name


# Fields of a request that only the program may set.
_FIXED = {"model", "messages", "prompt", "documents", "stream", "n", "echo", "logprobs"}


def _check_extra_fields(extra: dict[str, Any]) -> dict[str, Any]:
    """Reject additional fields that contain a secret or that the program itself sets."""
    for name in extra:
        if name in _FIXED:
            raise ValueError(f"`{name}` is set by the program and cannot be added")
        if looks_secret(name, str(extra[name])):
            raise ValueError(
                "an additional field must not contain a secret, since it is displayed; set `key` "
                "to the environment variable that contains the key"
            )
    return extra


class EndpointSettings(Settings):
    """A language model behind an OpenAI-compatible server."""

    url: Annotated[str, AfterValidator(_check_url)] = Field(
        pattern=r"^https?://[^/\s]+", description="Address, without /chat/completions."
    )
    model: str = Field(min_length=1, description="Name of the model on the server.")
    version: str = Field(
        "", description="Version or date of the model, if its name does not give it."
    )
    key: Annotated[str, AfterValidator(_check_variable)] | None = Field(
        None, description="Name of the environment variable with the key; null: no key."
    )
    length_parameter: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="The server's name for the limit on the tokens of an answer."
    )
    grounded: bool = Field(
        False,
        description="Whether the server passes `documents` to the chat template, as vLLM does.",
    )
    extra: Annotated[
        dict[str, bool | int | float | str | None], AfterValidator(_check_extra_fields)
    ] = Field(
        {},
        description="Additional fields of each request, such as `top_k: -1`; null removes a "
        "field that the server does not accept.",
    )
    may_change: bool = Field(
        False,
        description="Whether a record may have answers of several models or versions, as the "
        "server names them (`served_by`).",
    )
    timeout: float = Field(
        120.0, gt=0, le=86400, description="Seconds within which a complete answer must arrive."
    )
    retries: int = Field(5, ge=0, description="Number of retries after a temporary error.")
    wait: float = Field(
        1.0, gt=0, le=600, description="Seconds before the first retry; doubled after each retry."
    )
    workers: int = Field(4, ge=1, le=256, description="Number of parallel requests.")
    requests_per_minute: float | None = Field(None, ge=0.01, description="Rate limit; null: none.")
    prices: Prices = Prices()
    budget: float | None = Field(
        None, ge=0, description="Largest estimated cost of a job; null: no limit."
    )
    token_budget: int | None = Field(
        None, ge=0, description="Largest estimated number of prompt and answer tokens of a job."
    )

    @property
    def unencrypted(self) -> bool:
        """Whether the address uses plain http."""
        return urlsplit(self.url).scheme == "http"

    @property
    def on_this_machine(self) -> bool:
        """Whether the address is on this machine: localhost or a loopback IP address."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @model_validator(mode="after")
    def _key_is_encrypted(self) -> EndpointSettings:
        if self.key is not None and self.unencrypted and not self.on_this_machine:
            raise ValueError(
                f"the key would be sent to {urlsplit(self.url).hostname} over plain http, where "
                "others can read it; use https, an address on this machine (such as an ssh "
                "tunnel), or no `key`"
            )
        return self

    @model_validator(mode="after")
    def _budget_has_prices(self) -> EndpointSettings:
        if self.budget is not None and not self.prices.known:
            raise ValueError(
                "a `budget` has no effect without `prices`; set `prices`, or omit `budget`"
            )
        return self


def _on_gpu(source: str, batch: int = 64) -> LocalSettings:
    return LocalSettings(source=source, dtype="bfloat16", batch=batch)


def _endpoint(
    url: str, model: str, maker: str, prompt: float, answer: float, **more: Any
) -> EndpointSettings:
    prices = Prices(prompt=prompt, answer=answer)
    return EndpointSettings(url=url, model=model, key=f"{maker}_API_KEY", prices=prices, **more)


class LanguageModels(Settings):
    """Language models by name."""

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
            "qwen-coder": EndpointSettings(
                url="http://127.0.0.1:8080/v1",
                model="Qwen2.5-Coder-1.5B-Instruct-Q4_K_M",
                version="sha256:cc324af070c2ecbf",
                timeout=600.0,
                workers=8,
            ),
            "gpt-4o": _endpoint(
                "https://api.openai.com/v1", "gpt-4o-2024-08-06", "OPENAI", 2.5, 10.0
            ),
            # Successors of models that are no longer available (docs/language-models.md).
            "gpt-5-5": _endpoint(
                "https://api.openai.com/v1",
                "gpt-5.5-2026-04-23",
                "OPENAI",
                5.0,
                30.0,
                length_parameter="max_completion_tokens",
                extra={"temperature": None, "top_p": None, "reasoning_effort": "none"},
            ),
            "claude-haiku": _endpoint(
                "https://api.anthropic.com/v1",
                "claude-haiku-4-5-20251001",
                "ANTHROPIC",
                1.0,
                5.0,
                extra={"top_p": None},
            ),
            "gemini-flash": _endpoint(
                "https://generativelanguage.googleapis.com/v1beta/openai",
                "gemini-3.5-flash-lite",
                "GEMINI",
                0.3,
                2.5,
                version="2026-07-21",
            ),
        },
        description="Models behind OpenAI-compatible servers.",
    )
    records: PlainPath = Field(
        "records", min_length=1, description="Folder with the recorded answers."
    )
    keep_prompts: bool = Field(
        True, description="Whether to store prompts next to the answers; they may quote data."
    )
    ask: bool = Field(
        True, description="Whether to send requests that are not recorded; false: replay only."
    )
    largest_empty_share: float = Field(
        LARGEST_EMPTY_SHARE,
        ge=0,
        le=1,
        description="Largest share of empty answers in a result; above it, the result is refused.",
    )

    @model_validator(mode="after")
    def _names(self) -> LanguageModels:
        for name in (*self.local, *self.endpoints):
            if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
                raise ValueError(
                    f"the model name {name!r} may contain only lower-case letters, digits and "
                    "hyphens"
                )
        if duplicates := sorted(set(self.local) & set(self.endpoints)):
            raise ValueError(
                f"the model name {duplicates[0]!r} occurs under both `local` and `endpoints`"
            )
        return self

    def answer_settings(self, name: str) -> dict[str, Any]:
        """Settings that affect the answers of a model, whose jobs depend on them.

        The environment variable of the key, workers, prices, budgets and timeouts are not included.
        """
        for models, keys in (
            (self.endpoints, ("url", "model", "version", "extra")),
            (self.local, ("source", "revision", "dtype")),
        ):
            if name in models:
                return {key: getattr(models[name], key) for key in keys}
        return {}


class AskSettings(Settings):
    """The part of ``config.yaml`` for jobs that use a language model."""

    network: NetworkUse = True
    language_models: LanguageModels = LanguageModels()
